"""A panel: one judge asked the same question several times, side by side."""

from __future__ import annotations

from pytest_verica.case import Case
from pytest_verica.graders.protocol import Ask
from pytest_verica.judge.inquiry import Ledger, NotJudged, Read, verdict_of
from pytest_verica.judge.question import Question
from pytest_verica.judge.verdict import Verdict
from pytest_verica.output import Output


async def verdicts_of(
    question: Question, read: Read, case: Case, output: Output, ask: Ask, ledger: Ledger
) -> list[Verdict]:
    """The verdicts of `question.samples` answers, in order.

    Raises:
        NotJudged: one of them could not be had; the others are waited for, so that what they cost is counted.
        MissingOutput: the prompt speaks of a part of the output that is not there; nothing was asked.
    """
    requests = [question.request(case, output, sample) for sample in range(question.samples)]
    if len(requests) == 1:
        return [await verdict_of(requests[0], read, ask, ledger)]
    import asyncio  # deferred: 30 ms, and a run without model calls needs none of it

    found = await asyncio.gather(
        *(verdict_of(request, read, ask, ledger) for request in requests), return_exceptions=True
    )
    verdicts: list[Verdict] = []
    failure: BaseException | None = None
    for result in found:
        if isinstance(result, Verdict):
            verdicts.append(result)
        elif failure is None or (isinstance(failure, NotJudged) and not isinstance(result, NotJudged)):
            failure = result
    if failure is not None:
        raise failure
    return verdicts
