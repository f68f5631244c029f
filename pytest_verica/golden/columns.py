"""The rules of column names."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence

from pytest_verica.golden.findings import Findings
from pytest_verica.template.reference import LABEL_PREFIX, is_manual_column

RESERVED = frozenset({"output", "item", "sample"})
RESERVED_PREFIX = "verica_"


class ColumnNames:
    """Turns names as written into names as used: one text object per name, each problem and warning told once."""

    def __init__(self, findings: Findings) -> None:
        self._findings = findings
        self._known: dict[str, str] = {}

    def name(self, written: str, line: int | None = None) -> str:
        """The name as used: without white space around it, composed characters (NFC)."""
        known = self._known.get(written)
        return self._first_time(written, line) if known is None else known

    def header(self, written: Sequence[str], line: int | None) -> list[str]:
        """The names of a header row; also tells empty and repeated ones."""
        places: dict[str, list[int]] = {}
        names: list[str] = []
        for place, text in enumerate(written, 1):
            if not text.strip():
                self._findings.problem(f"column {place} of the header has no name: give it one or remove it", line)
                names.append("")
                continue
            name = self.name(text, line)
            names.append(name)
            places.setdefault(name, []).append(place)
        for name, found in places.items():
            if len(found) > 1:
                where = f"{len(found)} times (columns {', '.join(str(place) for place in found)})"
                self._findings.problem(f"the column name {name!r} is written {where}: rename all but one", line)
        return names

    def _first_time(self, written: str, line: int | None) -> str:
        name = unicodedata.normalize("NFC", written.strip())
        problem = name_problem(name)
        if problem is not None:
            self._findings.problem(problem, line)
        elif name != unicodedata.normalize("NFC", written):
            self._findings.warn(f"white space around the column name {written!r} was taken away: it is {name!r}", line)
        self._known[written] = name
        return name


def is_name(text: str) -> bool:
    """Whether a template can say it: a letter or `_`, then letters, digits and `_`, of any script."""
    return text.isidentifier() or (text.startswith(LABEL_PREFIX) and is_manual_column(text))


def name_problem(name: str) -> str | None:
    """What is wrong with a column name, None where nothing is."""
    if not name:
        return "a column has no name: give it one or remove it"
    if name in RESERVED:
        return f"the column name {name!r} is reserved (templates use it for what is judged): rename the column"
    if name.startswith(RESERVED_PREFIX) and (not is_manual_column(name) or name == LABEL_PREFIX):
        labels = f"only `{LABEL_PREFIX}<criterion>` may start so, for human verdicts"
        return f"the column name {name!r} starts with the reserved `{RESERVED_PREFIX}` ({labels}): rename the column"
    if is_name(name):
        return None
    shown = name if len(name) <= 60 else name[:60] + "…"
    is_data = len(name) > 60 or len(name.split()) > 5
    hint = "is the header line missing?" if is_data else f"write for instance `{_repaired(name)}`"
    return f"{shown!r} cannot be a column name: it must be a letter or `_`, then letters, digits and `_`; {hint}"


def _repaired(name: str) -> str:
    text = re.sub(r"\W+", "_", name).strip("_") or "column"
    return text if text.isidentifier() else f"column_{text}"
