"""The nodes of an eval file: EvalFile -> CaseNode -> CriterionItem."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import TYPE_CHECKING, Any

import pytest

from pytest_verica.case import Case
from pytest_verica.engine.plan import Eval
from pytest_verica.errors import ConfigError
from pytest_verica.plugin.ticket import Ticket

if TYPE_CHECKING:
    from pytest_verica.plugin.evals import Evals
    from pytest_verica.plugin.running import Running


class _Lean:
    """A node without the empty set that pytest gives to each: over tens of thousands it weighs megabytes."""

    _keyword_matches: set[str] | None = None

    @property
    def extra_keyword_matches(self) -> set[str]:
        """Extra names for `-k`; made when first asked for."""
        if self._keyword_matches is None:
            self._keyword_matches = set()
        return self._keyword_matches

    @extra_keyword_matches.setter
    def extra_keyword_matches(self, names: set[str]) -> None:
        if names:
            self._keyword_matches = names


class EvalFile(pytest.File):
    """An eval file; its children are its cases."""

    evals: Evals
    running: Running

    @cached_property
    def hooks(self) -> Any:
        """pytest's hooks as seen from this file's folder; looked up once for all its verdicts."""
        return super().ihook

    @cached_property
    def shown_path(self) -> str:
        return self.nodeid.partition("::")[0]

    def collect(self) -> Iterator[pytest.Item | pytest.Collector]:
        try:
            ready = self.evals.from_file(self.path, self.nodeid)
        except ConfigError as error:
            raise pytest.Collector.CollectError(str(error)) from None
        by_node_id = any("::" in str(arg) for arg in self.config.args)
        for case in self.evals.cases_of(ready):
            node: CaseNode = CaseNode.from_parent(self, name=case.id)
            node.ready, node.case = ready, case
            if by_node_id:
                yield node
            else:
                # A collection of its own for each case would cost as much as its verdicts.
                yield from node.collect()


class CaseNode(_Lean, pytest.Collector):
    """A case; its children are the verdicts about it."""

    ready: Eval
    case: Case
    parent: EvalFile

    @property
    def ihook(self) -> Any:
        return self.parent.hooks

    def collect(self) -> Iterator[CriterionItem]:
        repeat = self.ready.config.repeat
        for sample in range(repeat):
            key = (self.ready.id, self.case.id, sample)
            for criterion in self.parent.evals.criteria_of(self.ready):
                name = criterion.id if repeat == 1 else f"{criterion.id}[{sample + 1}]"
                item: CriterionItem = CriterionItem.from_parent(self, name=name)
                item.ticket = Ticket(self.ready, self.case, criterion, sample, key)
                yield item


class CriterionItem(_Lean, pytest.Item):
    """One verdict. Runs under the protocol of `running.py`, and under pytest's own where a plugin insists on it."""

    ticket: Ticket
    parent: CaseNode

    @property
    def ihook(self) -> Any:
        return self.parent.parent.hooks

    def runtest(self) -> None:
        self.parent.parent.running.raise_verdict(self)

    def reportinfo(self) -> tuple[Any, int | None, str]:
        return self.path, self.location[1], self.location[2]

    @cached_property
    def location(self) -> tuple[str, int | None, str]:  # pytest's own walks paths each time
        node = self.parent
        line = node.case.line
        return (node.parent.shown_path, None if line is None else line - 1, f"{node.name}::{self.name}")
