"""The JSON Schema of an eval file, for editors: the eval's own keys with those of every kind of criterion.

What loads must be valid here; what is valid here may still be refused, for a schema cannot see templates or columns.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic.json_schema import GenerateJsonSchema, models_json_schema

from pytest_verica.evals.config import EvalConfig
from pytest_verica.evals.criterion import CriterionConfig
from pytest_verica.evals.load import Kinds

Schema = dict[str, Any]

_EXTENDS: Schema = {
    "type": "string",
    "description": "Another eval file, by its path from this one: mappings merge, criteria are appended.",
}
_WHOLE: Schema = {
    "required": ["golden_set", "criteria"],
    "anyOf": [{"required": ["target"]}, {"required": ["prompt", "model"]}],
}


def eval_schema(kinds: Kinds) -> Schema:
    """The schema, draft 2020-12. kinds: the known types of criteria with their configurations."""
    named, shared = models_json_schema(
        [(EvalConfig, "validation"), *((config, "validation") for config in dict.fromkeys(kinds.values()))],
        schema_generator=_WithoutTitles,
    )
    definitions: dict[str, Schema] = shared["$defs"]
    definitions.pop("CriterionConfig", None)
    whole = definitions.pop("EvalConfig")
    keys: dict[str, Schema] = whole["properties"]
    keys["criteria"]["items"] = {
        "anyOf": [_criterion(name, config, named[config, "validation"]) for name, config in kinds.items()]
    }
    demands = {key: found for key, schema in keys.items() if (found := _demands(schema, definitions))}
    return {
        "$schema": GenerateJsonSchema.schema_dialect,
        "title": "An eval of pytest-verica",
        "type": "object",
        "additionalProperties": False,
        "properties": {"extends": _EXTENDS, **{key: _relaxed(schema, definitions) for key, schema in keys.items()}},
        # A file that extends another may leave anything to it.
        "if": {"not": {"required": ["extends"]}},
        "then": {**_WHOLE, "properties": demands},
        "$defs": definitions,
    }


class _WithoutTitles(GenerateJsonSchema):
    """An editor shows the key itself; pydantic's `Pass Rate` beside `pass_rate` says nothing."""

    def field_title_should_be_set(self, schema: Any) -> bool:
        return False


def _criterion(name: str, config: type[CriterionConfig], reference: Mapping[str, Any]) -> Schema:
    typed: Schema = {"properties": {"type": {"const": name}}}
    if config.model_fields["type"].is_required():  # `preset: …` says its type already
        typed["required"] = ["type"]
    return {"allOf": [reference, typed]}


def _relaxed(schema: Schema, definitions: Mapping[str, Schema]) -> Schema:
    """A schema that takes a part of what it describes, in mappings only: lists are never merged."""
    schema = _resolved(schema, definitions)
    if "anyOf" in schema:
        return {**schema, "anyOf": [_relaxed(choice, definitions) for choice in schema["anyOf"]]}
    if "properties" not in schema:
        return schema
    parts = {key: _relaxed(inner, definitions) for key, inner in schema["properties"].items()}
    return {key: value for key, value in {**schema, "properties": parts}.items() if key != "required"}


def _demands(schema: Schema, definitions: Mapping[str, Schema]) -> Schema:
    """What `_relaxed` took away: which keys a mapping must have. Nothing for anything but mappings."""
    schema = _resolved(schema, definitions)
    if "anyOf" in schema:
        choices = [_resolved(choice, definitions) for choice in schema["anyOf"]]
        found = [_demands(choice, definitions) for choice in choices if "properties" in choice]
        return {"anyOf": found} if found and all(found) else {}
    inner = {key: _demands(part, definitions) for key, part in schema.get("properties", {}).items()}
    needed = {key: part for key, part in inner.items() if part}
    required = {"required": schema["required"]} if "required" in schema else {}
    return {**required, **({"properties": needed} if needed else {})}


def _resolved(schema: Schema, definitions: Mapping[str, Schema]) -> Schema:
    if "$ref" not in schema:
        return schema
    beside = {key: value for key, value in schema.items() if key != "$ref"}
    return {**definitions[schema["$ref"].rpartition("/")[2]], **beside}
