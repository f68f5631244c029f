"""What is missing, and how a value becomes text: the same in templates, ids and messages."""

from __future__ import annotations

import json
from collections.abc import Mapping
from decimal import Decimal
from typing import Any


def is_missing(value: Any) -> bool:
    """None, an empty text or white space only: what "missing" means everywhere in the product."""
    return value is None or (isinstance(value, str) and (not value or value.isspace()))


def text_of(value: Any) -> str:
    """How a value renders: texts as they stand, objects and arrays as compact JSON, None as nothing, 3.0 as 3."""
    if isinstance(value, str):
        return str(value)
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        text = repr(value)
        return text[:-2] if text.endswith(".0") else text
    if isinstance(value, Decimal):
        return _decimal_text(value)
    if isinstance(value, (Mapping, list, tuple)):
        return json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=_jsonable)
    return str(value)


def _decimal_text(value: Decimal) -> str:
    if not value.is_finite() or abs(value.adjusted()) > 40:
        return str(value)
    text = format(value, "f")
    return text.rstrip("0").rstrip(".") if "." in text else text


def _jsonable(value: Any) -> Any:
    return dict(value) if isinstance(value, Mapping) else text_of(value)
