"""Gates before launch: one that cannot be passed, or cannot fail, whatever the run brings, is told of here."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from pytest_verica.evals.gate import BaselineGate, GateConfig
from pytest_verica.stats.mcnemar import least_significant
from pytest_verica.stats.proportion import perfect_needed, wilson_lower


@dataclass(frozen=True)
class Planned:
    """What a gate will be judged on. verdicts: of the whole eval (or of the sample that was asked for) by criterion,
    repeats included; repeat: samples per case; costs: whether producing outputs can cost anything; sample: the number
    of cases of `--verica-sample`, None where all run; judges: criteria that ask a model, None where not known."""

    verdicts: Mapping[str, int]
    repeat: int = 1
    costs: bool = True
    sample: int | None = None
    judges: int | None = None

    @property
    def total(self) -> int:
        return sum(self.verdicts.values())


def check_gate(config: GateConfig, planned: Planned) -> list[str]:
    """What makes a gate impossible to pass, or to fail: sentences, none where it is sane."""
    problems = [*_unknown_criteria(config, planned.verdicts)]
    if planned.total == 0:
        return [*problems, "the gate has no verdicts to judge: the eval has no criteria or no cases"]
    where = "" if planned.sample is None else f" (with `--verica-sample {planned.sample}`)"
    problems += [f"{problem}{where}" for problem in _impossible(config, planned)]
    return problems


def _unknown_criteria(config: GateConfig, known: Mapping[str, int]) -> Iterator[str]:
    for name in config.criteria:
        if name not in known:
            near = difflib.get_close_matches(name, known, 1)
            hint = f"did you mean {near[0]!r}? " if near else ""
            names = ", ".join(known) or "none"
            yield f"the gate names a criterion {name!r} that the eval has not; {hint}It has: {names}"


def _impossible(config: GateConfig, planned: Planned) -> Iterator[str]:
    total = planned.total
    if config.min_graded > total:
        yield (
            f"the gate cannot be passed: min_graded is {config.min_graded} and the eval has {total} verdicts; "
            f"write {total} at most, or add cases"
        )
    if isinstance(config.max_errors, int) and config.max_errors >= total:
        yield (
            f"the gate cannot fail for errors: max_errors is {config.max_errors} and the eval has {total} verdicts; "
            "write a smaller count, or a fraction such as 0.02"
        )
    if config.repeat is not None and config.repeat.min_passes > planned.repeat:
        yield (
            f"the gate cannot be passed: repeat.min_passes is {config.repeat.min_passes} and each case is sampled "
            f"{planned.repeat} times; raise `repeat` of the eval (or `--verica-repeat`), or lower min_passes"
        )
    if config.calibrated and planned.judges == 0:
        yield (
            "the gate cannot be passed: it is `calibrated`, and no criterion of the eval asks a model; there is "
            "nothing to calibrate, take it out"
        )
    if config.max_cost_per_case is not None and not planned.costs:
        yield (
            "the gate cannot fail for its cost: max_cost_per_case is about producing outputs, and this target's cost "
            "nothing that is known (a column, a record or an HTTP endpoint); take it out"
        )
    yield from _unreachable_bound(config, total // planned.repeat)


def _unreachable_bound(config: GateConfig, independent: int) -> Iterator[str]:
    """Whether a perfect record would reach pass_rate with the confidence asked for."""
    if config.confidence is None:
        return
    start = "the gate cannot be passed: with "
    needed = perfect_needed(config.pass_rate, config.confidence)
    if needed is None:
        yield (
            f"{start}confidence no number of verdicts shows a rate of {config.pass_rate:g}; "
            "write a pass_rate below 1, such as 0.95, or take confidence out"
        )
    elif independent < needed:
        best = wilson_lower(independent, independent, confidence=config.confidence) or 0.0
        yield (
            f"{start}{independent} verdicts, all passed, the lower bound is {best:.4f}, under the pass_rate "
            f"{config.pass_rate:g}; {needed} are needed at confidence {config.confidence:g}: add cases, or lower "
            "pass_rate"
        )


def check_baseline(config: BaselineGate, run: str, passed: Mapping[str, int]) -> str | None:
    """Why a gate's `baseline` could never fail against this run, None where it can.

    run: as people name it; passed: verdicts that passed in it, by criterion, of the criteria that are the same now.
    """
    if not any(passed.values()):
        return (
            f"the gate's baseline cannot fail: no verdict of {run} that passed has a criterion that is the same now; "
            "choose another run, or make a first one with `--verica-baseline none`"
        )
    most = sum(passed.values())
    if config.max_regressions is not None and config.max_regressions >= most:
        return (
            f"the gate's baseline cannot fail: max_regressions is {config.max_regressions}, and {most} verdicts passed "
            f"in {run}; write less"
        )
    if config.alpha is not None:
        needed = least_significant(config.alpha / len(passed))
        if max(passed.values()) < needed:
            return (
                f"the gate's baseline cannot fail: at alpha {config.alpha:g} over {len(passed)} criteria {needed} "
                f"regressions of one of them are needed, and {max(passed.values())} passed in {run}; add cases, or "
                "write max_regressions"
            )
    return None
