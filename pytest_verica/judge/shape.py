"""The shape of a judge's answer: strict JSON Schemas, and what in an answer breaks one, in words for a person.

Only the words of JSON Schema that every provider's strict mode takes: objects whose keys are all required and no
others, arrays, texts (one of a list or any), whole and other numbers, booleans. A number's range is told and not
enforced: a score outside it is clipped, and that is said.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pytest_verica.graders.excerpt import excerpt
from pytest_verica.path import describe

Schema = Mapping[str, Any]

_WORDS = {"string": "a text", "boolean": "true or false", "number": "a number", "integer": "a whole number"}


@dataclass(frozen=True)
class Flaw:
    """What breaks the schema first. unknown_word: whether it is a text that is none of those to choose from."""

    message: str
    unknown_word: bool = False


def object_of(properties: Mapping[str, Any]) -> dict[str, Any]:
    """The schema of an object with exactly these keys, in this order: a model writes them in it."""
    return {
        "type": "object",
        "properties": dict(properties),
        "required": list(properties),
        "additionalProperties": False,
    }


def schema_text(schema: Schema) -> str:
    """The schema as a model reads it: keys in the order in which they are to be written, the reasoning first."""
    return json.dumps(dict(schema), ensure_ascii=False)


def flaw_in(value: Any, schema: Schema, at: str = "") -> Flaw | None:
    """The first thing in the value that breaks the schema; None where it fits. at: where the value stands."""
    kind = schema["type"]
    if kind == "object":
        return _flaw_in_object(value, schema["properties"], at)
    if kind == "array":
        if not isinstance(value, list):
            return Flaw(f"{_place(at)} is {describe(value)}, not an array")
        flaws = (flaw_in(item, schema["items"], f"{at}[{index}]") for index, item in enumerate(value))
        return next((flaw for flaw in flaws if flaw is not None), None)
    if not _is_a(kind, value):
        return Flaw(f"{_place(at)} is {describe(value)}, not {_WORDS[kind]}")
    if "enum" in schema and value not in schema["enum"]:
        return Flaw(f"{_place(at)} {excerpt(value)} is not one of: {', '.join(schema['enum'])}", unknown_word=True)
    return None


def _flaw_in_object(value: Any, properties: Schema, at: str) -> Flaw | None:
    where = _place(at)
    if not isinstance(value, dict):
        return Flaw(f"{where} is {describe(value)}, not an object with {_listed(properties)}")
    missing = [f"`{key}`" for key in properties if key not in value]
    if missing:
        return Flaw(f"{where} has no {' and no '.join(missing)}; it is {describe(value)}")
    extra = [excerpt(key, 40) for key in value if key not in properties]
    if extra:
        return Flaw(f"{where} has fields that were not asked for: {', '.join(extra[:5])}")
    flaws = (flaw_in(value[key], inner, f"{at}.{key}" if at else key) for key, inner in properties.items())
    return next((flaw for flaw in flaws if flaw is not None), None)


def _is_a(kind: str, value: Any) -> bool:
    if kind == "string":
        return isinstance(value, str)
    if kind == "boolean":
        return isinstance(value, bool)
    if isinstance(value, bool):
        return False
    return isinstance(value, int) if kind == "integer" else isinstance(value, (int, float))


def _place(at: str) -> str:
    return f"`{at}`" if at else "the answer"


def _listed(properties: Schema) -> str:
    *most, last = (f"`{key}`" for key in properties)
    return f"{', '.join(most)} and {last}" if most else last
