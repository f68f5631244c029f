"""The house plan, executed: which room may import which, where third-party doors are, how large a room may grow.

Everything is read with `ast`: nothing of the package is imported. Imports inside functions and under TYPE_CHECKING
count as much as any other.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from functools import cached_property
from pathlib import Path

import pytest

PACKAGE = "pytest_verica"
ROOT = Path(__file__).resolve().parent.parent / PACKAGE

ROWS: tuple[tuple[str, ...], ...] = (
    ("errors", "canonical", "json_text", "kinds"),
    (
        "usage",
        "tool_calls",
        "output",
        "case",
        "grade",
        "request",
        "completion",
        "embedding",
        "run",
        "spans",
        "state_checks",
        "declare",
    ),
    ("path", "template", "golden", "formula", "similarity", "stats"),
    ("evals",),
    ("graders", "providers", "pricing"),
    ("judge", "engine"),
    ("store", "compare", "report", "calibration", "preflight"),
    ("plugin", "cli", "ui"),
)
"""Ground first. A room imports from the rows before its own, and within its row only what SIBLINGS names."""

SIBLINGS: Mapping[str, frozenset[str]] = {
    "output": frozenset({"tool_calls", "usage"}),
    "grade": frozenset({"usage"}),
    "run": frozenset({"grade", "json_text"}),
    "request": frozenset({"tool_calls"}),
    "completion": frozenset({"tool_calls", "usage"}),
    "declare": frozenset({"state_checks"}),
    "embedding": frozenset({"completion", "request", "usage"}),
    "template": frozenset({"path"}),
    "golden": frozenset({"path", "template"}),
    "formula": frozenset({"path", "template"}),
    "compare": frozenset({"report"}),
    "report": frozenset({"store"}),
    # `verica ui` and `verica label` start the pages: the command is how a person opens that door.
    "cli": frozenset({"ui"}),
    "calibration": frozenset({"store", "report"}),
}

PACKAGE_ITSELF = "__init__"
"""The names that the package exports, loaded when first used: records and declarations only."""

SEAMS: Mapping[tuple[str, str], frozenset[str]] = {
    # The engine knows the protocols, never a kind of check and never a provider's door. A plain HTTP target is no
    # model: its endpoint is the engine's own door. What answers cost is written onto a grade by the same sums.
    ("engine", "graders"): frozenset({"criterion", "protocol", "spending"}),
    ("engine", "providers"): frozenset({"http_endpoint", "protocol"}),
    # The command starts the pages' server and knows nothing else of them.
    ("cli", "ui"): frozenset({"server"}),
}

ONLY_IN: Mapping[str, str] = {
    "pytest": "plugin",
    "_pytest": "plugin",
    "pluggy": "plugin",
    "xdist": "plugin",
    "click": "cli",
}

MOST_LINES = 400
MOST_LINES_OF_FUNCTION = 60
NAMES_THAT_SAY_NOTHING = frozenset({"utils", "util", "helpers", "helper", "common", "misc", "shared", "core", "base"})


class Module:
    """A source file. name: without the package's, `` for the package itself; `room`: its first part."""

    def __init__(self, path: Path, root: Path = ROOT) -> None:
        self.path = path
        self.is_package = path.name == "__init__.py"
        parts = path.relative_to(root).with_suffix("").parts
        self.name = ".".join(parts[:-1] if self.is_package else parts)
        self.room = parts[0]
        self.text = path.read_text("utf-8")

    def __repr__(self) -> str:
        return self.name or PACKAGE_ITSELF

    @cached_property
    def tree(self) -> ast.Module:
        return ast.parse(self.text)

    @cached_property
    def imports(self) -> list[tuple[int, str, str | None]]:
        """(line, module, name taken from it or None), absolute, wherever in the file they stand."""
        found: list[tuple[int, str, str | None]] = []
        for node in ast.walk(self.tree):
            if isinstance(node, ast.Import):
                found += [(node.lineno, alias.name, None) for alias in node.names]
            elif isinstance(node, ast.ImportFrom):
                found += [(node.lineno, self._absolute(node), alias.name) for alias in node.names]
        return found

    def _absolute(self, node: ast.ImportFrom) -> str:
        if not node.level:
            return node.module or ""
        parts = [PACKAGE, *self.name.split(".")] if self.name else [PACKAGE]
        parts = parts[: len(parts) - node.level + self.is_package]
        return ".".join([*parts, *([node.module] if node.module else [])])

    @property
    def functions(self) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
        return (node for node in ast.walk(self.tree) if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)))


class House:
    """Every module of a package, and who imports whom."""

    def __init__(self, root: Path = ROOT) -> None:
        self.modules = {module.name: module for module in (Module(p, root) for p in sorted(root.rglob("*.py")))}

    def edges(self, module: Module) -> Iterator[tuple[int, str]]:
        """(line, imported module of the package)."""
        for line, source, name in module.imports:
            if source.partition(".")[0] != PACKAGE:
                continue
            inside = source.removeprefix(PACKAGE).lstrip(".")
            below = f"{inside}.{name}".lstrip(".")
            yield line, below if below in self.modules else inside

    def cycle(self) -> list[str]:
        """The modules of an import cycle, the first one again at the end; nothing where there is none."""
        graph = {name: sorted({to for _, to in self.edges(module)} - {name}) for name, module in self.modules.items()}
        done: set[str] = set()

        def search(name: str, trail: list[str]) -> list[str]:
            if name in trail:
                return [*trail[trail.index(name) :], name]
            if name in done:
                return []
            for to in graph.get(name, ()):
                found = search(to, [*trail, name])
                if found:
                    return found
            done.add(name)
            return []

        return next((found for name in graph if (found := search(name, []))), [])


HOUSE = House()
MODULES = list(HOUSE.modules.values())
ROW_OF = {room: row for row, rooms in enumerate(ROWS) for room in rooms}


def wrong_imports(house: House) -> list[str]:
    """Sentences about every import that goes up, or to a sibling that is not named."""
    wrong = []
    for module in house.modules.values():
        for line, to in house.edges(module):
            room = house.modules[to].room if to in house.modules else to.partition(".")[0]
            if not _allowed(module.room, room):
                wrong.append(f"{module.path.name}:{line}: {module} ({module.room}) imports {to or PACKAGE} ({room})")
    return wrong


def _allowed(room: str, imported: str) -> bool:
    if room == imported:
        return True
    if imported == PACKAGE_ITSELF:
        return False
    if room == PACKAGE_ITSELF:
        return ROW_OF.get(imported, len(ROWS)) <= ROW_OF["declare"]
    if room not in ROW_OF or imported not in ROW_OF:
        return False
    return ROW_OF[imported] < ROW_OF[room] or imported in SIBLINGS.get(room, ())


def test_every_room_has_its_place_in_the_table() -> None:
    homeless = {module.room for module in MODULES} - set(ROW_OF) - {PACKAGE_ITSELF}
    assert not homeless, f"give these a row in ROWS, or another home: {sorted(homeless)}"


def test_no_room_stands_in_two_rows() -> None:
    assert len(ROW_OF) == sum(map(len, ROWS))


def test_imports_go_down() -> None:
    assert not wrong_imports(HOUSE), "\n".join(wrong_imports(HOUSE))


def test_there_is_no_import_cycle_with_deferred_imports_counted() -> None:
    assert not HOUSE.cycle(), " -> ".join(HOUSE.cycle())


def test_the_engine_knows_only_the_protocols() -> None:
    wrong = [
        f"{module.path.name}:{line}: {module} imports {to}"
        for module in MODULES
        for line, to in HOUSE.edges(module)
        for (room, below), seams in SEAMS.items()
        if module.room == room and to.partition(".")[0] == below and to.partition(".")[2] not in seams
    ]
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize(("package", "room"), ONLY_IN.items())
def test_a_door_is_opened_in_one_room_only(package: str, room: str) -> None:
    wrong = [
        f"{module.path.relative_to(ROOT)}:{line}"
        for module in MODULES
        for line, source, _ in module.imports
        if source.partition(".")[0] == package and module.room != room
    ]
    assert not wrong, f"{package} is imported only in {room}/: {wrong}"


def test_no_module_outgrows_a_reading() -> None:
    long = {str(m): lines for m in MODULES if (lines := m.text.count("\n")) > MOST_LINES}
    assert not long, f"over {MOST_LINES} lines: {long}; what is the second noun in it?"


def test_no_function_outgrows_a_screen() -> None:
    long = {
        f"{module}.{function.name}": lines
        for module in MODULES
        for function in module.functions
        if (lines := (function.end_lineno or 0) - function.lineno + 1) > MOST_LINES_OF_FUNCTION
    }
    assert not long, f"over {MOST_LINES_OF_FUNCTION} lines: {long}"


def test_every_module_is_named_for_a_noun() -> None:
    nameless = [str(m) for m in MODULES if NAMES_THAT_SAY_NOTHING & set(m.name.split("."))]
    assert not nameless, f"name them for what lives in them: {nameless}"


def test_every_module_says_what_lives_in_it() -> None:
    silent = [str(module) for module in MODULES if not ast.get_docstring(module.tree)]
    assert not silent, f"these have no first line: {silent}"


def test_nothing_is_global() -> None:
    found = [
        f"{module}:{node.lineno}"
        for module in MODULES
        for node in ast.walk(module.tree)
        if isinstance(node, ast.Global)
    ]
    assert not found


def _house_of(tmp_path: Path, files: Mapping[str, str]) -> House:
    for name, text in files.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return House(tmp_path)


@pytest.mark.parametrize(
    ("file", "text"),
    [
        ("case.py", "from pytest_verica.path import get"),  # up
        ("case.py", "def f():\n    from pytest_verica.grade import Grade"),  # to a sibling that is not named, deferred
        ("case.py", "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import pytest_verica.evals.load"),
        ("cli/store.py", "from pytest_verica.plugin import options"),  # a door from another
        ("judge/rubric.py", "from pytest_verica.engine.engine import Engine"),
        ("graders/text.py", "from ..providers import registry"),  # relative ones are counted too
        ("case.py", "from pytest_verica import Grade"),  # round through the package itself
        ("kitchen.py", "from pytest_verica.errors import Place"),  # a room without a row
    ],
)
def test_a_wrong_import_is_found(tmp_path: Path, file: str, text: str) -> None:
    rooms = {
        f"{room}/__init__.py": "" for room in ("evals", "cli", "plugin", "judge", "engine", "graders", "providers")
    }
    house = _house_of(tmp_path, {"__init__.py": "", "path.py": "", "grade.py": "", **rooms, file: text})
    assert len(wrong_imports(house)) == 1


def test_a_cycle_through_a_deferred_import_is_found(tmp_path: Path) -> None:
    house = _house_of(
        tmp_path,
        {
            "evals/__init__.py": "",
            "evals/a.py": "from pytest_verica.evals.b import x",
            "evals/b.py": "def f():\n    from pytest_verica.evals import a",
            "evals/c.py": "from pytest_verica.evals.a import y",
        },
    )
    assert house.cycle() == ["evals.a", "evals.b", "evals.a"]
