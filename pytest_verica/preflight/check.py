"""A look at the models of an eval, or of a provider, outside any run: nothing stored is used, and nothing is stored."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal

from pytest_verica.completion import Answer, Completion
from pytest_verica.engine.endpoints import Call, CallSettings, Endpoints
from pytest_verica.engine.retry import RetryPolicy
from pytest_verica.preflight.look import Seen, look
from pytest_verica.preflight.need import Use
from pytest_verica.providers.protocol import Provider, ProviderKind
from pytest_verica.request import ModelSpec, Request

TRIES = 2
_NOTHING = Decimal(0)


async def check(uses: Sequence[Use], kinds: Mapping[str, ProviderKind], within_s: float) -> Seen:
    """Whether the models are served, and whether every judge answers in the shape of a verdict."""
    endpoints = _endpoints(kinds, within_s)

    async def ask(request: Request) -> Answer:
        async def complete(provider: Provider) -> Completion:
            return await provider.complete(request)

        call = Call(request.model, complete, 0, _NOTHING, lambda _: 0, lambda _: None)
        made = await endpoints.make(call)
        return Answer(made.answer, None, _NOTHING, False, made.attempts, made.seconds)

    try:
        return await look(uses, kinds, endpoints, ask, within_s=within_s, probe_all=True)
    finally:
        await endpoints.aclose()


async def models_of(model: ModelSpec, kinds: Mapping[str, ProviderKind], within_s: float) -> tuple[str, ...] | None:
    """The names of the models that an endpoint serves; None where it has no list.

    Raises:
        ProviderError: it did not say.
    """
    endpoints = _endpoints(kinds, within_s)

    async def models(provider: Provider) -> tuple[str, ...] | None:
        return await provider.models()

    try:
        made = await endpoints.make(Call(model, models, 0, _NOTHING, lambda _: 0, lambda _: _NOTHING))
        return made.answer
    finally:
        await endpoints.aclose()


def _endpoints(kinds: Mapping[str, ProviderKind], within_s: float) -> Endpoints:
    return Endpoints(kinds, CallSettings(request_timeout_s=within_s, retry=RetryPolicy(max_attempts=TRIES)))
