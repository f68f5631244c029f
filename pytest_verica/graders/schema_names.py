"""Patterns of a JSON Schema for names of properties: a model chooses the names, so a match may take only so long."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from pytest_verica.graders.excerpt import excerpt
from pytest_verica.graders.pattern import Pattern

PATTERN_MS = 100


class SchemaStopped(Exception):
    """A check was given up: nothing is known of the value. kind: a stable word."""

    def __init__(self, kind: str, message: str) -> None:
        self.kind = kind
        super().__init__(message)


def timed_search(pattern: str, text: str) -> bool:
    """Whether a pattern is found in a text.

    Raises:
        SchemaStopped: the search took too long.
    """
    expression = Pattern.compile(pattern, "", PATTERN_MS)
    try:
        return expression.find(text) is not None
    except TimeoutError:
        raise SchemaStopped("regex_timeout", f"the schema's pattern: {expression.too_slow()}") from None


def timed_names(draft: Any, patterns: Sequence[str]) -> Mapping[str, Callable[..., Iterator[Any]]]:
    """The keywords that look for patterns in names, in place of those of a draft; none where a schema has no such
    patterns."""
    if not patterns:
        return {}
    unevaluated = draft.VALIDATORS.get("unevaluatedProperties")

    def timed_unevaluated(validator: Any, inner: Any, instance: Any, schema: Any) -> Iterator[Any]:
        # The draft's own does the rest, by patterns that were found to be quick on these names. It uses `re`, which may
        # be slow where `regex` was not: the one place where a name can still take long.
        if validator.is_type(instance, "object"):
            for name in instance:
                for pattern in patterns:
                    timed_search(pattern, name)
        yield from unevaluated(validator, inner, instance, schema)

    keywords = {"patternProperties": _pattern_properties, "additionalProperties": _additional_properties}
    return keywords if unevaluated is None else {**keywords, "unevaluatedProperties": timed_unevaluated}


def _pattern_properties(validator: Any, patterns: Mapping[str, Any], instance: Any, schema: Any) -> Iterator[Any]:
    if not validator.is_type(instance, "object"):
        return
    for pattern, inner in patterns.items():
        for name, value in instance.items():
            if timed_search(pattern, name):
                yield from validator.descend(value, inner, path=name, schema_path=pattern)


def _additional_properties(validator: Any, inner: Any, instance: Any, schema: Any) -> Iterator[Any]:
    from jsonschema.exceptions import ValidationError  # deferred: see schema.py

    if not validator.is_type(instance, "object"):
        return
    named, patterns = schema.get("properties", {}), schema.get("patternProperties", {})
    for name, value in instance.items():
        if name in named or any(timed_search(pattern, name) for pattern in patterns):
            continue
        if inner is False:
            yield ValidationError(f"{excerpt(name, 60)} is no property that the schema allows")
        else:
            yield from validator.descend(value, inner, path=name)
