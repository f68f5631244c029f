"""A look at the endpoints before launch: do they serve the models, do judges answer in the shape asked for?"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from pytest_verica.completion import Answer
from pytest_verica.engine.endpoints import Call, Endpoints
from pytest_verica.errors import Problem, ProviderError
from pytest_verica.evals.problems import nearest
from pytest_verica.judge.verdict import TRUNCATED, NoVerdict, read_label, verdict_schema
from pytest_verica.preflight.need import Use
from pytest_verica.providers.protocol import Provider, ProviderKind
from pytest_verica.request import AnswerSchema, Message, ModelSpec, Request, Structured

PROBE = "Is water wet? Answer with one JSON object: `reasoning` (one short sentence), then `label`, which is yes or no."
_ANSWER = verdict_schema("label", {"type": "string", "enum": ["yes", "no"]})
_LISTED = 8
_LOOSE = "openai_compatible"
"""The provider whose endpoints differ in what they can do: its judges are probed."""

Ask = Callable[[Request], Awaitable[Answer]]
Listed = tuple[str, ...] | None | ProviderError
"""The models that an endpoint serves; None where it has no list; or why it did not say."""


@dataclass
class Seen:
    """What the look found. problems: in the order of the uses; notes: sentences about what could not be looked at;
    served, shaped: sentences about what is well; answers: of the probes."""

    problems: list[Problem] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    served: list[str] = field(default_factory=list)
    shaped: list[str] = field(default_factory=list)
    answers: list[tuple[ModelSpec, Answer]] = field(default_factory=list)


async def look(
    uses: Sequence[Use],
    kinds: Mapping[str, ProviderKind],
    endpoints: Endpoints,
    ask: Ask,
    *,
    within_s: float,
    probe_all: bool = False,
) -> Seen:
    """Asks each endpoint once for its models, and each judge's model once for a verdict, side by side.

    within_s: for one endpoint; probe_all: judges of every provider, not only of those whose endpoints differ.
    """
    seen = Seen()
    real = [use for use in uses if kinds[use.model.provider].calls and kinds[use.model.provider].stored]
    listed = {use.model.endpoint: use.model for use in real}
    lists = dict(
        zip(listed, await asyncio.gather(*(_models(m, endpoints, within_s) for m in listed.values())), strict=True)
    )
    unusable = _served(real, lists, seen)
    probes: dict[tuple[object, ...], Use] = {}
    for use in real:
        if use.structured is not None and (probe_all or use.model.provider == _LOOSE) and _name(use) not in unusable:
            probes.setdefault((*_name(use), use.model.api, use.structured), use)
    await asyncio.gather(*(_probe(use, ask, within_s, seen) for use in probes.values()))
    return seen


def _name(use: Use) -> tuple[object, ...]:
    return (*use.model.endpoint, use.model.name)


def _served(uses: Sequence[Use], lists: Mapping[Any, Listed], seen: Seen) -> set[tuple[object, ...]]:
    """Notes which models are served; the names of those that are not, or that cannot be asked."""
    unusable: set[tuple[object, ...]] = set()
    for use in uses:
        found, model, at = lists[use.model.endpoint], use.model, _at(use.model)
        if isinstance(found, ProviderError):
            if found.kind == "auth" and found.status == 403:  # a key may call a model, and not list them
                _once(seen.notes, f"{at} does not show its models to {model.credential}: {model.name} is not looked up")
                continue
            if not any(name[:3] == model.endpoint for name in unusable):  # one sentence for the endpoint
                seen.problems.append(Problem(found.message, use.place))
            unusable.add(_name(use))
        elif found is None:
            _once(seen.notes, f"{at} has no list of its models: whether it serves {model.name} is not known")
        elif serves(model.name, found):
            _once(seen.served, f"{at} serves {model.name}")
        elif _name(use) not in unusable:
            unusable.add(_name(use))
            seen.problems.append(Problem(_not_served(model, list(found)), use.place))
    return unusable


def _once(texts: list[str], text: str) -> None:
    if text not in texts:
        texts.append(text)


def serves(name: str, listed: Iterable[str]) -> bool:
    """Whether a list of models has a name: as it is, without the provider's prefix, as an alias of a dated version, or
    with a tag of its own (`model:free`)."""
    bare = name.removeprefix("models/")
    stem = bare.removesuffix("-latest").partition(":")[0]
    for full in listed:
        other = full.removeprefix("models/")
        if other in (bare, stem) or other.partition(":")[0] == bare:
            return True
        version = other.removeprefix(stem)
        if version != other and version[:1] in "-@" and version[1:].replace("-", "").isdigit():
            return True
    return False


def _not_served(model: ModelSpec, listed: list[str]) -> str:
    shown = ", ".join(sorted(listed)[:_LISTED]) or "none"
    more = f" and {len(listed) - _LISTED} more" if len(listed) > _LISTED else ""
    return (
        f"{_at(model)} does not serve the model {model.name!r}; {nearest(model.name, listed)}it serves: {shown}{more}. "
        "Correct `name`; if the endpoint takes the name all the same, use --verica-no-preflight"
    )


async def _models(model: ModelSpec, endpoints: Endpoints, within_s: float) -> tuple[str, ...] | ProviderError | None:
    async def models(provider: Provider) -> tuple[str, ...] | None:
        return await provider.models()

    nothing = Decimal(0)
    call = Call(model, models, 0, nothing, lambda _: 0, lambda _: nothing)
    try:
        made = await asyncio.wait_for(endpoints.make(call), within_s)
    except (asyncio.TimeoutError, TimeoutError):
        return ProviderError("timeout", f"{_at(model)} did not answer within {within_s:g} s.")
    except ProviderError as error:
        return error
    except Exception as error:  # noqa: BLE001 - a provider of the user's own may do anything
        return ProviderError("internal", f"{_at(model)} could not be asked: {type(error).__name__}: {error}")
    return made.answer


def _at(model: ModelSpec) -> str:
    return f"{model.provider} at {model.base_url}" if model.base_url else model.provider


async def _probe(use: Use, ask: Ask, within_s: float, seen: Seen) -> None:
    request = probe(use.model, use.structured or "json_schema")
    assert request.answer is not None
    try:
        answer = await asyncio.wait_for(ask(request), within_s)
        seen.answers.append((use.model, answer))
        _read(answer, request.answer)
    except (asyncio.TimeoutError, TimeoutError):
        seen.problems.append(Problem(_unshaped(use, f"no answer within {within_s:g} s"), use.place))
    except NoVerdict as error:
        seen.problems.append(Problem(_unshaped(use, error.message), use.place))
    except ProviderError as error:
        seen.problems.append(Problem(_unshaped(use, error.message), use.place))
    else:
        shape = f"in the shape of a verdict (structured: {use.structured})"
        seen.shaped.append(f"{_at(use.model)}: {use.model.name} answers {shape}")


def _read(answer: Answer, shape: AnswerSchema) -> None:
    """Raises NoVerdict where the answer has not the shape. One that is cut off inside an object has it as far as it
    goes: a small model that talks on is told of where it judges, verdict by verdict."""
    try:
        read_label(answer.completion, shape)
    except NoVerdict as error:
        if error.kind != TRUNCATED or not (error.raw or "").lstrip().startswith("{"):
            raise


def probe(model: ModelSpec, structured: Structured) -> Request:
    """The least question whose answer has the shape of a verdict."""
    return Request(model, (Message("user", PROBE),), answer=AnswerSchema("verdict", _ANSWER, structured))


def _unshaped(use: Use, cause: str) -> str:
    others = [way for way in ("json_schema", "tool", "json_object") if way != use.structured]
    return (
        f"the judge {use.criterion!r} cannot work with {use.model.name} of {_at(use.model)}: asked for a verdict as "
        f"JSON (structured: {use.structured}), it gave none: {cause}. Choose another model, or `structured: "
        f"{' or '.join(others)}`"
    )
