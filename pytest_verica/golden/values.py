"""What Python, YAML, spreadsheets and Parquet put into a cell, as JSON."""

from __future__ import annotations

import dataclasses
import datetime
import enum
import math
import re
from collections.abc import Mapping
from decimal import Decimal
from pathlib import PurePath
from typing import Any
from uuid import UUID

_ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+")


class NotJson(ValueError):
    """A value that JSON does not have; the message says which."""


def json_value(value: Any, *, strict: bool = True) -> Any:
    """The JSON value of a cell: dates as ISO text, decimals as text, tuples as arrays, records as objects.

    strict: whether a value that JSON does not have is an error; else its description stands for it, the same in every
    process.

    Raises:
        NotJson: it has none; only where strict.
    """
    try:
        return _json_value(value, strict)
    except RecursionError:
        raise NotJson("a value is nested too deeply, or contains itself") from None


def _json_value(value: Any, strict: bool) -> Any:
    if value is None or isinstance(value, bool) or type(value) in (str, int):
        return value
    if isinstance(value, float):
        if math.isfinite(value):
            return float(value)
        if strict:
            raise NotJson(f"{value!r} is not a number that a case may hold: leave the cell empty")
        return repr(value)
    if isinstance(value, Mapping):
        return {_key(key, strict): _json_value(inner, strict) for key, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [_json_value(inner, strict) for inner in value]
    if isinstance(value, enum.Enum):
        return _json_value(value.value, strict)
    if isinstance(value, (str, int)):
        return str(value) if isinstance(value, str) else int(value)
    return _foreign(value, strict)


def _foreign(value: Any, strict: bool) -> Any:
    if isinstance(value, datetime.datetime):
        midnight = value.time() == datetime.time() and value.tzinfo is None
        return value.date().isoformat() if midnight else value.isoformat()
    if isinstance(value, (datetime.date, datetime.time)):
        return value.isoformat()
    if isinstance(value, (Decimal, UUID, datetime.timedelta)):
        return str(value)
    if isinstance(value, PurePath):
        return value.as_posix()
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        fields = dataclasses.fields(value)
        return {field.name: _json_value(getattr(value, field.name), strict) for field in fields}
    if callable(getattr(value, "model_dump", None)) and not isinstance(value, type):
        return _json_value(value.model_dump(), strict)
    if strict:
        kind = type(value).__name__
        raise NotJson(f"a value of type {kind} cannot be kept in a case: use texts, numbers, lists and mappings")
    if isinstance(value, type) or callable(value):
        return f"{getattr(value, '__module__', '?')}.{getattr(value, '__qualname__', type(value).__qualname__)}"
    return _ADDRESS.sub("", repr(value))


def _key(key: Any, strict: bool) -> str:
    if isinstance(key, str):
        return str(key)
    if strict:
        raise NotJson(f"a key must be a text, and {key!r} is {type(key).__name__}: write it in quotes")
    return str(key)
