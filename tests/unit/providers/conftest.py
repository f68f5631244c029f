"""A fake endpoint and a key for it, with no proxy of the machine in between."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

from tests.fake_provider import FakeProvider
from tests.unit.providers.asking import KEY, KEY_NAME

OF_THE_SDKS = ("OPENAI_", "ANTHROPIC_", "GOOGLE_GENAI_", "GOOGLE_GEMINI_", "GOOGLE_API_", "GEMINI_")


@pytest.fixture(autouse=True)
def clean_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.lower(), raising=False)
    for name in [name for name in os.environ if name.startswith(OF_THE_SDKS)]:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv(KEY_NAME, KEY)


@pytest.fixture
def fake() -> Iterator[FakeProvider]:
    with FakeProvider(api_key=KEY) as provider:
        yield provider


@pytest.fixture(params=["aiohttp", "httpx2"])
def transport(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Both ways to an endpoint: aiohttp, and httpx2 where aiohttp is missing."""
    if request.param == "httpx2":
        monkeypatch.setattr("pytest_verica.providers.connection.has_aiohttp", lambda: False)
    return str(request.param)
