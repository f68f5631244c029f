"""Run against run: rates over the same cases, what changed between them, and the outputs behind what flipped."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from aiohttp import web

from pytest_verica.compare.changes import Change
from pytest_verica.compare.comparison import EvalComparison, Flip, RunComparison, compare_runs
from pytest_verica.compare.sides import Side, flipped_sides
from pytest_verica.report.saved import find_run
from pytest_verica.ui import wording
from pytest_verica.ui.answers import SERVICES, apart, asked, page

MOST_FLIPS = 50
"""Of each kind; the page says how many there are."""
LONGEST = 4000


@dataclass(frozen=True)
class Flipped:
    """A verdict that is another, with what stands behind it in A and in B."""

    flip: Flip
    a: Side
    b: Side


@dataclass(frozen=True)
class Compared:
    """An eval with its flips: broke and fixed, the first of each; broken, mended: how many there are."""

    eval: EvalComparison
    broke: list[Flipped]
    fixed: list[Flipped]
    broken: int
    mended: int


def _compared(found: RunComparison, each: EvalComparison) -> Compared:
    broke, fixed = ([flip for flip in each.flips if flip.fixed is kind] for kind in (False, True))
    shown = [list(_with_sides(found, each, flips[:MOST_FLIPS])) for flips in (broke, fixed)]
    return Compared(each, shown[0], shown[1], len(broke), len(fixed))


def _with_sides(found: RunComparison, each: EvalComparison, flips: Sequence[Flip]) -> Iterator[Flipped]:
    for flip, (a, b) in zip(flips, flipped_sides(found.a, found.b, each, flips), strict=True):
        yield Flipped(flip, a, b)


def _read(root: Path, a: str, b: str, eval_name: str | None) -> tuple[RunComparison, list[Compared]]:
    found = compare_runs(find_run(root, a), find_run(root, b), eval_name=eval_name)
    return found, [_compared(found, each) for each in found.evals]


def change_words(change: Change) -> str:
    """What a change without a diff was, in a line."""
    return " → ".join("none" if side is None else wording.value(side) for side in (change.a, change.b))


def diff_kind(line: str) -> str:
    """`ins`, `del` or nothing, of a line of a unified diff."""
    return "ins" if line.startswith("+") else "del" if line.startswith("-") else ""


async def compare_page(request: web.Request) -> web.Response:
    a, b, wanted = asked(request, "a"), asked(request, "b"), request.query.get("eval")
    found, evals = await apart(_read, request.app[SERVICES].root, a, b, wanted)
    words: dict[str, Any] = {"change_words": change_words, "diff_kind": diff_kind, "longest": LONGEST}
    title = f"Compare {found.a.name} with {found.b.name}"
    return page(request, "compare.html", title=title, found=found, evals=evals, **words)
