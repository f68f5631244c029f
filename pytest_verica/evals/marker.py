"""The marker's arguments: one function whose signature validates them, and the eval they stand for."""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pytest_verica.declare import Declared
from pytest_verica.errors import ConfigError, Place, Problem
from pytest_verica.evals.config import EvalConfig, EvalSpec
from pytest_verica.evals.document import Document
from pytest_verica.evals.load import Kinds, validate_eval


def verica(
    *,
    golden_set: str | Mapping[str, str] | None = None,
    criteria: Sequence[Declared | Mapping[str, Any]] = (),
    gate: float | Mapping[str, Any] | None = None,
    name: str | None = None,
    description: str = "",
    timeout: float = 600,
) -> dict[str, Any]:
    """What `@pytest.mark.verica(...)` takes.

    golden_set: path relative to the test module, or {"python": "mod:rows"}; without it the test's own parametrize
    supplies the cases; criteria: `text_check(name=..., ...)` and the like, or mappings with the same keys; gate: a
    pass rate, or the keys of an eval file's gate; name: default the test's name; timeout: seconds for grading a case.
    """
    if not isinstance(criteria, (list, tuple)):
        raise TypeError("`criteria` is a list, such as [text_check(name=..., ...)]")
    return {
        "golden_set": golden_set,
        "criteria": [item.keys if isinstance(item, Declared) else item for item in criteria],
        "gate": gate,
        "name": name,
        "description": description,
        "timeout": timeout,
    }


def eval_from_marker(
    args: tuple[Any, ...], kwargs: Mapping[str, Any], *, test: str, place: Place, base_dir: Path, kinds: Kinds
) -> EvalSpec:
    """The eval that a marker on a test stands for.

    Raises:
        ConfigError: an argument is unknown, missing or wrong; names the test.
    """
    document = Document(str(place), None, {(): place})
    try:
        bound = inspect.signature(verica).bind(*args, **kwargs)
        given = verica(*bound.args, **bound.kwargs)
    except TypeError as error:
        known = ", ".join(inspect.signature(verica).parameters)
        raise ConfigError(f"@pytest.mark.verica on {test}: {error}; it takes: {known}", place) from None
    value = {key: item for key, item in given.items() if item is not None}
    value.setdefault("name", test)
    if not value["criteria"]:
        raise ConfigError(f"@pytest.mark.verica on {test} has no criteria: nothing would be checked", place)
    try:
        config: EvalConfig = validate_eval(value, document, kinds)
    except ConfigError as error:
        problems = [Problem(f"@pytest.mark.verica on {test}: {p.message}", p.place) for p in error.problems]
        raise ConfigError(problems) from None
    return EvalSpec(config, base_dir, document)
