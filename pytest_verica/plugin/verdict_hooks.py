"""pytest's hooks about an item as verdicts need them: without what only a test with fixtures has a use for."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import pytest

# Their work before a test (capture, logging, fixtures) is what the short protocol leaves out.
_BEFORE_TESTS = (
    "capturemanager",
    "logging-plugin",
    "runner",
    "unraisableexception",
    "threadexception",
    "faulthandler",
    "setuponly",
)
# Each keeps a note on every item: of how it went, for `tmp_path`; of its xfail markers, which few have.
_NOTES_FOR_FIXTURES = ("tmpdir",)
_NOTES_OF_MARKERS = ("skipping",)


@dataclass(frozen=True)
class VerdictHooks:
    """Of the items below one folder. setup: `pytest_runtest_setup`; markers_only: whether nothing listens to it but
    pytest's skip and xfail, which have nothing to do without markers; report, plain_report:
    `pytest_runtest_makereport`, of an item that was set up and of one that was not."""

    setup: Any
    markers_only: bool
    report: Any
    plain_report: Any


class HooksByFolder:
    """own: the plugin that runs the items, which is not told of their set-up."""

    def __init__(self, manager: pytest.PytestPluginManager, own: object) -> None:
        self._manager = manager
        self._own = own
        self._made: dict[frozenset[object], VerdictHooks] = {}

    def of(self, ihook: Any) -> VerdictHooks:
        """Of the items that have this `ihook`: those of their folder, a conftest.py of another is not asked."""
        apart = frozenset(getattr(ihook, "remove_mods", ()))
        found = self._made.get(apart)
        if found is None:
            found = self._made[apart] = self._without(apart)
        return found

    def _without(self, apart: Iterable[object]) -> VerdictHooks:
        setup = self._subset("pytest_runtest_setup", _BEFORE_TESTS, [self._own, *apart])
        return VerdictHooks(
            setup,
            {impl.plugin_name for impl in setup.get_hookimpls()} <= set(_NOTES_OF_MARKERS),
            self._subset("pytest_runtest_makereport", _NOTES_FOR_FIXTURES, apart),
            self._subset("pytest_runtest_makereport", (*_NOTES_FOR_FIXTURES, *_NOTES_OF_MARKERS), apart),
        )

    def _subset(self, hook: str, names: Iterable[str], more: Iterable[object]) -> Any:
        known = [plugin for name in names if (plugin := self._manager.get_plugin(name)) is not None]
        return self._manager.subset_hook_caller(hook, [*known, *more])
