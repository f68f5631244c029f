"""One run: what it says, its verdicts page by page and filtered, and everything about one case when it is opened."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from aiohttp import web

from pytest_verica.report.saved import SavedRun, find_run, status_of
from pytest_verica.ui import wording
from pytest_verica.ui.answers import SERVICES, Gone, apart, asked, data, page
from pytest_verica.ui.showing import Part, inputs_of, output_of

ON_A_PAGE = 100
SHORT = 120
"""Characters of an explanation beside a verdict; the whole stands where the case is opened."""

FILTERS: Mapping[str, frozenset[str]] = {
    "all": frozenset(),
    "failed": frozenset({"fail", "missed"}),
    "missed": frozenset({"missed"}),
    "error": frozenset({"error"}),
    "na": frozenset({"na"}),
}


@dataclass(frozen=True)
class Wanted:
    """Which verdicts are looked for. kind: a key of FILTERS; criterion: "" for all; text: "" for any; page: from 1."""

    kind: str = "all"
    criterion: str = ""
    text: str = ""
    page: int = 1

    @classmethod
    def of(cls, request: web.Request) -> Wanted:
        query = request.query
        kind = query.get("show", "all")
        number = query.get("page", "1")
        return cls(
            kind if kind in FILTERS else "all",
            query.get("criterion", ""),
            query.get("q", "").strip(),
            max(1, int(number)) if number.isascii() and number.isdecimal() and len(number) < 9 else 1,
        )

    def fits(self, case: Mapping[str, Any]) -> bool:
        """Whether the case has a verdict that is looked for, and the text."""
        if self.text and self.text.casefold() not in _searched(case):
            return False
        if self.kind == "all":
            return True
        words = {word_of(grade) for grade in case["grades"] if self.criterion in ("", grade["criterion"])}
        return bool(words & FILTERS[self.kind])


@dataclass
class Verdicts:
    """A page of an eval's cases, and how many fit. rows: the case's id and sample, and its cells by criterion."""

    head: Mapping[str, Any]
    rows: list[dict[str, Any]] = field(default_factory=list)
    found: int = 0
    pages: int = 1


def word_of(grade: Mapping[str, Any]) -> str:
    """How a verdict is called: a fail that a gate counts in place of a failed test is a miss."""
    missed = grade["reported"] == "missed" and grade["outcome"] == "fail"
    return "missed" if missed else str(grade["outcome"])


def _searched(case: Mapping[str, Any]) -> str:
    parts: Iterator[Any] = iter((case["id"], *case["columns"].values(), *(case["output"] or {}).values()))
    said = (grade[name] for grade in case["grades"] for name in ("explanation", "reasoning"))
    return "\n".join(wording.value(part) for part in (*parts, *said) if part is not None).casefold()


def verdicts(run: SavedRun, head: Mapping[str, Any], wanted: Wanted) -> Verdicts:
    """The page of an eval's cases that is looked for; one case is in memory at a time."""
    found = Verdicts(head)
    first = (wanted.page - 1) * ON_A_PAGE
    for case in run.cases(head["id"]):
        if not wanted.fits(case):
            continue
        if first <= found.found < first + ON_A_PAGE:
            found.rows.append(_row(case))
        found.found += 1
    found.pages = max(1, -(-found.found // ON_A_PAGE))
    return found


def _row(case: Mapping[str, Any]) -> dict[str, Any]:
    cells = {}
    for grade in case["grades"]:
        word = word_of(grade)
        why = "" if word == "pass" else grade["explanation"]
        cells[grade["criterion"]] = (word, why if len(why) <= SHORT else why[:SHORT] + "…")
    return {"id": case["id"], "sample": case["sample"], "cells": cells}


@dataclass(frozen=True)
class RunPage:
    """Everything that the page of a run shows."""

    name: str
    id: str
    status: str
    head: Mapping[str, Any]
    evals: list[Verdicts]


def _read(root: Path, name: str, wanted: Wanted, eval_id: str | None) -> RunPage:
    run = find_run(root, name)
    evals = [verdicts(run, head, wanted) for head in run.head["evals"] if eval_id in (None, head["id"])]
    return RunPage(run.name, run.id, status_of(run.head), run.head, evals)


async def one_run(request: web.Request) -> web.Response:
    wanted = Wanted.of(request)
    found = await apart(_read, request.app[SERVICES].root, asked(request, "id"), wanted, request.query.get("eval"))
    return page(request, "run.html", title=f"Run {found.name}", run=found, wanted=wanted, filters=list(FILTERS))


async def one_case(request: web.Request) -> web.Response:
    """Everything about one case, as JSON for the page that opens it."""
    root, sample = request.app[SERVICES].root, request.query.get("sample", "0")
    run, eval_id, case = asked(request, "id"), asked(request, "eval"), asked(request, "case")
    return data(await apart(_opened, root, run, eval_id, case, sample))


def _opened(root: Path, name: str, eval_id: str, case_id: str, sample: str) -> dict[str, Any]:
    run = find_run(root, name)
    for case in run.cases(eval_id):
        if case["id"] == case_id and str(case["sample"]) == sample:
            error = case["error"]
            failed = [] if error is None else [Part(name=f"No output ({error['kind']})", text=error["message"])]
            return {
                "inputs": inputs_of(case["columns"], case["columns"]),
                "output": failed or output_of(case["output"]),
                "grades": [_grade(grade) for grade in case["grades"]],
            }
    raise Gone(f"the run {run.name} has no case {case_id!r} in {eval_id}")


def _grade(grade: Mapping[str, Any]) -> dict[str, Any]:
    facts = []
    if grade["score"] is not None:
        facts.append(f"score {wording.plain(grade['score'])}")
    if grade["label"] is not None:
        facts.append(f"label {grade['label']}")
    if grade["calls"] or grade["reused_calls"]:
        facts.append(wording.dollars(grade["cost"]))
        usage = grade["usage"] or {}
        tokens = [usage.get(name) for name in ("input_tokens", "output_tokens")]
        if None not in tokens:
            facts.append(f"{tokens[0]:,} + {tokens[1]:,} tokens")
    if grade["reused"] or grade["reused_from"]:
        facts.append(f"reused from {grade['reused_from']}" if grade["reused_from"] else "answer reused")
    error = grade["error"]
    return {
        "criterion": grade["criterion"],
        "word": word_of(grade),
        "explanation": grade["explanation"],
        "reasoning": grade["reasoning"],
        "raw": None if error is None else error["raw"],
        "facts": facts,
        "command": f"pytest --verica {shlex.quote(grade['node_id'])}",
    }
