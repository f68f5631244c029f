"""Shorthands: a second way to write a value, as the JSON Schema for editors shows it."""

from __future__ import annotations

from typing import Any

from pydantic import GetJsonSchemaHandler
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema


class Shorthand:
    """Marks a field that also takes what `schema` describes; a validator before it turns that into the long form."""

    def __init__(self, schema: dict[str, Any]) -> None:
        self._schema = schema

    def __get_pydantic_json_schema__(self, core: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        return {"anyOf": [self._schema, handler(core)]}
