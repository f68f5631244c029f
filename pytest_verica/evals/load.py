"""From an eval file, or a mapping, to a validated specification; every problem with its file and line."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from pytest_verica.errors import ConfigError, Place, Problem
from pytest_verica.evals.config import EvalConfig, EvalSpec
from pytest_verica.evals.criterion import CriterionConfig
from pytest_verica.evals.document import Document, read_document
from pytest_verica.evals.fields import Location
from pytest_verica.evals.problems import nearest, problems_of
from pytest_verica.evals.target import TARGETS

EVAL_SUFFIXES = (".eval.yaml", ".eval.yml", ".eval.json")
PRESET = "preset"
"""The type of a criterion that says `preset: …` and needs no `type`."""

Kinds = Mapping[str, type[CriterionConfig]]


def is_eval_file(name: str) -> bool:
    return name.endswith(EVAL_SUFFIXES)


def eval_stem(name: str) -> str:
    """`refunds` for `refunds.eval.yaml`."""
    return next((name[: -len(suffix)] for suffix in EVAL_SUFFIXES if name.endswith(suffix)), name)


def load_eval(path: Path, shown: str, kinds: Kinds) -> EvalSpec:
    """Reads and validates an eval file. `shown` names it in messages; `kinds` are the known criterion types.

    Raises:
        ConfigError: every problem found in it.
    """
    document = extended_document(path, shown)
    if not isinstance(document.value, dict):
        raise ConfigError("an eval file is a mapping with `golden_set`, `criteria` and a target", Place(shown, 1))
    value = {"name": eval_stem(path.name), **document.value}
    return EvalSpec(validate_eval(value, document, kinds), path.parent, document)


def validate_eval(value: dict[str, Any], document: Document, kinds: Kinds) -> EvalConfig:
    """Validates the value of an eval; problems carry the places of `document`.

    Raises:
        ConfigError: every problem found in it.
    """
    problems: list[Problem] = []
    criteria = _validate_criteria(value.get("criteria"), document, kinds, problems)
    value = {**value, "criteria": criteria}
    if isinstance(value.get("target"), dict):
        value["target"] = _validate_target(value["target"], document, problems)
    try:
        config = EvalConfig.model_validate(value)
    except ValidationError as error:
        known = problems.copy()
        problems += [
            problem
            for problem in problems_of(error, EvalConfig, document)
            if not (known and str(problem.message).startswith(("`criteria`", "`target`")))
        ]
    if problems:
        raise ConfigError(problems)
    return config


def _validate_criteria(written: Any, document: Document, kinds: Kinds, problems: list[Problem]) -> Any:
    if not isinstance(written, list):
        return written
    configs: list[CriterionConfig] = []
    ids: dict[str, tuple[str, Place]] = {}
    for index, item in enumerate(written):
        at: Location = ("criteria", index)
        config = _validate_criterion(item, at, document, kinds, problems)
        if config is None:
            continue
        place = document.place(at)
        known = ids.get(criterion_id(config.name))
        if known is None:
            ids[criterion_id(config.name)] = (config.name, place)
        else:
            alike = "" if known[0] == config.name else f" and {known[0]!r}, the same in node ids"
            message = f"two criteria are named {config.name!r}{alike}; the other is at {known[1]}"
            problems.append(Problem(message, place))
        configs.append(config)
    return configs if configs or not written else None


def _validate_criterion(
    item: Any, at: Location, document: Document, kinds: Kinds, problems: list[Problem]
) -> CriterionConfig | None:
    if isinstance(item, CriterionConfig):
        return item
    if not isinstance(item, dict):
        problems.append(Problem("a criterion is a mapping with `name` and `type`", document.place(at)))
        return None
    kind = item.get("type", PRESET if PRESET in item else None)
    if not isinstance(kind, str) or kind not in kinds:
        found = "no `type`" if kind is None else f"unknown type {kind!r}"
        message = f"{found}; {nearest(str(kind), kinds)}known types: {', '.join(kinds)}"
        problems.append(Problem(message, document.place((*at, "type"))))
        return None
    try:
        return kinds[kind].model_validate(item)
    except ValidationError as error:
        problems += problems_of(error, kinds[kind], document, at)
        return None


def _validate_target(written: dict[str, Any], document: Document, problems: list[Problem]) -> Any:
    chosen = [name for name in TARGETS if name in written]
    if len(chosen) != 1:
        near = "" if chosen else "".join(nearest(key, TARGETS) for key in list(written)[:1])
        found = ", ".join(chosen or written) or "none of them"
        message = f"a target has exactly one of: {', '.join(TARGETS)}; {near}found {found}"
        problems.append(Problem(message, document.place(("target",))))
        return None
    model = TARGETS[chosen[0]]
    try:
        return model.model_validate(written)
    except ValidationError as error:
        problems += problems_of(error, model, document, ("target",))
        return None


def criterion_id(name: str) -> str:
    """A criterion's name as it stands in node ids: letters, digits and `_` only."""
    return re.sub(r"\W", "_", name)


def extended_document(path: Path, shown: str, chain: tuple[Path, ...] = ()) -> Document:
    """A file with what it `extends` merged under it: mappings merge, criteria are appended.

    Raises:
        ConfigError: a file is missing or unreadable, or the chain is a cycle.
    """
    document = read_document(path, shown)
    if not isinstance(document.value, dict) or "extends" not in document.value:
        return document
    place = document.place(("extends",))
    written = document.value["extends"]
    if not isinstance(written, str):
        raise ConfigError("`extends` is the path of another eval file", place)
    base_path = (path.parent / written).resolve()
    seen = (*chain, path.resolve())
    if base_path in seen:
        names = " -> ".join(step.name for step in (*seen, base_path))
        raise ConfigError(f"`extends` goes round in a circle: {names}", place)
    if not base_path.is_file():
        raise ConfigError(f"`extends`: {written} does not exist beside this file", place)
    base = extended_document(base_path, written, seen)
    if not isinstance(base.value, dict):
        raise ConfigError(f"`extends`: {written} is not a mapping", place)
    value = {key: inner for key, inner in document.value.items() if key != "extends"}
    places: dict[Location, Place] = {}
    merged = _merge(base, value, document, (), (), places)
    return Document(shown, merged, places)


def _merge(
    base: Document, value: Any, document: Document, at: Location, base_at: Location, places: dict[Location, Place]
) -> Any:
    under = base.value
    for part in base_at:
        under = under[part]
    result: dict[str, Any] = {}
    for key in {**under, **value}:
        here, there = (*at, key), (*base_at, key)
        if key in under and key in value and isinstance(under[key], dict) and isinstance(value[key], dict):
            places[here] = document.place(here)
            result[key] = _merge(base, value[key], document, here, there, places)
        elif at == () and key == "criteria" and isinstance(under.get(key), list) and isinstance(value.get(key), list):
            result[key] = [*under[key], *value[key]]
            _copy_places(base, there, here, places)
            for index in range(len(value[key])):
                _copy_places(document, (*here, index), (*here, len(under[key]) + index), places)
        elif key in value:
            result[key] = value[key]
            _copy_places(document, here, here, places)
        else:
            result[key] = under[key]
            _copy_places(base, there, here, places)
    return result


def _copy_places(source: Document, at: Location, to: Location, places: dict[Location, Place]) -> None:
    for location, place in source.places.items():
        if location[: len(at)] == at:
            copied = (*to, *location[len(at) :])
            places[copied] = place
