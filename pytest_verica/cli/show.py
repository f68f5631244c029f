"""`verica show`: one run on the terminal: its evals, what did not pass, or one case whole."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import Any

import click

from pytest_verica.cli.answers import root_of, root_option
from pytest_verica.cli.printing import say
from pytest_verica.report.failing import Finding, findings
from pytest_verica.report.failure import excerpt
from pytest_verica.report.figures import dollars, interval_words, other_words, rate_words, seconds
from pytest_verica.report.run_lines import RunLine, run_line
from pytest_verica.report.saved import Listed, SavedRun, find_run
from pytest_verica.report.standing import standing
from pytest_verica.template import text_of

MOST_SHOWN = 50
LONGEST_REASON = 200
LONGEST_TEXT = 4000


@click.command()
@click.argument("name", metavar="RUN", default="last")
@click.option("--case", "case_id", metavar="ID", help="One case whole: columns, output, grades.")
@root_option
def show(name: str, case_id: str | None, root: Path | None) -> None:
    """Shows RUN (`last`, `#42`, an id or its beginning, a folder, a report.json): figures, and what failed."""
    run = find_run(root_of(root), name)
    lines = list(_run(run)) if case_id is None else list(_cases(run, case_id))
    if not lines:
        raise click.ClickException(
            f"{run.name} has no case {case_id!r}; `verica report {name} --format csv` lists them"
        )
    for line in lines:
        say(line)


def _run(run: SavedRun) -> Iterator[str]:
    head = run.head
    line = run_line(Listed(run, head), {})
    assert isinstance(line, RunLine)
    told = head["run"]
    yield f"{run.name} ({run.id}): {line.status}, {line.origin}, launched {told['started']}"
    yield f"  {' '.join(told['command'])}"
    if told["interrupted"]:
        yield f"  ended early: {told['interrupted']}"
    if told["git"]["commit"]:
        dirty = ", with changes of its own" if told["git"]["dirty"] else ""
        yield f"  commit {told['git']['commit']}{dirty}"
    for found in head["evals"]:
        yield ""
        yield from _eval(run, found)


def _eval(run: SavedRun, found: Mapping[str, Any]) -> Iterator[str]:
    totals, cost = found["totals"], found["cost"]
    yield f"{found['name']}: {rate_words(totals)}, {other_words(totals)}"
    interval = interval_words(totals)
    if interval:
        yield f"  interval {interval}"
    yield from (f"  {line}" for line in standing(found))
    names = {criterion["id"]: criterion["name"] for criterion in found["criteria"]}
    for criterion, counts in totals["criteria"].items():
        yield f"  {names.get(criterion, criterion)}: {rate_words(counts)}, {other_words(counts)}"
    gate = found["gate"]
    if gate is not None:
        yield f"  gate {gate['status'] or 'not judged'}: {'; '.join(gate['reasons'])}"
    if found["model"] is not None:
        params = ", ".join(f"{key}={value}" for key, value in found["params"].items())
        yield f"  model {found['model']['provider']}/{found['model']['name']}{f' ({params})' if params else ''}"
    yield (
        f"  cost: {dollars(cost['sampling'])} sampling + {dollars(cost['grading'])} judges = {dollars(cost['total'])}; "
        f"latency p50 {seconds(found['latency']['p50'])}, p99 {seconds(found['latency']['p99'])}"
    )
    shown = list(islice(findings(run, found), MOST_SHOWN + 1))
    for finding in shown[:MOST_SHOWN]:
        yield f"  {finding.word} {finding.node_id}: {excerpt(finding.explanation, LONGEST_REASON)}"
    if len(shown) > MOST_SHOWN:
        yield f"  … and more (`verica report {run.id} --format html` shows all)"


def _cases(run: SavedRun, case_id: str) -> Iterator[str]:
    for found in run.head["evals"]:
        for case in run.cases(found["id"]):
            if case_id in (case["id"], case["original_id"]):
                yield from _case(found, case)


def _case(found: Mapping[str, Any], case: Mapping[str, Any]) -> Iterator[str]:
    sample = f", sample {case['sample'] + 1} of {found['repeat']}" if found["repeat"] > 1 else ""
    yield f"{found['name']}, case {case['id']}{sample}"
    for name, value in case["columns"].items():
        yield from _block(name, text_of(value))
    output = case["output"]
    if output is not None:
        yield from _block("output", "(no text)" if output["text"] is None else output["text"])
        yield from (f"  tool call: {call['name']}({text_of(call['arguments'])})" for call in output["tool_calls"])
    if case["error"] is not None:
        yield from _block(f"error {case['error']['kind']}", case["error"]["message"])
    for grade in case["grades"]:
        finding = Finding.of(case, grade)
        score = "" if grade["score"] is None else f", score {grade['score']:g}"
        label = "" if grade["label"] is None else f", label {grade['label']}"
        yield from _block(f"{finding.word} {grade['criterion']}{score}{label}", grade["explanation"])
        if grade["reasoning"]:
            yield from _block("  judge", grade["reasoning"])


def _block(name: str, text: str) -> Iterator[str]:
    first, *rest = excerpt(text, LONGEST_TEXT).splitlines() or [""]
    yield f"  {name}: {first}"
    yield from (f"      {line}" for line in rest)
