"""The text of a verdict that failed or could not be judged: no traceback, what a person needs to act."""

from __future__ import annotations

import re
from collections.abc import Iterable

from pytest_verica.case import Case
from pytest_verica.grade import Grade
from pytest_verica.output import Output
from pytest_verica.template import text_of

_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")
LONGEST = 1200


def printable(text: str) -> str:
    """The text with what terminals and XML cannot show (control characters, lone surrogates) written as escapes."""
    return _CONTROL.sub(lambda match: match[0].encode("unicode_escape").decode("ascii"), text)


def excerpt(text: str, longest: int = LONGEST) -> str:
    """The start and the end of a long text, and how much of it is left out."""
    if len(text) <= longest:
        return printable(text)
    head, tail = text[: longest * 2 // 3], text[-(longest // 4) :]
    return printable(f"{head} … [{len(text) - len(head) - len(tail):,} characters left out] … {tail}")


def failure_text(
    criterion: str, case: Case, columns: Iterable[str], output: Output | None, grade: Grade, node_id: str
) -> str:
    """What stands under a failed verdict: the finding, the case's columns, the output, the judge, how to rerun it."""
    lines = [f"{criterion}: {grade.outcome}: {printable(grade.explanation)}"]
    if grade.score is not None:
        lines.append(f"score: {grade.score:g}")
    if grade.label is not None:
        lines.append(f"label: {printable(grade.label)}")
    for column in columns:
        lines += _block(column, text_of(case.columns.get(column)), 400)
    if output is not None:
        lines += _block("output", output.text if output.text is not None else "(no text)", LONGEST)
        lines += [f"    tool call: {printable(c.name)}({printable(text_of(c.arguments))})" for c in output.tool_calls]
    if grade.reasoning:
        lines += _block("judge", grade.reasoning, LONGEST)
    if grade.error is not None:
        lines.append(f"error kind: {grade.error.kind}")
        if grade.error.raw:
            lines += _block("raw", grade.error.raw, LONGEST)
    lines += ["", f'rerun: pytest --verica "{printable(node_id)}"']
    return "\n".join(lines)


def _harmless(line: str) -> str:
    """A line of somebody else's text. GitHub Actions obeys what begins with `::` or `##[` in a step's output."""
    return f"\\{line}" if line.lstrip().startswith(("::", "##[")) else line


def _block(name: str, text: str, longest: int) -> list[str]:
    first, *rest = excerpt(text, longest).splitlines() or [""]
    return [f"{printable(name)}: {first}", *(f"    {_harmless(line)}" for line in rest)]
