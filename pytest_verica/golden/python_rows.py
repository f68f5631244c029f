"""Golden sets made by Python: `module:attribute`, an iterable of mappings or a callable that returns one."""

from __future__ import annotations

import importlib
import inspect
import sys
import traceback
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any

from pytest_verica.golden.findings import Findings
from pytest_verica.golden.golden_set import GoldenSet, golden_set_of, mapping_rows
from pytest_verica.path import describe
from pytest_verica.template.reference import nearest


def read_python(reference: str, base_dir: Path, findings: Findings) -> GoldenSet:
    """Imports and reads; the folder of the eval can be imported from meanwhile.

    Raises:
        GoldenSetError: it cannot be imported or called, or what it gives is no iterable of mappings.
    """
    module_name, colon, attribute = reference.partition(":")
    if not (module_name and colon and attribute):
        findings.stop(f"`{reference}` must name a module and an attribute, as `module:rows`")
    with _importable(base_dir):
        module = _imported(module_name, base_dir, findings)
        rows = _rows_of(_attribute(module, attribute, reference, findings), reference, findings)
        return golden_set_of(mapping_rows(_told(rows, reference, findings), findings, strict=True), findings)


def _imported(name: str, base_dir: Path, findings: Findings) -> ModuleType:
    try:
        module = importlib.import_module(name)
    except Exception as error:  # noqa: BLE001 - the user's module may raise anything
        findings.stop(f"the module `{name}` cannot be imported: {_said(error)}")
    top = name.partition(".")[0]
    here = [base_dir / f"{top}.py", base_dir / top / "__init__.py"]
    found = getattr(sys.modules.get(top), "__file__", None)
    if found is not None and any(path.is_file() for path in here) and Path(found).resolve() not in _resolved(here):
        findings.stop(
            f"a module called `{top}` was imported before from another folder, so the one beside this eval "
            "cannot be: give one of the two another name"
        )
    return module


def _attribute(module: ModuleType, attribute: str, reference: str, findings: Findings) -> Any:
    found: Any = module
    for part in attribute.split("."):
        if not hasattr(found, part):
            public = [name for name in dir(found) if not name.startswith("_")]
            findings.stop(f"`{reference}`: there is no {part!r} in the module{nearest(part, public)}")
        found = getattr(found, part)
    return found


def _rows_of(found: Any, reference: str, findings: Findings) -> Iterable[Any]:
    if callable(found) and not isinstance(found, Iterable):
        try:
            found = found()
        except Exception as error:  # noqa: BLE001 - the user's function may raise anything
            findings.stop(f"`{reference}` failed: {_said(error)}")
        if inspect.isawaitable(found) or inspect.isasyncgen(found):
            if inspect.iscoroutine(found):
                found.close()
            findings.stop(f"`{reference}` is async, and a golden set is read before any loop runs: make it plain")
    if isinstance(found, (str, bytes, Mapping)) or not isinstance(found, Iterable):
        findings.stop(f"`{reference}` must be an iterable of mappings, found {describe(found)}")
    return found


def _told(rows: Iterable[Any], reference: str, findings: Findings) -> Iterator[Any]:
    iterator = iter(rows)
    while True:
        try:
            row = next(iterator)
        except StopIteration:
            return
        except Exception as error:  # noqa: BLE001 - the user's generator may raise anything
            findings.stop(f"`{reference}` failed: {_said(error)}")
        yield row


def _said(error: Exception) -> str:
    """The error, and the line of the user's code that it came from."""
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if "importlib" not in frame.filename]
    outer = Path(__file__).name
    frames = [frame for frame in frames if Path(frame.filename).name != outer]
    where = f" ({Path(frames[-1].filename).name}:{frames[-1].lineno})" if frames else ""
    return f"{type(error).__name__}: {error}{where}"


def _resolved(paths: Iterable[Path]) -> list[Path]:
    return [path.resolve() for path in paths]


@contextmanager
def _importable(folder: Path) -> Iterator[None]:
    entry = str(folder)
    sys.path.insert(0, entry)
    importlib.invalidate_caches()
    try:
        yield
    finally:
        if entry in sys.path:
            sys.path.remove(entry)
