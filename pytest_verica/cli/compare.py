"""`verica compare`: one run against another: rates over the same cases, what changed, and the verdicts that flipped."""

from __future__ import annotations

import json
import shutil
import textwrap
from collections.abc import Iterator
from itertools import zip_longest
from pathlib import Path
from typing import Any

import click

from pytest_verica.cli.answers import root_of, root_option
from pytest_verica.cli.printing import say, table
from pytest_verica.compare.changes import Change
from pytest_verica.compare.comparison import EvalComparison, Flip, Line, RunComparison, compare_runs
from pytest_verica.compare.sides import Side, flipped_sides
from pytest_verica.report.failure import excerpt
from pytest_verica.report.figures import dollars, many, percent, points, seconds
from pytest_verica.report.saved import find_run
from pytest_verica.template import text_of

LONGEST = 600
"""Characters of an output that stand beside the other run's."""
NARROWEST = 20


@click.command()
@click.argument("a", metavar="A")
@click.argument("b", metavar="B", default="last")
@click.option("--eval", "eval_name", metavar="NAME", help="This eval alone.")
@click.option("--on", multiple=True, metavar="COLUMN", help="A case is the same where its id and this column are.")
@click.option("--flips", "most", default=20, show_default=True, type=click.IntRange(0), help="How many to show.")
@click.option("--format", "kind", type=click.Choice(["text", "json"]), default="text", show_default=True)
@root_option
def compare(
    a: str, b: str, eval_name: str | None, on: tuple[str, ...], most: int, kind: str, root: Path | None
) -> None:
    """Holds run B against run A (each `last`, `#42`, an id or its beginning, a folder, a report.json)."""
    folder = root_of(root)
    found = compare_runs(find_run(folder, a), find_run(folder, b), eval_name=eval_name, on=on)
    if kind == "json":
        click.echo(json.dumps(found.to_json(), indent=1, allow_nan=False))
        return
    for line in _text(found, most):
        say(line)


def _text(found: RunComparison, most: int) -> Iterator[str]:
    for side, run in (("A", found.a), ("B", found.b)):
        yield f"{side}: {run.name} ({run.id}), {run.status}, launched {run.head['run']['started']}"
    for name, only in (("A", found.only_a), ("B", found.only_b)):
        if only:
            yield f"only in {name}: {', '.join(only)}"
    for change in found.changed:
        yield from _change(change)
    for each in found.evals:
        yield ""
        yield from _eval(found, each, most)


def _eval(found: RunComparison, each: EvalComparison, most: int) -> Iterator[str]:
    yield f"{each.name}: {_comparable(each)}"
    yield from (f"  {line}" for line in table([_row(line) for line in each.lines]) if each.lines)
    if not each.lines:
        yield "  no criterion is the same in both: nothing can be compared"
    cost = [side["cost"] for side in (each.a, each.b)]
    latency = [side["latency"] for side in (each.a, each.b)]
    yield (
        f"  whole runs: net per case {dollars(cost[0]['per_case_net'])} → {dollars(cost[1]['per_case_net'])}, "
        f"judges {dollars(cost[0]['grading'])} → {dollars(cost[1]['grading'])}, "
        f"latency p50 {seconds(latency[0]['p50'])} → {seconds(latency[1]['p50'])}"
    )
    yield (
        "  what changed:" if each.changed else "  nothing else changed: prompt, model, parameters, criteria, golden set"
    )
    for change in each.changed:
        yield from (f"    {line}" for line in _change(change))
    for fixed, word in ((False, "broke (passed in A, fails in B)"), (True, "fixed (failed in A, passes in B)")):
        flips = [flip for flip in each.flips if flip.fixed == fixed]
        yield f"  {many(len(flips), 'verdict')} {word}{':' if flips and most else ''}"
        shown = flips[:most]
        for flip, sides in zip(shown, flipped_sides(found.a, found.b, each, shown), strict=True):
            yield from _flip(flip, *sides)
        if len(flips) > len(shown):
            yield f"    {len(flips) - len(shown)} more (--flips shows them)"


def _comparable(each: EvalComparison) -> str:
    paired = each.paired
    of = len(paired.b)
    if len(paired.common) == of and not paired.only_a:
        return f"all {of} cases are comparable"
    rest = [
        f"{len(paired.changed)} with other columns" if paired.changed else "",
        f"{len(paired.only_a)} only in A" if paired.only_a else "",
        f"{len(paired.only_b)} only in B" if paired.only_b else "",
    ]
    return f"{len(paired.common)} of {of} cases are comparable and compared ({', '.join(filter(None, rest))})"


def _row(line: Line) -> list[str]:
    name = line.criterion or "all criteria"
    rest = f"{line.ungraded} not graded in both" if line.ungraded else ""
    if line.rate_a is None or line.rate_b is None:
        return [name, "no case graded in both", "", "", "", rest]
    difference = line.difference
    between = "" if difference is None else f" [{difference.low * 100:+.1f}, {difference.high * 100:+.1f}]"
    return [
        name,
        f"A {percent(line.rate_a)} → B {percent(line.rate_b)} of {line.cases}",
        f"{points(line.rate_b - line.rate_a)}{between}",
        "" if line.p is None else f"p = {line.p:.3g} (exact McNemar)",
        f"{line.pairs.second_only} fixed · {line.pairs.first_only} broke",
        rest,
    ]


def _change(change: Change) -> Iterator[str]:
    if change.diff:
        yield f"{change.what}:"
        yield from (f"  {line}" for line in change.diff)
    else:
        yield f"{change.what}: {_shown(change.a)} → {_shown(change.b)}"


def _shown(value: Any) -> str:
    return "none" if value is None else excerpt(text_of(value), 200)


def _flip(flip: Flip, a: Side, b: Side) -> Iterator[str]:
    yield f"    {flip.case} · {flip.criterion}"
    width = max(NARROWEST, (shutil.get_terminal_size((100, 24)).columns - 9) // 2)
    left, right = (_column(side, width) for side in (a, b))
    for one, other in zip_longest([f"A: {left[0]}", *left[1:]], [f"B: {right[0]}", *right[1:]], fillvalue=""):
        yield f"      {one.ljust(width + 3)} | {other}".rstrip()


def _column(side: Side, width: int) -> list[str]:
    """The output and the verdict's reason, as lines of that width."""
    lines: list[str] = []
    for text in (
        excerpt("(no text)" if side.output is None else side.output, LONGEST),
        f"→ {excerpt(side.explanation, LONGEST)}",
    ):
        for line in text.splitlines():
            lines += textwrap.wrap(line, width) or [""]
    return lines
