"""The ground of every model of what a user writes: strict, frozen, and with template texts that can be found."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, GetJsonSchemaHandler

from pytest_verica.canonical import canonical_json


class TemplateMark:
    """Marks a field whose text is a template, so that one walk finds every template of an eval."""

    def __get_pydantic_json_schema__(self, core_schema: Any, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        schema = handler(core_schema)
        if schema.get("type") == "string":
            schema["type"] = ["string", "number", "boolean"]  # what `_as_text` takes: `value: 7` is right
        return schema


class FormulaMark(TemplateMark):
    """Marks a field whose text may also be a formula, which is then no template."""


def is_formula(text: str) -> bool:
    """Whether a text is meant as a formula: it starts with `=`."""
    return text.lstrip().startswith("=")


def _as_text(value: Any) -> Any:
    """Numbers and booleans of YAML stand for their JSON text."""
    return canonical_json(value) if isinstance(value, (bool, int, float)) else value


TemplateText = Annotated[str, TemplateMark(), BeforeValidator(_as_text)]
FormulaText = Annotated[str, FormulaMark(), BeforeValidator(_as_text)]

Location = tuple[str | int, ...]


class Strict(BaseModel):
    """An unknown key is an error; what was read is not changed afterwards."""

    model_config = ConfigDict(extra="forbid", frozen=True, arbitrary_types_allowed=True, defer_build=True)


def templates_of(model: BaseModel, at: Location = ()) -> Iterator[tuple[Location, str]]:
    """Every template text inside a model, with the path of keys that leads to it."""
    for name, field in type(model).model_fields.items():
        marks = {type(mark) for mark in field.metadata}
        written = repr(field.annotation)
        formulas = FormulaMark in marks or FormulaMark.__name__ in written
        marked = formulas or TemplateMark in marks or TemplateMark.__name__ in written
        for place, text in _texts(getattr(model, name), (*at, field.alias or name), marked):
            if not (formulas and is_formula(text)):
                yield place, text


def _texts(value: Any, at: Location, marked: bool) -> Iterator[tuple[Location, str]]:
    if isinstance(value, BaseModel):
        yield from templates_of(value, at)
    elif isinstance(value, str):
        if marked:
            yield at, value
    elif isinstance(value, Mapping):
        for key, inner in value.items():
            yield from _texts(inner, (*at, key), marked)
    elif isinstance(value, (list, tuple)):
        for index, inner in enumerate(value):
            yield from _texts(inner, (*at, index), marked)
