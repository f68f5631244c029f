from __future__ import annotations

import subprocess
import sys

import pytest

from pytest_verica.providers.registry import PROVIDERS


@pytest.mark.parametrize(
    ("name", "needs_credential", "calls"),
    [
        ("openai", True, True),
        ("openai_compatible", False, True),
        ("replay", False, False),
        ("scripted", False, True),
    ],
)
def test_each_kind_says_what_it_is(name: str, needs_credential: bool, calls: bool) -> None:
    kind = PROVIDERS[name]
    assert (kind.name, kind.needs_credential, kind.calls) == (name, needs_credential, calls)
    assert kind.about


def test_knowing_the_providers_loads_none_of_their_sdks() -> None:
    code = (
        "import sys, pytest_verica.providers.registry as r, pytest_verica.pricing;"
        "print(sorted({'openai', 'aiohttp', 'httpx2', 'genai_prices', 'pydantic'} & set(sys.modules)))"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "[]"
