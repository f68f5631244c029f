"""The provider `openai_compatible`: any server that speaks Chat Completions (vLLM, llama.cpp, Ollama, OpenRouter…)."""

from __future__ import annotations

from pytest_verica.errors import ProviderError
from pytest_verica.providers.parameters import RESPONSES, LeftOut, left_out
from pytest_verica.providers.protocol import Provider, ProviderKind
from pytest_verica.request import ModelSpec


def _open(spec: ModelSpec, timeout_s: float) -> Provider:
    # Deferred: only a run that makes calls pays for the loading.
    from pytest_verica.providers.chat_completions import Dialect, open_chat_completions

    if spec.base_url is None:
        raise ProviderError(
            "bad_request",
            f"{spec} needs the address of its server: write `base_url`, such as http://localhost:8000/v1.",
            attempts=0,
        )
    return open_chat_completions(spec, timeout_s, Dialect(limit_name="max_tokens", own=False))


def _left_out(spec: ModelSpec) -> LeftOut:
    return left_out(spec, RESPONSES if spec.api == "responses" else ())


OPENAI_COMPATIBLE = ProviderKind(
    "openai_compatible",
    _open,
    needs_credential=False,
    about="any server that speaks Chat Completions, at `base_url`; `credential` where it asks for a key",
    left_out=_left_out,
    apis=("responses",),
)
