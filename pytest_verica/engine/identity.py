"""What an eval's verdicts depend on, as hashes: the user's code, and everything together. Nothing is imported here."""

from __future__ import annotations

import ast
import functools
import inspect
import sysconfig
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from importlib import metadata
from importlib.machinery import PathFinder
from pathlib import Path
from typing import Any

from pytest_verica.canonical import content_hash, text_hash
from pytest_verica.engine.callables import import_target
from pytest_verica.engine.plan import Eval
from pytest_verica.errors import ConfigError
from pytest_verica.evals.prompt import prompt_json
from pytest_verica.evals.target import HttpTarget, PythonTarget
from pytest_verica.graders.criterion import Criterion
from pytest_verica.graders.protocol import CallsCode

_PACKAGE = Path(__file__).resolve().parent.parent
_SITES = {"site-packages", "dist-packages"}
_INSTALLED = tuple(Path(sysconfig.get_path(name)).resolve() for name in ("stdlib", "platstdlib", "purelib", "platlib"))


@dataclass(frozen=True)
class EvalCode:
    """The user's code behind an eval. target: hash of what produces outputs; criteria: by id; each None where it cannot
    be seen; identity: hash over everything that decides the verdicts, None where one of them is."""

    target: str | None
    criteria: Mapping[str, str | None]
    identity: str | None


def eval_code(ready: Eval, functions: Iterable[Callable[..., Any]], root: Path) -> EvalCode:
    """functions: a marked test and hooks that take part in its verdicts. With a test go the conftest.py files from the
    rootdir down to it, where its fixtures may stand."""
    found = [*functions]
    conftests = _conftests(ready.base_dir, root) if ready.function else []
    target = target_code(ready, found, conftests)
    criteria = {criterion.id: criterion_code(criterion) for criterion in ready.criteria}
    return EvalCode(target, criteria, identity(ready, target, criteria.values()))


def _conftests(folder: Path, root: Path) -> list[Path]:
    around = [folder.resolve(), *folder.resolve().parents]
    inside = [each for each in around if each.is_relative_to(root.resolve())]
    return [each / "conftest.py" for each in inside if (each / "conftest.py").is_file()]


def code_hash(functions: Iterable[Callable[..., Any]], files: Iterable[Path] = ()) -> str | None:
    """Hash of the source files that these functions stand in, of further files, and of every module of the user's own
    that those import, wherever in them. Installed packages are left out. None where a function has no source file.

    What a function reads or calls otherwise (data files, services, modules named at run time) is not known.
    """
    wanted = [path.resolve() for path in files]
    for function in functions:
        found = _file_of(function)
        if found is None:
            return None
        wanted.append(found)
    seen: dict[Path, str] = {}
    while wanted:
        path = wanted.pop()
        if path in seen:
            continue
        source = _Source.read(path)
        seen[path] = source.hash
        wanted += source.imports
    # By content only: the same files in another folder are the same code.
    return content_hash(sorted((path.name, digest) for path, digest in seen.items()))


def criterion_code(criterion: Criterion) -> str | None:
    """Hash of the user's code behind a criterion; of nothing (`content_hash([])`) where all of it is the product's.
    None where it cannot be seen."""
    grader = criterion.grader
    if isinstance(grader, CallsCode):
        return code_hash(grader.code)
    if type(grader).__module__.partition(".")[0] == _PACKAGE.name:
        return content_hash([])
    return code_hash([type(grader)])


def target_code(ready: Eval, functions: Iterable[Callable[..., Any]], files: Iterable[Path]) -> str | None:
    """Hash of the code that produces outputs: the Python target's, or the given functions and files (of a test, of
    hooks). None where it cannot be seen, as behind an HTTP endpoint."""
    target = ready.config.target
    found, more = [*functions], [*files]
    if isinstance(target, HttpTarget):
        return None
    for model in (ready.model, *(getattr(criterion.grader, "model", None) for criterion in ready.criteria)):
        if model is not None and model.provider == "scripted":
            # Its answers are code: the module that the model's name names.
            scripts = _files_of(model.name.partition(":")[0], 0, ready.base_dir / "eval.py")
            if not scripts:
                return None
            more += scripts
    if isinstance(target, PythonTarget):
        try:
            found.append(import_target(target.python, ready.base_dir))
        except ConfigError:
            return None
    return code_hash(found, more)


def identity(ready: Eval, code: str | None, of_criteria: Iterable[str | None]) -> str | None:
    """One hash over everything that decides an eval's verdicts; None where a part of it cannot be known.

    code: of the target; of_criteria: of each criterion. The gate is not in it: it is judged anew on the same verdicts.
    """
    codes = [code, *of_criteria]
    if None in codes:
        return None
    config, model = ready.config, ready.model
    return content_hash(
        {
            "product": _product(),
            "golden_set": ready.golden.snapshot_hash,
            "prompt": None if config.prompt is None else prompt_json(config.prompt),
            "model": None if model is None else [model.provider, model.name, model.base_url, dict(model.params)],
            "target": None if config.target is None else config.target.model_dump(mode="json", by_alias=True),
            "repeat": config.repeat,
            "criteria": [[c.id, c.version_hash, c.judge_hash] for c in ready.criteria],
            "code": codes,
        }
    )


@functools.lru_cache(maxsize=1)
def _product() -> str:
    """The product's version; looking it up reads the disk, and there may be a thousand evals."""
    return metadata.version("pytest-verica")


def _file_of(function: Any) -> Path | None:
    while isinstance(function, functools.partial):
        function = function.func
    plain = inspect.unwrap(function)
    if not (inspect.isroutine(plain) or inspect.isclass(plain)):
        plain = type(plain)
    try:
        found = inspect.getsourcefile(plain)
    except TypeError:  # built in
        return None
    path = None if found is None else Path(found).resolve()
    return path if path is not None and path.is_file() else None


class _Source:
    """A source file: its hash, and the user's own modules that it imports."""

    def __init__(self, path: Path) -> None:
        data = path.read_bytes()
        self.hash = text_hash(data.decode("utf-8", "surrogateescape"))
        self.imports = [] if _is_installed(path) else _imports(path, data)

    @classmethod
    def read(cls, path: Path) -> _Source:
        stat = path.stat()
        return _kept(path, stat.st_mtime_ns, stat.st_size)


@functools.lru_cache(maxsize=4096)
def _kept(path: Path, changed: int, size: int) -> _Source:
    return _Source(path)


def _is_installed(path: Path) -> bool:
    if path.is_relative_to(_PACKAGE) or any(path.is_relative_to(folder) for folder in _INSTALLED):
        return True
    return not _SITES.isdisjoint(path.parts)  # a person's own, or another environment's


def _imports(path: Path, data: bytes) -> list[Path]:
    try:
        tree = ast.parse(data)
    except (SyntaxError, ValueError):
        return []
    names: list[tuple[str, int]] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names += [(alias.name, 0) for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            module = node.module or ""
            names.append((module, node.level))
            names += [(f"{module}.{alias.name}".lstrip("."), node.level) for alias in node.names]
    found = [file for name, level in dict.fromkeys(names) for file in _files_of(name, level, path)]
    return [file for file in found if not _is_installed(file)]


def _files_of(name: str, level: int, importer: Path) -> list[Path]:
    """The source files that importing a name runs: of the module and of the packages around it."""
    parts = name.split(".") if name else []
    if level:
        folders = [importer.parents[level - 1]]
    else:
        top = _top_level(parts[0], str(importer.parent)) if parts else None
        if top is None:
            return []
        if top.is_file():
            return [top]
        folders, parts = [top], parts[1:]
    found = [folders[0] / "__init__.py"]
    for part in parts:
        inside = folders[-1] / part
        if inside.is_dir():
            folders.append(inside)
            found.append(inside / "__init__.py")
        else:
            found.append(inside.with_suffix(".py"))
            break
    return [file.resolve() for file in found if file.is_file()]


@functools.lru_cache(maxsize=4096)
def _top_level(name: str, beside: str) -> Path | None:
    """The file of a top-level module, or the folder of a package, on Python's path or beside the importer; None for
    what is built in or absent. Nothing is imported."""
    try:
        spec = PathFinder.find_spec(name) or PathFinder.find_spec(name, [beside])
    except (ImportError, ValueError):
        return None
    if spec is None:
        return None
    if spec.submodule_search_locations:
        return Path(next(iter(spec.submodule_search_locations)))
    return Path(spec.origin) if spec.origin and spec.origin.endswith(".py") else None
