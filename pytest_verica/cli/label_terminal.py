"""`verica label EVAL --terminal`: one output after the other, single keys, each answer on the disk at once."""

from __future__ import annotations

import datetime
import getpass
import secrets
from collections.abc import Sequence
from pathlib import Path

import click

from pytest_verica.calibration.finding import file_of
from pytest_verica.calibration.judged import JudgedRun
from pytest_verica.calibration.label import Label, LabelVerdict
from pytest_verica.calibration.label_file import labels_of
from pytest_verica.calibration.queue import Queued, draw_queue, first_unlabelled
from pytest_verica.calibration.screen import screen_lines
from pytest_verica.cli.printing import say

KEYS: dict[str, LabelVerdict] = {"p": "pass", "f": "fail", "s": "skipped"}
BACK, NOTE, QUIT = "b", "n", "q"
HELP = "[p] meets it  [f] does not  [s] skip  [b] back  [n] note  [q] close"


def label_in_terminal(
    root: Path, run: JudgedRun, labeller: str, *, most: int = 50, columns: Sequence[str] | None = None
) -> None:
    """Asks until the queue is done or the person closes. Nothing of the judge is printed.

    Raises:
        StoreError: an answer could not be saved; it says so, and nothing is shown as saved.
    """
    file = file_of(root, run)
    queue = draw_queue(run, most=most)
    acts = labels_of(file.acts(), run.eval.id, run.criterion.id)
    place = first_unlabelled(queue, acts, labeller)
    note: str | None = None
    while place < len(queue):
        _show(run, queue, place, columns)
        key = click.getchar().lower()
        if key == QUIT or key in ("\x03", "\x04"):
            break
        if key == BACK:
            place = max(0, place - 1)
        elif key == NOTE:
            note = click.prompt("note", default="", show_default=False) or None
        elif key in KEYS:
            file.append(_label(run, queue[place], KEYS[key], labeller, note))
            say("saved")
            note = None
            place += 1
    done = sum(label.verdict != "skipped" for label in labels_of(file.acts(), run.eval.id, run.criterion.id))
    say(f"{done} labels in {file.path.name}; verica calibrate {run.eval.name} says what they tell")


def _show(run: JudgedRun, queue: Sequence[Queued], place: int, columns: Sequence[str] | None) -> None:
    say()
    say(f"{place + 1} of {len(queue)}   {run.criterion.name}")
    for line in screen_lines(run, queue[place].output, columns):
        say(f"  {line}")
    say(HELP)


def _label(run: JudgedRun, queued: Queued, verdict: LabelVerdict, labeller: str, note: str | None) -> Label:
    return Label(
        run.eval.id,
        run.criterion.id,
        *queued.output.key,
        verdict,
        labeller,
        datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="milliseconds"),
        run.judge_hash,
        note,
        queued.draw,
        secrets.token_hex(8),
    )


def account_name() -> str:
    """The name of the person's account; `me` where the system tells none."""
    try:
        return getpass.getuser()
    except (OSError, KeyError, ImportError):
        return "me"
