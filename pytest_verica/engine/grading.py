"""One case from nothing to its grades: sampled once, its criteria graded side by side. Whatever breaks is an error."""

from __future__ import annotations

import asyncio
import time
import traceback
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from pytest_verica.engine.meter import CaseClock, Meter, OutOfTime
from pytest_verica.engine.overrides import Overrides
from pytest_verica.engine.plan import Job
from pytest_verica.engine.sampling import Sampler, in_thread, recorded_output
from pytest_verica.errors import MissingOutput, ProviderError, TargetError
from pytest_verica.evals.target import ColumnTarget, RecordTarget
from pytest_verica.grade import Grade, GradeError
from pytest_verica.graders.criterion import Criterion
from pytest_verica.graders.protocol import Ask
from pytest_verica.graders.spending import spent
from pytest_verica.output import Output

_LEEWAY_S = 30.0
"""Beyond a check's own time limit: only what escapes that limit meets this one."""


@dataclass(frozen=True)
class CaseResult:
    """What became of one sample of a case. output: None where it could not be produced, then target_error says why
    and every grade is that error; grades: by criterion id; calls_in_vain: model calls that gave no output; taken_from:
    criterion id → id of the run that a whole verdict was taken from, for those that were not made now."""

    output: Output | None
    target_error: GradeError | None
    grades: Mapping[str, Grade] = field(default_factory=dict)
    calls_in_vain: int = 0
    taken_from: Mapping[str, str] = field(default_factory=dict)


def failed_case(job: Job, error: GradeError, calls: int = 0) -> CaseResult:
    """A case without an output: every criterion is an error, negated or not."""
    grades = {
        criterion.id: Grade("error", explanation=error.message, error=error, judge_hash=criterion.judge_hash)
        for criterion in job.criteria
    }
    return CaseResult(None, error, grades, calls)


def target_error(error: BaseException) -> GradeError:
    """Any exception of a target, as the error that its criteria report."""
    if isinstance(error, (TargetError, ProviderError)):
        tried = f" (after {error.attempts} attempts)" if isinstance(error, ProviderError) and error.attempts > 1 else ""
        return GradeError(error.kind, f"no output: {error}{tried}", error.raw)
    if isinstance(error, MissingOutput):
        return GradeError("template", f"no output: {error}")
    text = "".join(traceback.format_exception(type(error), error, error.__traceback__))
    return GradeError("internal", f"no output: {type(error).__name__}: {error}", text)


def grade_recorded(job: Job, overrides: Overrides) -> CaseResult:
    """An offline case, graded where it is asked for: no loop, no thread."""
    target = job.eval.config.target
    assert isinstance(target, (ColumnTarget, RecordTarget))
    try:
        output = overrides.sampled(job.eval, job.case) or recorded_output(target, job.case)
    except Exception as error:  # noqa: BLE001 - a crash is an error verdict with a name and a place
        return failed_case(job, target_error(error))
    return grade_inline(job, output, overrides)


def grade_inline(job: Job, output: Output, overrides: Overrides) -> CaseResult:
    """Grades an output by criteria that need neither the loop nor a thread."""
    return CaseResult(output, None, {c.id: _timed(c, job, output, overrides) for c in job.criteria})


def _timed(criterion: Criterion, job: Job, output: Output, overrides: Overrides) -> Grade:
    started = time.perf_counter()
    grade = overrides.graded(criterion, job.case, output) or criterion.grade(job.case, output)
    object.__setattr__(grade, "duration_s", time.perf_counter() - started)  # fresh, not shared yet
    return grade


async def run_case(job: Job, sampler: Sampler, ask: Ask, overrides: Overrides) -> CaseResult:
    """Samples the case, then grades it, within the case's time."""
    clock = CaseClock(job.eval.config.timeout)
    meter = Meter(clock)
    try:
        given = overrides.sampled(job.eval, job.case)
        if given is not None:
            output = given
        else:
            output = await clock.within(sampler(job.case, job.sample, meter.reading(ask)))
    except asyncio.CancelledError:
        raise
    except OutOfTime:
        return failed_case(job, GradeError("timeout", _too_long(clock)), meter.in_vain)
    except Exception as error:  # noqa: BLE001 - a crash is an error verdict with a name and a place
        return failed_case(job, target_error(error), meter.in_vain)
    return await grade_output(job, output, ask, overrides, clock)


async def grade_output(
    job: Job, output: Output, ask: Ask, overrides: Overrides, clock: CaseClock | None = None
) -> CaseResult:
    """Grades an output by every selected criterion; those that wait for something wait side by side. Those that are
    not done when the case's time is up are errors: the output and the other verdicts stand. clock: a fresh one where
    None."""
    clock = clock or CaseClock(job.eval.config.timeout)
    grades: dict[str, Grade] = {}
    waiting: dict[str, tuple[Criterion, Meter, asyncio.Task[Grade]]] = {}
    for criterion in job.criteria:
        if criterion.kind.runs == "inline":
            grades[criterion.id] = _timed(criterion, job, output, overrides)
        elif (overridden := overrides.graded(criterion, job.case, output)) is not None:
            grades[criterion.id] = overridden
        else:
            meter = Meter(clock)
            task = asyncio.ensure_future(_grade_waiting(criterion, job, output, meter.reading(ask), meter))
            waiting[criterion.id] = (criterion, meter, task)
    try:
        unfinished = await clock.unfinished(task for _, _, task in waiting.values())
        for criterion_id, (criterion, meter, task) in waiting.items():
            grades[criterion_id] = _cut_short(criterion, meter) if task in unfinished else task.result()
    finally:
        for _, _, task in waiting.values():
            task.cancel()
    return CaseResult(output, None, grades)


async def _grade_waiting(criterion: Criterion, job: Job, output: Output, ask: Ask, meter: Meter) -> Grade:
    started = time.perf_counter()
    try:
        if criterion.kind.runs == "model":
            grade = await criterion.judge(job.case, output, ask)
        else:
            limit = float(getattr(criterion.config, "timeout_s", 0.0)) + _LEEWAY_S
            grade = await in_thread(lambda: criterion.grade(job.case, output), limit)
    except asyncio.CancelledError:
        raise
    except Exception as error:  # noqa: BLE001 - a crash is an error verdict with a name and a place
        grade = Grade.failed_to_judge("internal", f"{type(error).__name__}: {error}", traceback.format_exc())
    if grade.outcome == "error" and not grade.calls and not grade.reused_calls:
        grade = replace(grade, **_paid(criterion, meter))  # it crashed with answers in hand
    return replace(grade, duration_s=time.perf_counter() - started)


def _cut_short(criterion: Criterion, meter: Meter) -> Grade:
    """The grade of a criterion that the case's time did not suffice for; what it had paid for is on it."""
    seconds = meter.clock.seconds
    return Grade.failed_to_judge(
        "timeout",
        _too_long(meter.clock),
        judge_hash=criterion.judge_hash,
        duration_s=seconds,
        **_paid(criterion, meter),
    )


def _paid(criterion: Criterion, meter: Meter) -> dict[str, Any]:
    model = getattr(criterion.grader, "model", None)
    return {} if model is None else spent(model, meter.answers, meter.in_vain)


def _too_long(clock: CaseClock) -> str:
    return f"the case took longer than {clock.seconds:g} s (`timeout` of the eval)"
