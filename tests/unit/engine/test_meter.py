"""The time of a case: it runs while the case works, and stands still while its calls wait for their turn."""

from __future__ import annotations

import asyncio
from decimal import Decimal

import pytest

from pytest_verica.completion import Answer, Completion
from pytest_verica.engine.limits import Limiter
from pytest_verica.engine.meter import METER, CaseClock, Meter, OutOfTime, turn
from pytest_verica.request import Message, ModelSpec, Rates, Request
from tests.unit.engine.virtual_time import run_virtual

REQUEST = Request(ModelSpec("door", "m"), (Message("user", "q"),))


def clock_of(seconds: float) -> CaseClock:
    return CaseClock(seconds, asyncio.get_running_loop().time)


def test_time_runs_out_while_the_case_works() -> None:
    async def main() -> float:
        with pytest.raises(OutOfTime):
            await clock_of(10).within(asyncio.sleep(11))
        assert await clock_of(10).within(asyncio.sleep(9, "done")) == "done"
        return asyncio.get_running_loop().time()

    assert run_virtual(main()) == pytest.approx(19)


def test_waiting_for_a_slow_endpoints_turn_costs_a_case_no_time() -> None:
    """Twenty cases of 10 s at an endpoint of one call a minute: each gets its answer, the last after 19 minutes."""

    async def main() -> float:
        limiter = Limiter(20, rates=Rates(requests_per_minute=1), clock=asyncio.get_running_loop().time)

        async def case() -> str:
            meter = Meter(clock_of(10))

            async def ask(request: Request) -> Answer:
                await turn(limiter.acquire())
                await asyncio.sleep(5)
                limiter.release("ok")
                return Answer(Completion("yes"), Decimal(0), Decimal(0), False, 1, 5.0)

            answer = await meter.clock.within(meter.reading(ask)(REQUEST))
            return answer.completion.text or ""

        assert await asyncio.gather(*(case() for _ in range(20))) == ["yes"] * 20
        return asyncio.get_running_loop().time()

    assert run_virtual(main()) == pytest.approx(19 * 60 + 5)


def test_two_waits_at_once_stop_the_clock_once() -> None:
    now = [0.0]
    clock = CaseClock(10, lambda: now[0])
    now[0] = 1
    clock.stop()
    now[0] = 50
    clock.stop()
    now[0] = 100
    clock.go_on()
    now[0] = 150
    assert clock.left == 9
    clock.go_on()
    now[0] = 152
    assert clock.left == 7


def test_a_meter_counts_what_its_own_part_asked() -> None:
    async def main() -> list[tuple[int, int]]:
        async def ask(request: Request) -> Answer:
            meter = METER.get()
            assert meter is not None
            meter.attempts += 3
            await asyncio.sleep(0.01)
            return Answer(Completion("yes"), Decimal(1), Decimal(0), False, 2, 0.1)

        meters = [Meter(clock_of(10)) for _ in range(2)]
        await asyncio.gather(*(meter.reading(ask)(REQUEST) for meter in (*meters, meters[1])))
        assert METER.get() is None
        return [(meter.attempts, meter.in_vain) for meter in meters]

    assert run_virtual(main()) == [(3, 1), (6, 2)]
