"""What pydantic found wrong, in the words and places of the file: keys as they were written, and the nearest one."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping
from types import UnionType
from typing import Annotated, Any, Union, get_args, get_origin

from pydantic import BaseModel, ValidationError

from pytest_verica.errors import Problem
from pytest_verica.evals.document import Document
from pytest_verica.evals.fields import Location

_PLAIN_TAGS = frozenset({"str", "int", "float", "bool", "constrained-str", "constrained-int", "constrained-float"})


def nearest(name: str, known: Iterable[str]) -> str:
    """`did you mean 'x'? ` where something is near, else nothing."""
    near = difflib.get_close_matches(name, list(known), 1, 0.6)
    return f"did you mean {near[0]!r}? " if near else ""


def problems_of(error: ValidationError, model: type[BaseModel], document: Document, at: Location = ()) -> list[Problem]:
    """A pydantic error as problems with places; unknown keys name the nearest known one."""
    found: dict[Location, list[str]] = {}
    guesses: dict[Location, list[str]] = {}
    for item in error.errors(include_url=False, include_context=False, include_input=False):
        keys, branched, around = _keys(model, item["loc"])
        # A union tells of every branch: that the value is not of a branch's type matters only where no branch fits.
        of_branch = branched and item["type"].endswith("_type")
        (guesses if of_branch else found).setdefault(keys, []).append(_message(item, keys, around))
    for keys, messages in guesses.items():
        if not any(other[: len(keys)] == keys for other in found):
            found[keys] = [" or ".join([messages[0], *(_end(message) for message in messages[1:])])]
    return [Problem(text, document.place((*at, *keys))) for keys, messages in found.items() for text in messages]


def _message(item: Any, keys: Location, around: Any) -> str:
    shown = ".".join(str(part) for part in keys)
    if item["type"] == "extra_forbidden":
        known = _known_keys(around)
        return f"unknown key `{shown}`; {nearest(str(keys[-1]), known)}known keys: {', '.join(known)}"
    if item["type"] == "missing":
        return f"`{shown}` is missing"
    if item["type"] == "string_pattern_mismatch" and (shape := _shape(around, keys[-1])) is not None:
        return f"`{shown}`: write {shape}"
    message = item["msg"].removeprefix("Value error, ").removeprefix("Assertion failed, ")
    return f"`{shown}`: {message[:1].lower()}{message[1:]}" if shown else message


def _shape(model: Any, key: int | str) -> str | None:
    """What is to be written, where a field's description shows it: better than the pattern that it has to fit."""
    field = model.model_fields.get(key) if _is_model(model) else None
    shape = "" if field is None else field.description or ""
    return shape if "such as" in shape else None


def _end(message: str) -> str:
    return message.partition("input should be ")[2] or message


def _known_keys(model: Any) -> list[str]:
    if not _is_model(model):
        return []
    return [field.alias or name for name, field in model.model_fields.items()]


def _keys(model: type[BaseModel], location: tuple[int | str, ...]) -> tuple[Location, bool, Any]:
    """The keys that were written, out of pydantic's location, which also names branches of unions; whether the last
    step was such a name; and the type around the last key."""
    keys: list[int | str] = []
    current: Any = model
    around: Any = model
    branched = False
    for part in location:
        branches = _branches(current)
        branch = _named(part, branches) if len(branches) > 1 or str(part).startswith("function-") else None
        branched = branch is not None
        if branch is not None:
            current = branch
            continue
        keys.append(part)
        around, current = current if len(branches) != 1 else branches[0], _inside(branches, part)
    return tuple(keys), branched, around


def _named(part: int | str, branches: list[Any]) -> Any:
    """The branch of a union that a part of a location names, None where it is a key."""
    if isinstance(part, int):
        return None
    if "[" in part or part in _PLAIN_TAGS:
        lists = [branch for branch in branches if get_origin(branch) is list]
        return lists[0] if part.startswith("list[") and lists else Any
    return next((branch for branch in branches if _is_model(branch) and branch.__name__ == part), None)


def _inside(branches: list[Any], part: int | str) -> Any:
    """The type of what stands under a key or an index."""
    for branch in branches:
        origin, inner = get_origin(branch), get_args(branch)
        if _is_model(branch):
            field = next((f for name, f in branch.model_fields.items() if part in (name, f.alias)), None)
            if field is not None:
                return field.annotation
        elif isinstance(part, int) and inner and origin is list:
            return inner[0]
        elif isinstance(part, str) and isinstance(origin, type) and issubclass(origin, Mapping):
            return inner[1]
    return Any


def _branches(annotation: Any) -> list[Any]:
    """The types that a value may have; None, which is always said by leaving a key out, is not one of them."""
    origin = get_origin(annotation)
    if origin is Annotated:
        return _branches(get_args(annotation)[0])
    if origin in (Union, UnionType):
        return [found for branch in get_args(annotation) for found in _branches(branch) if found is not type(None)]
    return [annotation]


def _is_model(annotation: Any) -> bool:
    # On Python 3.10 `list[str]` is a type too, and not one that issubclass takes.
    return get_origin(annotation) is None and isinstance(annotation, type) and issubclass(annotation, BaseModel)
