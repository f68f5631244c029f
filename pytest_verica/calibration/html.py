"""The page of one judge or several, whole in one file: nothing is loaded, nothing runs, everything is escaped."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

from pytest_verica.calibration import drawings, words
from pytest_verica.calibration.alignment import Alignment
from pytest_verica.calibration.history import Point
from pytest_verica.report.failure import excerpt
from pytest_verica.report.look import look_css

MOST_DISAGREEMENTS = 100
LONGEST = 4000

_STYLE = """
svg { width: 100%; max-width: 40rem; height: auto; display: block; margin: .5rem 0; }
svg text { font: 13px var(--text); fill: var(--ink); }
svg .axis { stroke: var(--line); stroke-width: 1; }
svg .curve { fill: none; stroke: var(--pass); stroke-width: 2; }
svg .dot, svg .point { fill: var(--pass); }
svg .raw { fill: var(--paper); stroke: var(--quiet); stroke-width: 2; }
svg .range { fill: var(--pass-soft); stroke: var(--pass); }
svg .now { stroke: var(--quiet); stroke-width: 2; stroke-dasharray: 5 4; }
svg .strict { fill: var(--strict); } svg .agreed { fill: var(--na-soft); } svg .lenient { fill: var(--lenient); }
.light { font-weight: 650; font-size: 1.1rem; }
.light.red { color: var(--error); } .light.amber { color: var(--warn); } .light.green { color: var(--lenient); }
pre { white-space: pre-wrap; background: var(--raised); padding: .5rem .75rem; border-radius: var(--radius); }
"""


def calibration_page(found: Sequence[tuple[Alignment, Sequence[Point]]]) -> str:
    """The page. Held-out cases are counted in it and never named."""
    names = ", ".join(sorted({alignment.run.eval.name for alignment, _ in found}))
    body = "\n".join(_judge(alignment, points) for alignment, points in found)
    policy = "default-src 'none'; style-src 'unsafe-inline'"
    return (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>Judge alignment: {escape(names)}</title>'
        f'<meta name="viewport" content="width=device-width, initial-scale=1">'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">'
        f"<style>{look_css()}{_STYLE}</style></head><body><main>\n"
        f"<h1>Judge alignment: {escape(names)}</h1>\n{body}\n</main></body></html>\n"
    )


def _judge(alignment: Alignment, points: Sequence[Point]) -> str:
    rate, light, criterion = alignment.rate, alignment.light, alignment.run.criterion
    parts = [
        f"<section><h2>{escape(criterion.name)}</h2>",
        f'<p class="quiet small">{escape(criterion.type)}, run {escape(alignment.run.run.id)}</p>',
        f'<p class="light {light.colour}">● {light.colour}: {escape(light.says)}</p>',
        _list([*light.reasons, *(f"Next: {advice}" for advice in light.advice)]),
        "<h3>Corrected success rate</h3>",
    ]
    if rate.estimate is not None and rate.low is not None and rate.high is not None:
        judge = rate.judge_passed / rate.judged if rate.judged else None
        parts.append(drawings.interval(rate.low, rate.estimate, rate.high, judge))
    parts.append(_list(words.rate_lines(alignment)))
    parts += ["<h3>Agreement</h3>", drawings.wings(alignment.measured), _list(words.agreement_lines(alignment))]
    parts += ["<h3>Labels</h3>", _list(words.label_lines(alignment))]
    if alignment.sweep is not None:
        parts += ["<h3>Threshold</h3>", drawings.sweep_curve(alignment.sweep)]
        parts.append(_list([next(words.sweep_lines(alignment.sweep))]))
    if points:
        parts += ["<h3>History</h3>", drawings.history_curve(points), _list([words.history_line(points)])]
    parts += [_disagreements(alignment), "</section>"]
    return "\n".join(part for part in parts if part)


def _disagreements(alignment: Alignment) -> str:
    found = alignment.disagreements
    if not found:
        return ""
    kept_out = " Held-out cases are not listed." if alignment.held_out is not None else ""
    parts = [f"<h3>Disagreements ({len(found)})</h3><p>{kept_out}</p>" if kept_out else "<h3>Disagreements</h3>"]
    for item in found[:MOST_DISAGREEMENTS]:
        person, judge = ("pass" if verdict else "fail" for verdict in (item.labelled.person, item.labelled.judge))
        text = reasoning = ""
        if item.output is not None and alignment.run.journal is not None:
            output = alignment.run.case(item.output).output or {}
            text = f"<pre>{escape(excerpt(str(output.get('text') or ''), LONGEST))}</pre>"
            if item.output.reasoning:
                reasoning = f"<p>The judge: {escape(excerpt(item.output.reasoning, LONGEST))}</p>"
        parts.append(
            f"<details><summary>{escape(item.labelled.case)}: "
            f'<span class="pill {person}">person {person}</span> <span class="pill {judge}">judge {judge}</span> '
            f"{item.kind}</summary>{text}{reasoning}</details>"
        )
    if len(found) > MOST_DISAGREEMENTS:
        parts.append(f"<p>and {len(found) - MOST_DISAGREEMENTS} more (verica calibrate --json has all)</p>")
    return "\n".join(parts)


def _list(lines: Iterable[str]) -> str:
    items = "".join(f"<li>{escape(line.strip())}</li>" for line in lines)
    return f"<ul>{items}</ul>" if items else ""
