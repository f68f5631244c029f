"""A run as Markdown: the summary of a CI step. Texts of models stand in it as texts, never as Markdown or HTML."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any

from pytest_verica.report.failing import findings
from pytest_verica.report.failure import excerpt
from pytest_verica.report.figures import dollars, interval_words, many, percent, seconds
from pytest_verica.report.run_lines import SIGNS
from pytest_verica.report.saved import SavedRun, status_of
from pytest_verica.report.standing import standing

MOST_FINDINGS = 50
"""Of an eval: a step's summary may have a megabyte, and nobody reads hundreds."""
LONGEST_TEXT = 300

_MARKUP = re.compile(r"[\\`*_{}\[\]()<>#|&~@:$!^=\"']")
_WWW = re.compile(r"(?i)\bwww\.")
_DIRECTION = re.compile("[\u200e\u200f\u202a-\u202e\u2066-\u2069\u2028\u2029]")


def plain(text: str, longest: int = LONGEST_TEXT) -> str:
    """A text that any Markdown shows as it is, on one line: every sign that could be markup is an entity."""
    short = _DIRECTION.sub(lambda match: f"\\u{ord(match[0]):04x}", excerpt(text, longest))
    entities = _MARKUP.sub(lambda match: f"&#{ord(match[0])};", short)
    entities = _WWW.sub(lambda match: match[0][:-1] + "&#46;", entities)
    return "<br>".join(" ".join(line.split()) for line in entities.splitlines())


def markdown_pieces(run: SavedRun) -> Iterator[bytes]:
    """The summary: each eval's rate, criteria, gate, cost, and what did not pass.

    Raises:
        StoreError: the run cannot be read.
    """
    for line in _lines(run):
        yield (line + "\n").encode("utf-8")


def _lines(run: SavedRun) -> Iterator[str]:
    head = run.head
    status = status_of(head)
    yield f"## {SIGNS[status]} Evals {status}"
    yield ""
    yield "| eval | pass rate | passed / graded | N/A | errors | missed | gate | cost | latency p50 |"
    yield "|---|--:|--:|--:|--:|--:|---|--:|--:|"
    for found in head["evals"]:
        yield _eval_row(found)
    for found in head["evals"]:
        yield from _eval(run, found)
    told = head["run"]
    commit = f", commit {plain(told['git']['commit'][:12])}" if told["git"]["commit"] else ""
    yield ""
    yield f"Run {plain(told['id'])}, {plain(told['started'])}{commit}. `verica show` tells more."


def _eval_row(found: Mapping[str, Any]) -> str:
    totals, gate = found["totals"], found["gate"]
    cells = [
        plain(found["name"]),
        "no rate" if totals["rate"] is None else f"**{percent(totals['rate'])}**",
        f"{totals['pass']} / {totals['graded']}",
        str(totals["na"]),
        str(totals["error"]),
        str(totals["missed"]),
        "none" if gate is None else f"{gate['status'] or 'not judged'}",
        dollars(found["cost"]["total"]),
        seconds(found["latency"]["p50"]),
    ]
    return f"| {' | '.join(cells)} |"


def _eval(run: SavedRun, found: Mapping[str, Any]) -> Iterator[str]:
    totals, gate = found["totals"], found["gate"]
    yield ""
    yield f"### {plain(found['name'])}"
    yield ""
    interval = interval_words(totals)
    if interval:
        yield f"- interval {interval}"
    yield from (f"- {plain(line)}" for line in standing(found))
    if gate is not None:
        yield f"- gate {gate['status'] or 'not judged'}: {plain('; '.join(gate['reasons']))}"
    if found["partial"]:
        yield f"- {plain(found['partial'])}"
    cost = found["cost"]
    yield f"- cost: {dollars(cost['sampling'])} sampling + {dollars(cost['grading'])} judges"
    if cost["unpriced_models"]:
        yield f"- not counted, price unknown: {plain(', '.join(cost['unpriced_models']))}"
    yield from _criteria(found)
    shown = list(islice(findings(run, found), MOST_FINDINGS))
    if shown:
        count = totals["fail"] + totals["error"]
        yield ""
        yield f"<details><summary>{many(count, 'verdict')} did not pass</summary>"
        yield ""
        yield "| case | criterion | verdict | why |"
        yield "|---|---|---|---|"
        for each in shown:
            yield f"| {plain(each.case)} | {plain(each.criterion)} | {each.word} | {plain(each.explanation)} |"
        if count > len(shown):
            yield f"| … | | | {count - len(shown)} more are in the report |"
        yield ""
        yield "</details>"


def _criteria(found: Mapping[str, Any]) -> Iterator[str]:
    names = {criterion["id"]: criterion["name"] for criterion in found["criteria"]}
    if len(found["totals"]["criteria"]) < 2:
        return
    yield ""
    yield "| criterion | pass rate | passed / graded | N/A | errors |"
    yield "|---|--:|--:|--:|--:|"
    for name, counts in found["totals"]["criteria"].items():
        rate = "no rate" if counts["rate"] is None else percent(counts["rate"])
        cells = [plain(names.get(name, name)), rate, f"{counts['pass']} / {counts['graded']}"]
        yield f"| {' | '.join(cells)} | {counts['na']} | {counts['error']} |"
