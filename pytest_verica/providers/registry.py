"""The providers that ship: one line each. A conftest.py adds its own with the hook `pytest_verica_providers`."""

from __future__ import annotations

from pytest_verica.providers.anthropic import ANTHROPIC
from pytest_verica.providers.google import GOOGLE
from pytest_verica.providers.local import LOCAL
from pytest_verica.providers.openai import OPENAI
from pytest_verica.providers.openai_compatible import OPENAI_COMPATIBLE
from pytest_verica.providers.protocol import ProviderKind
from pytest_verica.providers.replay import REPLAY
from pytest_verica.providers.scripted import SCRIPTED

PROVIDERS: dict[str, ProviderKind] = {
    OPENAI.name: OPENAI,
    ANTHROPIC.name: ANTHROPIC,
    GOOGLE.name: GOOGLE,
    OPENAI_COMPATIBLE.name: OPENAI_COMPATIBLE,
    LOCAL.name: LOCAL,
    REPLAY.name: REPLAY,
    SCRIPTED.name: SCRIPTED,
}
