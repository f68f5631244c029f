"""Reading a judge from a saved run: what is usable, and a rubric's items as judges of their own."""

from __future__ import annotations

import pytest

from pytest_verica.calibration.finding import find_judges
from pytest_verica.calibration.judged import read_judged
from pytest_verica.errors import StoreError
from pytest_verica.grade import Grade
from pytest_verica.output import Output
from pytest_verica.run import CaseRecord, CriterionRecord, EvalRecord, RunEnd, RunHeader, VerdictRecord
from pytest_verica.store.folder import RunFolder
from tests.unit.report.journals import write

EVAL = "a.eval.yaml"


def verdict(n: int, grade: Grade, sample: int = 0) -> VerdictRecord:
    return VerdictRecord(EVAL, f"c{n}", "tone", sample, f"{EVAL}::c{n}::tone", grade.to_json(), "passed")


def case(n: int, text: str | None, sample: int = 0) -> CaseRecord:
    output = None if text is None else Output(text).to_json()
    return CaseRecord(EVAL, f"c{n}", f"c{n}", n, sample, {"q": n}, output)


def run_of(root, records, repeat=1):
    kept = CriterionRecord("tone", "tone", "rubric_model", {}, "h", None, "j")
    header, record = RunHeader("r", "2026-01-01T00:00:00Z"), EvalRecord(EVAL, "a", EVAL, "file", (kept,), 9, 9)
    return write(
        RunFolder.create(root, "20260101-000000-aaaa").journal,
        [header, record, *records, RunEnd("2026-01-01T00:00:00Z", 0)],
    )


def test_only_verdicts_of_the_judge_on_an_output_are_usable(tmp_path):
    good = {"judge_hash": "j"}
    journal = run_of(
        tmp_path,
        [
            *[case(n, f"text {n}") for n in range(5)],
            case(5, None),
            verdict(1, Grade.of(False, "no", **good)),
            verdict(0, Grade.of(True, "yes", **good)),
            verdict(2, Grade.na("blank", **good)),
            verdict(3, Grade.failed_to_judge("refusal", "no", **good)),
            verdict(4, Grade.of(True, "by its run condition", evaluated=False, **good)),
            verdict(5, Grade.failed_to_judge("timeout", "no output", **good)),
        ],
    )
    (run,) = read_judged(journal)
    assert [(output.case, output.passed) for output in run.outputs] == [("c0", True), ("c1", False)]
    assert (run.unusable, run.passes) == (4, 1)
    assert run.case(run.outputs[1]).columns == {"q": 1}


def test_the_same_answer_twice_is_one_output(tmp_path):
    good = {"judge_hash": "j"}
    records = [case(0, "same", s) for s in (0, 1)] + [case(0, "other", 2)]
    records += [verdict(0, Grade.of(True, "yes", **good), s) for s in (0, 1, 2)]
    (run,) = read_judged(run_of(tmp_path, records))
    assert [output.sample for output in run.outputs] == [0, 2]


def test_a_verdict_given_again_replaces_the_first(tmp_path):
    records = [
        case(0, "text"),
        verdict(0, Grade.of(True, "", judge_hash="j")),
        verdict(0, Grade.of(False, "", judge_hash="j")),
    ]
    (run,) = read_judged(run_of(tmp_path, records))
    assert [output.passed for output in run.outputs] == [False]


def test_each_item_of_a_rubric_is_a_judge(tmp_path):
    def grade(polite: bool, short: bool) -> Grade:
        items = {"polite": {"met": polite, "reasoning": "p"}, "short": {"met": short, "reasoning": "s"}}
        return Grade.of(polite and short, "", details={"rubric": items}, judge_hash="j")

    records = [case(0, "a"), case(1, "b"), verdict(0, grade(True, True)), verdict(1, grade(True, False))]
    whole, polite, short = read_judged(run_of(tmp_path, records))
    assert [run.criterion.id for run in (whole, polite, short)] == ["tone", "tone.polite", "tone.short"]
    assert [[output.passed for output in run.outputs] for run in (whole, polite, short)] == [
        [True, False],
        [True, True],
        [True, False],
    ]
    assert short.outputs[1].reasoning == "s"
    assert [run.criterion.id for run in find_judges(tmp_path, "a", "tone.short")] == ["tone.short"]
    assert len(find_judges(tmp_path, "a")) == 3
    with pytest.raises(StoreError, match=r"no item 'tone\.long'; there are: tone, tone\.polite, tone\.short"):
        find_judges(tmp_path, "a", "tone.long")
