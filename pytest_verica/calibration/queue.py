"""The labelling queue: which outputs a person is asked about, and in what order. A pure function of run and seed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from pytest_verica.calibration.judged import JudgedOutput, JudgedRun
from pytest_verica.calibration.label import Draw, Label
from pytest_verica.canonical import content_hash

MOST = 50
"""Outputs in a queue; half an hour of work."""


@dataclass(frozen=True)
class Queued:
    """An output to be labelled and how it was drawn. The draw says the judge's verdict: a page that shows the output
    must keep it to itself until the label is written."""

    output: JudgedOutput
    draw: Draw


def queue_seed(eval_id: str, criterion: str) -> int:
    """The same for every labeller, so that several people meet at the same outputs."""
    return int(content_hash([eval_id, criterion])[:12], 16)


def draw_queue(run: JudgedRun, *, seed: int | None = None, most: int = MOST) -> list[Queued]:
    """Passes and fails of the judge alternating, random within each; where one is used up, the other goes on.

    seed: the eval's own where None. A longer queue begins with the shorter one, and outputs that come or go leave the
    order of the others as it is. Which of the two comes first is chance as well, so that a labeller who knows of the
    alternation cannot tell the verdicts by counting.
    """
    order = queue_seed(run.eval.id, run.criterion.id) if seed is None else seed
    ranked = sorted(run.outputs, key=lambda output: content_hash([order, *output.key]))
    sides = [
        [output for output in ranked if output.passed],
        [output for output in ranked if not output.passed],
    ]
    if int(content_hash([order, "first"])[:8], 16) % 2:
        sides.reverse()
    chosen = _alternating(sides)[:most]
    passes, judged = run.passes, len(run.outputs)
    return [
        Queued(output, Draw("queue", "pass" if output.passed else "fail", order, place, passes, judged, run.run.id))
        for place, output in enumerate(chosen)
    ]


def first_unlabelled(queue: Sequence[Queued], labels: Iterable[Label], labeller: str) -> int:
    """The place to go on at: the first output that this person has neither labelled nor skipped; the length of the
    queue where all are done."""
    done = {(label.case, label.output_hash) for label in labels if label.labeller == labeller}
    return next((place for place, queued in enumerate(queue) if queued.output.key not in done), len(queue))


def _alternating(sides: Sequence[Sequence[JudgedOutput]]) -> list[JudgedOutput]:
    longest = max(len(side) for side in sides)
    return [side[place] for place in range(longest) for side in sides if place < len(side)]
