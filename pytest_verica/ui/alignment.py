"""Judge alignment: how one judge agrees with people, where it does not, its threshold, and what became of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from aiohttp import web

from pytest_verica.calibration.alignment import Alignment, Disagreement
from pytest_verica.calibration.finding import file_of
from pytest_verica.calibration.judged import JudgedRun
from pytest_verica.calibration.label import Label, current_labels
from pytest_verica.calibration.label_file import labels_of
from pytest_verica.calibration.rejudging import plan_rejudging
from pytest_verica.calibration.screen import spoken_columns
from pytest_verica.calibration.threshold import can_undo
from pytest_verica.errors import VericaError
from pytest_verica.ui.answers import SERVICES, apart, asked, page
from pytest_verica.ui.drawing import history_drawing, threshold_drawing
from pytest_verica.ui.judges import alignment_of, history_of, whole_judge
from pytest_verica.ui.label import labeller_of
from pytest_verica.ui.loop import instruction_parts, plan_words
from pytest_verica.ui.showing import Part, inputs_of, output_of

TABS: Mapping[str, str] = {
    "agreement": "Agreement",
    "disagreements": "Disagreements",
    "threshold": "Threshold",
    "history": "History",
}
MOST_SHOWN = 50
"""Disagreements on a page; the page says how many there are."""


@dataclass(frozen=True)
class Shown:
    """A disagreement as the page shows it. own: the labeller's own label, None where it is somebody else's."""

    item: Disagreement
    inputs: list[Part]
    output: list[Part]
    own: Label | None


def own_labels(root: Path, found: Alignment, labeller: str) -> dict[tuple[str, str], Label]:
    """A person's labels in force, by case and output."""
    acts = labels_of(file_of(root, found.run).acts(), found.run.eval.id, found.run.criterion.id)
    return {(act.case, act.output_hash): act for act in current_labels(acts) if act.labeller == labeller}


def _disagreements(root: Path, found: Alignment, labeller: str) -> list[Shown]:
    """Those that may be looked at while tuning: a held-out case is never among them."""
    own = own_labels(root, found, labeller)
    spoken = spoken_columns(found.run)
    shown = []
    for item in found.disagreements[:MOST_SHOWN]:
        inputs: list[Part] = []
        output = [Part(name="", text="(of an earlier run, which is not this one)")]
        if item.output is not None:
            case = found.run.case(item.output)
            inputs, output = inputs_of(case.columns, spoken), output_of(case.output)
        shown.append(Shown(item, inputs, output, own.get((item.labelled.case, item.labelled.output_hash))))
    return shown


def _plan(root: Path, judge: JudgedRun) -> str:
    """What judging again would do; why it cannot be done where the eval file is wrong now."""
    try:
        return plan_words(plan_rejudging(root, judge))
    except VericaError as error:
        return str(error)


def _values(root: Path, found: Alignment, tab: str, labeller: str) -> dict[str, Any]:
    """What a tab shows beside the alignment itself."""
    points = history_of(root, found)
    if tab == "disagreements":
        judge = whole_judge(root, found.run)
        plan, asks = _plan(root, judge), instruction_parts(root, judge)
        return {"shown": _disagreements(root, found, labeller), "asks": asks, "plan": plan}
    if tab == "threshold":
        drawing = None if found.sweep is None else threshold_drawing(found)
        return {"drawing": drawing, "can_undo": can_undo(root, found.run)}
    if tab == "history":
        return {"points": points, "drawing": history_drawing(points)}
    return {}


async def judge_page(request: web.Request) -> web.Response:
    tab = request.query.get("tab", "agreement")
    tab = tab if tab in TABS else "agreement"
    root, labeller = request.app[SERVICES].root, labeller_of(request)
    found = await apart(alignment_of, root, asked(request, "eval"), asked(request, "criterion"))
    query = {"eval": found.run.eval.id, "criterion": found.run.criterion.id, "as": labeller}
    return page(
        request,
        f"judge_{tab}.html",
        title=f"Judge {found.run.criterion.name}",
        found=found,
        rate=found.rate,
        measured=found.measured,
        tabs=TABS,
        tab=tab,
        query=urlencode(query),
        **await apart(_values, root, found, tab, labeller),
    )
