"""The label file: nothing that was confirmed is lost, nothing is doubled, and a damaged line is named."""

from __future__ import annotations

import json
import multiprocessing
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from pytest_verica.calibration.label import Draw, Label, current_labels, output_hash
from pytest_verica.calibration.label_file import LabelFile, label_path
from pytest_verica.errors import StoreError


def made(case="c", verdict="pass", labeller="ada", when="2026-01-01T00:00:00Z", **more) -> Label:
    return Label("e", "tone", case, "hash", verdict, labeller, when, **more)


def test_a_label_comes_back_as_it_was(tmp_path):
    file = LabelFile(tmp_path / "golden" / "a.labels.jsonl")
    drawn = Draw("queue", "fail", 7, 3, 80, 100, "run-1")
    first, second = made(note="häh \ud800?", draw=drawn, act="1", judge_hash="j"), made("d", "skipped")
    file.append(first)
    file.append(second)
    assert file.acts() == [first, second]
    assert file.path.read_bytes().isascii()


def test_the_last_act_of_a_labeller_wins(tmp_path):
    acts = [made(), made(verdict="fail"), made(labeller="bo"), made("d")]
    assert [(a.case, a.labeller, a.verdict) for a in current_labels(acts)] == [
        ("c", "ada", "fail"),
        ("c", "bo", "pass"),
        ("d", "ada", "pass"),
    ]


def test_no_file_is_no_label(tmp_path):
    assert LabelFile(tmp_path / "none.labels.jsonl").acts() == []


@pytest.mark.parametrize(
    ("golden", "eval_id", "name"),
    [
        ("../golden/refunds.csv", "evals/refunds.eval.yaml", "golden/refunds.labels.jsonl"),
        ("refunds.csv", "evals/refunds.eval.yaml", "evals/refunds.labels.jsonl"),
        ("cases:rows", "evals/refunds.eval.yaml", "evals/refunds.labels.jsonl"),
        (None, "evals/refunds.eval.yaml", "evals/refunds.labels.jsonl"),
        (None, "evals/test_bot.py::TestBot::test_refund", "evals/test_bot.TestBot.test_refund.labels.jsonl"),
    ],
)
def test_where_it_stands(golden, eval_id, name):
    assert label_path(Path("root"), eval_id.partition("::")[0], golden, eval_id) == Path("root") / name


def test_a_line_that_a_kill_cut_short_was_never_confirmed(tmp_path):
    file = LabelFile(tmp_path / "a.labels.jsonl")
    file.append(made("a"))
    whole = file.path.read_bytes()
    for cut in (1, 5, 17, 40, len(whole) - 2):
        file.path.write_bytes(whole + whole[:cut])
        assert [act.case for act in file.acts()] == ["a"]
        file.append(made("b"))
        assert [act.case for act in file.acts()] == ["a", "b"]


def test_a_last_line_that_an_editor_left_open_is_kept(tmp_path):
    file = LabelFile(tmp_path / "a.labels.jsonl")
    file.append(made("a"))
    file.path.write_bytes(file.path.read_bytes().rstrip(b"\n"))
    file.append(made("b"))
    assert [act.case for act in file.acts()] == ["a", "b"]


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("<<<<<<< HEAD", "Expecting value"),
        ("[1]", "expected a JSON object"),
        (json.dumps({**made().to_json(), "verdict": "good"}), "`verdict` is one of pass, fail, skipped, found 'good'"),
        (json.dumps({**made().to_json(), "draw": {"method": "mine"}}), "`draw.method` is one of"),
        (json.dumps({**made().to_json(), "case": 3}), "`case` is a text, found 3"),
        ('{"record":"label","eval":"e"', "Expecting"),
    ],
)
def test_a_damaged_line_is_named(tmp_path, line, why):
    file = LabelFile(tmp_path / "a.labels.jsonl")
    file.append(made("a"))
    with file.path.open("a") as opened:
        opened.write(line + "\n")
    file.append(made("b"))
    with pytest.raises(StoreError, match=r"a\.labels\.jsonl:2: no label: ") as error:
        file.acts()
    assert why in str(error.value)
    assert len(file.path.read_text().splitlines()) == 3  # nothing was taken out


def test_a_label_that_cannot_be_written_is_said(tmp_path):
    (tmp_path / "golden").write_text("a file where the folder should be")
    with pytest.raises(StoreError, match="the label was not saved"):
        LabelFile(tmp_path / "golden" / "a.labels.jsonl").append(made())


def test_what_is_seen_is_what_is_hashed():
    shown = {"text": "hi", "data": None, "tool_calls": [], "cost": "0.1", "latency_s": 1.0, "usage": {"input": 3}}
    assert output_hash(shown) == output_hash({**shown, "cost": None, "latency_s": 9.0, "usage": None})
    assert output_hash(shown) != output_hash({**shown, "text": "hi "})


WRITER = """
import sys
from pytest_verica.calibration.label import Label
from pytest_verica.calibration.label_file import LabelFile
file = LabelFile(__import__("pathlib").Path(sys.argv[1]))
for number in range(int(sys.argv[2]), 500):
    case = f"case-{number}"
    file.append(Label("e", "tone", case, "h", "pass", "ada", "2026-01-01T00:00:00Z", act=case))
    print(number, flush=True)
"""


@pytest.mark.slow
def test_500_labels_and_20_kills(tmp_path):
    """What was confirmed (printed) before each kill is in the file, once; the next sitting goes on after it."""
    path, confirmed, kills = tmp_path / "a.labels.jsonl", -1, 0
    environment = {**os.environ, "PYTHONPATH": ":".join(sys.path)}
    while confirmed < 499:
        command = [sys.executable, "-c", WRITER, str(path), str(confirmed + 1)]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment)
        assert process.stdout is not None
        for line in process.stdout:
            confirmed = int(line)
            if kills < 20 and confirmed >= (kills + 1) * 22:
                process.send_signal(signal.SIGKILL)
                kills += 1
                break
        rest = process.stdout.read()  # confirmed between the decision and the kill
        confirmed = int(rest.split()[-1]) if rest.split() else confirmed
        process.stdout.close()
        process.wait()
        written = [act.case for act in LabelFile(path).acts()]
        assert set(written) >= {f"case-{number}" for number in range(confirmed + 1)}
        # At most the one that was on the disk and not yet confirmed: it is written again, and the same.
        assert len(written) - len(set(written)) <= kills
    assert kills == 20
    assert {label.case for label in current_labels(LabelFile(path).acts())} == {f"case-{n}" for n in range(500)}
    assert len(current_labels(LabelFile(path).acts())) == 500


def _write_fifty(path: Path, labeller: str) -> None:
    file = LabelFile(path)
    for number in range(50):
        file.append(made(f"case-{number}", labeller=labeller))
        time.sleep(0)


def test_two_labellers_at_once(tmp_path):
    path = tmp_path / "a.labels.jsonl"
    context = multiprocessing.get_context("fork") if hasattr(os, "fork") else multiprocessing.get_context()
    people = [context.Process(target=_write_fifty, args=(path, name)) for name in ("ada", "bo")]
    for person in people:
        person.start()
    for person in people:
        person.join()
    acts = LabelFile(path).acts()
    assert len(acts) == 100 and len(current_labels(acts)) == 100
