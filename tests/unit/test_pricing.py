"""Costs, with the arithmetic of each by hand, and against genai-prices' own."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path
from typing import Any

import genai_prices
import pytest

from pytest_verica.errors import ConfigError
from pytest_verica.pricing import Prices, _is_private
from pytest_verica.usage import Usage

TABLE = """
[[price]]
model = "house-model"
input = 2.5
cached_input = 0.25
cache_write = 3
output = 10

[[price]]
model = "house-*"
input = 1
output = 2

[[price]]
provider = "openai_compatible"
model = "house-*"
input = 3
output = 3

[[price]]
model = "gpt-4o-mini"
input = 100
output = 100

[[price]]
provider = "scripted"
model = "tests.bots:*"
input = 1
output = 1
"""


@pytest.fixture
def prices(tmp_path: Path) -> Prices:
    path = tmp_path / "prices.toml"
    path.write_text(TABLE)
    return Prices.load(path)


@pytest.mark.parametrize(
    ("provider", "model", "usage", "expected"),
    [
        # (600 × 2.5 + 400 × 0.25 + 100 × 10) / 10⁶ = (1500 + 100 + 1000) / 10⁶
        ("openai", "house-model", Usage(1000, 100, 400, 60), "0.0026"),
        # (500 × 2.5 + 400 × 0.25 + 100 × 3 + 100 × 10) / 10⁶ = (1250 + 100 + 300 + 1000) / 10⁶
        ("openai", "house-model", Usage(1000, 100, 400, None, 100), "0.00265"),
        # 1000 × 2.5 + 100 × 10 = 3500: what is not said to be cached is not; reasoning is inside the output
        ("openai", "house-model", Usage(1000, 100, None, 100), "0.0035"),
        ("openai", "house-model", Usage(0, 0, 0, 0), "0"),
        # (1000 × 1 + 100 × 2) / 10⁶, cached or not: this price has none for the cache
        ("openai", "house-x", Usage(1000, 100, 400), "0.0012"),
        # the entry for this provider comes before the one for any: 1100 × 3
        ("openai_compatible", "house-x", Usage(1000, 100), "0.0033"),
        # an exact name comes before a pattern, even one for this provider
        ("openai_compatible", "house-model", Usage(1000, 100), "0.0035"),
        # the table comes before genai-prices: 1100 × 100
        ("openai", "gpt-4o-mini", Usage(1000, 100), "0.11"),
        # one token of 2.5 USD a million, exactly
        ("openai", "house-model", Usage(1, 0), "0.0000025"),
    ],
)
def test_costs_by_the_table(prices: Prices, provider: str, model: str, usage: Usage, expected: str) -> None:
    assert prices.cost(provider, model, usage) == Decimal(expected)
    assert prices.known(provider, model)


@pytest.mark.parametrize(
    "usage",
    [None, Usage(), Usage(1000, None), Usage(None, 100), Usage(100, 10, 101)],
    ids=["no usage", "empty", "no output", "no input", "more cached than read"],
)
@pytest.mark.parametrize("model", ["house-model", "gpt-4.1-mini"])
def test_a_cost_whose_counts_are_not_known_is_not_known(prices: Prices, model: str, usage: Usage | None) -> None:
    assert prices.cost("openai", model, usage) is None
    assert prices.known("openai", model)


@pytest.mark.parametrize(
    ("provider", "model", "base_url", "expected"),
    [
        # OpenAI's list, per million: 0.15 in, 0.075 cached, 0.60 out: (600 × 0.15 + 400 × 0.075 + 100 × 0.6) / 10⁶
        ("openai", "gpt-4o-mini", None, "0.00018"),
        # 2 in, 0.5 cached, 8 out: (600 × 2 + 400 × 0.5 + 100 × 8) / 10⁶
        ("openai", "gpt-4.1", None, "0.0022"),
        ("openai", "gpt-4.1", "https://gateway.example.org/v1", "0.0022"),
        ("openai_compatible", "gpt-4.1", "https://api.openai.com/v1", "0.0022"),
        ("openai", "no-such-model", None, None),
        ("openai_compatible", "gpt-4.1", None, None),
        ("openai_compatible", "gpt-4.1", "http://localhost:8000/v1", None),
        ("my_own_door", "gpt-4.1", None, None),
    ],
)
def test_costs_by_the_public_list(provider: str, model: str, base_url: str | None, expected: str | None) -> None:
    prices = Prices()
    found = prices.cost(provider, model, Usage(1000, 100, 400, 60), base_url=base_url)
    assert found == (None if expected is None else Decimal(expected))
    assert prices.known(provider, model, base_url=base_url) is (expected is not None)


@pytest.mark.parametrize(
    "usage",
    [
        Usage(1000, 100),
        Usage(1000, 100, 400, 60),
        Usage(300_000, 7, 1),
        Usage(0, 1),
        Usage(1000, 100, 400, None, 300),
        Usage(300_000, 7, 1, None, 250_000),
    ],
)
@pytest.mark.parametrize(
    ("provider", "model"),
    [
        ("openai", "gpt-4o-mini"),
        ("openai", "gpt-5"),
        ("anthropic", "claude-sonnet-4-5"),  # dearer above 200,000 tokens
        ("google", "gemini-2.5-pro"),  # likewise
    ],
)
def test_the_short_way_and_genai_prices_agree(provider: str, model: str, usage: Usage) -> None:
    tokens = genai_prices.Usage(
        input_tokens=usage.input_tokens,
        cache_read_tokens=usage.cached_input_tokens,
        cache_write_tokens=usage.cache_write_tokens,
        output_tokens=usage.output_tokens,
    )
    expected = genai_prices.calc_price(tokens, model, provider_id=provider).total_price
    assert Prices().cost(provider, model, usage) == expected


@pytest.mark.parametrize("usage", [None, Usage(1000, 100)])
@pytest.mark.parametrize("provider", ["scripted", "replay"])
def test_nothing_is_paid_for_answers_that_nobody_sells(provider: str, usage: Usage | None) -> None:
    assert Prices().cost(provider, "tests.fakes:bot", usage) == Decimal(0)
    assert Prices().known(provider, "tests.fakes:bot")


def test_a_script_can_be_given_a_price(prices: Prices) -> None:
    assert prices.cost("scripted", "tests.bots:one", Usage(1000, 100)) == Decimal("0.0011")
    assert prices.cost("scripted", "tests.bots:one", None) is None


def test_without_genai_prices_nothing_is_known_but_the_table(prices: Prices, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "genai_prices", None)
    assert prices.cost("openai", "gpt-4.1", Usage(1000, 100)) is None
    assert prices.cost("openai", "house-model", Usage(1000, 100)) == Decimal("0.0035")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('[[price]]\nmodel = "m"\ninput = 1', "price 1: `output` is missing"),
        ('[[price]]\nmodel = "m"\ninput = 1\noutput = -2', "price 1: `output` must be USD per million"),
        ('[[price]]\nmodel = "m"\ninput = nan\noutput = 2', "`input` must be"),
        ('[[price]]\nmodel = "m"\ninput = "1"\noutput = 2', "`input` must be"),
        ('[[price]]\nmodel = "m"\ninput = true\noutput = 2', "`input` must be"),
        ('[[price]]\nmodel = ""\ninput = 1\noutput = 2', "`model` must be a text"),
        ('[[price]]\nmodel = "m"\ninput = 1\noutput = 2\ncached = 1', "`cached` is not known; the keys are"),
        ('[price]\nmodel = "m"', "under its own [[price]] line"),
        ("price = [3]", "price 1: must be a table"),
        ("currency = 'EUR'", "`currency` is not known"),
        ("[[price]\n", "not TOML"),
    ],
)
def test_a_table_that_is_not_one_is_an_error(tmp_path: Path, text: str, words: str) -> None:
    path = tmp_path / "prices.toml"
    path.write_text(text)
    with pytest.raises(ConfigError) as caught:
        Prices.load(path)
    assert words in str(caught.value) and str(path) in str(caught.value)


def test_all_problems_are_reported_together(tmp_path: Path) -> None:
    table: dict[str, Any] = {"price": [{"model": "a", "input": 1}, {"input": 1, "output": -1}], "extra": 1}
    with pytest.raises(ConfigError) as caught:
        Prices(table)
    assert len(caught.value.problems) == 4


def test_a_table_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="cannot be read"):
        Prices.load(tmp_path / "none.toml")


def test_no_table_is_no_error() -> None:
    assert Prices.load(None).cost("openai_compatible", "m", Usage(1, 1)) is None


@pytest.mark.parametrize(
    ("address", "private"),
    [
        ("http://127.0.0.1:8091/v1", True),
        ("http://localhost:8000/v1", True),
        ("http://10.1.2.3/v1", True),
        ("http://[::1]:8000/v1", True),
        ("http://gpu-box:8000/v1", True),
        ("http://llm.internal/v1", True),
        ("https://api.openai.com/v1", False),
        ("https://8.8.8.8/v1", False),
    ],
)
def test_private_addresses_have_no_public_price(address: str, private: bool) -> None:
    assert _is_private(address) is private
