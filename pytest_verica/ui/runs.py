"""The home page: the saved runs of each eval, newest first, two of which can be compared."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

from aiohttp import web

from pytest_verica.report.figures import percent
from pytest_verica.report.run_lines import RunLine, run_line
from pytest_verica.report.saved import Listed, list_runs
from pytest_verica.ui.answers import SERVICES, apart, page

MOST = 100
LAST = 5
"""Over how many runs the mean beside the last rate goes."""


@dataclass
class EvalRuns:
    """An eval with its runs, newest first. gate: what the last run's gate wanted, in words; rates: of the runs of the
    whole eval."""

    id: str
    name: str
    gate: str | None
    lines: list[RunLine] = field(default_factory=list)
    parts: dict[str, str] = field(default_factory=dict)
    rates: list[float] = field(default_factory=list)

    def add(self, line: RunLine, head: Mapping[str, Any]) -> None:
        self.lines.append(line)
        if head["partial"] is not None:
            self.parts[line.id] = head["partial"]
        elif head["totals"]["rate"] is not None:
            self.rates.append(head["totals"]["rate"])

    @property
    def words(self) -> str:
        """`gate ≥ 90 % · last 93.3 % · mean of 5: 91.8 %`."""
        said = [] if self.gate is None else [self.gate]
        if self.rates:
            said.append(f"last {percent(self.rates[0])}")
        last = self.rates[:LAST]
        if len(last) > 1:
            said.append(f"mean of {len(last)}: {percent(sum(last) / len(last))}")
        return " · ".join(said)


def by_eval(listed: Sequence[Listed]) -> list[EvalRuns]:
    """The runs of each eval; the eval that ran last comes first."""
    names = {each.run.id: each.run.name for each in listed}
    found: dict[str, EvalRuns] = {}
    for each in listed:
        for head in () if each.head is None else each.head["evals"]:
            runs = found.setdefault(head["id"], EvalRuns(head["id"], head["name"], _gate_words(head["gate"])))
            line = run_line(each, names, head["id"])
            if line is not None:
                runs.add(line, head)
    return list(found.values())


def _gate_words(gate: Mapping[str, Any] | None) -> str | None:
    if gate is None or not gate["config"]:
        return None
    rate = gate["config"].get("pass_rate")
    return "has a gate" if rate is None else f"gate ≥ {percent(rate)}"


@dataclass(frozen=True)
class Home:
    """evals: those of the listed runs; unreadable: why runs could not be read; more: whether there are older ones."""

    evals: list[EvalRuns]
    unreadable: list[str]
    more: bool


def _read(root: Path, everything: bool) -> Home:
    runs = list_runs(root)
    listed = list(runs if everything else islice(runs, MOST))
    unreadable = [each.problem for each in listed if each.problem is not None]
    return Home(by_eval(listed), unreadable, not everything and len(listed) == MOST)


async def home(request: web.Request) -> web.Response:
    found = await apart(_read, request.app[SERVICES].root, "all" in request.query)
    return page(request, "runs.html", title="Runs", home=found)
