"""The providers that ship: one line each. A conftest.py adds its own with the hook `pytest_verica_providers`."""

from __future__ import annotations

from pytest_verica.kinds import Kinds
from pytest_verica.providers.protocol import ProviderKind

PROVIDERS: Kinds[ProviderKind] = Kinds(
    {
        "openai": "pytest_verica.providers.openai:OPENAI",
        "anthropic": "pytest_verica.providers.anthropic:ANTHROPIC",
        "google": "pytest_verica.providers.google:GOOGLE",
        "openai_compatible": "pytest_verica.providers.openai_compatible:OPENAI_COMPATIBLE",
        "local": "pytest_verica.providers.local:LOCAL",
        "replay": "pytest_verica.providers.replay:REPLAY",
        "scripted": "pytest_verica.providers.scripted:SCRIPTED",
    }
)
"""Name → where its kind is. Loaded when first used, so that starting does not cost more with each provider there is."""
