"""Judging a gate: exactly, in integers. Whether it can be judged at all is found before launch (`gate_check.py`)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from pytest_verica.evals.gate import BaselineGate, GateConfig
from pytest_verica.evals.load import criterion_id
from pytest_verica.grade import Outcome
from pytest_verica.report.samples import worth_of_units
from pytest_verica.report.totals import Counts, Totals
from pytest_verica.run import GateResult
from pytest_verica.stats.holm import holm
from pytest_verica.stats.mcnemar import mcnemar_exact
from pytest_verica.stats.proportion import wilson_lower

if TYPE_CHECKING:
    from pytest_verica.report.baseline import Comparison
    from pytest_verica.report.calibrated import Corrected

_MOST_REGRESSIONS = 10
"""Regressions that a failed gate names."""


@dataclass(frozen=True)
class Ran:
    """How much of what a gate is about was there.

    planned, selected, ran: verdicts of the whole eval, of those this run set out to make, and of those it made: a
    partial selection is not judged. partial: why not to judge it, for any other reason (a shard, say); note: what the
    first reason should say beside (that it is judged on a sample, say); repeat: samples per case.
    """

    planned: int
    selected: int
    ran: int
    partial: str | None = None
    note: str | None = None
    repeat: int = 1

    @property
    def why_not(self) -> str | None:
        """Why the gate is not judged, None where it is."""
        if self.partial is not None:
            return self.partial
        if self.selected < self.planned or self.ran < self.planned:
            return f"{min(self.ran, self.selected)} of {self.planned} verdicts ran"
        return None


@dataclass(frozen=True)
class _Judged:
    """The counts that rates are taken of. how: what a passed one did, where that is not plain."""

    counts: Counts
    criteria: Mapping[str, Counts]
    how: str = ""


def judge_gate(
    config: GateConfig,
    totals: Totals,
    ran: Ran,
    *,
    baseline: Comparison | str | None = None,
    corrected: Mapping[str, Corrected] | None = None,
) -> GateResult:
    """The gate's word on what an eval added up to.

    baseline: how the eval stands against the run that `--verica-baseline` names; a text where there is none because
    that was asked for, and what to say of it; None where nothing was said: then a gate that needs it fails.
    corrected: each judge's true rate by id of its criterion, which a `calibrated` gate needs.
    """
    judged = _judged(config, totals, ran.repeat)
    rates = None
    if config.calibrated:
        from pytest_verica.report.calibrated import CorrectedRates  # deferred: few gates ask for it

        rates = CorrectedRates(totals.counts, totals.criteria, corrected or {})
    numbers = {**_numbers(config, totals, judged), **_baseline_numbers(config, baseline)}
    if rates is not None and corrected is not None:
        numbers.update(rates.numbers(config))
    why_not = ran.why_not
    if why_not is not None:
        return GateResult("skipped", (why_not,), numbers)
    if rates is None:
        of_rates = _rate_failures(config, totals, judged)
    elif corrected is None:
        of_rates = iter(("`calibrated` cannot be judged here: nothing is told of the judges",))
    else:
        of_rates = rates.failures(config)
    failures = [*of_rates, *_limit_failures(config, totals)]
    good: list[str] = []
    if config.baseline is not None:
        worse, plain = _against(config.baseline, baseline)
        failures += worse
        good = [plain]
    said = _rate_sentence(judged.counts, config.pass_rate, judged.how) if judged.counts.rate is not None else ""
    reasons = tuple(failures) or (said if rates is None else rates.sentence(config), *good)
    if ran.note:
        reasons = (f"{reasons[0]} ({ran.note})", *reasons[1:])
    return GateResult("failed" if failures else "passed", reasons, numbers)


def judge_run_gate(pass_rate: float, totals: Totals, ran: Ran, *, decided_errors: int) -> GateResult:
    """The word of the gate over a whole run. decided_errors: those of evals whose own gates allow some, and have the
    word on them."""
    result = judge_gate(GateConfig(pass_rate=pass_rate, max_errors=decided_errors), totals, ran)
    if result.status == "skipped" or not decided_errors:
        return result
    others = totals.counts.error - decided_errors
    left = "" if others <= 0 else f", {others} of evals whose gates allow none"
    said = f"{_errors(decided_errors)} left to the max_errors of the evals' own gates{left}"
    return GateResult(result.status, (*result.reasons, said), {**result.numbers, "errors_decided": decided_errors})


def exact(number: float) -> Fraction:
    """The decimal that was written, not the float nearest to it: 9 of 10 reach 0.9."""
    return Fraction(repr(number)) if isinstance(number, float) else Fraction(number)


def _judged(config: GateConfig, totals: Totals, repeat: int) -> _Judged:
    """The verdicts themselves, or one for each case and criterion where the gate asks for so many passes of it."""
    if config.repeat is None or not totals.samples:
        return _Judged(totals.counts, totals.criteria)
    least = config.repeat.min_passes
    outcomes = {
        name: {case: samples.outcome(least) for case, samples in of_case.items()}
        for name, of_case in totals.samples.items()
    }
    criteria = {
        name: replace(_counted(of_case.values()), effective_n=worth_of_units({name: of_case}))
        for name, of_case in outcomes.items()
    }
    every = _counted(outcome for of_case in outcomes.values() for outcome in of_case.values())
    counts = replace(every, effective_n=worth_of_units(outcomes))
    return _Judged(counts, criteria, f" at least {least} of {repeat} times")


def _counted(outcomes: Iterable[Outcome]) -> Counts:
    found = Counter(outcomes)
    return Counts(found["pass"], found["fail"], found["na"], found["error"])


def _rate_failures(config: GateConfig, totals: Totals, judged: _Judged) -> Iterator[str]:
    counts = judged.counts
    if counts.rate is None:
        yield f"nothing was graded: {totals.counts.na} not applicable, {_errors(totals.counts.error)}"
    elif totals.counts.graded < config.min_graded:
        yield f"{totals.counts.graded} verdicts were graded, at least {config.min_graded} are wanted"
    if counts.rate is not None and counts.rate < exact(config.pass_rate):
        yield _rate_sentence(counts, config.pass_rate, judged.how)
    elif counts.rate is not None and config.confidence is not None:
        bound = _bound(config, counts)
        if bound is not None and bound < config.pass_rate:
            yield (
                f"{_rate_sentence(counts, config.pass_rate, judged.how)}, and the lower bound at confidence "
                f"{config.confidence:g} is {bound:.4f} (one-sided Wilson{_worth(counts)})"
            )
    for name, wanted in config.criteria.items():
        part = judged.criteria.get(criterion_id(name), Counts())
        if part.rate is None:
            yield f"{name}: nothing was graded, {_percent(exact(wanted))} wanted"
        elif part.rate < exact(wanted):
            yield f"{name}: {_rate_sentence(part, wanted, judged.how)}"


def _limit_failures(config: GateConfig, totals: Totals) -> Iterator[str]:
    counts = totals.counts
    allowed = exact(config.max_errors) * (counts.ran if isinstance(config.max_errors, float) else 1)
    if counts.error > allowed:
        share = f" ({config.max_errors:g} of {counts.ran})" if isinstance(config.max_errors, float) else ""
        yield f"{_errors(counts.error)}, {int(allowed)} allowed{share}"
    if config.max_na is not None and counts.na > exact(config.max_na) * counts.ran:
        yield f"{counts.na} of {counts.ran} verdicts were not applicable, {config.max_na:g} of them allowed"
    if config.max_cost_per_case is not None:
        yield from _cost_failures(config.max_cost_per_case, totals)


def _cost_failures(allowed: float, totals: Totals) -> Iterator[str]:
    cost = totals.cost.per_case_net
    if cost is None or totals.priced_outputs < totals.outputs:
        models = ", ".join(totals.cost.unpriced_models) or "any output"
        known = "" if cost is None else f" for {totals.outputs - totals.priced_outputs} of {totals.outputs} outputs"
        yield (
            f"the cost per case is not known{known} (no price for {models}), ${allowed:g} allowed; "
            "add the price, or take max_cost_per_case out"
        )
    elif cost == 0 and not totals.sampling_calls:
        yield (
            f"the cost per case is not known: the target told of no cost and of no call, ${allowed:g} allowed; "
            "return an Output with its `cost`, or take max_cost_per_case out"
        )
    elif Fraction(cost) > exact(allowed):
        yield f"a case costs ${float(cost):.6g}, ${allowed:g} allowed"


def _against(rule: BaselineGate, baseline: Comparison | str | None) -> tuple[list[str], str]:
    """(reasons to fail, what to say where there are none)."""
    if isinstance(baseline, str):
        return [], baseline
    if baseline is None:
        return ["its `baseline` cannot be judged: name the run to hold it against with `--verica-baseline RUN`"], ""
    pairs, left_out = baseline.total, _left_out(baseline)
    if pairs.both + pairs.first_only == 0:
        return [f"nothing that passed in {baseline.run} can be compared with it{left_out}"], ""
    if rule.alpha is None:
        return _regressions(rule.max_regressions or 0, baseline, left_out)
    p_values = {name: mcnemar_exact(part.first_only, part.second_only) for name, part in baseline.pairs.items()}
    worse = []
    for name, p in holm(p_values).items():
        part = baseline.pairs[name]
        if part.first_only > part.second_only and p <= rule.alpha:
            corrected = f", with Holm's correction over {len(p_values)} criteria" if len(p_values) > 1 else ""
            worse.append(
                f"{name}: {part.first_only} of {part.n} pairs passed in {baseline.run} and fail now, "
                f"{part.second_only} the other way round; p = {p:.4g} (exact McNemar{corrected}), "
                f"{rule.alpha:g} is the limit{left_out}"
            )
    plain = (
        f"{pairs.first_only} of {pairs.n} pairs became worse than in {baseline.run} and {pairs.second_only} better: no "
        f"criterion significantly at {rule.alpha:g} (exact McNemar){left_out}"
    )
    return worse, plain


def _regressions(allowed: int, baseline: Comparison, left_out: str) -> tuple[list[str], str]:
    found, pairs = baseline.regressions, baseline.total
    said = (
        f"{len(found)} of {pairs.n} pairs passed in {baseline.run} and fail now, {allowed} allowed, "
        f"{pairs.second_only} the other way round{left_out}"
    )
    if len(found) <= allowed:
        return [], said
    more = len(found) - _MOST_REGRESSIONS
    named = ", ".join(found[:_MOST_REGRESSIONS]) + (f" and {more} more" if more > 0 else "")
    return [f"{said}: {named}"], ""


def _left_out(baseline: Comparison) -> str:
    """What was not compared, and why."""
    parts = []
    if baseline.cases < baseline.of:
        parts.append(f"{baseline.of - baseline.cases} of {baseline.of} cases are new or changed")
    if baseline.changed:
        parts.append(f"changed criteria: {', '.join(baseline.changed)}")
    if baseline.absent:
        parts.append(f"criteria that it has not: {', '.join(baseline.absent)}")
    return f"; not compared: {'; '.join(parts)}" if parts else ""


def _bound(config: GateConfig, counts: Counts) -> float | None:
    if config.confidence is None:
        return None
    return wilson_lower(counts.passed, counts.graded, confidence=config.confidence, effective_n=counts.effective_n)


def _worth(counts: Counts) -> str:
    worth = counts.effective_n
    return "" if worth is None or worth >= counts.graded else f"; {counts.graded} worth {worth:.1f} independent ones"


def _numbers(config: GateConfig, totals: Totals, judged: _Judged) -> dict[str, Any]:
    """What was compared with what."""
    counts, cost = judged.counts, totals.cost.per_case_net
    return {
        "pass_rate": config.pass_rate,
        "min_passes": None if config.repeat is None else config.repeat.min_passes,
        "passed": counts.passed,
        "graded": counts.graded,
        "rate": None if counts.rate is None else float(counts.rate),
        "lower_bound": _bound(config, counts),
        "errors": totals.counts.error,
        "na": totals.counts.na,
        "cost_per_case": None if cost is None else float(cost),
    }


def _baseline_numbers(config: GateConfig, baseline: Comparison | str | None) -> dict[str, Any]:
    if config.baseline is None or baseline is None or isinstance(baseline, str):
        return {}
    criteria = {
        name: {
            "pairs": part.n,
            "regressions": part.first_only,
            "fixed": part.second_only,
            "p": mcnemar_exact(part.first_only, part.second_only),
        }
        for name, part in baseline.pairs.items()
    }
    total = baseline.total
    return {
        "baseline": {
            "run": baseline.run,
            "pairs": total.n,
            "regressions": total.first_only,
            "fixed": total.second_only,
            "cases": baseline.cases,
            "criteria": criteria,
            "changed": list(baseline.changed),
            "absent": list(baseline.absent),
        }
    }


def _rate_sentence(counts: Counts, wanted: float, how: str = "") -> str:
    assert counts.rate is not None
    rate, limit = counts.rate, exact(wanted)
    digits = 1
    # Rounded alike, a rate just under the threshold would read as one that reaches it.
    while digits < 6 and rate != limit and _percent(rate, digits) == _percent(limit, digits):
        digits += 1
    return (
        f"{counts.passed} of {counts.graded} passed{how} ({_percent(rate, digits)}), {_percent(limit, digits)} wanted"
    )


def _percent(rate: Fraction, digits: int = 1) -> str:
    text = f"{float(rate * 100):.{digits}f}"
    return f"{text.rstrip('0').rstrip('.') if '.' in text else text} %"


def _errors(count: int) -> str:
    return "1 error" if count == 1 else f"{count} errors"
