"""A panel: several questions to one judge, asked side by side."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from pytest_verica.graders.protocol import Ask
from pytest_verica.judge.inquiry import Ledger, NotJudged, Read, verdict_of
from pytest_verica.request import Request

T = TypeVar("T")


async def verdicts_of(requests: Sequence[Request], read: Read[T], ask: Ask, ledger: Ledger) -> list[T]:
    """The verdict of each request, in order.

    Raises:
        NotJudged: one of them could not be had; the others are waited for, so that what they cost is counted.
    """
    if len(requests) == 1:
        return [await verdict_of(requests[0], read, ask, ledger)]
    import asyncio  # deferred: 30 ms, and a run without model calls needs none of it

    found = await asyncio.gather(
        *(verdict_of(request, read, ask, ledger) for request in requests), return_exceptions=True
    )
    verdicts: list[T] = []
    failure: BaseException | None = None
    for result in found:
        if not isinstance(result, BaseException):
            verdicts.append(result)
        elif failure is None or (isinstance(failure, NotJudged) and not isinstance(result, NotJudged)):
            failure = result
    if failure is not None:
        raise failure
    return verdicts
