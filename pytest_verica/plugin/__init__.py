"""What pytest loads at every start: options, hook specifications, the marker. Inert without --verica."""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable
from importlib.machinery import PathFinder
from typing import Any

import pytest

from pytest_verica.plugin import hookspecs
from pytest_verica.plugin.options import add_options, switched_on

MARKER = (
    "verica(golden_set=None, criteria=(), gate=None, name=None): an eval; the test returns an output "
    "and each criterion reports its own verdict (pytest --verica)"
)


def pytest_addoption(parser: pytest.Parser) -> None:
    add_options(parser)


def pytest_addhooks(pluginmanager: pytest.PytestPluginManager) -> None:
    pluginmanager.add_hookspecs(hookspecs)


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", MARKER)
    if switched_on(config):
        _loaded()(config)
    else:
        config.pluginmanager.register(Inert(), "verica-inert")


def _loaded() -> Callable[[pytest.Config], None]:
    """Everything else of the product, loaded only now."""
    if gc.get_freeze_count():  # an earlier session in this process set its own things aside
        gc.unfreeze()
        gc.collect()
    collecting = gc.isenabled()
    gc.disable()  # modules and classes stay for good: looking for garbage among them costs a tenth of the loading
    # Before pytest's own finder, which rewrites the assertions of plugins: there are none here, its loading takes
    # longer, and where it may not write beside the modules it compiles each of them anew at every start.
    sys.meta_path.insert(0, PathFinder)
    try:
        from pytest_verica.plugin.active import activate
    finally:
        sys.meta_path.remove(PathFinder)
        gc.freeze()
        if collecting:
            gc.enable()
    return activate


class Inert:
    """Without --verica: a marked test is skipped, and nothing of its eval is read."""

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        skip = pytest.mark.skip(reason="an eval: run it with --verica")
        for item in items:
            if item.get_closest_marker("verica") is not None:
                item.add_marker(skip)


@pytest.fixture
def case(request: pytest.FixtureRequest) -> Any:
    """The case of a test marked verica: a read-only mapping of the golden set's columns, with attribute access."""
    pytest.fail(f"{request.node.name} asks for `case`, but has no @pytest.mark.verica(golden_set=...)", pytrace=False)


@pytest.fixture
def verica(request: pytest.FixtureRequest) -> Any:
    """Grades an output inside a test: `verica.grade(output, criterion)` and `verica.check(output, criterion)`."""
    if not switched_on(request.config):
        pytest.skip("an eval: run it with --verica")
    from pytest_verica.plugin.bench import bench_for

    return bench_for(request)
