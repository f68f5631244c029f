"""Slots: fairness, halving and growing, cancellation, pacing. No test waits for a real clock."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_verica.engine.limits import CallOutcome, Limiter
from pytest_verica.request import Rates


def run(coroutine: Coroutine[Any, Any, None]) -> None:
    asyncio.run(coroutine)


async def turns(count: int = 5) -> None:
    for _ in range(count):
        await asyncio.sleep(0)


async def take(limiter: Limiter, count: int) -> None:
    for _ in range(count):
        await limiter.acquire()


def test_no_more_than_the_limit_first_come_first_served() -> None:
    async def main() -> None:
        limiter, order = Limiter(2), []

        async def call(number: int) -> None:
            await limiter.acquire()
            order.append(number)

        tasks = [asyncio.create_task(call(number)) for number in range(5)]
        await turns()
        assert (order, limiter.in_flight) == ([0, 1], 2)
        for released in (2, 3, 4):
            limiter.release("ok")
            await turns()
            assert (order, limiter.in_flight) == (list(range(released + 1)), 2)
        limiter.release("ok")
        limiter.release("other")
        assert limiter.in_flight == 0
        await asyncio.gather(*tasks)

    run(main())


@pytest.mark.parametrize(
    ("limit", "outcomes", "expected"),
    [
        (16, ["limited"], 8),
        (16, ["limited"] * 16, 8),  # one burst, one piece of news
        (16, ["other"] * 16, 16),
        (16, ["ok"] * 16, 16),  # never above its start
        (1, ["limited"], 1),  # never below one
        (3, ["limited"], 1),
    ],
)
def test_a_burst_of_429s_halves_once(limit: int, outcomes: list[CallOutcome], expected: int) -> None:
    async def main() -> None:
        limiter = Limiter(limit)
        await take(limiter, len(outcomes))
        for outcome in outcomes:
            limiter.release(outcome)
        assert limiter.limit == expected

    run(main())


def test_each_round_of_429s_halves_again() -> None:
    async def main() -> None:
        limiter = Limiter(16)
        for expected in (8, 4, 2, 1, 1):
            out = limiter.limit
            await take(limiter, out)
            for _ in range(out):
                limiter.release("limited")
            assert limiter.limit == expected

    run(main())


def test_one_slot_comes_back_after_a_window_of_answers() -> None:
    async def main() -> None:
        limiter = Limiter(4)
        await take(limiter, 4)
        for _ in range(4):
            limiter.release("limited")
        seen = []
        for _ in range(2 + 3 + 2):  # 2 answers at 2 slots, 3 answers at 3 slots, then no more than the 4 of the start
            await limiter.acquire()
            limiter.release("ok")
            seen.append(limiter.limit)
        assert seen == [2, 3, 3, 3, 4, 4, 4]

    run(main())


def test_a_429_starts_the_quiet_stretch_again() -> None:
    async def main() -> None:
        limiter = Limiter(8)
        await limiter.acquire()
        limiter.release("limited")
        for outcome in ("ok", "ok", "ok", "limited", "ok", "other", "ok"):  # 3 of 4 answers; then halved to 2
            await limiter.acquire()
            limiter.release(outcome)
        assert limiter.limit == 3

    run(main())


def test_answers_to_calls_from_before_a_halving_count_for_nothing() -> None:
    async def main() -> None:
        limiter = Limiter(4)
        await take(limiter, 4)
        limiter.release("limited")
        for _ in range(3):
            limiter.release("ok")
        assert limiter.limit == 2
        for _ in range(2):
            await limiter.acquire()
            limiter.release("ok")
        assert limiter.limit == 3

    run(main())


def test_after_a_halving_nobody_starts_until_there_is_room() -> None:
    async def main() -> None:
        limiter = Limiter(4)
        await take(limiter, 4)
        waiting = asyncio.create_task(limiter.acquire())
        await turns()
        for out in (3, 2):  # four were out, two may be
            limiter.release("limited")
            await turns()
            assert (limiter.in_flight, waiting.done()) == (out, False)
        limiter.release("limited")
        await turns()
        assert (limiter.in_flight, waiting.done()) == (2, True)

    run(main())


def test_growing_wakes_two_where_there_is_room_for_two() -> None:
    async def main() -> None:
        limiter = Limiter(2)
        await limiter.acquire()
        limiter.release("limited")
        await limiter.acquire()
        waiting = [asyncio.create_task(limiter.acquire()) for _ in range(3)]
        await turns()
        limiter.release("ok")  # the slot, and the one that comes back
        await turns()
        assert [task.done() for task in waiting] == [True, True, False]
        for task in waiting:
            task.cancel()
        await asyncio.gather(*waiting, return_exceptions=True)

    run(main())


@pytest.mark.parametrize("handed_over", [False, True], ids=["while it waits", "as it is handed a slot"])
def test_a_cancelled_wait_holds_no_slot(handed_over: bool) -> None:
    async def main() -> None:
        limiter = Limiter(1)
        await limiter.acquire()
        first, second = (asyncio.create_task(limiter.acquire()) for _ in range(2))
        await turns()
        if handed_over:
            limiter.release("ok")
        first.cancel()
        if not handed_over:
            limiter.release("ok")
        await turns()
        assert (first.cancelled(), second.done(), limiter.in_flight) == (True, True, 1)
        limiter.release("ok")
        assert limiter.in_flight == 0

    run(main())


def test_a_cancelled_wait_leaves_the_queue() -> None:
    async def main() -> None:
        limiter = Limiter(1)
        await limiter.acquire()
        first, second = (asyncio.create_task(limiter.acquire()) for _ in range(2))
        await turns()
        first.cancel()
        await turns()
        limiter.release("ok")
        await turns()
        assert second.done()
        limiter.release("ok")
        await asyncio.wait_for(limiter.acquire(), 1)
        assert limiter.in_flight == 1

    run(main())


class Clock:
    """Time that passes only where somebody sleeps."""

    def __init__(self) -> None:
        self.now = 100.0
        self.slept: list[float] = []

    def time(self) -> float:
        return self.now

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.now += seconds


def test_starts_are_spaced_to_the_requests_of_a_minute() -> None:
    async def main() -> None:
        clock = Clock()
        limiter = Limiter(10, rates=Rates(requests_per_minute=120), clock=clock.time, sleep=clock.sleep)
        starts = []
        for _ in range(4):
            await limiter.acquire()
            starts.append(clock.now)
        clock.now += 10  # a pause earns no burst
        for _ in range(2):
            await limiter.acquire()
            starts.append(clock.now)
        assert starts == [100.0, 100.5, 101.0, 101.5, 111.5, 112.0]  # 60 s / 120 = 0.5 s apart
        assert clock.slept == [0.5, 0.5, 0.5, 0.5]

    run(main())


def test_a_cancelled_pause_holds_no_slot() -> None:
    async def main() -> None:
        async def forever(seconds: float) -> None:
            await asyncio.Event().wait()

        limiter = Limiter(3, rates=Rates(requests_per_minute=1), clock=lambda: 0.0, sleep=forever)
        await limiter.acquire()
        pausing = asyncio.create_task(limiter.acquire())
        await turns()
        assert limiter.in_flight == 2
        pausing.cancel()
        await turns()
        assert (pausing.cancelled(), limiter.in_flight) == (True, 1)

    run(main())


@pytest.mark.parametrize(("limit", "per_minute"), [(0, None), (-1, None), (1, 0), (1, -5)])
def test_a_limit_that_lets_nothing_through_is_refused(limit: int, per_minute: float | None) -> None:
    with pytest.raises(ValueError, match="not"):
        Limiter(limit, rates=Rates(requests_per_minute=per_minute))


STEPS = st.lists(st.sampled_from(["start", "cancel", "ok", "limited", "other"]), max_size=60)


@settings(max_examples=150)
@given(limit=st.integers(1, 6), steps=STEPS)
def test_whatever_happens_slots_are_neither_lost_nor_made(limit: int, steps: list[str]) -> None:
    async def main() -> None:
        limiter = Limiter(limit)
        tasks: list[asyncio.Task[None]] = []
        held = 0
        for step in steps:
            if step == "start":
                tasks.append(asyncio.create_task(limiter.acquire()))
            elif step == "cancel":
                for task in [task for task in tasks if not task.done()][:1]:
                    task.cancel()
            elif held:
                held -= 1
                limiter.release(step)  # type: ignore[arg-type]
            await turns(3)
            held += sum(task.done() and not task.cancelled() for task in tasks)
            tasks = [task for task in tasks if not task.done()]
            assert held == limiter.in_flight
            assert 1 <= limiter.limit <= limit
            assert not tasks or held >= limiter.limit  # nobody waits while there is room
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    run(main())
