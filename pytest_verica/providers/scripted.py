"""The provider `scripted`: answers written beforehand, for tests of evals and of anything that asks a model."""

from __future__ import annotations

import importlib
import inspect
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from pytest_verica.completion import Completion
from pytest_verica.embedding import Embedding, EmbeddingRequest
from pytest_verica.errors import ProviderError
from pytest_verica.providers.protocol import Provider, ProviderKind
from pytest_verica.request import ModelSpec, Request

#: A text; a JSON object, whose text is the answer; a whole completion; a vector, where one is asked for; or an
#: exception to raise.
ScriptedAnswer = str | Mapping[str, Any] | Completion | Sequence[float] | Exception
#: Answers in order; answers by the last message; or a function of the request (which may be async).
Script = Sequence[ScriptedAnswer] | Mapping[str, ScriptedAnswer] | Callable[[Request], Any]


class ScriptedProvider:
    """A fake model.

    answers: a list, used in the order of the calls; a mapping from the last message's content, or a part of it (the
    whole first, then the first part that fits), to its answer; or a callable that takes the request. `requests` holds
    every request, in order.
    """

    def __init__(self, answers: Script) -> None:
        if isinstance(answers, str) or not (callable(answers) or isinstance(answers, (Sequence, Mapping))):
            raise TypeError(f"a script is a list, a mapping or a callable, not {type(answers).__name__}")
        self.answers = answers
        self.requests: list[Request] = []
        self._next: Iterator[ScriptedAnswer] = iter(answers if isinstance(answers, Sequence) else ())

    async def complete(self, request: Request) -> Completion:
        answer = await self._answer(request)
        if isinstance(answer, Completion):
            return answer
        if isinstance(answer, Mapping):
            answer = json.dumps(answer, ensure_ascii=False)
        if not isinstance(answer, str):
            raise self._unscripted(
                request, f"its answer is a {type(answer).__name__}, not a text, object or Completion"
            )
        return Completion(text=answer, stop_reason="stop", model=request.model.name)

    async def embed(self, requests: Sequence[EmbeddingRequest]) -> list[Embedding]:
        return [await self._vector(request) for request in requests]

    async def models(self) -> tuple[str, ...] | None:
        return None

    async def aclose(self) -> None:
        return None

    async def _vector(self, request: EmbeddingRequest) -> Embedding:
        answer = await self._answer(request)
        if not isinstance(answer, Sequence) or not all(isinstance(number, (int, float)) for number in answer):
            raise self._unscripted(
                request, f"its answer is a {type(answer).__name__}, not a vector (a list of numbers)"
            )
        return Embedding(tuple(map(float, answer)), request.model.name)

    async def _answer(self, request: Request) -> Any:
        """Raises the exception that stands in the script."""
        self.requests.append(request)
        answer = self._find(request)
        if inspect.isawaitable(answer):
            answer = await answer
        if isinstance(answer, Exception):
            raise answer
        return answer

    def _find(self, request: Request) -> Any:
        if isinstance(self.answers, Mapping):
            return self._look_up(self.answers, request)
        if callable(self.answers):
            return self.answers(request)
        for answer in self._next:
            return answer
        raise self._unscripted(request, f"its {len(self.answers)} answers are used up")

    def _look_up(self, answers: Mapping[str, ScriptedAnswer], request: Request) -> ScriptedAnswer:
        last = (request.messages[-1].content or "") if request.messages else ""
        if last in answers:
            return answers[last]
        for part, answer in answers.items():
            if part in last:
                return answer
        raise self._unscripted(request, "none of its keys is in the last message")

    def _unscripted(self, request: Request, why: str) -> ProviderError:
        last = (request.messages[-1].content or "") if request.messages else ""
        return ProviderError(
            "not_found",
            f"The script of {request.model} has no answer to call {len(self.requests)}, “{last[:80]}”: {why}. "
            "Add an answer to the script.",
        )


class ScriptedDoor:
    """The provider behind an eval's `provider: scripted`: finds the script that each model's name points to."""

    def __init__(self, spec: ModelSpec) -> None:
        self._scripts: dict[str, ScriptedProvider] = {}
        self._script(spec)

    async def complete(self, request: Request) -> Completion:
        return await self._script(request.model).complete(request)

    async def embed(self, requests: Sequence[EmbeddingRequest]) -> list[Embedding]:
        return await self._script(requests[0].model).embed(requests)

    async def models(self) -> tuple[str, ...] | None:
        return None

    async def aclose(self) -> None:
        return None

    def _script(self, spec: ModelSpec) -> ScriptedProvider:
        script = self._scripts.get(spec.name)
        if script is None:
            script = self._scripts[spec.name] = _import(spec)
        return script


def _import(spec: ModelSpec) -> ScriptedProvider:
    module, _, attribute = spec.name.partition(":")
    if not module or not attribute:
        raise ProviderError(
            "bad_request",
            f"The name of a scripted model is `module:attribute`, such as tests.fakes:bot; found `{spec.name}`.",
        )
    try:
        script: Any = importlib.import_module(module)
        for part in attribute.split("."):
            script = getattr(script, part)
    except (ImportError, AttributeError) as error:
        raise ProviderError(
            "not_found", f"The script `{spec.name}` cannot be imported: {error}. Is its folder on `pythonpath`?"
        ) from error
    if isinstance(script, ScriptedProvider):
        return script
    try:
        return ScriptedProvider(script)
    except TypeError as error:
        raise ProviderError("bad_request", f"`{spec.name}` is not a script: {error}.") from None


def _open(spec: ModelSpec, timeout_s: float) -> Provider:
    return ScriptedDoor(spec)


SCRIPTED = ProviderKind(
    "scripted",
    _open,
    needs_credential=False,
    about="answers written beforehand: `name` is module:attribute",
    stored=False,
)
