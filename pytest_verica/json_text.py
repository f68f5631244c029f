"""Texts read as strict JSON: what the value is, or why and where the text is not JSON; and values made fit for JSON."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

_MAX_DEPTH = 200
_MAX_BITS = 10_000  # Python refuses to write longer integers in decimals, and to read them


@dataclass(frozen=True)
class JsonReading:
    """A text read as JSON. problem: why it is not JSON (with line and column), None where it is; fenced: whether a
    Markdown code fence around it was stripped."""

    value: Any = None
    problem: str | None = None
    fenced: bool = False


class _NotJson(ValueError):
    """A rule of JSON that Python's reader lets pass: duplicate keys, NaN, infinities."""


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    result = dict(pairs)
    if len(result) != len(pairs):
        seen: set[str] = set()
        twice = next(key for key, _ in pairs if key in seen or seen.add(key))  # type: ignore[func-returns-value]
        raise _NotJson(f"the key {twice!r} appears twice in one object")
    return result


def _constant(name: str) -> float:
    raise _NotJson(f"{name} is not JSON")


def _float(text: str) -> float | Decimal:
    number = float(text)
    if not math.isfinite(number):
        raise _NotJson(f"{text} is out of range")
    return number


def strip_fence(text: str) -> tuple[str, bool]:
    """The text inside a Markdown code fence that is the whole of `text`, and whether there was one."""
    stripped = text.strip()
    if not (stripped.startswith("```") and stripped.endswith("```") and len(stripped) > 6):
        return text, False
    first, newline, rest = stripped.partition("\n")
    if not newline or "`" in first[3:]:
        return text, False
    return rest[:-3], True


def read_json(text: str) -> JsonReading:
    """Reads strict JSON: no duplicate keys, no NaN, nothing after the value; a code fence around it is stripped."""
    body, fenced = strip_fence(text)
    try:
        value = json.loads(body, object_pairs_hook=_object, parse_constant=_constant, parse_float=_float)
    except json.JSONDecodeError as error:
        return JsonReading(problem=f"{error.msg} at line {error.lineno}, column {error.colno}", fenced=fenced)
    except _NotJson as error:
        return JsonReading(problem=str(error), fenced=fenced)
    except RecursionError:
        return JsonReading(problem="it is nested too deeply to be read", fenced=fenced)
    except ValueError as error:  # an integer with too many digits
        return JsonReading(problem=str(error), fenced=fenced)
    return JsonReading(value, fenced=fenced)


def json_safe(value: Any, depth: int = 0) -> Any:
    """The value with everything that JSON cannot hold replaced by its text."""
    if value is None or isinstance(value, (bool, str)):
        return value
    if isinstance(value, int):
        return value if value.bit_length() < _MAX_BITS else hex(value)
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    if depth >= _MAX_DEPTH:
        return f"(nested more than {_MAX_DEPTH} deep: not kept)"
    if isinstance(value, Mapping):
        return {str(key): json_safe(inner, depth + 1) for key, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [json_safe(inner, depth + 1) for inner in value]
    return str(value)
