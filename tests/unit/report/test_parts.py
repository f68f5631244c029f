"""What stands inside a judge's verdicts, counted; the sentences of the summary."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from pytest_verica.report.json_report import write_report
from pytest_verica.report.parts import PairCounts, PartTally
from pytest_verica.report.schema import report_schema
from pytest_verica.report.summary import read_run
from tests.unit.report.journals import END, EVAL, HEADER, case, eval_record, judged, verdict, write


def rubric(**items: bool) -> dict[str, Any]:
    return {"rubric": {name: {"reasoning": "", "met": met} for name, met in items.items()}, "met": 0, "items": 2}


def pair(one: str, other: str) -> dict[str, Any]:
    orders = [{"first": "a", "better": one, "reasoning": ""}, {"first": "b", "better": other, "reasoning": ""}]
    changed = one != other
    return {"pairs": [{"label": "tie" if changed else one, "changed_mind": changed, "orders": orders}]}


def tallied(*details: Any) -> Any:
    tally = PartTally()
    for each in details:
        tally.add(each, 1)
    return tally.parts()


def test_items_are_counted_each_by_its_own_denominator() -> None:
    parts = tallied(rubric(a=True, b=False), rubric(a=True, b=True), rubric(a=False))
    assert parts.to_json() == {"rubric": {"a": {"met": 2, "judged": 3}, "b": {"met": 1, "judged": 2}}}
    assert parts.sentences() == ["a: met in 2 of 3", "b: met in 1 of 2"]


SENTENCES = [
    # (judged, changed, choices of the first shown, ties), what the summary says
    ((3, 3, 6, 0), "in 0 of 3 pairs, always the answer shown first: it cannot tell the two apart"),
    ((3, 3, 0, 0), "in 0 of 3 pairs, always the answer shown second: it cannot tell the two apart"),
    ((4, 2, 5, 0), "in 2 of 4 pairs: it cannot tell the two apart (a coin would choose the same in half of them)"),
    ((4, 1, 4, 0), "the judge chose the same in both orders in 3 of 4 pairs"),
    ((2, 0, 0, 4), "the judge chose the same in both orders in 2 of 2 pairs"),  # ties that it called itself
    ((2, 2, 2, 2), "in 0 of 2 pairs: it cannot tell the two apart"),
]


@pytest.mark.parametrize(("counts", "says"), SENTENCES)
def test_what_the_pairs_say_about_the_judge(counts: tuple[int, int, int, int], says: str) -> None:
    sentence = PairCounts(*counts).sentence()
    assert says in sentence
    assert ("cannot tell" in sentence) is ("cannot tell" in says)


def test_pairs_and_their_sides() -> None:
    parts = tallied(pair("a", "b"), pair("a", "a"), pair("tie", "tie"), pair("tie", "b"))
    assert parts.to_json() == {"pairs": {"judged": 4, "changed_mind": 2, "first": 4, "ties": 3}}
    assert tallied({"pairs": []}) is None  # the same text twice: nobody was asked


FOREIGN = [
    {"rubric": "a text"},
    {"rubric": {"a": 1, "b": {"met": "yes"}, "c": {}}},
    {"pairs": 3},
    {"pairs": [1, {"label": "a"}]},
    {"calls": 1, "broken": []},
]


@pytest.mark.parametrize("details", FOREIGN)
def test_details_of_another_grader_are_not_counted(details: dict[str, Any]) -> None:
    assert tallied(details) is None


def test_the_report_and_a_rerun(tmp_path: Path) -> None:
    """A rerun's verdict takes the place of the earlier one, in the items as in the outcomes."""
    import json

    import jsonschema

    lines = [
        HEADER,
        eval_record(criteria=("complete", "better", "plain")),
        *(case(number) for number in (1, 2)),
        verdict(1, "complete", "fail", **judged(details=rubric(a=True, b=False))),
        verdict(2, "complete", "pass", **judged(details=rubric(a=True, b=True))),
        verdict(1, "better", "fail", **judged(details=pair("a", "b"))),
        verdict(1, "plain", "pass", details={"calls": 1}),
        verdict(1, "complete", "pass", **judged(details=rubric(a=True, b=True))),
        END,
    ]
    journal = write(tmp_path / "journal.jsonl", lines)
    totals = read_run(journal).evals[EVAL].totals
    parts = totals.criteria["complete"].parts
    assert parts is not None
    assert parts.to_json() == {"rubric": {"a": {"met": 2, "judged": 2}, "b": {"met": 2, "judged": 2}}}
    assert totals.criteria["plain"].parts is None and totals.counts.parts is None
    write_report(journal, tmp_path / "report.json")
    report = json.loads((tmp_path / "report.json").read_text())
    jsonschema.validate(report, report_schema())
    criteria = report["evals"][0]["totals"]["criteria"]
    assert criteria["complete"]["rubric"]["b"] == {"met": 2, "judged": 2}
    assert criteria["better"]["pairs"] == {"judged": 1, "changed_mind": 1, "first": 2, "ties": 0}
    assert not {"rubric", "pairs"} & criteria["plain"].keys()
