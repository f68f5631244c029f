"""The provider `openai`: Chat Completions of OpenAI, or of a gateway in front of it."""

from __future__ import annotations

from pytest_verica.errors import ProviderError
from pytest_verica.providers.chat_completions import Dialect, open_chat_completions
from pytest_verica.providers.protocol import Provider, ProviderKind
from pytest_verica.request import ModelSpec

_DIALECT = Dialect(limit_name="max_completion_tokens", own=True)


def _open(spec: ModelSpec, timeout_s: float) -> Provider:
    if spec.credential is None:
        raise ProviderError(
            "missing_credential",
            f"{spec} needs a key: name the environment variable that holds it, as in `credential: OPENAI_API_KEY`.",
        )
    return open_chat_completions(spec, timeout_s, _DIALECT)


OPENAI = ProviderKind("openai", _open, needs_credential=True, about="OpenAI's Chat Completions")
