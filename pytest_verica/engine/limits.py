"""How many calls may be in flight to one endpoint, and how many may start in a minute."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections import deque
from collections.abc import Awaitable, Callable
from typing import Literal

CallOutcome = Literal["ok", "limited", "other"]


class Limiter:
    """Slots for calls to one endpoint, given out first come, first served. Lives on one event loop.

    limit: slots at the start, and the most there will ever be. A call that the endpoint limited (429) halves the slots,
    never below one; the 429s of calls that were already out by then are the same news and halve nothing. After as many
    answers as there are slots, with no 429 among them, one slot comes back.
    requests_per_minute: calls that may start in a minute, evenly spaced; None where there is no such limit.
    """

    def __init__(
        self,
        limit: int,
        *,
        requests_per_minute: float | None = None,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        if limit < 1:
            raise ValueError(f"a limiter needs at least one slot, not {limit}")
        if requests_per_minute is not None and requests_per_minute <= 0:
            raise ValueError(f"requests per minute must be above 0, not {requests_per_minute:g}")
        self.most = limit
        self.limit = limit
        self.in_flight = 0
        self._waiting: deque[asyncio.Future[None]] = deque()
        self._old_news = 0  # calls still out that started before the last halving
        self._quiet = 0  # answers since the last 429
        self._spacing_s = None if requests_per_minute is None else 60.0 / requests_per_minute
        self._next_start = clock()
        self._clock = clock
        self._sleep = sleep

    async def acquire(self) -> None:
        """Waits for a slot; `release` must follow exactly once. A cancelled wait holds no slot."""
        if self.in_flight < self.limit and not self._waiting:
            self.in_flight += 1
        else:
            await self._queue()
        if self._spacing_s is not None:
            try:
                await self._pace(self._spacing_s)
            except BaseException:
                self._leave()
                raise

    def release(self, outcome: CallOutcome) -> None:
        """Gives a slot back. outcome: `ok` answered, `limited` refused with a 429, `other` anything else."""
        old = self._old_news > 0
        if old:
            self._old_news -= 1
        if outcome == "limited":
            self._quiet = 0
            if not old:
                self.limit = max(1, self.limit // 2)
                self._old_news = self.in_flight - 1
        elif outcome == "ok" and not old and self.limit < self.most:
            self._quiet += 1
            if self._quiet >= self.limit:
                self._quiet = 0
                self.limit += 1
        self._leave()

    async def _queue(self) -> None:
        turn = asyncio.get_running_loop().create_future()
        self._waiting.append(turn)
        try:
            await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled():
                self._leave()  # the slot had been handed over already: pass it on
            else:
                with contextlib.suppress(ValueError):  # `_leave` may have dropped it on its way
                    self._waiting.remove(turn)
            raise

    async def _pace(self, spacing_s: float) -> None:
        now = self._clock()
        start = max(now, self._next_start)
        self._next_start = start + spacing_s
        if start > now:
            await self._sleep(start - now)

    def _leave(self) -> None:
        self.in_flight -= 1
        while self._waiting and self.in_flight < self.limit:
            turn = self._waiting.popleft()
            if not turn.done():
                self.in_flight += 1
                turn.set_result(None)
