"""What is changed from the page of a judge: a label that was wrong, the threshold, and the way back."""

from __future__ import annotations

import math
import secrets
from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from aiohttp import web

from pytest_verica.calibration.finding import file_of
from pytest_verica.calibration.holdout import FROM, is_held_out
from pytest_verica.calibration.threshold import apply_threshold, undo_threshold
from pytest_verica.errors import VericaError
from pytest_verica.ui.alignment import own_labels
from pytest_verica.ui.answers import SERVICES, apart, asked, data, sent
from pytest_verica.ui.judges import alignment_of, history_of, judged_run
from pytest_verica.ui.label import labeller_of


class NotChanged(VericaError):
    """A change that is not made as it was asked for."""


def _flip(root: Path, eval_id: str, criterion: str, labeller: str, said: Mapping[str, Any]) -> str:
    found = alignment_of(root, eval_id, criterion)
    label = own_labels(root, found, labeller).get((said.get("case", ""), said.get("output_hash", "")))
    if label is None or label.verdict == "skipped":
        raise NotChanged(f"{labeller} has no label of this output; load the page again")
    if len(found.sample.labelled) >= FROM and is_held_out(label.case):
        raise NotChanged("this output is held out for measuring: its label is not looked at while tuning")
    flipped = replace(
        label,
        verdict="fail" if label.verdict == "pass" else "pass",
        time=datetime.now(timezone.utc).isoformat(timespec="milliseconds"),
        act=secrets.token_hex(8),
    )
    file_of(root, found.run).append(flipped)
    history_of(root, alignment_of(root, eval_id, criterion))
    return f"Your label is now {flipped.verdict.upper()} ✓"


async def flip(request: web.Request) -> web.Response:
    """A person takes back what they said of an output; the page has asked whether they are sure."""
    said, services = await sent(request), request.app[SERVICES]
    names = asked(request, "eval"), asked(request, "criterion"), labeller_of(request)
    async with services.writing:
        return data({"said": await apart(_flip, services.root, *names, said)})


def _apply(root: Path, eval_id: str, criterion: str, value: Any) -> str:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
        raise NotChanged("a threshold is a number")
    applied = apply_threshold(root, judged_run(root, eval_id, criterion), float(value))
    history_of(root, alignment_of(root, eval_id, criterion))
    return f"{applied}: {applied.changed} verdicts of the saved run changed, no call was made"


def _undo(root: Path, eval_id: str, criterion: str) -> str:
    undo_threshold(root, judged_run(root, eval_id, criterion))
    history_of(root, alignment_of(root, eval_id, criterion))
    return "Undone: the eval file and the saved run are as they were"


async def threshold(request: web.Request) -> web.Response:
    said, services = await sent(request), request.app[SERVICES]
    names = asked(request, "eval"), asked(request, "criterion")
    async with services.writing:
        return data({"said": await apart(_apply, services.root, *names, said.get("value"))})


async def undo(request: web.Request) -> web.Response:
    await sent(request)
    services = request.app[SERVICES]
    async with services.writing:
        said = await apart(_undo, services.root, asked(request, "eval"), asked(request, "criterion"))
    return data({"said": said})
