"""Usage and price to cost, in USD as Decimal: the user's table first, then genai-prices. Unknown is None, never 0."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fnmatch import fnmatchcase
from functools import partial
from importlib import import_module
from ipaddress import ip_address
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from pytest_verica.errors import ConfigError, Place, Problem
from pytest_verica.usage import Usage

if TYPE_CHECKING:
    from genai_prices.types import PriceCalculation

_MILLION = Decimal(1_000_000)
_RATES = ("input", "cached_input", "cache_write", "output")
_FIELDS = ("provider", "model", *_RATES)
# Doors that no money passes through: the shipped fake, answers that are already in the store, a model that runs here.
_FREE = frozenset({"scripted", "replay", "local"})
# The doors whose own price list genai-prices has, by its name for it. Any other is known by its address only.
_LISTED = {"openai": "openai", "anthropic": "anthropic", "google": "google"}

_Pricer = Callable[[Usage], Decimal | None]


@dataclass(frozen=True)
class Price:
    """USD per million tokens. model: a name, or a pattern with `*` and `?`; provider: None means any; cached_input and
    cache_write: for input tokens read from the provider's cache, and put into it, None where they cost what other input
    does."""

    model: str
    input: Decimal
    output: Decimal
    cached_input: Decimal | None = None
    cache_write: Decimal | None = None
    provider: str | None = None

    def cost(self, usage: Usage) -> Decimal | None:
        """Cached and written tokens are parts of the input, reasoning tokens a part of the output. None where a count
        is unknown or contradicts another."""
        if usage.input_tokens is None or usage.output_tokens is None:
            return None
        cached, written = usage.cached_input_tokens or 0, usage.cache_write_tokens or 0
        plain = usage.input_tokens - cached - written
        if plain < 0:
            return None
        dollars = plain * self.input + usage.output_tokens * self.output
        dollars += cached * (self.input if self.cached_input is None else self.cached_input)
        dollars += written * (self.input if self.cache_write is None else self.cache_write)
        return dollars / _MILLION


class Prices:
    """What calls cost. table: as prices.toml has it, `{"price": [{"model": …, "input": …, "output": …}]}`."""

    def __init__(self, table: Mapping[str, Any] | None = None, *, source: str = "prices") -> None:
        self._table = _read_table(table or {}, source)
        self._pricers: dict[tuple[str, str, str | None], _Pricer | None] = {}

    @classmethod
    def load(cls, path: Path | None) -> Prices:
        """The prices of a file, over those of genai-prices; None for genai-prices alone.

        Raises:
            ConfigError: the file cannot be read, or has anything but prices in it.
        """
        if path is None:
            return cls()
        tomllib = import_module("tomllib" if sys.version_info >= (3, 11) else "tomli")
        try:
            table = tomllib.loads(path.read_text("utf-8"), parse_float=Decimal)
        except (OSError, UnicodeDecodeError) as error:
            raise ConfigError(f"the price table cannot be read: {error}", Place(str(path))) from None
        except tomllib.TOMLDecodeError as error:
            raise ConfigError(f"the price table is not TOML: {error}", Place(str(path))) from None
        return cls(table, source=str(path))

    def extended(self, rows: Sequence[Mapping[str, Any]], source: str) -> Prices:
        """These prices, and after them those of `rows`, each with the keys of a `[[price]]` of prices.toml.

        Raises:
            ConfigError: a row is no price.
        """
        more = Prices()
        more._table = [*self._table, *_read_table({"price": list(rows)}, source)]
        return more

    def cost(self, provider: str, model: str, usage: Usage | None, *, base_url: str | None = None) -> Decimal | None:
        """USD of one call, None where its usage or the price of its model is unknown.

        A `scripted` model that the table has no price for costs 0, whatever its usage: nothing is paid.
        """
        pricer = self._pricer(provider, model, base_url)
        if pricer is None:
            return None
        return Decimal(0) if pricer is _nothing else None if usage is None else pricer(usage)

    def known(self, provider: str, model: str, *, base_url: str | None = None) -> bool:
        """Whether a call's cost will be known, given its usage."""
        return self._pricer(provider, model, base_url) is not None

    def _pricer(self, provider: str, model: str, base_url: str | None) -> _Pricer | None:
        key = (provider, model, base_url)
        if key not in self._pricers:
            price = self._find(provider, model)
            if price is not None:
                self._pricers[key] = price.cost
            elif provider in _FREE:
                self._pricers[key] = _nothing
            else:
                self._pricers[key] = _public_pricer(provider, model, base_url)
        return self._pricers[key]

    def _find(self, provider: str, model: str) -> Price | None:
        """The table's price: an exact name before a pattern, one with a provider before one for any, then order."""
        fitting = [
            price
            for price in self._table
            if price.provider in (None, provider) and (price.model == model or fnmatchcase(model, price.model))
        ]
        return min(fitting, key=lambda price: (price.model != model, price.provider is None), default=None)


def _nothing(usage: Usage) -> Decimal:
    return Decimal(0)


def _public_pricer(provider: str, model: str, base_url: str | None) -> _Pricer | None:
    """How genai-prices prices a model. It ships its prices; its update over the network is never started.

    An address that it knows decides; the door's own list does where there is no address, or one it does not know.
    """
    if provider not in _LISTED and base_url is not None and _is_private(base_url):
        return None  # and the list, a fifth of a second to load, is left alone
    for listed, address in ((None, base_url), (_LISTED.get(provider), None)):
        if listed is None and address is None:
            continue
        sample = _calculated(Usage(input_tokens=1, output_tokens=1), model, listed, address)
        if sample is None:
            continue
        price = sample.model_price
        if price.input_mtok is None and price.output_mtok is None:
            return None  # listed, without a price for tokens
        flat = None if isinstance(sample.model.prices, list) else _flat(model, price)
        return flat.cost if flat is not None else partial(_total, model=model, listed=listed, address=address)
    return None


def _is_private(base_url: str) -> bool:
    """Whether an address is of this machine or of a private network: no public list knows what it costs."""
    host = urlsplit(base_url).hostname or ""
    try:
        return ip_address(host).is_private
    except ValueError:
        return "." not in host or host.endswith((".local", ".internal", ".localhost"))


def _flat(model: str, price: Any) -> Price | None:
    """The price, where it is four numbers whatever the size and the time of the call: genai-prices' own arithmetic
    takes longer than the rest of a call's bookkeeping."""
    rates = (price.input_mtok, price.output_mtok, price.cache_read_mtok, price.cache_write_mtok)
    if price.requests_kcount is not None or None in rates[:2]:
        return None
    if not all(rate is None or isinstance(rate, Decimal) for rate in rates):
        return None
    return Price(model, input=rates[0], output=rates[1], cached_input=rates[2], cache_write=rates[3])


def _total(usage: Usage, *, model: str, listed: str | None, address: str | None) -> Decimal | None:
    """The cost where the price depends on the size or the time of the call."""
    calculation = _calculated(usage, model, listed, address)
    return None if calculation is None else calculation.total_price


def _calculated(usage: Usage, model: str, listed: str | None, address: str | None) -> PriceCalculation | None:
    """What genai-prices says; None where it does not know the model, or the counts are unknown or contradictory."""
    try:
        import genai_prices  # deferred: loads thousands of prices, which a run of stored answers does without
    except ImportError:  # not there for this version of Python
        return None
    if usage.input_tokens is None or usage.output_tokens is None:
        return None
    tokens = genai_prices.Usage(
        input_tokens=usage.input_tokens,
        cache_read_tokens=usage.cached_input_tokens or None,
        cache_write_tokens=usage.cache_write_tokens or None,
        output_tokens=usage.output_tokens,
    )
    try:
        if address is not None:
            return genai_prices.calc_price(tokens, model, provider_api_url=address)
        return genai_prices.calc_price(tokens, model, provider_id=listed)
    except (LookupError, ValueError):
        return None


def _read_table(table: Mapping[str, Any], source: str) -> list[Price]:
    place = Place(source)
    problems = [
        Problem(f"`{key}` is not known here; a price table has only [[price]] entries.", place)
        for key in table
        if key != "price"
    ]
    entries = table.get("price", [])
    if not isinstance(entries, list):
        raise ConfigError("`price` must be a list: write each price under its own [[price]] line.", place)
    prices = []
    for number, entry in enumerate(entries, 1):
        found = _entry_problems(entry)
        problems += [Problem(f"price {number}: {words}", place) for words in found]
        if not found:
            rates = {name: Decimal(str(entry[name])) for name in _RATES if name in entry}
            prices.append(Price(model=entry["model"], provider=entry.get("provider"), **rates))
    if problems:
        raise ConfigError(problems)
    return prices


def _entry_problems(entry: Any) -> list[str]:
    if not isinstance(entry, Mapping):
        return ["must be a table with `model`, `input` and `output`."]
    problems = [f"`{key}` is not known; the keys are {', '.join(_FIELDS)}." for key in entry if key not in _FIELDS]
    for name in ("provider", "model"):
        if name in entry and (not isinstance(entry[name], str) or not entry[name]):
            problems.append(f"`{name}` must be a text, not {entry[name]!r}.")
    for name in _RATES:
        if name in entry and not _is_rate(entry[name]):
            problems.append(f"`{name}` must be USD per million tokens, a number not below 0, not {entry[name]}.")
    problems += [f"`{name}` is missing." for name in ("model", "input", "output") if name not in entry]
    return problems


def _is_rate(value: Any) -> bool:
    if isinstance(value, bool) or not isinstance(value, (int, float, Decimal)):
        return False
    rate = Decimal(str(value))
    return rate.is_finite() and rate >= 0
