"""The user's own callables as targets: found by name, and asked before launch what they take."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

from pytest_verica.case import Case
from pytest_verica.errors import ConfigError


def import_target(reference: str, base_dir: Path) -> Callable[..., Any]:
    """The callable that `module:function` names; modules beside the eval file are found too.

    Raises:
        ConfigError: there is no such module or function.
    """
    module_name, _, path = reference.partition(":")
    if str(base_dir) not in sys.path:
        sys.path.insert(0, str(base_dir))
    try:
        found: Any = import_module(module_name)
        for part in path.split("."):
            found = getattr(found, part)
    except Exception as error:  # noqa: BLE001 - importing runs the user's code
        raise ConfigError(f"`{reference}` cannot be imported: {type(error).__name__}: {error}") from None
    if not callable(found):
        raise ConfigError(f"`{reference}` is {type(found).__name__}, not a callable")
    return found  # type: ignore[no-any-return]


def arguments_for(
    function: Callable[..., Any], reference: str, columns: tuple[str, ...]
) -> Callable[[Case], Mapping[str, Any]]:
    """How a case is handed to a callable: whole as `case`, or its columns by parameter name.

    Raises:
        ConfigError: it takes something that the golden set does not have.
    """
    parameters = list(inspect.signature(function).parameters.values())
    named = [p for p in parameters if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)]
    if any(p.kind is p.VAR_KEYWORD for p in parameters):
        return lambda case: dict(case)
    if [p.name for p in named] == ["case"] and "case" not in columns:
        return lambda case: {"case": case}
    unknown = [p.name for p in named if p.name not in columns and p.name != "case" and p.default is p.empty]
    if unknown:
        known = ", ".join(columns)
        wanted = ", ".join(repr(name) for name in unknown)
        raise ConfigError(f"`{reference}` takes {wanted}, which the golden set does not have; columns: {known}")
    taken = [p.name for p in named if p.name in columns]
    whole = any(p.name == "case" and p.name not in columns for p in named)

    def arguments(case: Case) -> Mapping[str, Any]:
        values = {name: case[name] for name in taken}
        return {**values, "case": case} if whole else values

    return arguments
