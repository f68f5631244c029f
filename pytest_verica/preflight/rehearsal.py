"""A run rehearsed: every question that it would ask, none of them asked. What is stored is answered from the store."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from decimal import Decimal
from typing import Any, Protocol

from pytest_verica.canonical import content_hash
from pytest_verica.completion import Answer, Completion, StoredAnswer
from pytest_verica.embedding import Embedding, EmbeddingRequest
from pytest_verica.engine.plan import Eval, Job
from pytest_verica.engine.sampling import make_sampler
from pytest_verica.errors import VericaError
from pytest_verica.evals.target import HttpTarget, PythonTarget
from pytest_verica.output import Output
from pytest_verica.providers.http_endpoint import HttpEndpoint
from pytest_verica.request import Request

SAMPLING = None
"""The part that produces outputs; the others are the criteria, by their names."""

_SHORTEST = 8

Part = str | None
Known = Callable[[Request], StoredAnswer | None]
"""The stored answer that the run would use for a question, None where it would have to ask."""


class Questions(Protocol):
    """Told of every question of the run, once."""

    def answered(self, ready: Eval, part: Part, request: Request, answer: StoredAnswer) -> None:
        """It would be answered from the store."""
        ...

    def unanswered(self, ready: Eval, part: Part, request: Request) -> int:
        """A model would be asked; characters that its answer is expected to have."""
        ...


class Rehearsal:
    """Goes through the cases of a run as the engine does, with answers made up where there are none.

    A made-up output is text of the expected length. So what depends on what a model says (run conditions on the output,
    a judge asked again) is not foreseen.
    """

    def __init__(self, known: Known, questions: Questions) -> None:
        self._known = known
        self._questions = questions
        self._asked: set[str] = set()

    async def output(self, job: Job) -> Output | None:
        """The output of a case, stored or made up; None where it cannot be had. The user's code is not run."""
        ready = job.eval
        if ready.function or isinstance(ready.config.target, (PythonTarget, HttpTarget)):
            return None
        try:
            return await make_sampler(ready, HttpEndpoint())(job.case, job.sample, self._ask(ready, SAMPLING))
        except VericaError:
            return None  # the run will tell of it, with the case's name

    async def grades(self, job: Job, output: Output) -> None:
        """Asks what the criteria of a case would ask about an output."""
        for criterion in job.criteria:
            if criterion.kind.runs == "model":
                await criterion.judge(job.case, output, self._ask(job.eval, criterion.name))

    def _ask(self, ready: Eval, part: Part) -> Any:
        async def ask(request: Request) -> Answer:
            stored = self._known(request)
            first = request.key not in self._asked
            self._asked.add(request.key)
            if stored is not None:
                if first:
                    self._questions.answered(ready, part, request, stored)
                return Answer(stored.completion, Decimal(0), stored.cost, True, 0, stored.latency_s)
            length = self._questions.unanswered(ready, part, request) if first else 0
            return Answer(_made_up(request, length), Decimal(0), Decimal(0), False, 1, 0.0)

        return ask


def _made_up(request: Request, characters: int) -> Completion:
    if isinstance(request, EmbeddingRequest):
        return Embedding((1.0,)).completion()
    if request.answer is not None:
        return Completion(json.dumps(fitting(request.answer.schema)), stop_reason="stop")
    return Completion(stand_in(request.key, characters), stop_reason="stop")


def stand_in(seed: str, characters: int) -> str:
    """A text of about that length, another one for each seed: judges are asked about each."""
    digest = content_hash(seed)
    return (digest * (characters // len(digest) + 1))[: max(_SHORTEST, characters)]


def fitting(schema: Mapping[str, Any]) -> Any:
    """A value that fits a strict schema: the first of what may be chosen, the least of numbers, one of a list."""
    if "const" in schema:
        return schema["const"]
    if "enum" in schema:
        return schema["enum"][0]
    kind = schema.get("type", "object")
    if isinstance(kind, list):
        kind = kind[0]
    if kind == "object":
        return {name: fitting(inner) for name, inner in schema.get("properties", {}).items()}
    if kind == "array":
        return [fitting(schema.get("items", {"type": "string"}))] * max(1, schema.get("minItems", 1))
    if kind in ("number", "integer"):
        return schema.get("minimum", 0)
    return {"boolean": True, "null": None}.get(kind, "made up")


def cases_of(jobs: Iterable[Job]) -> Iterator[tuple[Eval, list[Job]]]:
    """The jobs of each eval that asks a model, in the order of the run."""
    by_eval: dict[str, list[Job]] = {}
    for job in jobs:
        by_eval.setdefault(job.eval.id, []).append(job)
    for found in by_eval.values():
        ready = found[0].eval
        if ready.model is not None or any(c.kind.runs == "model" for job in found for c in job.criteria):
            yield ready, found
