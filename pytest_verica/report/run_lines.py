"""A run in a line: what a list of runs shows of each, on the terminal and in the pages."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pytest_verica.errors import StoreError
from pytest_verica.report.figures import UNKNOWN, dollars, percent
from pytest_verica.report.saved import Listed, SavedRun, status_of

SIGNS = {"passed": "●", "failed": "✗", "interrupted": "■", "incomplete": "…", "reused": "↺", "damaged": "?"}
"""Beside each status, never in place of its word."""


@dataclass(frozen=True)
class RunLine:
    """run: its name; origin: local, or the CI service and build; status: with the run that a reused one was taken from;
    sign: of the status; model: of its evals; rate, cost: in words; launched: ISO 8601 in UTC, None where not known;
    problem: why it cannot be read, None where it can."""

    run: str
    id: str
    origin: str
    status: str
    sign: str
    model: str
    rate: str
    cost: str
    launched: str | None
    problem: str | None = None


def run_line(listed: Listed, names: Mapping[str, str], eval_name: str | None = None) -> RunLine | None:
    """The line of a run. names: name by run id, for the source of a reused run; eval_name: figures of this eval alone,
    by its name or id; None where the run has not this eval."""
    run, head = listed.run, listed.head
    if head is None:
        damaged = RunLine(run.name, run.id, "?", "damaged", SIGNS["damaged"], "?", "?", "?", None, listed.problem)
        return None if eval_name is not None else damaged
    evals = [each for each in head["evals"] if eval_name is None or eval_name in (each["name"], each["id"])]
    if not evals and eval_name is not None:
        return None
    totals = head["totals"] if eval_name is None else evals[0]["totals"]
    cost = totals["cost"] if eval_name is None else evals[0]["cost"]
    status: str = status_of(head)
    sign = SIGNS[status]
    if totals["ran"] and totals["reused"] == totals["ran"]:
        status, sign = f"reused of {_source(run, evals, names)}", SIGNS["reused"]
    return RunLine(
        run.name,
        run.id,
        _origin(head["run"]["origin"]),
        status,
        sign,
        _models(evals),
        _rate(totals),
        _cost(cost),
        head["run"]["started"],
    )


def _origin(origin: Mapping[str, Any]) -> str:
    if origin["kind"] == "local":
        return "local"
    build = (origin["build_url"] or "").rstrip("/").rpartition("/")[2]
    return " ".join(filter(None, [origin["name"] or "CI", build]))


def _models(evals: list[Mapping[str, Any]]) -> str:
    names = list(dict.fromkeys(each["model"]["name"] for each in evals if each["model"] is not None))
    if not names:
        return "-"
    return names[0] if len(names) == 1 else f"{names[0]} and {len(names) - 1} more"


def _rate(counts: Mapping[str, Any]) -> str:
    if counts["rate"] is None:
        return f"no rate, 0 graded of {counts['ran']}"
    rest = [f"{counts[key]} {word}" for key, word in (("na", "N/A"), ("error", "errors")) if counts[key]]
    return ", ".join([f"{percent(counts['rate'])}, {counts['pass']}/{counts['graded']}", *rest])


def _cost(cost: Mapping[str, Any]) -> str:
    if cost["unpriced_models"] and cost["total"] is None:
        return UNKNOWN
    text = f"{dollars(cost['sampling'])} + {dollars(cost['grading'])}"
    return f"{text} + unpriced" if cost["unpriced_models"] else text


def _source(run: SavedRun, evals: list[Mapping[str, Any]], names: Mapping[str, str]) -> str:
    """The run that the first verdict was taken from."""
    told = next((found["reused_from"]["run"] for found in evals if found["reused_from"] is not None), None)
    if told is not None:
        return names.get(told, str(told))
    try:
        for found in evals:
            for case in run.cases(found["id"]):
                for grade in case["grades"]:
                    if grade["reused_from"]:
                        return names.get(grade["reused_from"], str(grade["reused_from"]))
    except StoreError:
        pass
    return UNKNOWN
