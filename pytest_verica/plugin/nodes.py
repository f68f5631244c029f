"""The nodes of an eval file: EvalFile -> CaseNode -> CriterionItem."""

from __future__ import annotations

from collections.abc import Callable, Iterator
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


class _WhenAsked:
    """A container of a node that is made when first asked for. pytest's constructor makes one for every node, and on
    nearly all it stays empty: an empty one is not kept."""

    def __init__(self, place: str, make: Callable[[Any], Any]) -> None:
        self._place = place
        self._make = make

    def __set_name__(self, owner: type, name: str) -> None:
        setattr(owner, self._place, None)

    def __get__(self, node: Any, owner: type | None = None) -> Any:
        if node is None:
            return self
        made = getattr(node, self._place)
        if made is None:
            made = self._make(node)
            setattr(node, self._place, made)
        return made

    def __set__(self, node: Any, value: Any) -> None:
        if value:
            setattr(node, self._place, value)
        elif getattr(node, self._place) is not None:
            setattr(node, self._place, None)


class _Keywords(_WhenAsked):
    """The same of keywords, which are never empty: they begin with the node's own name."""

    def __init__(self, place: str) -> None:
        super().__init__(place, lambda node: {})  # until pytest's constructor has shown its own

    def __set__(self, node: Any, value: Any) -> None:
        if getattr(value, "node", None) is node:
            self._make = type(value)  # pytest's own class, which has no public name
        else:
            super().__set__(node, value)


class _Lean:
    """A node without what pytest gives to each and few use: over tens of thousands that weighs more than the cases."""

    extra_keyword_matches: Any = _WhenAsked("_names", lambda node: set())
    own_markers: Any = _WhenAsked("_markers", lambda node: [])
    keywords: Any = _Keywords("_keywords")
    stash: Any = _WhenAsked("_notes", lambda node: pytest.Stash())
    _store: Any = stash  # pytest's older name of it
    _markers: list[pytest.Mark] | None

    def iter_markers_with_node(self, name: str | None = None) -> Iterator[tuple[Any, pytest.Mark]]:
        """pytest's own, which makes no list to find that there is no marker in it."""
        node: Any = self
        while node is not None:
            markers = node._markers if isinstance(node, _Lean) else node.own_markers
            if markers:
                yield from ((node, mark) for mark in markers if name is None or getattr(mark, "name", None) == name)
            node = node.parent


class EvalFile(pytest.File):
    """An eval file; its children are its cases."""

    evals: Evals
    running: Running

    @cached_property
    def hooks(self) -> Any:
        """pytest's hooks as seen from this file's folder; looked up once for all its verdicts."""
        return super().ihook

    def collected(self) -> None:
        """Collection has ended: folders that came after this file may have brought hooks, which are not its own."""
        vars(self).pop("hooks", None)

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

    @property
    def location(self) -> tuple[str, int | None, str]:  # pytest's own walks paths, and keeps what it found
        node = self.parent
        line = node.case.line
        return (node.parent.shown_path, None if line is None else line - 1, f"{node.name}::{self.name}")
