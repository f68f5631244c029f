"""`verica calibrate` and `verica label`, over a saved run of a score judge."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

from pytest_verica.calibration.holdout import is_held_out
from pytest_verica.calibration.label_file import LabelFile
from pytest_verica.calibration.queue import draw_queue
from tests.unit.calibration.site import EVAL, YAML, label_site, make_site
from tests.unit.cli.conftest import Verica


@pytest.fixture
def site(tmp_path: Path):
    return make_site(tmp_path)


@pytest.fixture
def labels(tmp_path: Path) -> LabelFile:
    return LabelFile(tmp_path / "golden" / "refunds.labels.jsonl")


def test_a_judge_that_was_never_labelled_says_the_next_step(run: Verica, site) -> None:
    result = run("calibrate", "refunds")
    assert result.exit_code == 0
    assert "No labels yet: label 20, ten minutes: verica label refunds --criterion tone" in result.output


@pytest.mark.parametrize("name", ["refunds", EVAL, "./" + EVAL, "refunds.eval.yaml"])
def test_an_eval_is_found_by_the_names_that_people_use(run: Verica, site, name: str) -> None:
    assert "refunds, tone (score_model)" in run("calibrate", name).output


def test_an_unknown_eval_or_criterion_names_the_judges(run: Verica, site) -> None:
    result = run("calibrate", "refund")
    assert result.exit_code == 1 and "Judges of the saved runs: tone of refunds" in result.output
    assert "the judge 'ton' of 'refunds'" in run("calibrate", "refunds", "--criterion", "ton").output


def test_everything_on_the_terminal_as_json_and_as_a_page(run: Verica, site, labels: LabelFile, tmp_path: Path) -> None:
    labels.append(*label_site(site))
    result = run("calibrate", "refunds", "--json", "a.json", "--html", "a.html")
    assert result.exit_code == 0, result.output
    (judge,) = json.loads((tmp_path / "a.json").read_text())["judges"]
    rate = judge["rate"]
    for words in (
        f"corrected success rate: {rate['estimate'] * 100:.1f}".removesuffix(".0"),
        "judge's raw rate:",
        "human labels alone:",
        "too strict",
        "judge passes what a person fails",
        "held-out cases (not used for tuning)",
        "kappa",
        "a judge that always gives the commoner verdict would agree on",
        "optimum",
        f"seed {rate['seed']}",
        judge["light"]["says"],
    ):
        assert words in result.output, words
    assert (rate["method"], rate["draws"], rate["estimator"]) == ("beta", 10_000, "labels of this run")
    assert judge["history"][0]["version"] == 1
    page = (tmp_path / "a.html").read_text()
    assert page.startswith("<!doctype html>") and judge["light"]["says"] in page
    again = run("calibrate", "refunds", "--json", "-")
    assert json.loads(again.output)["judges"][0]["rate"] == rate  # to the last digit


def test_preview_apply_and_undo(run: Verica, site, labels: LabelFile, tmp_path: Path) -> None:
    labels.append(*label_site(site))
    assert "Balanced accuracy at 8: " in run("calibrate", "refunds", "--preview", 8).output
    applied = run("calibrate", "refunds", "--apply", 8)
    assert "Threshold applied (6 → 8)" in applied.output and "which is the optimum" in applied.output
    assert (tmp_path / EVAL).read_text() == YAML.replace("6.0   #", "8   #")
    assert "as before" in run("calibrate", "refunds", "--undo").output
    assert (tmp_path / EVAL).read_text() == YAML
    assert "nothing to undo" in run("calibrate", "refunds", "--undo").output


def test_judging_again_asks_first(run: Verica, site, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.syspath_prepend(str(tmp_path))
    (tmp_path / EVAL).write_text(YAML.replace("Rate the tone", "Judge the tone"))
    refused = run("calibrate", "refunds", "--rejudge")
    assert refused.exit_code == 1 and "60 outputs, about $0.12" in refused.output
    assert len(list((tmp_path / ".verica" / "runs").iterdir())) == 1
    done = run("calibrate", "refunds", "--rejudge", "--yes")
    assert done.exit_code == 0 and len(list((tmp_path / ".verica" / "runs").iterdir())) == 2


@pytest.fixture
def keys(monkeypatch: pytest.MonkeyPatch):
    """The keys that a person presses."""
    pressed: list[str] = []
    monkeypatch.setattr("click.getchar", lambda: pressed.pop(0))
    monkeypatch.setattr("click.prompt", lambda *_, **__: "my note")
    return pressed


def test_labelling_in_the_terminal_is_blind_and_goes_on(run: Verica, site, labels: LabelFile, keys: list[str]) -> None:
    keys += ["p", "f", "s", "b", "f", "n", "p", "q"]
    monkey = run("label", "refunds", "--terminal", "--labeller", "ada", "--criterion", "tone")
    assert monkey.exit_code == 0, monkey.output
    order = [queued.output.case for queued in draw_queue(site)]
    acts = [(act.case, act.verdict) for act in labels.acts()]
    assert acts == [
        (order[0], "pass"),
        (order[1], "fail"),
        (order[2], "skipped"),
        (order[2], "fail"),
        (order[3], "pass"),
    ]
    assert {(act.labeller, act.judge_hash, act.draw.method) for act in labels.acts()} == {
        ("ada", site.judge_hash, "queue")
    }
    assert [act.note for act in labels.acts()] == [None, None, None, None, "my note"]
    for word in ("SECRET", "score", "judge", "pass_at"):
        assert word not in monkey.output.replace("verica calibrate", ""), word
    assert "question: what about" in monkey.output and "5 of 50" in monkey.output
    keys += ["q"]
    assert "5 of 50" in run("label", "refunds", "--terminal", "--labeller", "ada").output
    keys += ["q"]
    assert "1 of 50" in run("label", "refunds", "--terminal", "--labeller", "bo").output


def test_without_terminal_it_opens_the_page(run: Verica, site, monkeypatch) -> None:
    opened = []
    monkeypatch.setattr("pytest_verica.cli.label.open_pages", lambda *given, **named: opened.append((given, named)))
    assert run("label", "refunds", "--labeller", "ada", "--no-browser").exit_code == 0
    assert run("label", "refunds", "--most", "7").exit_code == 0
    ((page, _, port, who), named), (_, longer) = opened
    assert (page, port, who, named["no_browser"]) == ("label", 0, "ada", True)
    assert named["eval"].endswith("refunds.eval.yaml") and named["criterion"] == "tone"
    assert "most" not in named and longer["most"] == "7"


def test_what_the_page_cannot_do_goes_with_terminal(run: Verica, site) -> None:
    for option in (["--run", "last"], ["--column", "question"]):
        result = run("label", "refunds", *option)
        assert result.exit_code == 2 and "--terminal" in result.output


def test_import(run: Verica, site, labels: LabelFile, tmp_path: Path) -> None:
    (tmp_path / "l.csv").write_text("case,label,labeller,note\norder-1,YES,bo,ok\norder-2,0,,\norder-3,,,\n")
    result = run("label", "import", "l.csv", "refunds", "--criterion", "tone")
    assert result.exit_code == 0 and "2 labels put into" in result.output, result.output
    first, second = labels.acts()
    assert (first.case, first.verdict, first.labeller, first.note) == ("order-1", "pass", "bo", "ok")
    assert (second.verdict, second.labeller, second.draw.method) == ("fail", "import", "unknown")
    again = run("label", "import", "l.csv", "refunds", "--criterion", "tone")
    assert "0 labels put into" in again.output and "2 were there already" in again.output
    assert len(labels.acts()) == 2


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("case,label\norder-1,maybe\n", "l.csv:2: 'maybe' is no label"),
        ("case,label\norder-1,1\norder-x,1\n", "l.csv:3: the run has no case 'order-x'"),
        (
            "case,label\norder-1,1\norder-1,0\n",
            "l.csv:3: 'order-1' is labelled twice by 'import'; the other is on line 2",
        ),
        ("a,b\n1,2\n", "l.csv:1: a file of labels has the columns `case` and `label`; found a, b"),
        ("case,label,output_hash\norder-1,1,beef\n", "has no output 'beef' of the case 'order-1'"),
    ],
)
def test_a_wrong_line_imports_nothing(
    run: Verica, site, labels: LabelFile, tmp_path: Path, text: str, says: str
) -> None:
    (tmp_path / "l.csv").write_text(text)
    result = run("label", "import", "l.csv", "refunds", "--criterion", "tone")
    assert result.exit_code == 1 and says in result.output, result.output
    assert labels.acts() == []


def test_export_leaves_held_out_cases_out(run: Verica, site, labels: LabelFile, tmp_path: Path) -> None:
    labels.append(*label_site(site, 29))
    run("label", "export", "refunds", "few.csv", "--criterion", "tone")
    with (tmp_path / "few.csv").open() as file:
        assert len(list(csv.DictReader(file))) == 29
    labels.append(*label_site(site)[29:])
    result = run("label", "export", "refunds", "all.csv", "--criterion", "tone")
    with (tmp_path / "all.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert rows and not any(is_held_out(row["case"]) for row in rows)
    assert f"{50 - len(rows)} of held-out cases left out" in result.output
