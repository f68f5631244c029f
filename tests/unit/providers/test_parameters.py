"""Which parameters which models are not sent. The rules are what the providers' own references and errors say."""

from __future__ import annotations

from typing import Any

import pytest

from pytest_verica.providers.registry import PROVIDERS
from pytest_verica.request import ModelSpec

ALL: dict[str, Any] = {
    "temperature": 0,
    "max_tokens": 9,
    "top_p": 0.5,
    "seed": 7,
    "reasoning_effort": "low",
    "verbosity": "low",
    "stop": "END",
    "extra": {"a": 1},
}
HOT = {"temperature", "top_p"}


@pytest.mark.parametrize(
    ("provider", "name", "api", "effort", "expected"),
    [
        # Models that always reason.
        ("openai", "gpt-5", None, "low", HOT),
        ("openai", "gpt-5-mini-2025-08-07", None, "low", HOT),
        ("openai", "gpt-5.2-pro", None, "low", HOT),
        ("openai", "gpt-5.1-codex", None, "low", HOT),
        ("openai", "o3", None, "low", HOT | {"stop", "verbosity"}),
        ("openai", "o4-mini", None, "low", HOT | {"stop", "verbosity"}),
        ("openai", "o1", None, "low", HOT | {"verbosity"}),
        # Models that reason where they are told to, and models that reason unless they are told not to.
        ("openai", "gpt-5.1", None, "low", HOT),
        ("openai", "gpt-5.1", None, "none", set()),
        ("openai", "gpt-5.4-mini", None, None, set()),
        ("openai", "gpt-5.5", None, None, HOT),
        ("openai", "gpt-5.6-luna", None, "none", set()),
        ("openai", "gpt-6.2-sol", None, "high", HOT),
        # Models that do not.
        ("openai", "gpt-4.1", None, "low", {"reasoning_effort", "verbosity"}),
        ("openai", "gpt-4o-mini", None, "low", {"reasoning_effort", "verbosity"}),
        ("openai", "ft:gpt-4.1-mini:team::id", None, "low", {"reasoning_effort", "verbosity"}),
        ("openai", "gpt-5-chat-latest", None, "low", {"reasoning_effort", "verbosity"}),
        ("openai", "gpt-5.2-chat-latest", None, None, {"verbosity"}),
        # A name that a gateway gave: the model has the word.
        ("openai", "our-deployment", None, "low", set()),
        ("openai_compatible", "gpt-5", None, "low", set()),
        ("openai_compatible", "gpt-5", "responses", "low", {"seed", "stop"}),
        ("openai", "gpt-5", "responses", "low", HOT | {"seed", "stop"}),
        ("anthropic", "claude-sonnet-5", None, "max", HOT | {"seed", "verbosity"}),
        ("anthropic", "claude-sonnet-5", None, "none", HOT | {"seed", "verbosity", "reasoning_effort"}),
        ("google", "gemini-3-flash", None, "minimal", {"verbosity"}),
        ("google", "gemini-3-flash", None, "none", {"verbosity", "reasoning_effort"}),
        ("google", "gemini-2.5-pro", None, "none", {"verbosity"}),
        ("google", "models/gemini-2.5-pro", None, "xhigh", {"verbosity", "reasoning_effort"}),
        ("google", "gemini-2.0-flash", None, "low", {"verbosity", "reasoning_effort"}),
        ("scripted", "a:b", None, "low", set()),
        ("replay", "gpt-5", None, "low", set()),
    ],
)
def test_what_a_model_is_not_sent(
    provider: str, name: str, api: str | None, effort: str | None, expected: set[str]
) -> None:
    params = {**ALL, "reasoning_effort": effort}
    found = PROVIDERS[provider].left_out(ModelSpec(provider, name, None, None, params, api))
    assert set(found) == expected
    assert all(found.values())


@pytest.mark.parametrize("provider", PROVIDERS)
def test_nothing_is_left_out_of_nothing(provider: str) -> None:
    assert not PROVIDERS[provider].left_out(ModelSpec(provider, "gpt-5", None, None, {"temperature": None}))
