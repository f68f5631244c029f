"""Reading a trace: OTLP JSON, OpenTelemetry-SDK JSON, OpenInference and GenAI exports, nested trees, JSON Lines."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pytest_verica.spans.fields import (
    BadTrace,
    Identity,
    attributes_of,
    identity_of,
    looks_like_span,
    name_of,
    status_of,
    times_of,
)
from pytest_verica.spans.span import Span, Trace

__all__ = ["BadTrace", "read_trace"]

# Keys under which exports hold their spans: OTLP's nesting; `spans` and `data` of most others.
_HOLDERS = ("resourceSpans", "resource_spans", "scopeSpans", "scope_spans", "spans", "data")
_EXPECTED = (
    "OTLP JSON (resourceSpans), a list of spans as OpenTelemetry's SDK or OpenInference exports them, or nested "
    "{name, start, end, status, attributes, children}"
)


@dataclass(frozen=True)
class _Found:
    """A span as exported. parent: place in the list of the span that holds it, None where none does."""

    raw: Mapping[str, Any]
    parent: int | None


def read_trace(value: Any) -> Trace:
    """The trace that a value holds: JSON, or its text.

    A span whose parent is not in the trace is kept as a root and marked as an orphan. A span that was exported twice,
    word for word, is one span.

    Raises:
        BadTrace: there is no span in it, or it contradicts itself (two spans with one id, a circle of parents).
    """
    found = _collected(_parsed(value))
    if not found:
        raise BadTrace(f"there is no span in it; expected {_EXPECTED}")
    identities = [identity_of(item.raw) for item in found]
    found, identities = _each_once(found, identities)
    parents, orphans = _parents(found, identities)
    order = _from_the_roots(found, identities, parents)
    return _tree(found, identities, parents, orphans, order)


def _parsed(value: Any) -> Any:
    if not isinstance(value, str):
        return value
    try:
        return json.loads(value)
    except (ValueError, RecursionError) as error:
        lines = [line for line in value.splitlines() if line.strip()]
        if len(lines) < 2 or not lines[0].lstrip().startswith("{") or isinstance(error, RecursionError):
            raise BadTrace(f"its text is not JSON: {error}") from None
    try:
        return [json.loads(line) for line in lines]
    except (ValueError, RecursionError) as error:
        raise BadTrace(f"its text is neither JSON nor JSON Lines: {error}") from None


def _collected(value: Any) -> list[_Found]:
    """Every span in a value, parents before the children that they hold. Without recursion: a tree may be deep."""
    found: list[_Found] = []
    waiting: list[tuple[Any, int | None]] = [(value, None)]
    while waiting:
        item, parent = waiting.pop()
        if isinstance(item, (list, tuple)):
            waiting += [(inner, parent) for inner in reversed(item)]
            continue
        if not isinstance(item, Mapping):
            raise BadTrace(f"{_shown(item)} is no span; expected {_EXPECTED}")
        held = _held(item)
        if held is not None:
            waiting += [(inner, parent) for inner in reversed(held)]
            continue
        if not looks_like_span(item):
            raise BadTrace(f"an object with {_keys(item)} is no span; expected {_EXPECTED}")
        found.append(_Found(item, parent))
        children = item.get("children")
        if isinstance(children, (list, tuple)):
            waiting += [(child, len(found) - 1) for child in reversed(children)]
    return found


def _held(item: Mapping[str, Any]) -> list[Any] | None:
    """The lists in which an export holds its spans; None where it is a span itself."""
    is_span = looks_like_span(item)
    holders = [key for key in _HOLDERS if not (is_span and key == "data")]  # a span may have data of its own
    lists = [item[key] for key in holders if isinstance(item.get(key), (list, tuple))]
    # deepeval sorts spans by their kind: baseSpans, agentSpans, llmSpans, retrieverSpans, toolSpans.
    lists += [value for key, value in item.items() if _is_sorted_by_kind(key) and isinstance(value, (list, tuple))]
    if lists:
        return lists
    trace = item.get("trace")
    return [trace] if isinstance(trace, (Mapping, list)) and not is_span else None


def _is_sorted_by_kind(key: Any) -> bool:
    return isinstance(key, str) and key.endswith("Spans") and key not in _HOLDERS


def _each_once(found: list[_Found], identities: list[Identity]) -> tuple[list[_Found], list[Identity]]:
    """An exporter that sends a batch again exports the same spans twice."""
    seen: dict[tuple[str | None, str], int] = {}
    place: dict[int, int] = {}
    kept: list[_Found] = []
    kept_identities: list[Identity] = []
    for index, (item, identity) in enumerate(zip(found, identities, strict=True)):
        if identity.id is not None:
            key = (identity.trace, identity.id)
            first = seen.setdefault(key, index)
            if first != index:
                if found[first].raw != item.raw:
                    names = f"{name_of(found[first].raw)[:60]!r} and {name_of(item.raw)[:60]!r}"
                    raise BadTrace(f"two spans have the id {identity.id}: {names}")
                place[index] = place[first]
                continue
        place[index] = len(kept)
        kept.append(_Found(item.raw, None if item.parent is None else place[item.parent]))
        kept_identities.append(identity)
    return kept, kept_identities


def _parents(found: Sequence[_Found], identities: Sequence[Identity]) -> tuple[list[int | None], set[int]]:
    """The parent of each, by place; and those whose parent is named and absent."""
    by_key: dict[tuple[str | None, str], int] = {}
    by_id: dict[str, int] = {}
    for index, identity in enumerate(identities):
        if identity.id is not None:
            by_key[identity.trace, identity.id] = index
            by_id.setdefault(identity.id, index)
    parents: list[int | None] = []
    orphans: set[int] = set()
    for index, (item, identity) in enumerate(zip(found, identities, strict=True)):
        parent = item.parent
        if parent is None and identity.parent is not None:
            parent = by_key.get((identity.trace, identity.parent))
            if parent is None and identity.trace is None:
                parent = by_id.get(identity.parent)
            if parent is None:
                orphans.add(index)
        parents.append(parent)
    return parents, orphans


def _from_the_roots(
    found: Sequence[_Found], identities: Sequence[Identity], parents: Sequence[int | None]
) -> list[int]:
    """Every place, parents before children."""
    children: dict[int | None, list[int]] = {}
    for index, parent in enumerate(parents):
        children.setdefault(parent, []).append(index)
    order: list[int] = []
    waiting = list(reversed(children.get(None, [])))
    while waiting:
        index = waiting.pop()
        order.append(index)
        waiting += reversed(children.get(index, []))
    if len(order) < len(found):
        lost = min(set(range(len(found))) - set(order))
        name = name_of(found[lost].raw)[:80]
        raise BadTrace(f"the parents of the span {name!r} ({identities[lost].id}) lead back to itself")
    return order


def _tree(
    found: Sequence[_Found],
    identities: Sequence[Identity],
    parents: Sequence[int | None],
    orphans: set[int],
    order: Sequence[int],
) -> Trace:
    spans: dict[int, Span] = {}
    children: dict[int, list[Span]] = {}
    for index in reversed(order):  # from the leaves up, for a span is frozen with its children
        raw = found[index].raw
        name = name_of(raw)
        start, end = times_of(raw, name)
        status, said = status_of(raw)
        own = tuple(reversed(children.pop(index, [])))
        identity = identities[index]
        span = Span(name, start, end, status, said, attributes_of(raw), identity.id, index in orphans, own)
        spans[index] = span
        parent = parents[index]
        if parent is not None:
            children.setdefault(parent, []).append(span)
    placed = [spans[index] for index in order]
    if all(span.start is not None for span in placed):
        placed.sort(key=lambda span: span.start or 0)
    above = dict(_above(spans, parents))
    return Trace(tuple(placed), tuple(span for span in placed if span not in above), above)


def _above(spans: Mapping[int, Span], parents: Sequence[int | None]) -> Iterator[tuple[Span, Span]]:
    for index, parent in enumerate(parents):
        if parent is not None:
            yield spans[index], spans[parent]


def _shown(value: Any) -> str:
    return "null" if value is None else f"{str(value)[:60]!r}"


def _keys(item: Mapping[str, Any]) -> str:
    return f"the keys {', '.join(map(str, item))[:120]}" if item else "no keys"
