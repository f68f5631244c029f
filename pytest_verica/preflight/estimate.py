"""What a run would ask and cost, minus what is stored: from its own questions and what stored answers used."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from decimal import Decimal

from pytest_verica.completion import StoredAnswer
from pytest_verica.embedding import EmbeddingRequest
from pytest_verica.engine.expectation import CHARACTERS_PER_TOKEN, Expectation, characters_of, guess
from pytest_verica.engine.plan import Eval, Job
from pytest_verica.output import Output
from pytest_verica.preflight.rehearsal import SAMPLING, Known, Part, Rehearsal, cases_of, stand_in
from pytest_verica.pricing import Prices
from pytest_verica.request import ModelSpec, Request
from pytest_verica.usage import Usage

Earlier = Callable[[Request], Iterable["tuple[int, Usage | None]"]]
"""(characters of the question, what the answer used) of stored answers to other questions of the same kind."""


@dataclass
class PartEstimate:
    """One part of an eval: its outputs, or one criterion.

    calls: to be made; stored: questions that stored answers answer; learned: answers that the tokens were learned from,
    0 where they are guessed; cost: USD, None where the price is unknown.
    """

    eval: str
    part: Part
    model: ModelSpec
    embeds: bool = False
    calls: int = 0
    stored: int = 0
    tokens: Usage = field(default_factory=lambda: Usage(0, 0))
    cost: Decimal | None = Decimal(0)
    learned: int = 0


@dataclass(frozen=True)
class Estimate:
    """parts: in the order of the run; unknown_outputs: evals whose outputs their own code makes: what that code calls
    is not known here, and what judges read is guessed."""

    parts: tuple[PartEstimate, ...]
    unknown_outputs: tuple[str, ...] = ()

    @property
    def calls(self) -> int:
        return sum(part.calls for part in self.parts)

    @property
    def stored(self) -> int:
        return sum(part.stored for part in self.parts)

    @property
    def unpriced(self) -> tuple[str, ...]:
        """Models to be called whose price is not known."""
        return tuple(dict.fromkeys(str(part.model) for part in self.parts if part.cost is None))

    @property
    def guessed(self) -> tuple[PartEstimate, ...]:
        """Parts whose tokens are a guess."""
        return tuple(part for part in self.parts if part.calls and not part.learned)

    def tokens(self) -> Usage:
        return Usage(
            sum(part.tokens.input_tokens or 0 for part in self.parts),
            sum(part.tokens.output_tokens or 0 for part in self.parts),
        )

    def cost(self, *, sampling: bool | None = None, embeds: bool | None = None) -> Decimal | None:
        """USD of what has a price: of sampling, of grading, of embeddings, or of all; None where nothing has one."""
        chosen = [
            part
            for part in self.parts
            if sampling in (None, part.part is SAMPLING) and embeds in (None, part.embeds) and part.calls
        ]
        known = [part.cost for part in chosen if part.cost is not None]
        return sum(known, Decimal(0)) if known or not chosen else None


async def estimate(jobs: Iterable[Job], known: Known, earlier: Earlier, prices: Prices) -> Estimate:
    """Rehearses the run; no model is asked and none of the user's code runs."""
    counting = _Counting(earlier)
    rehearsal = Rehearsal(known, counting)
    unknown: list[str] = []
    for ready, found in cases_of(jobs):
        outputs = [await rehearsal.output(job) for job in found]
        if ready.function or any(output is None for output in outputs):
            unknown.append(ready.id)
        # The outputs first: what is known of their length afterwards tells the length of those that are made up.
        length = counting.length_of_output(ready)
        for job, output in zip(found, outputs, strict=True):
            if output is None or (output.calls and not output.reused):
                output = Output(stand_in(repr(job.key), length))
            await rehearsal.grades(job, output)
    return Estimate(tuple(part.finished(prices) for part in counting.parts.values()), tuple(unknown))


class _Part:
    def __init__(self, estimate: PartEstimate) -> None:
        self.estimate = estimate
        self.expectation = Expectation()
        self.characters = 0
        self.guessed_input = self.guessed_output = 0
        self.texts = self.text_length = 0

    def finished(self, prices: Prices) -> PartEstimate:
        found, expectation = self.estimate, self.expectation
        found.learned = expectation.learned
        if not found.calls:
            return found
        if expectation.learned:
            mean = expectation.usage_of(self.characters / found.calls)
        else:
            mean = Usage(round(self.guessed_input / found.calls), round(self.guessed_output / found.calls))
        found.tokens = Usage((mean.input_tokens or 0) * found.calls, (mean.output_tokens or 0) * found.calls)
        one = prices.cost(found.model.provider, found.model.name, mean, base_url=found.model.base_url)
        found.cost = None if one is None else one * found.calls
        return found


class _Counting:
    """Counts the questions of each part, and learns from the answers that are stored."""

    def __init__(self, earlier: Earlier) -> None:
        self._earlier = earlier
        self.parts: dict[tuple[str, Part], _Part] = {}

    def answered(self, ready: Eval, part: Part, request: Request, answer: StoredAnswer) -> None:
        found = self._part(ready, part, request)
        found.estimate.stored += 1
        found.expectation.learn(request, answer.completion.usage)
        if answer.completion.text:
            found.texts += 1
            found.text_length += len(answer.completion.text)

    def unanswered(self, ready: Eval, part: Part, request: Request) -> int:
        found = self._part(ready, part, request)
        found.estimate.calls += 1
        found.characters += characters_of(request)
        guessed = guess(request)
        found.guessed_input += guessed.input_tokens or 0
        found.guessed_output += guessed.output_tokens or 0
        if not found.expectation.learned and found.estimate.calls == 1:
            for characters, usage in self._earlier(request):
                found.expectation.learn_of(characters, usage)
        return 1

    def length_of_output(self, ready: Eval) -> int:
        """Characters of an output that is not there."""
        found = self.parts.get((ready.id, SAMPLING))
        if found is not None and found.texts:
            return round(found.text_length / found.texts)
        written = 0 if found is None or not found.expectation.learned else found.expectation.usage_of(0).output_tokens
        guessed = 0 if found is None else found.guessed_output / max(1, found.estimate.calls)
        return round((written or guessed or 150) * CHARACTERS_PER_TOKEN)

    def _part(self, ready: Eval, part: Part, request: Request) -> _Part:
        found = self.parts.get((ready.id, part))
        if found is None:
            embeds = isinstance(request, EmbeddingRequest)
            found = self.parts[ready.id, part] = _Part(PartEstimate(ready.id, part, request.model, embeds))
        return found
