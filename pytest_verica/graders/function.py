"""Functions of the user that checks call: named as `module:function` and imported, or given as they are."""

from __future__ import annotations

import functools
import importlib
import importlib.util
import inspect
import re
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

from pytest_verica.canonical import content_hash, text_hash
from pytest_verica.errors import ConfigError

REFERENCE = re.compile(r"[\w.]+:[\w.]+")
TOO_DEEP = "what the function is to look at is nested too deeply to be copied for it"


def name_of(function: Callable[..., Any]) -> str:
    """`module:function`, as far as the function knows it."""
    plain = function.func if isinstance(function, functools.partial) else function
    module = getattr(plain, "__module__", None) or type(plain).__module__
    return f"{module}:{getattr(plain, '__qualname__', None) or type(plain).__qualname__}"


def load_function(reference: str, base_dir: Path) -> Callable[..., Any]:
    """The function that `module:function` names; a module that cannot be imported is looked for in `base_dir`.

    Raises:
        ConfigError: the module cannot be imported, or has no such function.
    """
    module_name, _, path = reference.partition(":")
    found: Any = _module(module_name, base_dir)
    for part in path.split("."):
        try:
            found = getattr(found, part)
        except AttributeError:
            raise ConfigError(f"`{reference}`: {module_name} has no `{path}`") from None
    if not callable(found):
        raise ConfigError(f"`{reference}` is a {type(found).__name__}, not a function")
    return found  # type: ignore[no-any-return]


def _module(name: str, base_dir: Path) -> ModuleType:
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        absent = error.name or ""
        if not (name == absent or name.startswith(f"{absent}.")):
            raise ConfigError(f"the module {name} cannot be imported: {error}") from error
    except Exception as error:
        raise ConfigError(f"the module {name} cannot be imported: {type(error).__name__}: {error}") from error
    file = base_dir.joinpath(*name.split(".")).with_suffix(".py")
    if not file.is_file():
        raise ConfigError(
            f"there is no module {name}, neither on Python's path nor beside the eval ({name.replace('.', '/')}.py); "
            "install it, or name its folder in pytest's `pythonpath` setting"
        )
    return _module_from(file)


def _module_from(file: Path) -> ModuleType:
    """A module from a file, under a name of its own, so that two folders may each have a `checks.py`."""
    name = f"_verica_{text_hash(str(file.resolve()))[:16]}"
    if name in sys.modules:
        return sys.modules[name]
    spec = importlib.util.spec_from_file_location(name, file)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        del sys.modules[name]
        raise ConfigError(f"{file.name} cannot be imported: {type(error).__name__}: {error}") from error
    return module


def source_hash(function: Callable[..., Any]) -> str:
    """Hash of a function's source; of its name where there is no source."""
    if isinstance(function, functools.partial):
        return content_hash([source_hash(function.func), repr(function.args), repr(function.keywords)])
    plain: Any = inspect.unwrap(function)
    if not (inspect.isroutine(plain) or inspect.isclass(plain)):
        plain = type(plain)  # an object with __call__: its class holds the source
    try:
        return text_hash(inspect.getsource(plain))
    except (OSError, TypeError):
        return text_hash(name_of(function))


def refuse_other_parameters(function: Callable[..., Any], *parameters: str) -> None:
    """Raises ConfigError where a function cannot be called with these positional arguments."""
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):
        return  # some built-in functions do not say
    try:
        signature.bind(*parameters)
    except TypeError as error:
        wanted = ", ".join(parameters)
        raise ConfigError(f"`{name_of(function)}{signature}` is called as ({wanted}): {error}") from None
