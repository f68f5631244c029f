"""Blocks of whole cases, handed to workers that may die: a simulation of xdist around the scheduler."""

from __future__ import annotations

from collections import Counter, deque
from itertools import pairwise
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

pytest.importorskip("xdist")

from pytest_verica.plugin.grouping import case_of
from pytest_verica.plugin.scheduler import BlockScheduling, blocks_of


@pytest.mark.parametrize(
    ("nodeid", "case"),
    [
        ("e/shop.eval.yaml::order-17::tone", "e/shop.eval.yaml::order-17"),
        ("e/shop.eval.yaml::order-17::tone[2]", "e/shop.eval.yaml::order-17"),
        ("tests/test_bot.py::test_refund[order-17-tone]", "tests/test_bot.py::test_refund[order-17"),
        ("tests/test_bot.py::TestBot::test_refund[order-17-tone]", "tests/test_bot.py::TestBot::test_refund[order-17"),
        ("tests/test_bot.py::test_plain[one]", "tests/test_bot.py::test_plain[one]"),
        ("tests/test_bot.py::test_plain", "tests/test_bot.py::test_plain"),
        ("tests/test-a.py::test_plain", "tests/test-a.py::test_plain"),
    ],
)
def test_a_case_is_told_from_node_ids(nodeid: str, case: str) -> None:
    assert case_of(nodeid) == case


@st.composite
def collections(draw: st.DrawFn) -> list[str]:
    """Node ids as pytest gives them: eval files, marked functions, plain tests, each case's items side by side."""
    ids: list[str] = []
    for number, kind in enumerate(draw(st.lists(st.sampled_from(["file", "repeat", "function", "plain"]), max_size=6))):
        cases, criteria = draw(st.integers(1, 12)), draw(st.integers(1, 3))
        for case in range(cases):
            for criterion in range(criteria):
                ids.append(
                    {
                        "file": f"e{number}.eval.yaml::row-{case}::c{criterion}",
                        "repeat": f"e{number}.eval.yaml::row-{case}::tone[{criterion + 1}]",
                        "function": f"test_{number}.py::test_eval[row-{case}-c{criterion}]",
                        "plain": f"test_{number}.py::test_{case}_{criterion}",
                    }[kind]
                )
    return ids


@given(collections(), st.integers(1, 9), st.integers(1, 40))
def test_blocks_partition_the_indices_and_never_part_a_case(ids: list[str], workers: int, most_cases: int) -> None:
    blocks = blocks_of(ids, workers, most_cases)
    assert [index for block in blocks for index in block] == list(range(len(ids)))
    assert all(blocks)
    for before, after in pairwise(blocks):
        assert case_of(ids[before[-1]]) != case_of(ids[after[0]])
    assert all(len({case_of(ids[index]) for index in block}) <= most_cases for block in blocks)


@given(collections(), st.integers(1, 9))
def test_every_worker_gets_several_blocks_where_there_is_enough(ids: list[str], workers: int) -> None:
    cases = len({case_of(nodeid) for nodeid in ids})
    assert len(blocks_of(ids, workers, 1000)) >= min(cases, 8 * workers)


class Worker:
    """xdist's handle of a worker, and the worker: it starts an item only when it knows what comes after it."""

    def __init__(self, name: str) -> None:
        self.gateway = SimpleNamespace(id=name)
        self.queue: deque[int | None] = deque()
        self.messages: list[list[int]] = []
        self.shutting_down = False

    def send_runtest_some(self, indices: list[int]) -> None:
        assert not self.shutting_down, "handed items to a worker that was told to stop"
        self.queue.extend(indices)
        self.messages.append(indices)

    def shutdown(self) -> None:
        if not self.shutting_down:
            self.shutting_down = True
            self.queue.append(None)

    @property
    def can_run(self) -> bool:
        return len(self.queue) > 1

    @property
    def has_ended(self) -> bool:
        return list(self.queue) == [None]


class Session:
    """As much of xdist's DSession as a scheduler sees. whole: whether a crash is answered as for a verdict."""

    def __init__(self, ids: list[str], workers: int, most_cases: int, *, whole: bool) -> None:
        self.ids = ids
        self.whole = whole
        self.reported: Counter[str] = Counter()
        self.ran_by: dict[str, set[str]] = {}
        self.crashes = 0
        self.workers: list[Worker] = []
        config: Any = SimpleNamespace(getvalue=lambda name: [f"{workers}*popen"], option=SimpleNamespace())
        config.hook = SimpleNamespace(pytest_collectreport=lambda report: pytest.fail(str(report.longrepr)))
        self.schedule = BlockScheduling(config, most_cases)
        assert self.schedule.numnodes == workers
        for number in range(workers):
            self._start(f"gw{number}")

    def _start(self, name: str) -> None:
        worker: Any = Worker(name)
        self.workers.append(worker)
        self.schedule.add_node(worker)
        self.schedule.add_node_collection(worker, self.ids)
        if self.schedule.collection_is_completed:
            self.schedule.schedule()

    def report_one(self, worker: Any) -> int:
        index: int = worker.queue.popleft()
        nodeid = self.ids[index]
        self.reported[nodeid] += 1
        self.ran_by.setdefault(case_of(nodeid), set()).add(worker.gateway.id)
        self.schedule.reported(worker, nodeid)
        return index

    def run_one(self, worker: Any) -> None:
        self.schedule.mark_test_complete(worker, self.report_one(worker))
        self._end_where_finished()

    def kill(self, worker: Any) -> None:
        self.crashes += 1
        crashed = self.schedule.remove_node(worker)
        self.workers.remove(worker)
        if crashed is not None:
            self.reported[crashed] += 1
            assert {case_of(nodeid) for nodeid in self.schedule.left_of_crashed} <= {case_of(crashed)}
            if self.whole:
                self.reported.update(self.schedule.left_of_crashed)
            else:
                self.schedule.give_back()
        self._start(f"gw{len(self.ids)}{self.crashes}")
        self._end_where_finished()

    def _end_where_finished(self) -> None:
        if self.schedule.tests_finished:
            for worker in self.workers:
                worker.shutdown()

    def finish(self, worker: Any) -> None:
        assert self.schedule.remove_node(worker) is None
        self.workers.remove(worker)


@settings(max_examples=150)
@given(collections().filter(bool), st.integers(1, 4), st.integers(1, 6), st.booleans(), st.data())
def test_every_item_is_reported_once_whatever_the_order_and_whoever_dies(
    ids: list[str], workers: int, most_cases: int, whole: bool, data: st.DataObject
) -> None:
    session = Session(ids, workers, most_cases, whole=whole)
    deaths = data.draw(st.integers(0, 4), "deaths")
    while session.workers:
        for worker in [worker for worker in session.workers if worker.has_ended]:
            session.finish(worker)
        able = [worker for worker in session.workers if worker.can_run]
        assert able or not session.workers, "every worker waits: nobody would ever go on"
        if not able:
            break
        if session.crashes < deaths and data.draw(st.booleans(), "one dies"):
            who = data.draw(st.sampled_from(session.workers), "who")
            if who.can_run and data.draw(st.booleans(), "between an item's report and its end"):
                session.report_one(who)
            session.kill(who)
        else:
            session.run_one(data.draw(st.sampled_from(able), "who is next"))
    assert session.reported == Counter(ids)
    assert not session.schedule.has_pending
    if whole:
        assert all(len(who) == 1 for who in session.ran_by.values()), "a case was run by two workers"


@pytest.mark.parametrize("workers", [1, 2, 4])
def test_without_deaths_a_case_has_one_worker(workers: int) -> None:
    ids = [f"a.eval.yaml::row-{case}::c{criterion}" for case in range(50) for criterion in range(3)]
    session = Session(ids, workers, 16, whole=True)
    turn = 0
    while any(worker.can_run for worker in session.workers):
        able = [worker for worker in session.workers if worker.can_run]
        session.run_one(able[turn % len(able)])
        turn += 1
    assert all(worker.has_ended for worker in session.workers)
    assert session.reported == Counter(ids)
    assert {who for by in session.ran_by.values() for who in by} == {f"gw{n}" for n in range(workers)}


def test_what_a_worker_begins_with_comes_in_one_message() -> None:
    """It may wait for answers as soon as it has one item: what comes later is not asked for meanwhile."""
    session = Session([f"a.eval.yaml::{case}::{name}" for case in range(64) for name in "xy"], 2, 1000, whole=True)
    # 64 cases in 2 × 8 blocks: 4 cases of 2 items each, and two blocks for a start.
    assert [worker.messages for worker in session.workers] == [[[*range(16)]], [[*range(16, 32)]]]


def test_a_worker_that_collected_something_else_is_told() -> None:
    told: list[str] = []
    config: Any = SimpleNamespace(getvalue=lambda name: ["2*popen"], option=SimpleNamespace())
    config.hook = SimpleNamespace(pytest_collectreport=lambda report: told.append(str(report.longrepr)))
    schedule = BlockScheduling(config, 4)
    for name, ids in (("gw0", ["t.py::a", "t.py::b"]), ("gw1", ["t.py::a"])):
        worker: Any = Worker(name)
        schedule.add_node(worker)
        schedule.add_node_collection(worker, ids)
    schedule.schedule()
    assert len(told) == 1 and "Different tests were collected between gw0 and gw1" in told[0]
    assert schedule.collection is None
