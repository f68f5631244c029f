"""The options in force, frozen, each with where it came from: command line > environment > ini > default."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from pytest_verica.plugin.options import OPTIONS, Option, environment_of, is_true


@dataclass(frozen=True)
class Settings:
    """One field per option; `sources` names where each came from (`command line`, `environment`, `ini`, `default`)."""

    on: bool
    report: Path | None
    html: Path | None
    gate: float | None
    concurrency: int
    fresh: bool
    replay: bool
    strict: bool
    shard: tuple[int, int] | None
    sample: int | None
    repeat: int | None
    model: Mapping[str, tuple[str, str]]
    criterion: str | None
    request_timeout: float
    baseline: str | None
    reuse: bool
    max_attempts: int
    max_wait: float
    max_cost: Decimal | None
    estimate: bool
    no_preflight: bool
    prices: Path | None
    recorded: tuple[Path, ...]
    sources: Mapping[str, str]

    def shown(self) -> dict[str, tuple[Any, str]]:
        """Option -> (value, source), those that are not the default."""
        found: dict[str, tuple[Any, str]] = {}
        for option in OPTIONS:
            source = self.sources[option.name]
            value = getattr(self, option.name)
            if source != "default" and value != option.default and option.name != "on":
                found[option.name] = (_plain(value), source)
        return found


def _plain(value: Any) -> Any:
    if isinstance(value, (Path, Decimal)):
        return str(value)
    if isinstance(value, tuple):
        return [_plain(item) for item in value]
    if isinstance(value, Mapping):
        return {key: "/".join(item) for key, item in value.items()}
    return value


def read_settings(config: pytest.Config) -> Settings:
    """Resolves every option.

    Raises:
        pytest.UsageError: a value is wrong; lists what is good.
    """
    values: dict[str, Any] = {}
    sources: dict[str, str] = {}
    for option in OPTIONS:
        raw, source = _raw(config, option)
        try:
            values[option.name] = _PARSERS.get(option.name, _KINDS[option.kind])(raw, config)
        except ValueError as error:
            raise pytest.UsageError(f"{_named(option, source)}: {error}") from None
        sources[option.name] = source
    if values["fresh"] and values["replay"]:
        stronger = min(("fresh", "replay"), key=lambda name: _RANK.index(sources[name]))
        if sources["fresh"] == sources["replay"]:
            raise pytest.UsageError("--verica-fresh and --verica-replay contradict each other: choose one")
        values["fresh"], values["replay"] = stronger == "fresh", stronger == "replay"
    if values["fresh"] and values["reuse"]:
        raise pytest.UsageError("--verica-fresh asks everything anew and --verica-reuse nothing: choose one")
    return Settings(**values, sources=sources)


_RANK = ("command line", "environment", "ini", "default")


def _named(option: Option, source: str) -> str:
    return {"environment": option.environment, "ini": f"{option.ini} (ini)"}.get(source, option.flag or option.ini)


def _raw(config: pytest.Config, option: Option) -> tuple[Any, str]:
    value = config.getoption(option.dest, None) if option.flag else None
    if value is not None:
        return value, "command line"
    from_environment = environment_of(config).get(option.environment)
    if from_environment:
        return from_environment.split(os.pathsep) if option.kind == "list" else from_environment, "environment"
    from_ini = config.getini(option.ini)
    if from_ini and option.kind == "path":
        from_ini = str(_ini_folder(config) / from_ini)  # as pytest's own: relative to the file that says it
    if from_ini and option.kind == "run" and (_ini_folder(config) / from_ini).exists():
        from_ini = str(_ini_folder(config) / from_ini)
    return (from_ini, "ini") if from_ini else (option.default, "default")


def _flag(raw: Any, config: pytest.Config) -> bool:
    return raw if isinstance(raw, bool) else is_true(str(raw))


def _text(raw: Any, config: pytest.Config) -> str | None:
    return None if raw is None else str(raw).strip()


def _int(raw: Any, config: pytest.Config) -> int | None:
    if raw is None:
        return None
    if not str(raw).strip().isdigit() or int(raw) < 1:
        raise ValueError(f"expected a whole number from 1 on, found {raw!r}")
    return int(raw)


def _rate(raw: Any, config: pytest.Config) -> float | None:
    if raw is None:
        return None
    try:
        rate = float(raw)
    except ValueError:
        rate = -1.0
    if not 0 < rate <= 1:
        raise ValueError(f"expected a rate above 0 and up to 1, such as 0.9, found {raw!r}")
    return rate


def _seconds(raw: Any, config: pytest.Config) -> float:
    try:
        seconds = float(raw)
    except ValueError:
        seconds = -1.0
    if not 0 < seconds < 86_400:
        raise ValueError(f"expected seconds above 0, such as 120, found {raw!r}")
    return seconds


def _dollars(raw: Any, config: pytest.Config) -> Decimal | None:
    if raw is None:
        return None
    try:
        amount = Decimal(str(raw).strip().removeprefix("$"))
    except ArithmeticError:
        amount = Decimal(-1)
    if not (amount.is_finite() and amount > 0):
        raise ValueError(f"expected an amount of USD above 0, such as 2.50, found {raw!r}")
    return amount


def _path(raw: Any, config: pytest.Config) -> Path | None:
    return None if raw is None else config.invocation_params.dir / str(raw)


def _paths(raw: Any, config: pytest.Config) -> tuple[Path, ...]:
    return tuple(_ini_folder(config) / str(item) for item in raw)


def _ini_folder(config: pytest.Config) -> Path:
    return config.inipath.parent if config.inipath is not None else config.rootpath


def _shard(raw: Any, config: pytest.Config) -> tuple[int, int] | None:
    if raw is None:
        return None
    number, slash, count = str(raw).partition("/")
    if not (slash and number.isdigit() and count.isdigit() and 1 <= int(number) <= int(count)):
        raise ValueError(f"expected I/N with 1 <= I <= N, such as 2/5, found {raw!r}")
    return int(number), int(count)


def _models(raw: Any, config: pytest.Config) -> dict[str, tuple[str, str]]:
    models: dict[str, tuple[str, str]] = {}
    for item in raw if isinstance(raw, (list, tuple)) else [raw]:
        name, equals, target = str(item).partition("=")
        provider, slash, model = target.partition("/")
        if not (equals and slash and name and provider and model):
            raise ValueError(f"expected EVAL=PROVIDER/NAME, such as refunds=openai/gpt-5-mini, found {item!r}")
        models[name] = (provider, model)
    return models


_KINDS: dict[str, Callable[[Any, pytest.Config], Any]] = {
    "flag": _flag,
    "text": _text,
    "run": _text,
    "int": _int,
    "rate": _rate,
    "seconds": _seconds,
    "dollars": _dollars,
    "path": _path,
    "list": _paths,
    "pairs": _models,
}
_PARSERS: dict[str, Callable[[Any, pytest.Config], Any]] = {"shard": _shard}
