"""What the HTML report's table holds: the cases as data, long texts trimmed, in pieces that are parsed when needed."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from pytest_verica.report.figures import dollars, many, seconds
from pytest_verica.report.saved import SavedRun
from pytest_verica.template import text_of

CHUNK = 200
"""Cases in one piece."""
BUDGET = 12_000_000
"""Characters that the texts of all cases may take together, about: a browser opens such a page at once."""
LONGEST, SHORTEST = 20_000, 200
"""Characters of one text, in a small run and in a large one."""
LONGEST_WHY = 160

LETTERS = {"passed": "p", "failed": "f", "missed": "m", "skipped": "n", "error": "e", "errored": "x"}
_OUTCOMES = {"pass": "p", "fail": "f", "na": "n", "error": "e"}
_OTHER = ("steps", "state", "spans")
_UNSAFE = re.compile("[<>&\u2028\u2029\ud800-\udfff]")


def script_json(value: Any) -> str:
    """JSON that may stand in a script element: nothing in it ends the element, and lone surrogates survive."""
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return _UNSAFE.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


def longest_text(cases: int) -> int:
    """How many characters of one text a report with so many cases keeps."""
    return max(SHORTEST, min(LONGEST, BUDGET // max(1, 3 * cases)))


class HtmlData:
    """The data of one report: `pieces` gives script elements, after which `index` says what stands where."""

    def __init__(self, run: SavedRun) -> None:
        self._run = run
        evals = run.head["evals"]
        self._longest = longest_text(
            sum(found["totals"]["outputs"] + found["totals"]["failed_outputs"] for found in evals)
        )
        self._chunks = 0
        self._evals: list[dict[str, Any]] = []
        self.trimmed = 0

    @property
    def index(self) -> dict[str, Any]:
        return {"chunk": CHUNK, "evals": self._evals}

    def pieces(self) -> Iterator[str]:
        """One script element per CHUNK cases."""
        for found in self._run.head["evals"]:
            yield from self._eval(found)

    def _eval(self, found: Mapping[str, Any]) -> Iterator[str]:
        names = {criterion["id"]: criterion["name"] for criterion in found["criteria"]}
        criteria = list(dict.fromkeys([*names, *found["totals"]["criteria"]]))
        cases: list[Any] = []
        told = [{"id": each, "name": names.get(each, each)} for each in criteria]
        self._evals.append(
            {"id": found["id"], "name": found["name"], "first": self._chunks, "criteria": told, "cases": cases}
        )
        places = {name: place for place, name in enumerate(criteria)}
        waiting: list[Any] = []
        for case in self._run.cases(found["id"]):
            cases.append(_row(case, criteria))
            waiting.append(self._details(found, case, places))
            if len(waiting) == CHUNK:
                yield self._chunk(waiting)
                waiting = []
        if waiting:
            yield self._chunk(waiting)

    def _chunk(self, details: list[Any]) -> str:
        number, self._chunks = self._chunks, self._chunks + 1
        return f'<script type="application/json" id="verica-chunk-{number}">{script_json(details)}</script>\n'

    def _details(self, found: Mapping[str, Any], case: Mapping[str, Any], places: Mapping[str, int]) -> dict[str, Any]:
        """What an opened case shows. A key is absent where there is nothing to show: a large run has many of them."""
        output = case["output"]
        shown: dict[str, Any] = {
            "inputs": [[name, self._trim(text_of(value))] for name, value in case["columns"].items()],
            "grades": [self._grade(found, case, grade, places) for grade in case["grades"]],
        }
        if output is not None:
            if output["text"] is not None:
                shown["output"] = self._trim(output["text"])
            shown["spent"] = _spent(output, output["latency_s"])
        shown["more"] = list(self._more(case))
        return {name: value for name, value in shown.items() if value not in (None, [])}

    def _more(self, case: Mapping[str, Any]) -> Iterator[Any]:
        """Heading and text of the rest of an output, and of what went wrong."""
        output, error = case["output"], case["error"]
        if output is not None:
            for call in output["tool_calls"]:
                yield [f"tool call {call['name']}", self._trim(text_of(call["arguments"]))]
            if output["data"] is not None and output["text"] is None:
                yield ["data", self._trim(text_of(output["data"]))]
            for name in _OTHER:
                if output[name] is not None:
                    yield [name, self._trim(text_of(output[name]))]
        if error is not None:
            text = f"{error['message']}\n{error['raw'] or ''}".rstrip()
            yield [f"the target failed: {error['kind']}", self._trim(text)]

    def _grade(
        self, found: Mapping[str, Any], case: Mapping[str, Any], grade: Mapping[str, Any], places: Mapping[str, int]
    ) -> dict[str, Any]:
        error, details, score = grade["error"], grade["details"], grade["score"]
        spent = _spent(grade, grade["duration_s"])
        if grade["reused_from"]:
            spent = f"the verdict is reused, of the run {grade['reused_from']}"
        usual = f"{found['id']}::{case['id']}::{grade['criterion']}"
        shown = {
            "at": places[grade["criterion"]],
            "word": letter(grade),
            "why": self._trim(grade["explanation"]),
            "score": None if score is None else f"{score:g}",
            "label": grade["label"],
            "reasoning": self._trim(grade["reasoning"]) if grade["reasoning"] else None,
            "details": self._trim(json.dumps(details, ensure_ascii=False, indent=1)) if details else None,
            "raw": self._trim(error["raw"]) if error is not None and error["raw"] else None,
            "spent": spent,
            "node": None if grade["node_id"] == usual else grade["node_id"],
        }
        return {name: value for name, value in shown.items() if value is not None}

    def _trim(self, text: str) -> str | dict[str, Any]:
        if len(text) <= self._longest:
            return text
        self.trimmed += 1
        return {"text": text[: self._longest], "left": len(text) - self._longest}


def letter(grade: Mapping[str, Any]) -> str:
    """How a verdict was told of; where a plugin told of it as something else, its outcome."""
    told = LETTERS.get(grade["reported"], "")
    alike = {"p": "p", "f": "f", "m": "f", "n": "n", "e": "e", "x": "e"}
    outcome = _OUTCOMES[grade["outcome"]]
    return told if alike.get(told) == outcome else outcome


def _row(case: Mapping[str, Any], criteria: list[str]) -> list[Any]:
    """[id, sample, a letter a criterion, why the first that did not pass did not]."""
    told = {grade["criterion"]: grade for grade in case["grades"]}
    letters = "".join(letter(told[name]) if name in told else "-" for name in criteria)
    bad = next((told[name] for name in criteria if name in told and told[name]["outcome"] in ("fail", "error")), None)
    why = "" if bad is None else " ".join(bad["explanation"].split())
    return [case["id"], case["sample"], letters, f"{why[:LONGEST_WHY]} …" if len(why) > LONGEST_WHY else why]


def _spent(told: Mapping[str, Any], took: float | None) -> str | None:
    """Tokens, cost, time and whether it was reused, of an output or a grade; None where no model was asked."""
    if not told["calls"] and not told["reused_calls"]:
        return None
    usage = told["usage"] or {}
    parts = []
    if usage.get("input_tokens") is not None and usage.get("output_tokens") is not None:
        parts.append(f"{usage['input_tokens']:,} + {usage['output_tokens']:,} tokens")
    parts.append(f"cost {dollars(told['cost'])}")
    if told["reused"]:
        parts.append(f"stored answer, nothing paid now ({dollars(told['cost_avoided'])} when bought)")
    if told["calls"]:
        parts.append(many(told["calls"], "call"))
    if took is not None:
        parts.append(seconds(took))
    return " · ".join(parts)
