"""The list of judges: whether each may be believed, and the next step where nobody knows yet."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from aiohttp import web

from pytest_verica.calibration.alignment import Alignment
from pytest_verica.calibration.judged import JudgedRun
from pytest_verica.errors import VericaError
from pytest_verica.ui.answers import SERVICES, apart, page
from pytest_verica.ui.judges import alignment_of, judges


@dataclass(frozen=True)
class JudgeLine:
    """A judge with what its labels say; problem: why that is not known, None where it is."""

    judge: JudgedRun
    alignment: Alignment | None
    problem: str | None = None


def _read(root: Path) -> list[JudgeLine]:
    found = []
    for judge in judges(root):
        try:
            found.append(JudgeLine(judge, alignment_of(root, judge.eval.id, judge.criterion.id)))
        except VericaError as error:
            found.append(JudgeLine(judge, None, str(error)))
    return found


async def judges_page(request: web.Request) -> web.Response:
    lines = await apart(_read, request.app[SERVICES].root)
    return page(request, "judges.html", title="Judges", lines=lines)
