"""Run against run: which cases are comparable, what the difference is, and what flipped."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from scipy import stats
from statsmodels.stats.contingency_tables import mcnemar
from statsmodels.stats.proportion import proportion_confint

from pytest_verica.compare.changes import prompt_text
from pytest_verica.compare.comparison import Line, RunComparison, compare_runs
from pytest_verica.compare.sides import flipped_sides
from pytest_verica.errors import StoreError
from pytest_verica.report.json_report import write_report
from pytest_verica.report.saved import find_run
from pytest_verica.run import CriterionRecord, EvalRecord, Git, Record, RunEnd
from tests.unit.report.journals import EVAL, case, eval_record, verdict
from tests.unit.report.kept_runs import FIRST, MODEL, SECOND, header, keep

A, B = FIRST, SECOND


def run(
    root: Path,
    run_id: str,
    outcomes: Mapping[str, Sequence[str]],
    *,
    columns: Mapping[int, Any] | None = None,
    samples: int = 1,
    start: Mapping[str, Any] | None = None,
    **more: Any,
) -> None:
    """A run whose criteria have these outcomes (p, f, n, e), by case, or by case and sample one after the other."""
    words = {"p": "pass", "f": "fail", "n": "na", "e": "error"}
    count = max(map(len, outcomes.values())) // samples
    kept: list[Record] = [header(run_id, **(start or {}))]
    kept.append(eval_record(criteria=list(outcomes), rows=count, repeat=samples, **{"golden_set_hash": "a", **more}))
    for number in range(1, count + 1):
        own = (columns or {}).get(number, {"n": number})
        if own is None:
            continue
        for sample in range(samples):
            kept.append(case(number, sample=sample, columns=own))
            for name, told in outcomes.items():
                letter = told[(number - 1) * samples + sample]
                if letter != "-":
                    kept.append(verdict(number, name, words[letter], sample=sample))
    kept.append(RunEnd("2026-12-01T10:16:30Z", 0))
    keep(root, run_id, kept)


def compared(root: Path, **more: Any) -> RunComparison:
    return compare_runs(find_run(root, A), find_run(root, B), **more)


def lines(root: Path, **more: Any) -> dict[str, Line]:
    (each,) = compared(root, **more).evals
    return {line.criterion: line for line in each.lines}


def newcombe(both: int, first: int, second: int, neither: int) -> tuple[float, float]:
    """Newcombe's method 10, of statsmodels' Wilson bounds."""
    n = both + first + second + neither
    a, b = both + first, both + second
    (low_a, high_a), (low_b, high_b) = (proportion_confint(passed, n, method="wilson") for passed in (a, b))
    margins = a * (n - a) * b * (n - b)
    excess = both * neither - first * second
    phi = 0.0 if not margins else (max(excess - n / 2, 0) if excess > 0 else excess) / math.sqrt(margins)

    def reach(one: float, other: float) -> float:
        return math.sqrt(one**2 - 2 * phi * one * other + other**2)

    estimate = (b - a) / n
    return (
        estimate - reach(b / n - low_b, high_a - a / n),
        estimate + reach(high_b - b / n, a / n - low_a),
    )


@pytest.mark.parametrize(
    ("both", "first", "second", "neither"), [(20, 1, 9, 10), (40, 3, 12, 5), (30, 0, 6, 0), (10, 2, 0, 3), (5, 0, 0, 0)]
)
def test_a_line_is_what_other_programs_say(tmp_path: Path, both: int, first: int, second: int, neither: int) -> None:
    run(tmp_path, A, {"tone": "p" * both + "p" * first + "f" * second + "f" * neither})
    run(tmp_path, B, {"tone": "p" * both + "f" * first + "p" * second + "f" * neither})
    line = lines(tmp_path)["tone"]
    n = both + first + second + neither
    assert (line.rate_a, line.rate_b) == pytest.approx(((both + first) / n, (both + second) / n))
    assert line.p == pytest.approx(float(mcnemar([[both, first], [second, neither]], exact=True).pvalue))
    assert line.difference is not None
    assert line.difference.estimate == pytest.approx((second - first) / n)
    assert (line.difference.low, line.difference.high) == pytest.approx(newcombe(both, first, second, neither))
    (each,) = compared(tmp_path).evals
    assert [flip.fixed for flip in each.flips].count(True) == second
    assert [flip.fixed for flip in each.flips].count(False) == first


def test_with_samples_the_case_is_the_unit(tmp_path: Path) -> None:
    run(tmp_path, A, {"tone": "ppp" + "ppf" + "fff" + "pff" + "nnn"}, samples=3)
    run(tmp_path, B, {"tone": "ppp" + "pff" + "ppf" + "ppn" + "ppp"}, samples=3)
    line = lines(tmp_path)["tone"]
    before, after = [1, 2 / 3, 0, 1 / 3], [1, 1 / 3, 2 / 3, 1]
    wanted = stats.ttest_rel(after, before).confidence_interval(0.95)
    assert line.difference is not None
    assert (line.rate_a, line.rate_b) == pytest.approx((0.5, 0.75))
    assert line.difference.estimate == pytest.approx(0.25)
    assert (line.difference.low, line.difference.high) == pytest.approx(
        (max(-1, wanted.low), min(1, wanted.high)), abs=1e-9
    )
    # By what most samples say: passed, passed, failed, failed against passed, failed, passed, passed.
    assert (line.pairs.both, line.pairs.first_only, line.pairs.second_only, line.ungraded) == (1, 1, 2, 1)


def test_all_criteria_together_have_the_case_for_unit(tmp_path: Path) -> None:
    run(tmp_path, A, {"amount": "ppff", "tone": "pfpf"})
    run(tmp_path, B, {"amount": "pppf", "tone": "ppff"})
    line = lines(tmp_path)[""]
    wanted = stats.ttest_rel([1, 1, 0.5, 0], [1, 0.5, 0.5, 0]).confidence_interval(0.95)
    assert line.difference is not None
    assert (line.rate_a, line.rate_b, line.p, line.cases) == (0.5, 0.625, None, 4)
    assert (line.difference.low, line.difference.high) == pytest.approx((wanted.low, wanted.high))
    assert (line.pairs.first_only, line.pairs.second_only) == (1, 2)


def test_what_is_not_graded_on_both_sides_is_out_and_counted(tmp_path: Path) -> None:
    run(tmp_path, A, {"tone": "pnefp-"})
    run(tmp_path, B, {"tone": "fpppnp"})
    line = lines(tmp_path)["tone"]
    assert (line.cases, line.ungraded, line.rate_a, line.rate_b) == (2, 4, 0.5, 0.5)


def test_nothing_graded_is_no_number(tmp_path: Path) -> None:
    run(tmp_path, A, {"tone": "nn"})
    run(tmp_path, B, {"tone": "ee"})
    line = lines(tmp_path)["tone"]
    assert (line.rate_a, line.rate_b, line.difference, line.p, line.ungraded) == (None, None, None, None, 2)


def test_only_cases_with_the_same_content_are_compared(tmp_path: Path) -> None:
    run(tmp_path, A, {"tone": "pppf"}, columns={4: None})
    run(tmp_path, B, {"tone": "ffff"}, columns={2: {"n": "other"}, 3: {"n": 3}}, golden_set_hash="b")
    (each,) = compared(tmp_path).evals
    assert each.paired.common == ("row-0001", "row-0003")
    assert (each.paired.changed, each.paired.only_a, each.paired.only_b) == (("row-0002",), (), ("row-0004",))
    assert [flip.case for flip in each.flips] == ["row-0001", "row-0003"]
    assert "golden set" in [change.what for change in each.changed]


def test_another_golden_set_is_refused(tmp_path: Path) -> None:
    run(tmp_path, A, {"tone": "pp"})
    run(tmp_path, B, {"tone": "pp"}, columns={1: {"n": "x"}, 2: {"n": "y"}}, golden_set_hash="b")
    with pytest.raises(StoreError, match=r"no case in common: 2 have the same id and other columns, 0 are only in A"):
        compared(tmp_path)


def test_a_column_that_holds_the_output_makes_no_other_case(tmp_path: Path) -> None:
    """Recorded answers: the golden set of each run holds its own."""
    run(tmp_path, A, {"tone": "pf"}, columns={1: {"q": "1", "a": "answer 1"}, 2: {"q": "2", "a": "answer 2"}})
    run(tmp_path, B, {"tone": "pp"}, columns={1: {"q": "1", "b": "answer 1"}, 2: {"q": "2", "b": "answer 2"}})
    assert lines(tmp_path)["tone"].cases == 2


def test_the_columns_that_matter_can_be_named(tmp_path: Path) -> None:
    run(tmp_path, A, {"tone": "pf"}, columns={1: {"q": "1", "rating": 1}, 2: {"q": "2", "rating": 2}})
    run(tmp_path, B, {"tone": "pp"}, columns={1: {"q": "1", "rating": 5}, 2: {"q": "2", "rating": 5}})
    with pytest.raises(StoreError, match="--on COLUMN"):
        compared(tmp_path)
    assert lines(tmp_path, on=["q"])["tone"].cases == 2


def change_of(root: Path, what: str) -> tuple[Any, Any, tuple[str, ...]]:
    (each,) = compared(root).evals
    change = next(change for change in each.changed if change.what == what)
    return change.a, change.b, change.diff


def test_a_prompt_is_shown_as_a_diff(tmp_path: Path) -> None:
    before = {"system": "You answer.\nUse Markdown.\nBe brief.", "user": "{{ q }}"}
    after = {"system": "You answer.\nBe brief.", "user": "{{ q }}"}
    run(tmp_path, A, {"tone": "p"}, prompt=before, prompt_hash="1")
    run(tmp_path, B, {"tone": "p"}, prompt=after, prompt_hash="2")
    _, _, diff = change_of(tmp_path, "prompt")
    assert diff == (
        "--- A",
        "+++ B",
        "@@ -1,5 +1,4 @@",
        " [system]",
        " You answer.",
        "-Use Markdown.",
        " Be brief.",
        " [user]",
    )


def test_a_chain_of_messages_is_text_too() -> None:
    prompt = {"messages": [{"role": "user", "content": "hi"}, {"role": "assistant", "tool_calls": [{"name": "f"}]}]}
    assert prompt_text(prompt).splitlines()[:3] == ["[user]", "hi", "[assistant]"]
    assert '"name": "f"' in prompt_text(prompt)
    assert prompt_text(None) == ""


def test_what_else_changed_is_listed(tmp_path: Path) -> None:
    run(tmp_path, A, {"tone": "p"}, model=MODEL, params={"temperature": 0}, start={"git": Git("a" * 40, False)})
    more = {"model": {**MODEL, "name": "gpt-6"}, "params": {"temperature": 1, "top_p": 0.5}, "gate": {"pass_rate": 0.5}}
    run(tmp_path, B, {"tone": "p"}, start={"git": Git("b" * 40, True), "versions": {"pytest": "9"}}, **more)
    found = compared(tmp_path)
    told = {change.what: (change.a, change.b) for change in (*found.evals[0].changed, *found.changed)}
    assert told == {
        "model": ("openai/gpt-5-mini", "openai/gpt-6"),
        "parameter temperature": (0, 1),
        "parameter top_p": (None, 0.5),
        "gate": ({"pass_rate": 0.9}, {"pass_rate": 0.5}),
        "commit": ("a" * 12, "b" * 12 + " with changes"),
        "version of pytest": (None, "9"),
    }


def test_a_criterion_that_is_another_check_is_not_compared(tmp_path: Path) -> None:
    run(tmp_path, A, {"tone": "pp", "amount": "pp", "gone": "pp"})
    record = eval_record(criteria=["tone", "amount"], rows=2, golden_set_hash="a")
    criteria = (
        replace(record.criteria[0], hash="d" * 64, config={"name": "tone", "contains": "x"}),
        record.criteria[1],
    )
    changed: EvalRecord = replace(record, criteria=criteria)
    records: list[Record] = [header(B), changed]
    for number in (1, 2):
        records += [case(number), *(verdict(number, name, "fail") for name in ("tone", "amount"))]
    keep(tmp_path, B, records)
    (each,) = compared(tmp_path).evals
    assert [line.criterion for line in each.lines] == ["amount"]
    assert {flip.criterion for flip in each.flips} == {"amount"}
    found = {change.what: change for change in each.changed}
    assert set(found) == {"criterion tone", "criterion gone"}
    assert '+ "contains": "x",' in found["criterion tone"].diff
    assert (found["criterion gone"].a, found["criterion gone"].b) == ("text_check", None)


def test_another_judge_is_another_check(tmp_path: Path) -> None:
    for run_id, judge in ((A, "j" * 64), (B, "k" * 64)):
        criterion = CriterionRecord("tone", "tone", "label_model", {}, "c" * 64, 1, judge)
        kept = replace(eval_record(rows=1, golden_set_hash="a"), criteria=(criterion,))
        keep(tmp_path, run_id, [header(run_id), kept, case(1), verdict(1, "tone", "pass")])
    (each,) = compared(tmp_path).evals
    assert each.lines == ()
    assert [change.what for change in each.changed] == ["judge of criterion tone"]


def test_flips_come_with_both_outputs(tmp_path: Path) -> None:
    run(tmp_path, A, {"tone": "pff"})
    run(tmp_path, B, {"tone": "fpf"})
    found = compared(tmp_path)
    (each,) = found.evals
    assert [(flip.case, flip.fixed) for flip in each.flips] == [("row-0001", False), ("row-0002", True)]
    sides = flipped_sides(found.a, found.b, each, each.flips)
    assert [(a.output, a.explanation, b.explanation) for a, b in sides] == [
        ("answer 1", "found", "not found"),
        ("answer 2", "not found", "found"),
    ]


def test_evals_are_matched_by_id_then_by_name(tmp_path: Path) -> None:
    for run_id, name in ((A, EVAL), (B, "moved/refunds.eval.yaml")):
        kept = eval_record(name, criteria=["tone"], rows=1, golden_set_hash="a")
        keep(tmp_path, run_id, [header(run_id), kept, case(1, eval=name), verdict(1, "tone", "pass", eval=name)])
    (each,) = compared(tmp_path).evals
    assert (each.a["id"], each.b["id"]) == (EVAL, "moved/refunds.eval.yaml")
    with pytest.raises(StoreError, match=r"no eval named 'refund' in common.*did you mean 'refunds'"):
        compared(tmp_path, eval_name="refund")


def test_a_report_compares_as_its_journal_does(tmp_path: Path) -> None:
    run(tmp_path, A, {"tone": "ppf", "amount": "ppp"})
    run(tmp_path, B, {"tone": "fpp", "amount": "ppp"})
    first = find_run(tmp_path, A)
    write_report(first.path, tmp_path / "a.json")
    report = find_run(tmp_path, str(tmp_path / "a.json"))
    ours, theirs = (compare_runs(each, find_run(tmp_path, B)).to_json() for each in (first, report))
    assert ours == theirs
    assert json.loads(json.dumps(ours, allow_nan=False)) == ours
