"""The provider `openai`: Chat Completions or Responses of OpenAI, or of a gateway in front of it."""

from __future__ import annotations

from pytest_verica.providers.door import require_credential
from pytest_verica.providers.parameters import OPENAI_CHAT, RESPONSES, LeftOut, left_out
from pytest_verica.providers.protocol import Provider, ProviderKind
from pytest_verica.request import ModelSpec


def _open(spec: ModelSpec, timeout_s: float) -> Provider:
    # Deferred: only a run that makes calls pays for the loading.
    from pytest_verica.providers.chat_completions import Dialect, open_chat_completions

    require_credential(spec, "OPENAI_API_KEY")
    dialect = Dialect(limit_name="max_completion_tokens", own=True, rules=OPENAI_CHAT)
    return open_chat_completions(spec, timeout_s, dialect)


def _left_out(spec: ModelSpec) -> LeftOut:
    return left_out(spec, OPENAI_CHAT, RESPONSES if spec.api == "responses" else ())


OPENAI = ProviderKind(
    "openai",
    _open,
    needs_credential=True,
    about="OpenAI's Chat Completions, or its Responses with `api: responses`; embeddings",
    left_out=_left_out,
    apis=("responses",),
)
