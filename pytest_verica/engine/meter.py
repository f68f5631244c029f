"""What a case, or one criterion of it, is using while it runs: calls, answers, and the time that is left to it."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterable
from contextvars import ContextVar
from typing import Any, TypeVar

from pytest_verica.completion import Answer
from pytest_verica.graders.protocol import Ask
from pytest_verica.request import Request

T = TypeVar("T")

_SHORTEST_S = 0.02


class OutOfTime(Exception):
    """The case has used up its time."""


class CaseClock:
    """The time of a case. It stands still while one of its calls waits for its turn at a limited endpoint: a case must
    not run out of time because others are asked before it.

    seconds: that it has; clock: seconds that never go back.
    """

    def __init__(self, seconds: float, clock: Callable[[], float] = time.monotonic) -> None:
        self.seconds = seconds
        self._left = seconds
        self._clock = clock
        self._since = clock()
        self._waits = 0

    @property
    def left(self) -> float:
        return self._left - (0.0 if self._waits else self._clock() - self._since)

    def stop(self) -> None:
        """Stands still, until `go_on` was called as often."""
        if not self._waits:
            self._left = self.left
        self._waits += 1

    def go_on(self) -> None:
        self._waits -= 1
        if not self._waits:
            self._since = self._clock()

    async def within(self, work: Awaitable[T]) -> T:
        """What the work gives.

        Raises:
            OutOfTime: the case's time was up first; the work is cancelled.
        """
        task = asyncio.ensure_future(work)
        try:
            if await self.unfinished([task]):
                raise OutOfTime
            return task.result()
        finally:
            task.cancel()

    async def unfinished(self, tasks: Iterable[asyncio.Task[Any]]) -> set[asyncio.Task[Any]]:
        """Waits for the tasks while there is time; those that are not done then."""
        waiting = set(tasks)
        while waiting and (left := self.left) > 0:
            _, waiting = await asyncio.wait(waiting, timeout=max(left, _SHORTEST_S))
        return waiting


class Meter:
    """What one part of a case (its output, or one criterion) used. attempts: calls made; answers: that came."""

    def __init__(self, clock: CaseClock) -> None:
        self.clock = clock
        self.attempts = 0
        self.answers: list[Answer] = []

    @property
    def in_vain(self) -> int:
        """Calls that gave no answer."""
        return max(0, self.attempts - sum(answer.attempts for answer in self.answers))

    def reading(self, ask: Ask) -> Ask:
        """A way to ask whose calls and answers are counted here."""

        async def metered(request: Request) -> Answer:
            token = METER.set(self)
            try:
                answer = await ask(request)
            finally:
                METER.reset(token)
            self.answers.append(answer)
            return answer

        return metered


METER: ContextVar[Meter | None] = ContextVar("METER", default=None)
"""The meter of whoever is asking."""


async def turn(waited: Awaitable[T]) -> T:
    """Waits for one's turn, while the case's clock stands still."""
    meter = METER.get()
    if meter is None:
        return await waited
    meter.clock.stop()
    try:
        return await waited
    finally:
        meter.clock.go_on()
