"""JSON Schemas: checked when an eval is built, never fetched from elsewhere, and applied to a value."""

from __future__ import annotations

import importlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from itertools import islice
from typing import Any

from pytest_verica.errors import ConfigError
from pytest_verica.graders.excerpt import excerpt
from pytest_verica.graders.pattern import BadPattern, Pattern
from pytest_verica.graders.schema_names import PATTERN_MS, SchemaStopped, timed_names, timed_search
from pytest_verica.path import path_text

MOST_FAULTS = 1000
TOO_DEEP = "the value is nested too deeply to be checked by the schema, or the schema refers to itself without end"
_MESSAGE = 200
# Where a schema holds data or names, not schemas.
_DATA = frozenset({"const", "enum", "examples", "default"})
_NAMES = frozenset({"properties", "patternProperties", "$defs", "definitions", "dependentSchemas", "dependencies"})


@dataclass(frozen=True)
class Faults:
    """What is wrong with a value. first: its place and what is wrong there; count: of all, at most `MOST_FAULTS`."""

    count: int
    first: str = ""

    @property
    def shown_count(self) -> str:
        return f"{self.count} or more" if self.count >= MOST_FAULTS else str(self.count)


class Schema:
    """A schema that is ready. `written` is its JSON."""

    def __init__(self, written: Any) -> None:
        """Raises ConfigError where it is not a schema, or refers to one that is not in it."""
        # Deferred: jsonschema takes 100 ms to import, and only this needs it.
        from jsonschema import Draft202012Validator
        from jsonschema.exceptions import SchemaError
        from jsonschema.validators import extend, validator_for

        if not isinstance(written, (dict, bool)):
            raise ConfigError("a JSON Schema is an object, or true or false")
        if written is True or written == {}:
            raise ConfigError("this JSON Schema accepts everything, so nothing would be checked")
        draft: Any = Draft202012Validator
        if isinstance(written, dict) and "$schema" in written:
            draft = validator_for(written, default=None)  # type: ignore[arg-type]
            if draft is None:
                raise ConfigError(f"the draft {written['$schema']!r} of the JSON Schema is not known")
        try:
            draft.check_schema(written)
        except SchemaError as error:
            place = path_text(list(error.absolute_path)) or "its top"
            raise ConfigError(f"not a JSON Schema: at {place}: {_short(error.message)}") from None
        _check_references(written)
        _check_patterns(written)
        widen: Any = extend  # not typed
        keywords = {"pattern": _pattern, "multipleOf": _multiple_of, **timed_names(draft, _name_patterns(written))}
        strict = widen(draft, keywords)
        self.written = written
        self._validator = strict(written)

    def faults(self, value: Any) -> Faults:
        """What is wrong with a value, in the order of the schema.

        Raises:
            SchemaStopped: a pattern took too long, or the value is too deep.
        """
        try:
            found = list(islice(self._validator.iter_errors(value), MOST_FAULTS))
        except RecursionError:
            raise SchemaStopped("too_deep", TOO_DEEP) from None
        if not found:
            return Faults(0)
        place = excerpt(path_text(list(found[0].absolute_path)))[1:-1]
        return Faults(len(found), f"{f'`{place}`' if place else 'its top'}: {_short(found[0].message)}")


def _short(message: str) -> str:
    """Messages quote the value, which may be long: the end says what is wrong with it."""
    if len(message) > _MESSAGE:
        message = f"{message[:60]} … {message[-(_MESSAGE - 60) :]}"
    return message if message.isprintable() else excerpt(message, _MESSAGE + 10)


def _pattern(validator: Any, pattern: str, instance: Any, schema: Any) -> Iterator[Any]:
    from jsonschema.exceptions import ValidationError  # deferred with the rest of jsonschema

    if validator.is_type(instance, "string") and not timed_search(pattern, instance):
        yield ValidationError(f"{excerpt(instance, 60)} does not match {excerpt(pattern)}")


def _multiple_of(validator: Any, divisor: Any, instance: Any, schema: Any) -> Iterator[Any]:
    """In decimal: 19.99 is a multiple of 0.01."""
    from jsonschema.exceptions import ValidationError  # deferred with the rest of jsonschema

    if validator.is_type(instance, "number"):
        number, step = Decimal(repr(instance)), Decimal(repr(divisor))
        ratio = number / step if number.adjusted() - step.adjusted() < 25 else Decimal(0)
        if ratio != ratio.to_integral_value():
            yield ValidationError(f"{instance!r} is not a multiple of {divisor!r}")


def _subschemas(schema: Any) -> Iterator[Mapping[str, Any]]:
    """Every object that stands where a schema may stand."""
    if isinstance(schema, list):
        for item in schema:
            yield from _subschemas(item)
    elif isinstance(schema, dict):
        yield schema
        for key, value in schema.items():
            if key in _DATA:
                continue
            if key in _NAMES and isinstance(value, dict):
                for inner in value.values():
                    yield from _subschemas(inner)
            else:
                yield from _subschemas(value)


def _check_references(written: Any) -> None:
    """Every `$ref` leads to something in the schema itself, or to a published draft."""
    from referencing import Registry, Resource  # deferred with the rest of jsonschema
    from referencing.exceptions import Unresolvable
    from referencing.jsonschema import DRAFT202012

    resource = Resource.from_contents(written, default_specification=DRAFT202012)
    published: Registry[Any] = importlib.import_module("jsonschema_specifications").REGISTRY  # by name: not typed
    registry = published.with_resource(resource.id() or "", resource).crawl()
    for schema in _subschemas(written):
        for key in ("$ref", "$dynamicRef", "$recursiveRef"):
            reference = schema.get(key)
            if not isinstance(reference, str):
                continue
            try:
                registry.resolver(resource.id() or "").lookup(reference)
            except Unresolvable:
                if reference.startswith("#"):
                    message = f"`{key}: {reference}` leads to nothing in this JSON Schema"
                else:
                    message = f"`{key}: {reference}` is not in this JSON Schema, and none is fetched; copy it to $defs"
                raise ConfigError(message) from None


def _name_patterns(written: Any) -> list[str]:
    """The patterns of names anywhere in a schema."""
    found = (schema.get("patternProperties") for schema in _subschemas(written))
    return list(dict.fromkeys(pattern for patterns in found if isinstance(patterns, dict) for pattern in patterns))


def _check_patterns(written: Any) -> None:
    patterns = [schema["pattern"] for schema in _subschemas(written) if isinstance(schema.get("pattern"), str)]
    for pattern in [*patterns, *_name_patterns(written)]:
        try:
            Pattern.compile(pattern, "", PATTERN_MS)
        except BadPattern as error:
            raise ConfigError(f"in the JSON Schema: {error}") from None
