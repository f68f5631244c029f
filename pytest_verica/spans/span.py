"""A span and the tree it stands in: frozen records, made by the readers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

Status = Literal["ok", "error", "unset", "unknown"]

ABSENT: Any = object()
"""What `Span.attribute` gives where there is no such attribute; null is a value."""


@dataclass(frozen=True, eq=False)  # a span is itself: two equal calls are two spans
class Span:
    """One timed step.

    name: as recorded; start, end: whole nanoseconds, since 1970 in UTC where the trace has dates, None where not
    recorded; status: `unset` where nobody said, which is no error, and `unknown` for a word that is none of the known
    ones; status_text: that word, or what was said of an error, None where nothing was; attributes: JSON by name, flat
    or nested as exported; id: within its trace, None where a nested tree has none; orphan: it names a parent that is
    not in the trace, and stands as a root; children: in the order in which they were recorded.
    """

    name: str
    start: int | None = None
    end: int | None = None
    status: Status = "unset"
    status_text: str | None = None
    attributes: Mapping[str, Any] = field(default_factory=dict, repr=False)
    id: str | None = None
    orphan: bool = False
    children: tuple[Span, ...] = field(default=(), repr=False)

    @property
    def duration(self) -> int | None:
        """Nanoseconds, None where start or end was not recorded, or the end is before the start."""
        if self.start is None or self.end is None or self.end < self.start:
            return None
        return self.end - self.start

    def attribute(self, name: str) -> Any:
        """The value of `gen_ai.request.model`, written as one key or nested; ABSENT where there is none."""
        return _found(self.attributes, name)


def _found(values: Mapping[str, Any], name: str) -> Any:
    if name in values:
        return values[name]
    at = name.find(".")
    while at != -1:
        inner = values.get(name[:at])
        if isinstance(inner, Mapping):
            found = _found(inner, name[at + 1 :])
            if found is not ABSENT:
                return found
        at = name.find(".", at + 1)
    return ABSENT


@dataclass(frozen=True, eq=False)
class Trace:
    """Every span of one output. spans: in the order of their starts where all have one, else as recorded, parents
    before children; roots: those without a parent, the orphans among them; parents: of each span that has one."""

    spans: tuple[Span, ...]
    roots: tuple[Span, ...]
    parents: Mapping[Span, Span] = field(repr=False)

    @property
    def orphans(self) -> tuple[Span, ...]:
        """The roots that name a parent which is not in the trace."""
        return tuple(span for span in self.roots if span.orphan)

    def precedes(self, one: Span, other: Span) -> bool | None:
        """Whether one starts before the other; a span's ancestors start before it. None where it cannot be known."""
        if one.start is None and other.start is None and all(span.start is None for span in self.spans):
            return self.spans.index(one) < self.spans.index(other)  # a tree without times is in order
        if one.start is None or other.start is None:
            return None
        return one.start < other.start or (one.start == other.start and self._above(one, other))

    def _above(self, one: Span, other: Span) -> bool:
        parent = self.parents.get(other)
        while parent is not None and parent is not one:
            parent = self.parents.get(parent)
        return parent is not None
