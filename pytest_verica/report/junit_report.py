"""A saved run as junit XML, with the names, outcomes and properties that pytest's own writer gives them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any
from xml.sax.saxutils import escape, quoteattr

from pytest_verica.report.failing import WORDS
from pytest_verica.report.failure import excerpt, printable
from pytest_verica.report.saved import SavedRun
from pytest_verica.run import RUN_GATE

UNKNOWN = "unknown"


def junit_pieces(run: SavedRun) -> Iterator[bytes]:
    """The file, a piece per case. A miss is skipped, as an expected failure is: only a failed gate fails the suite.

    Raises:
        StoreError: the run cannot be read.
    """
    head = run.head
    counts = _suite_counts(run)
    attributes = {"name": "verica", **counts, "timestamp": head["run"]["started"]}
    yield b'<?xml version="1.0" encoding="utf-8"?>\n<testsuites name="verica">\n'
    yield _text(f"<testsuite{_attributes(attributes)}>\n{_properties(_run_properties(head))}")
    for found in head["evals"]:
        for case in run.cases(found["id"]):
            yield _text("".join(_verdict(case, grade) for grade in case["grades"]))
        yield _text(_gate(found["id"], found["gate"]))
    yield _text(_gate(RUN_GATE, head["gate"]))
    yield b"</testsuite>\n</testsuites>\n"


def _suite_counts(run: SavedRun) -> dict[str, int]:
    """Tests, failures, errors and skips: what the test cases below add up to."""
    kinds = {"passed": 0, "failed": 0, "error": 0, "skipped": 0}
    for found in run.head["evals"]:
        for case in run.cases(found["id"]):
            for grade in case["grades"]:
                told = grade["reported"]
                kinds[told if told in kinds else "skipped"] += 1
    gates = [found["gate"] for found in run.head["evals"]] + [run.head["gate"]]
    for gate in gates:
        if gate is not None:
            kinds[gate["status"] or "skipped"] += 1
    return {
        "errors": kinds["error"],
        "failures": kinds["failed"],
        "skipped": kinds["skipped"],
        "tests": sum(kinds.values()),
    }


def _verdict(case: Mapping[str, Any], grade: Mapping[str, Any]) -> str:
    told, reason = grade["reported"], grade["explanation"]
    inside = _properties(_verdict_properties(grade))
    if told == "failed":
        inside += f"<failure message={_quoted(reason)}>{escape(printable(_text_of(case, grade)))}</failure>"
    elif told == "error":
        inside += f"<error message={_quoted(reason)}>{escape(printable(_text_of(case, grade)))}</error>"
    elif told == "skipped":
        inside += f'<skipped type="pytest.skip" message={_quoted(f"N/A: {reason}")} />'
    elif told != "passed":
        inside += f'<skipped type="pytest.xfail" message={_quoted(reason)} />'
    return _case(grade["node_id"], grade["duration_s"], inside)


def _gate(eval_id: str, gate: Mapping[str, Any] | None) -> str:
    if gate is None:
        return ""
    reasons = "\n".join(gate["reasons"])
    inside = ""
    if gate["status"] == "failed":
        inside = f"<failure message={_quoted(reasons)}>{escape(printable(reasons))}</failure>"
    elif gate["status"] != "passed":
        inside = f'<skipped type="pytest.skip" message={_quoted(reasons or "the gate was not judged")} />'
    return _case(f"{eval_id}::gate", 0.0, inside)


def _case(node_id: str, duration: float, inside: str) -> str:
    path, bracket, params = node_id.partition("[")  # as pytest's writer does: what is in brackets is not taken apart
    parts = path.split("::")
    classname = ".".join([parts[0].removesuffix(".py").replace("/", "."), *parts[1:-1]])
    attributes = {"classname": classname, "name": f"{parts[-1]}{bracket}{params}", "time": f"{duration:.3f}"}
    return f"<testcase{_attributes(attributes)}>{inside}</testcase>\n"


def _text_of(case: Mapping[str, Any], grade: Mapping[str, Any]) -> str:
    lines = [f"{WORDS[grade['reported']]} {grade['criterion']}: {grade['explanation']}"]
    if grade["reasoning"]:
        lines.append(f"judge: {excerpt(grade['reasoning'])}")
    if case["output"] is not None and case["output"]["text"] is not None:
        lines.append(f"output: {excerpt(case['output']['text'])}")
    return "\n".join([*lines, f'rerun: pytest --verica "{grade["node_id"]}"'])


def _verdict_properties(grade: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    yield "verica.outcome", grade["outcome"]
    if grade["score"] is not None:
        yield "verica.score", repr(grade["score"])
    if grade["label"] is not None:
        yield "verica.label", grade["label"]
    if grade["calls"] or grade["reused_calls"]:
        yield "verica.cost_usd", _known(grade["cost"])


def _run_properties(head: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    yield "verica.run_id", head["run"]["id"]
    parts = [("verica", head["totals"], head["totals"]["cost"], head["gate"])]
    parts += [
        (f"verica.eval.{found['name']}", found["totals"], found["cost"], found["gate"]) for found in head["evals"]
    ]
    for name, counts, cost, gate in parts:
        yield f"{name}.pass_rate", _known(counts["rate"])
        yield f"{name}.passed", str(counts["pass"])
        yield f"{name}.graded", str(counts["graded"])
        yield f"{name}.cost_usd", _known(cost["total"])
        if gate is not None:
            yield f"{name}.gate", gate["status"] or UNKNOWN
            yield f"{name}.gate_reason", "; ".join(gate["reasons"])


def _known(number: float | None) -> str:
    return UNKNOWN if number is None else repr(number)


def _properties(named: Iterable[tuple[str, str]]) -> str:
    rows = "".join(f"<property name={_quoted(name)} value={_quoted(value)} />" for name, value in named)
    return f"<properties>{rows}</properties>"


def _attributes(named: Mapping[str, Any]) -> str:
    return "".join(f" {name}={_quoted(str(value))}" for name, value in named.items())


def _quoted(text: str) -> str:
    return quoteattr(printable(text))


def _text(text: str) -> bytes:
    return text.encode("utf-8")
