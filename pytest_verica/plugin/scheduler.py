"""Hands whole cases to xdist's workers, in blocks of neighbouring items, so that a worker can look ahead.

Behind xdist's `Scheduling` protocol. Blocks are index ranges: nothing is looked up by name.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import pytest
from xdist.report import report_collection_diff
from xdist.workermanage import parse_tx_spec_config

from pytest_verica.plugin.grouping import case_of

if TYPE_CHECKING:
    from xdist.workermanage import WorkerController

BLOCKS_AHEAD = 2
"""Blocks a worker holds at least: it can look into the next one while it works on the first."""
BLOCKS_PER_WORKER = 8
"""Into so many blocks the share of each worker is cut, so that a slow one does not end long after the others."""


def blocks_of(collection: Sequence[str], workers: int, most_cases: int) -> list[range]:
    """Ranges of neighbouring indices, none of which parts a case. The same for the same collection, everywhere."""
    starts = [index for index in range(len(collection)) if index == 0 or _parted(collection, index)]
    cases = max(1, min(most_cases, len(starts) // (max(1, workers) * BLOCKS_PER_WORKER)))
    edges = [*starts[::cases], len(collection)]
    return [range(first, last) for first, last in pairwise(edges)]


def _parted(collection: Sequence[str], index: int) -> bool:
    return case_of(collection[index]) != case_of(collection[index - 1])


class BlockScheduling:
    """xdist's `Scheduling` protocol over blocks."""

    def __init__(self, config: pytest.Config, most_cases: int) -> None:
        self.config = config
        self.numnodes = len(parse_tx_spec_config(config))
        self.collection: list[str] | None = None
        self._most_cases = most_cases
        self._collections: dict[WorkerController, list[str]] = {}
        self._pending: dict[WorkerController, deque[range]] = {}
        self._blocks: deque[range] = deque()
        self._left = range(0)

    @property
    def nodes(self) -> list[WorkerController]:
        return list(self._pending)

    @property
    def collection_is_completed(self) -> bool:
        return len(self._collections) >= self.numnodes

    @property
    def tests_finished(self) -> bool:
        # A worker starts an item only when it knows the one after it, or that it is to stop: one may be left to each.
        return (
            self.collection_is_completed
            and not self._blocks
            and all(sum(map(len, pending)) < 2 for pending in self._pending.values())
        )

    @property
    def has_pending(self) -> bool:
        return bool(self._blocks) or any(self._pending.values())

    def add_node(self, node: WorkerController) -> None:
        self._pending[node] = deque()

    def add_node_collection(self, node: WorkerController, collection: Sequence[str]) -> None:
        if self.collection is not None and list(collection) != self.collection:
            self._say_difference(node, list(collection))
            return
        self._collections[node] = list(collection)

    def schedule(self) -> None:
        if self.collection is None:
            first, *others = self._collections.items()
            differing = [node for node, found in others if self._say_difference(node, found, first[1])]
            if differing:
                return
            self.collection = first[1]
            self._blocks.extend(blocks_of(self.collection, len(self._pending), self._most_cases))
        for node in self.nodes:
            self._provide(node)

    def mark_test_complete(self, node: WorkerController, item_index: int, duration: float = 0) -> None:
        pending = self._pending[node]
        for place, block in enumerate(pending):
            if item_index in block:
                rest = range(item_index + 1, block.stop) if item_index == block.start else None
                if rest is None:
                    _replace(pending, place, range(block.start, item_index), range(item_index + 1, block.stop))
                elif rest:
                    pending[place] = rest
                else:
                    del pending[place]
                break
        self._provide(node)

    def reported(self, node: WorkerController, nodeid: str) -> None:
        """The verdict of an item has come: a worker that dies before it says that the item is complete, which comes a
        little later, died in the next one. Of a worker that is gone, nothing."""
        pending = self._pending.get(node)
        if pending and self.collection is not None and self.collection[pending[0].start] == nodeid:
            self.mark_test_complete(node, pending[0].start)

    def mark_test_pending(self, item: str) -> None:
        assert self.collection is not None
        index = self.collection.index(item)
        self._blocks.appendleft(range(index, index + 1))
        for node in self.nodes:
            self._provide(node)

    def remove_pending_tests_from_node(self, node: WorkerController, indices: Sequence[int]) -> None:
        raise NotImplementedError("blocks are not stolen")

    def remove_node(self, node: WorkerController) -> str | None:
        """Takes a worker out. What it had left goes to the others, except the case it died in: that is returned to
        xdist as the item that crashed, and the rest of the case is in `left_of_crashed` until `give_back`."""
        pending = self._pending.pop(node)
        if not pending:
            return None
        assert self.collection is not None
        first = pending.popleft()
        crashed = first.start
        case = case_of(self.collection[crashed])
        after = crashed + 1
        while after < first.stop and case_of(self.collection[after]) == case:
            after += 1
        self._left = range(crashed + 1, after)
        if after < first.stop:
            pending.appendleft(range(after, first.stop))
        self._blocks.extendleft(reversed(pending))
        for other in self.nodes:
            self._provide(other)
        return self.collection[crashed]

    @property
    def left_of_crashed(self) -> list[str]:
        """The rest of the case that the last worker died in: nobody runs it."""
        return [] if self.collection is None else self.collection[self._left.start : self._left.stop]

    def give_back(self) -> None:
        """Lets the others run the rest of the case after all: its items had nothing in common."""
        if self._left:
            self._blocks.appendleft(self._left)
            self._left = range(0)
        for node in self.nodes:
            self._provide(node)

    def _provide(self, node: WorkerController) -> None:
        if node.shutting_down:
            return
        pending = self._pending[node]
        given: list[int] = []
        while self._blocks and len(pending) < BLOCKS_AHEAD:
            block = self._blocks.popleft()
            pending.append(block)
            given += block
        if given:  # in one message: a worker that waits for the answers to the first block does not see the next one
            node.send_runtest_some(given)
        if not self._blocks:
            node.shutdown()

    def _say_difference(self, node: WorkerController, found: list[str], wanted: Any = None) -> bool:
        first, collection = next(iter(self._collections.items()))
        message = report_collection_diff(wanted or collection, found, first.gateway.id, node.gateway.id)
        if message:
            report = pytest.CollectReport(nodeid=node.gateway.id, outcome="failed", longrepr=message, result=[])
            self.config.hook.pytest_collectreport(report=report)
        return bool(message)


def _replace(pending: deque[range], place: int, *parts: range) -> None:
    del pending[place]
    for part in reversed(parts):
        if part:
            pending.insert(place, part)
