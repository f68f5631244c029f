"""How many calls may be in flight to one endpoint, and how many calls and tokens a minute takes."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections import deque
from collections.abc import Awaitable, Callable
from typing import Literal

from pytest_verica.request import Rates

CallOutcome = Literal["ok", "limited", "other"]

_MOST_PATIENCE = 64
"""Windows of answers between two probes of an endpoint whose limit has been found."""


class Limiter:
    """Slots for calls to one endpoint, given out first come, first served. Lives on one event loop.

    limit: slots at the start, and the most there will ever be. A call that the endpoint limited (429) halves the slots,
    never below one; the 429s of calls that were already out by then are the same news and halve nothing. After as many
    answers as there are slots, with no 429 among them, one slot comes back.

    The slot that came back is a probe. Where it is limited, the endpoint's limit is found: the probe alone is taken
    back, and the next one waits twice as long, up to 64 times. (Halving each time would use three quarters of what
    the endpoint allows; probing at the same pace, one call in nine would be refused.)

    rates: the calls and tokens that may start in a minute, evenly spaced; None where there is no such limit.
    """

    def __init__(
        self,
        limit: int,
        *,
        rates: Rates | None = None,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        if limit < 1:
            raise ValueError(f"a limiter needs at least one slot, not {limit}")
        self.most = limit
        self.limit = limit
        self.in_flight = 0
        self._waiting: deque[asyncio.Future[None]] = deque()
        self._old_news = 0  # calls still out that started before the slots last became fewer
        self._quiet = 0  # answers since the last 429, or since the last slot came back
        self._probing = False  # the slots became one more, and no window of answers has confirmed them yet
        self._patience = 1  # windows of answers before the next probe
        self._pace = _Pace(clock, sleep)
        self.tighten(rates or Rates())

    def tighten(self, rates: Rates) -> None:
        """Another model of the endpoint has rates too: the lowest of each holds."""
        self._pace.tighten(rates)

    async def acquire(self, tokens: int = 0) -> None:
        """Waits for a slot, and for a turn at the pace; `release` must follow exactly once. A cancelled wait holds no
        slot. tokens: those that the call is expected to take."""
        if self.in_flight < self.limit and not self._waiting:
            self.in_flight += 1
        else:
            await self._queue()
        try:
            await self._pace.turn(tokens)
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
                self._fewer()
        elif outcome == "ok" and not old and (self.limit < self.most or self._probing):
            self._quiet += 1
            if self._quiet >= self.limit:
                self._confirm()
        self._leave()

    def pause(self, seconds: float) -> None:
        """The endpoint asked to be left alone: no call starts before that."""
        self._pace.pause(seconds)

    def settle(self, expected: int, tokens: int) -> None:
        """A call took so many tokens, where `expected` were counted when it started."""
        self._pace.settle(tokens - expected)

    def _fewer(self) -> None:
        """A call was limited that started under the present slots."""
        if self._probing:
            self.limit -= 1
            self._patience = min(2 * self._patience, _MOST_PATIENCE)
        else:
            self.limit = max(1, self.limit // 2)
            self._patience = 1
        self._probing = False
        self._old_news = self.in_flight - 1

    def _confirm(self) -> None:
        """A whole window of answers came: the present slots are good."""
        if self._probing:
            self._probing, self._patience = False, 1
        if self.limit < self.most and self._quiet >= self.limit * self._patience:
            self._quiet = 0
            self.limit += 1
            self._probing = True

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

    def _leave(self) -> None:
        self.in_flight -= 1
        while self._waiting and self.in_flight < self.limit:
            turn = self._waiting.popleft()
            if not turn.done():
                self.in_flight += 1
                turn.set_result(None)


class _Pace:
    """When the next call may start, by the clock."""

    def __init__(self, clock: Callable[[], float], sleep: Callable[[float], Awaitable[None]]) -> None:
        self._clock = clock
        self._sleep = sleep
        self._request_s = 0.0  # between two starts
        self._token_s = 0.0  # that one token takes
        self._next_request = self._next_token = self._paused_until = clock()
        self._rates = Rates()

    def tighten(self, rates: Rates) -> None:
        mine = self._rates
        self._rates = Rates(
            _lower(mine.requests_per_minute, rates.requests_per_minute),
            _lower(mine.tokens_per_minute, rates.tokens_per_minute),
        )
        self._request_s, self._token_s = (
            0.0 if rate is None else 60.0 / rate
            for rate in (self._rates.requests_per_minute, self._rates.tokens_per_minute)
        )

    def pause(self, seconds: float) -> None:
        self._paused_until = max(self._paused_until, self._clock() + seconds)

    def settle(self, more: int) -> None:
        self._next_token += more * self._token_s

    async def turn(self, tokens: int) -> None:
        start = now = self._clock()
        if self._request_s:
            start = max(start, self._next_request)
            self._next_request = start + self._request_s
        if self._token_s:
            # Paid for before the next may start, so that no minute takes more than its tokens and one call.
            start = max(start, self._next_token)
            self._next_token = start + tokens * self._token_s
        while (wait := max(start, self._paused_until) - now) > 0:
            await self._sleep(wait)
            now = self._clock()


def _lower(one: float | None, other: float | None) -> float | None:
    """The lower of two rates.

    Raises:
        ValueError: one lets nothing through.
    """
    known = [rate for rate in (one, other) if rate is not None]
    if known and min(known) <= 0:
        raise ValueError(f"a rate must be above 0 a minute, not {min(known):g}")
    return min(known, default=None)
