"""An inquiry: asking a judge for its verdict, once more where it ignored the schema, and counting what that cost."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

from pytest_verica.completion import Answer, Completion
from pytest_verica.errors import ProviderError, VericaError
from pytest_verica.grade import Grade
from pytest_verica.graders.criterion import COULD_NOT_EVALUATE
from pytest_verica.graders.protocol import Ask
from pytest_verica.graders.spending import spent
from pytest_verica.judge.shape import schema_text
from pytest_verica.judge.verdict import ASK_AGAIN, NoVerdict
from pytest_verica.request import Message, ModelSpec, Request

_QUOTED = 4000

T = TypeVar("T")

Read = Callable[[Completion], T]
"""Reads a verdict; raises NoVerdict where there is none."""


class NotJudged(VericaError):
    """No verdict could be had. kind, raw: as on a grade's error."""

    def __init__(self, kind: str, cause: str, raw: str | None) -> None:
        self.kind = kind
        self.raw = raw
        super().__init__(f"{COULD_NOT_EVALUATE} Cause: {cause}")


@dataclass
class Ledger:
    """What the model calls behind one grade used and cost. asked_again: why the judge was asked once more."""

    model: ModelSpec
    answers: list[Answer] = field(default_factory=list)
    failed_attempts: int = 0
    asked_again: list[str] = field(default_factory=list)

    def on_grade(self) -> dict[str, Any]:
        """The fields of a grade that say it."""
        return spent(self.model, self.answers, self.failed_attempts)

    def details(self, **more: Any) -> dict[str, Any] | None:
        """JSON for a grade's details, None where there is nothing to say."""
        again = {"asked_again": self.asked_again} if self.asked_again else {}
        return {**again, **more} or None

    def error(self, failure: NotJudged) -> Grade:
        """The grade where no verdict could be had: what was spent all the same is on it."""
        return Grade.failed_to_judge(
            failure.kind, str(failure), raw=failure.raw, details=self.details(), **self.on_grade()
        )


async def verdict_of(request: Request, read: Read[T], ask: Ask, ledger: Ledger) -> T:
    """Asks, and asks once more where the answer broke the schema.

    Raises:
        NotJudged: there was no answer, or it was no verdict.
    """
    answer = await _answer(request, ask, ledger)
    try:
        return read(answer.completion)
    except NoVerdict as problem:
        if problem.kind not in ASK_AGAIN:
            raise NotJudged(problem.kind, problem.message, problem.raw) from None
        ledger.asked_again.append(f"{problem.kind}: {problem.message}")
        again = _again(request, problem)
    answer = await _answer(again, ask, ledger)
    try:
        return read(answer.completion)
    except NoVerdict as problem:
        raise NotJudged(problem.kind, f"{problem.message} (asked twice)", problem.raw) from None


async def _answer(request: Request, ask: Ask, ledger: Ledger) -> Answer:
    try:
        answer = await ask(request)
    except ProviderError as error:
        ledger.failed_attempts += error.attempts
        tried = f" (after {error.attempts} attempts)" if error.attempts > 1 else ""
        raise NotJudged(error.kind, f"{error.message}{tried}", error.raw) from None
    ledger.answers.append(answer)
    return answer


def _again(request: Request, problem: NoVerdict) -> Request:
    """The question with the answer and what is wrong with it: another request, so that no stored answer fits it."""
    assert request.answer is not None
    said = Message("assistant", (problem.raw or "")[:_QUOTED])
    asked = Message(
        "user",
        f"Your answer cannot be used: {problem.message}. Answer again with one JSON object and nothing else. "
        f"It must satisfy this JSON Schema: {schema_text(request.answer.schema)}",
    )
    return replace(request, messages=(*request.messages, said, asked))
