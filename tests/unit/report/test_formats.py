"""CSV, junit, Markdown and annotations of a saved run: right figures, and texts that stay texts."""

from __future__ import annotations

import csv
import io
import json
import re
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from pytest_verica.errors import StoreError
from pytest_verica.report.annotations import MOST, annotation_lines
from pytest_verica.report.csv_report import HEADING
from pytest_verica.report.formats import FORMATS, write_format
from pytest_verica.report.html_data import longest_text, script_json
from pytest_verica.report.json_report import write_report
from pytest_verica.report.markdown import plain
from pytest_verica.report.saved import SavedRun, find_run
from pytest_verica.run import GateRecord, GateResult, RunEnd
from tests.unit.report.demo_run import CASES, HOSTILE, demo_run
from tests.unit.report.journals import EVAL, case, eval_record, verdict
from tests.unit.report.kept_runs import FIRST, header, keep, refunds


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> SavedRun:
    return demo_run(tmp_path_factory.mktemp("demo"))


def made(run: SavedRun, name: str) -> str:
    return b"".join(FORMATS[name](run)).decode("utf-8")


def kept(tmp_path: Path, *records: object) -> SavedRun:
    keep(tmp_path, FIRST, [header(FIRST), *records])  # type: ignore[list-item]
    return find_run(tmp_path, "last")


def test_every_format_of_a_report_is_that_of_its_journal(demo: SavedRun, tmp_path: Path) -> None:
    path = tmp_path / "report.json"
    write_report(demo.path, path)
    report = find_run(tmp_path, str(path))
    for name in FORMATS:
        ours, theirs = (made(run, name).replace("#0001", FIRST) for run in (demo, report))
        assert ours == theirs, name
    assert made(demo, "json") == path.read_text("utf-8")


def test_csv_has_a_row_per_verdict(demo: SavedRun) -> None:
    rows = list(csv.DictReader(io.StringIO(made(demo, "csv"), newline="")))
    assert len(rows) == 3 * CASES
    assert tuple(rows[0]) == HEADING
    tone = next(row for row in rows if row["node_id"] == f"{EVAL}::row-0006::tone")
    assert (tone["outcome"], tone["reported"], tone["cost_usd"], tone["score"]) == ("fail", "missed", "0.002", "")
    assert json.loads(tone["columns"]) == {"question": "Parcel 6 came broken.", "amount": 75.0}
    assert all(len(value) <= 32_767 for row in rows for value in row.values())
    assert "1,000,000 characters; the JSON report has them all" in rows[18]["output"]


@pytest.mark.parametrize(
    ("text", "cell"),
    [
        ("=HYPERLINK(1)", "'=HYPERLINK(1)"),
        ("+1", "'+1"),
        ("-1", "'-1"),
        ("@SUM(A1)", "'@SUM(A1)"),
        ("\t=1", "'\t=1"),
        ("a=1", "a=1"),
        ('two\nlines, "quoted"', 'two\nlines, "quoted"'),
        ("\x1b[2J", "\\x1b[2J"),
        ("\ud800", "\\ud800"),
    ],
)
def test_no_text_is_a_formula_of_a_spreadsheet(tmp_path: Path, text: str, cell: str) -> None:
    run = kept(tmp_path, eval_record(), case(1), verdict(1, "tone", "fail", reasoning=text, score=-0.5))
    (row,) = csv.DictReader(io.StringIO(made(run, "csv"), newline=""))
    assert row["reasoning"] == cell
    assert row["score"] == "-0.5"  # a number is a number


def test_junit_of_a_passing_gated_run_holds_no_failure(demo: SavedRun) -> None:
    (suite,) = ET.fromstring(made(demo, "junit").encode("utf-8"))
    assert suite.attrib.items() >= {"tests": "121", "failures": "0", "errors": "1", "skipped": "15"}.items()
    assert not suite.findall(".//failure")
    # Seven misses and eight N/A.
    kinds = [found.get("type") for found in suite.findall(".//skipped")]
    assert (kinds.count("pytest.xfail"), kinds.count("pytest.skip")) == (7, 8)
    first = suite.findall("testcase")[0]
    assert first.attrib.items() >= {"classname": "evals.refunds.eval.yaml.row-0001", "name": "states_amount"}.items()


def test_junit_of_a_failing_one_holds_the_gates(tmp_path: Path) -> None:
    keep(tmp_path, FIRST, refunds(FIRST))
    suite = ET.fromstring(made(find_run(tmp_path, "last"), "junit").encode("utf-8"))[0]
    (failure,) = suite.findall(".//failure")
    assert failure.text == "4 of 5 passed (80 %), 90 % wanted"
    assert suite.get("failures") == "1"


def test_markdown_tells_rates_with_their_denominators(demo: SavedRun) -> None:
    lines = made(demo, "md").splitlines()
    assert "| refunds | **93.7 %** | 104 / 111 | 8 | 1 | 7 | passed | $0.48 | 2.00 s |" in lines
    assert "| states&#95;amount | 97.5 % | 39 / 40 | 0 | 0 |" in lines
    # Of 40 cases the smallest drop that exact McNemar shows in four of five tries; see tests/unit/stats.
    assert any(line.startswith("- smallest drop that 40 cases could show&#58; ") for line in lines)
    assert "<details><summary>8 verdicts did not pass</summary>" in lines
    assert "| row-0011 | tone | ERROR | the judge refused |" in lines


def test_markdown_shows_texts_as_texts() -> None:
    shown = plain(HOSTILE)
    left = re.sub(r"&#\d+;|<br>|\\u[0-9a-f]{4}|\\x1b", "", shown)
    assert not set("<>|`*[]()@{}&\\\n\u202e\x1b") & set(left)
    assert "script" in left
    assert "www.evil" not in plain("see www.evil.example")


def test_markdown_of_hostile_texts_renders_as_text(demo: SavedRun) -> None:
    """As CommonMark reads it: entities are never markup, so the document's own tags are all there are."""
    text = made(demo, "md")
    tags = set(re.findall(r"<[^>]*>", text))
    assert tags <= {"<details>", "</details>", "<summary>", "</summary>", "<br>"}
    rows = [line for line in text.splitlines() if line.startswith("| row-0005")]
    assert [row.count("|") for row in rows] == [5]


def test_data_in_a_script_element_cannot_end_it() -> None:
    texts = ["</script>", "<!--", "]]>", "\u2028", "\ud800", "é", HOSTILE]
    written = script_json(texts)
    assert not set("<>&\u2028\u2029") & set(written)
    assert written.encode("utf-8")
    assert json.loads(written) == texts


# 12 million characters over three texts a case.
@pytest.mark.parametrize(
    ("cases", "longest"), [(0, 20_000), (200, 20_000), (400, 10_000), (4000, 1000), (1_000_000, 200)]
)
def test_texts_are_shorter_in_larger_reports(cases: int, longest: int) -> None:
    assert longest_text(cases) == longest


def test_annotations_are_ten_errors_before_warnings(tmp_path: Path) -> None:
    records = [
        eval_record(criteria=["tone"], gate=None),
        *[verdict(n, "tone", "fail", reported="missed" if n < 4 else "failed") for n in range(1, 9)],
        GateRecord(EVAL, GateResult("failed", ("0 of 8 passed, 90 % wanted",))),
    ]
    lines = list(annotation_lines(kept(tmp_path, *records), Path("sub")))
    assert len(lines) == 9 < MOST
    assert lines[0] == (
        "::error file=sub/evals/refunds.eval.yaml,line=1,title=gate of refunds failed::0 of 8 passed, 90 %25 wanted"
    )
    node = "evals/refunds.eval.yaml%3A%3Arow-0004%3A%3Atone"
    assert lines[1] == f"::error file=sub/evals/refunds.eval.yaml,line=1,title=FAILED {node}::not found"
    assert [line.split()[0] for line in lines] == ["::error"] * 6 + ["::warning"] * 3


def test_no_text_begins_a_workflow_command(demo: SavedRun) -> None:
    lines = list(annotation_lines(demo, Path()))
    assert len(lines) == 8
    assert all(line.startswith(("::error ", "::warning ")) and "\n" not in line and "\r" not in line for line in lines)


def test_a_killed_run_can_be_written_in_every_format(tmp_path: Path) -> None:
    keep(tmp_path, FIRST, refunds(FIRST, exit_code=None))
    run = find_run(tmp_path, "last")
    assert "incomplete" in made(run, "md")
    assert "run incomplete" in made(run, "html")
    ET.fromstring(made(run, "junit").encode("utf-8"))


def test_a_run_without_a_verdict_can_be_written(tmp_path: Path) -> None:
    run = kept(tmp_path, RunEnd("2026-12-01T10:16:30Z", 5))
    for name in FORMATS:
        assert made(run, name)
    assert "No verdict was made" in made(run, "html")


def test_a_file_that_cannot_be_written_is_said(demo: SavedRun, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(StoreError, match=r"cannot write .*Check its folder"):
        write_format(demo, "md", tmp_path / "file" / "report.md")


def test_the_parts_of_a_judges_verdicts_stand_under_its_criterion(tmp_path: Path) -> None:
    rubric = {"says <sorry>": {"met": True}, "offers help": {"met": False}}
    run = kept(tmp_path, eval_record(), case(1), verdict(1, "tone", "fail", details={"rubric": rubric}))
    text = re.sub(r"\s+", " ", made(run, "html"))
    assert "<bdi>says &lt;sorry&gt;</bdi>: met in 1 of 1" in text
    assert "<bdi>offers help</bdi>: met in 0 of 1" in text
