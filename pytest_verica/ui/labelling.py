"""Labelling one criterion: the queue, where a person goes on, and writing what they say. Reads and writes files only.

What is returned for a person's screen (`Screen`) holds nothing of the judge: not its verdict, score, label or
reasoning, nor how an output was drawn, which would tell the verdict.
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timezone
from functools import cached_property
from pathlib import Path
from typing import Any, TypedDict

from pytest_verica.calibration.finding import file_of
from pytest_verica.calibration.judged import JudgedRun
from pytest_verica.calibration.label import VERDICTS, Label, current_labels
from pytest_verica.calibration.label_file import LabelFile, labels_of
from pytest_verica.calibration.queue import MOST, Queued, draw_queue, first_unlabelled
from pytest_verica.calibration.screen import spoken_columns
from pytest_verica.errors import VericaError
from pytest_verica.run import CaseRecord
from pytest_verica.ui.columns import choose_columns, chosen_columns
from pytest_verica.ui.judges import judged_run
from pytest_verica.ui.showing import Part, inputs_of, output_of, showable

LONGEST_NAME = 80
LONGEST_NOTE = 4000


class NotSaved(VericaError):
    """A label that cannot be written as it was sent."""


class Card(TypedDict):
    """One output to be labelled. position: in the queue, from 0; verdict, note: this person's own, None where none."""

    position: int
    case: str
    sample: int
    output_hash: str
    inputs: list[Part]
    output: list[Part]
    verdict: str | None
    note: str | None


class Screen(TypedDict):
    """What a person who labels is sent. card: None at the end of the queue; total: outputs in it; labelled, skipped:
    of them by this person; more: outputs that another sitting would bring; available: columns that can be shown."""

    card: Card | None
    total: int
    labelled: int
    skipped: int
    more: int
    available: list[str]


@dataclass(frozen=True)
class Deck:
    """The queue of one criterion for one person. most: outputs in it; another sitting makes it longer."""

    root: Path
    run: JudgedRun
    labeller: str
    most: int = MOST

    @cached_property
    def queue(self) -> list[Queued]:
        return draw_queue(self.run, most=self.most)

    @property
    def more(self) -> int:
        """Outputs that another sitting would bring."""
        return min(MOST, len(self.run.outputs) - len(self.queue))

    def longer(self) -> Deck:
        """The queue of the next sitting; the same where every output is in this one."""
        return replace(self, most=self.most + MOST) if self.more else self

    def is_done(self) -> bool:
        """Whether this person has nothing left in it."""
        return first_unlabelled(self.queue, self.own().values(), self.labeller) == len(self.queue)

    @cached_property
    def file(self) -> LabelFile:
        return file_of(self.root, self.run)

    def own(self) -> dict[tuple[str, str], Label]:
        """The person's labels in force, by case and output."""
        acts = labels_of(self.file.acts(), self.run.eval.id, self.run.criterion.id)
        return {(act.case, act.output_hash): act for act in current_labels(acts) if act.labeller == self.labeller}

    def screen(self, position: int | None = None) -> Screen:
        """The output at a place of the queue; where this person goes on where None."""
        own = self.own()
        if position is None:
            position = first_unlabelled(self.queue, own.values(), self.labeller)
        said = [own[queued.output.key].verdict for queued in self.queue if queued.output.key in own]
        columns = self._available()
        return Screen(
            card=self._card(max(0, position), own) if position < len(self.queue) else None,
            total=len(self.queue),
            labelled=sum(verdict != "skipped" for verdict in said),
            skipped=said.count("skipped"),
            more=self.more,
            available=columns,
        )

    def act(self, sent: Mapping[str, Any]) -> Screen:
        """Writes what the person said of the output that they saw; the screen that comes next.

        Raises:
            NotSaved: it is no verdict, or the output is no longer in the queue as they saw it.
            StoreError: the file cannot be written.
        """
        verdict, note = sent.get("verdict"), sent.get("note") or ""
        if verdict not in VERDICTS or not isinstance(note, str) or len(note) > LONGEST_NOTE:
            raise NotSaved(f"an answer is pass, fail or skipped, with a note of up to {LONGEST_NOTE} characters")
        place, queued = self._seen(sent)
        before = self.own().get(queued.output.key)
        if before is None or (before.verdict, before.note or "") != (verdict, note.strip()):
            self.file.append(
                Label(
                    eval=self.run.eval.id,
                    criterion=self.run.criterion.id,
                    case=queued.output.case,
                    output_hash=queued.output.output_hash,
                    verdict=verdict,
                    labeller=self.labeller,
                    time=datetime.now(timezone.utc).isoformat(timespec="milliseconds"),
                    judge_hash=self.run.judge_hash,
                    note=note.strip() or None,
                    draw=queued.draw,
                    act=secrets.token_hex(8),
                )
            )
        return self.screen(place if sent.get("stay") else place + 1)

    def choose(self, sent: Mapping[str, Any]) -> Screen:
        """Remembers the columns that are shown; the same output again."""
        wanted = sent.get("columns")
        wanted = [name for name in self._available() if name in wanted] if isinstance(wanted, list) else []
        choose_columns(self.root, self.run.eval.id, wanted)
        position = sent.get("position")
        return self.screen(position if isinstance(position, int) else None)

    def _seen(self, sent: Mapping[str, Any]) -> tuple[int, Queued]:
        key = (sent.get("case"), sent.get("output_hash"))
        for place, queued in enumerate(self.queue):
            if queued.output.key == key:
                return place, queued
        raise NotSaved(
            "this output is no longer among those to label: the eval was run again meanwhile; load the page again"
        )

    def _card(self, position: int, own: Mapping[tuple[str, str], Label]) -> Card:
        output = self.queue[position].output
        case = self.run.case(output)
        mine = own.get(output.key)
        return Card(
            position=position,
            case=output.case,
            sample=output.sample,
            output_hash=output.output_hash,
            inputs=inputs_of(case.columns, self._shown(case)),
            output=output_of(case.output),
            verdict=None if mine is None else mine.verdict,
            note=None if mine is None else mine.note,
        )

    def _available(self) -> list[str]:
        return showable(self.run.case(self.queue[0].output).columns) if self.queue else []

    def _shown(self, case: CaseRecord) -> list[str]:
        """The chosen columns; else those that the prompts speak of; else all of them. A column that only repeats the
        output, as a recorded answer's does, is shown where it was chosen."""
        chosen = chosen_columns(self.root, self.run.eval.id)
        if chosen is not None:
            return chosen
        text = (case.output or {}).get("text")
        return [name for name in spoken_columns(self.run) if text is None or case.columns.get(name) != text]


def deck(root: Path, eval_id: str, criterion: str, labeller: str, most: int | None = None) -> Deck:
    """The queue over the last run that the judge took part in. most: outputs in it; those of the first sitting in which
    this person has something left where None.

    Raises:
        StoreError: there is no such run.
    """
    run = judged_run(root, eval_id, criterion)
    if most is not None:
        return Deck(root, run, labeller, most)
    found = Deck(root, run, labeller)
    while found.more and found.is_done():
        found = found.longer()
    return found


def name_of(given: str) -> str:
    """A labeller's name as it is written.

    Raises:
        NotSaved: it is none.
    """
    name = " ".join(given.split())
    if not name or len(name) > LONGEST_NAME or not name.isprintable():
        raise NotSaved(f"a labeller's name is a text of up to {LONGEST_NAME} characters")
    return name
