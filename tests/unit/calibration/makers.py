"""Judged outputs and labels made by hand, for the tests of this folder."""

from __future__ import annotations

from pytest_verica.calibration.judged import JudgedOutput, JudgedRun
from pytest_verica.calibration.label import Draw, Label
from pytest_verica.run import CriterionRecord, EvalRecord, RunHeader

HASH = "judge-1"


def outputs(passes: int, fails: int, start: int = 0) -> tuple[JudgedOutput, ...]:
    """`passes` outputs that the judge passes, then `fails` that it fails."""
    return tuple(
        JudgedOutput(f"case-{i}", f"output-{i}", i - start < passes) for i in range(start, start + passes + fails)
    )


def judged_run(
    found: tuple[JudgedOutput, ...], *, judge_hash: str = HASH, kind: str = "label_model", pass_at: float | None = None
) -> JudgedRun:
    config = {} if pass_at is None else {"pass_at": pass_at}
    criterion = CriterionRecord("tone", "tone", kind, config, "criterion-1", judge_hash=judge_hash)
    record = EvalRecord("e.eval.yaml", "e", "e.eval.yaml", "file", (criterion,), len(found), len(found))
    return JudgedRun(RunHeader("run-1", "2026-01-01T00:00:00Z"), record, criterion, found)


def label(
    output: JudgedOutput,
    person: bool | None,
    *,
    labeller: str = "ada",
    judge_hash: str | None = HASH,
    draw: Draw | None = None,
    time: str = "2026-01-02T00:00:00Z",
) -> Label:
    """person: None is skipped."""
    verdict = "skipped" if person is None else "pass" if person else "fail"
    drawn = Draw() if draw is None else draw
    return Label(
        "e.eval.yaml", "tone", output.case, output.output_hash, verdict, labeller, time, judge_hash, draw=drawn
    )


def confused(tp: int, fn: int, fp: int, tn: int, start: int = 0) -> list[tuple[JudgedOutput, bool]]:
    """Outputs with the person's verdict, in these numbers."""
    cells = [(True, True)] * tp + [(True, False)] * fn + [(False, True)] * fp + [(False, False)] * tn
    return [(JudgedOutput(f"case-{i}", f"output-{i}", judge), person) for i, (person, judge) in enumerate(cells, start)]


def strata(passes: int, judged: int, output: JudgedOutput) -> Draw:
    return Draw("queue", "pass" if output.passed else "fail", 1, 0, passes, judged, "run-1")
