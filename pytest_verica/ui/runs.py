"""The home page: the saved runs of each eval, newest first, two of which can be compared."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

from aiohttp import web

from pytest_verica.report.saved import Listed, list_runs, status_of
from pytest_verica.ui.answers import SERVICES, apart, page

MOST = 100
LAST = 5
"""Over how many runs the mean beside the last rate goes."""


@dataclass(frozen=True)
class Line:
    """A run in the list of one eval. head: of the eval in the run's report; run: the report's words about the run."""

    name: str
    id: str
    status: str
    run: Mapping[str, Any]
    head: Mapping[str, Any]

    @property
    def origin(self) -> str:
        origin = self.run["origin"]
        return "local" if origin["kind"] == "local" else origin["name"] or "CI"

    @property
    def model(self) -> str | None:
        model = self.head["model"]
        return None if model is None else model["name"]

    @property
    def rate(self) -> float | None:
        rate: float | None = self.head["totals"]["rate"]
        return rate

    @property
    def reused(self) -> bool:
        """Whether all of its verdicts were taken from earlier runs."""
        totals = self.head["totals"]
        return bool(totals["ran"]) and totals["reused"] == totals["ran"]


@dataclass
class EvalRuns:
    """An eval with its runs, newest first."""

    id: str
    name: str
    gate: str | None = None
    lines: list[Line] = field(default_factory=list)

    @property
    def whole(self) -> list[float]:
        """The rates of the runs of the whole eval."""
        return [line.rate for line in self.lines if line.rate is not None and line.head["partial"] is None]

    @property
    def mean(self) -> float | None:
        """Of the last whole runs; None where there are not two."""
        last = self.whole[:LAST]
        return sum(last) / len(last) if len(last) > 1 else None

    @property
    def averaged(self) -> int:
        return len(self.whole[:LAST])


def by_eval(listed: Iterable[Listed]) -> list[EvalRuns]:
    """The runs of each eval; the eval that ran last comes first."""
    found: dict[str, EvalRuns] = {}
    for each in listed:
        if each.head is None:
            continue
        for head in each.head["evals"]:
            runs = found.setdefault(head["id"], EvalRuns(head["id"], head["name"], _gate_words(head["gate"])))
            run = each.head["run"]
            runs.lines.append(Line(each.run.name, each.run.id, status_of(each.head), run, head))
    return list(found.values())


def _gate_words(gate: Mapping[str, Any] | None) -> str | None:
    """The gate's own first words, such as a rate that is wanted."""
    if gate is None or not gate["config"]:
        return None
    wanted = gate["config"].get("min_pass_rate", gate["config"].get("pass_rate"))
    return "gate" if wanted is None else f"gate ≥ {100 * float(wanted):g} %"


@dataclass(frozen=True)
class _Home:
    evals: list[EvalRuns]
    unreadable: list[str]
    more: bool


def _read(root: Path, everything: bool) -> _Home:
    runs = list_runs(root)
    listed = list(runs if everything else islice(runs, MOST))
    unreadable = [each.problem for each in listed if each.problem is not None]
    return _Home(by_eval(listed), unreadable, not everything and len(listed) == MOST)


async def home(request: web.Request) -> web.Response:
    found = await apart(_read, request.app[SERVICES].root, "all" in request.query)
    return page(request, "runs.html", title="Runs", home=found)
