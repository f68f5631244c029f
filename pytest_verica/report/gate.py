"""Judging a gate: exactly, in integers. Whether it can be judged at all is found before launch."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from pytest_verica.evals.gate import GateConfig
from pytest_verica.report.totals import Counts, Totals
from pytest_verica.run import GateResult
from pytest_verica.stats.proportion import perfect_needed, wilson_lower


def check_gate(config: GateConfig, planned: Mapping[str, int], *, repeat: int = 1) -> list[str]:
    """What makes a gate impossible to pass, or to fail, whatever the run brings: sentences, none where it is sane.

    planned: verdicts of the whole eval by criterion, repeats included; repeat: samples per case.
    """
    problems = []
    for name in config.criteria:
        if name not in planned:
            nearest = difflib.get_close_matches(name, planned, 1)
            hint = f"did you mean {nearest[0]!r}? " if nearest else ""
            known = ", ".join(planned) or "none"
            problems.append(f"the gate names a criterion {name!r} that the eval has not; {hint}It has: {known}")
    total = sum(planned.values())
    if total == 0:
        return [*problems, "the gate has no verdicts to judge: the eval has no criteria or no cases"]
    if config.min_graded > total:
        problems.append(
            f"the gate cannot be passed: min_graded is {config.min_graded} and the eval has {total} verdicts; "
            f"write {total} at most, or add cases"
        )
    problems += _bound_problems(config, total // repeat)
    return problems


def _bound_problems(config: GateConfig, independent: int) -> list[str]:
    """Whether a perfect record would reach pass_rate with the confidence asked for."""
    if config.confidence is None:
        return []
    start = "the gate cannot be passed: with "
    needed = perfect_needed(config.pass_rate, config.confidence)
    if needed is None:
        return [
            f"{start}confidence no number of verdicts shows a rate of {config.pass_rate:g}; "
            "write a pass_rate below 1, such as 0.95, or take confidence out"
        ]
    if independent >= needed:
        return []
    best = wilson_lower(independent, independent, confidence=config.confidence) or 0.0
    return [
        f"{start}{independent} verdicts, all passed, the lower bound is {best:.4f}, under the pass_rate "
        f"{config.pass_rate:g}; {needed} are needed at confidence {config.confidence:g}: add cases, or lower pass_rate"
    ]


def judge_gate(
    config: GateConfig,
    totals: Totals,
    *,
    planned: int,
    selected: int,
    ran: int,
    partial: str | None = None,
    note: str | None = None,
) -> GateResult:
    """The gate's word on what an eval added up to.

    planned, selected, ran: verdicts of the whole eval, of those this run set out to make, and of those it made: a
    partial selection is not judged. partial: why not to judge it, for any other reason (a shard, say); note: what the
    first reason should say beside (that it is judged on a sample, say).
    """
    numbers = _numbers(config, totals)
    if partial is not None:
        return GateResult("skipped", (partial,), numbers)
    if selected < planned or ran < planned:
        return GateResult("skipped", (f"{min(ran, selected)} of {planned} verdicts ran",), numbers)
    failures = [*_rate_failures(config, totals), *_limit_failures(config, totals)]
    reasons = tuple(failures) or (_rate_sentence(totals.counts, config.pass_rate),)
    if note:
        reasons = (f"{reasons[0]} ({note})", *reasons[1:])
    return GateResult("failed" if failures else "passed", reasons, numbers)


def exact(number: float) -> Fraction:
    """The decimal that was written, not the float nearest to it: 9 of 10 reach 0.9."""
    return Fraction(repr(number)) if isinstance(number, float) else Fraction(number)


def _rate_failures(config: GateConfig, totals: Totals) -> list[str]:
    counts = totals.counts
    failures = []
    if counts.rate is None:
        failures.append(f"nothing was graded: {counts.na} not applicable, {_errors(counts.error)}")
    elif counts.graded < config.min_graded:
        failures.append(f"{counts.graded} verdicts were graded, at least {config.min_graded} are wanted")
    if counts.rate is not None and counts.rate < exact(config.pass_rate):
        failures.append(_rate_sentence(counts, config.pass_rate))
    elif counts.rate is not None and config.confidence is not None:
        bound = _bound(config, counts)
        if bound is not None and bound < config.pass_rate:
            failures.append(
                f"{_rate_sentence(counts, config.pass_rate)}, and the lower bound at confidence "
                f"{config.confidence:g} is {bound:.4f} (one-sided Wilson)"
            )
    for name, wanted in config.criteria.items():
        part = totals.criteria.get(name, Counts())
        if part.rate is None:
            failures.append(f"{name}: nothing was graded, {_percent(exact(wanted))} wanted")
        elif part.rate < exact(wanted):
            failures.append(f"{name}: {_rate_sentence(part, wanted)}")
    return failures


def _limit_failures(config: GateConfig, totals: Totals) -> list[str]:
    counts, failures = totals.counts, []
    allowed = exact(config.max_errors) * (counts.ran if isinstance(config.max_errors, float) else 1)
    if counts.error > allowed:
        share = f" ({config.max_errors:g} of {counts.ran})" if isinstance(config.max_errors, float) else ""
        failures.append(f"{_errors(counts.error)}, {int(allowed)} allowed{share}")
    if config.max_na is not None and counts.na > exact(config.max_na) * counts.ran:
        failures.append(f"{counts.na} of {counts.ran} verdicts were not applicable, {config.max_na:g} of them allowed")
    if config.max_cost_per_case is not None:
        cost, limit = totals.cost.per_case_net, exact(config.max_cost_per_case)
        if cost is None or totals.cost.sampling is None:
            models = ", ".join(totals.cost.unpriced_models) or "any output"
            failures.append(
                f"the cost per case is not known (no price for {models}), ${config.max_cost_per_case:g} allowed; "
                "add the price, or take max_cost_per_case out"
            )
        elif Fraction(cost) > limit:
            failures.append(f"a case costs ${float(cost):.6g}, ${config.max_cost_per_case:g} allowed")
    return failures


def _bound(config: GateConfig, counts: Counts) -> float | None:
    if config.confidence is None:
        return None
    return wilson_lower(counts.passed, counts.graded, confidence=config.confidence, effective_n=counts.effective_n)


def _numbers(config: GateConfig, totals: Totals) -> dict[str, Any]:
    """What was compared with what."""
    counts, cost = totals.counts, totals.cost.per_case_net
    return {
        "pass_rate": config.pass_rate,
        "passed": counts.passed,
        "graded": counts.graded,
        "rate": None if counts.rate is None else float(counts.rate),
        "lower_bound": _bound(config, counts),
        "errors": counts.error,
        "na": counts.na,
        "cost_per_case": None if cost is None else float(cost),
    }


def _rate_sentence(counts: Counts, wanted: float) -> str:
    assert counts.rate is not None
    rate, limit = counts.rate, exact(wanted)
    digits = 1
    # Rounded alike, a rate just under the threshold would read as one that reaches it.
    while digits < 6 and rate != limit and _percent(rate, digits) == _percent(limit, digits):
        digits += 1
    return f"{counts.passed} of {counts.graded} passed ({_percent(rate, digits)}), {_percent(limit, digits)} wanted"


def _percent(rate: Fraction, digits: int = 1) -> str:
    text = f"{float(rate * 100):.{digits}f}"
    return f"{text.rstrip('0').rstrip('.') if '.' in text else text} %"


def _errors(count: int) -> str:
    return "1 error" if count == 1 else f"{count} errors"
