"""How the pages write figures: as reports do, and what only pages have. Unknown is said, never shown as 0."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from datetime import datetime, timezone
from fractions import Fraction
from typing import Any

from pytest_verica.report import figures

UNKNOWN = "—"


def percent(rate: Fraction | float | None, digits: int = 0) -> str:
    """`78 %`, with a dash where there is none."""
    return UNKNOWN if rate is None else figures.percent(rate, digits)


def plain(value: Fraction | float | None, digits: int = 6) -> str:
    """A score, a threshold or a kappa as one would write it."""
    return UNKNOWN if value is None else f"{float(value):.{digits}g}"


def fixed(value: Fraction | float | None, digits: int = 2) -> str:
    return UNKNOWN if value is None else f"{float(value):.{digits}f}"


def bounds(interval: Any) -> str:
    """`[70 to 86 %]` of an interval, or of a mapping or pair of its bounds; nothing where there is none."""
    if interval is None:
        return ""
    if isinstance(interval, Mapping):
        low, high = interval["low"], interval["high"]
    elif isinstance(interval, tuple):
        low, high = interval
    else:
        low, high = interval.low, interval.high
    return "" if low is None or high is None else f"[{100 * low:.0f} to {100 * high:.0f} %]"


def ago(moment: str | None) -> str:
    """How long ago an ISO 8601 moment is."""
    return UNKNOWN if moment is None else figures.ago(moment, datetime.now(timezone.utc))


def value(found: Any) -> str:
    """A column or an output as text: JSON where it is none."""
    return found if isinstance(found, str) else json.dumps(found, ensure_ascii=False, indent=1, default=str)


FILTERS: dict[str, Callable[..., Any]] = {
    "percent": percent,
    "dollars": figures.dollars,
    "many": figures.many,
    "points": figures.points,
    "plain": plain,
    "fixed": fixed,
    "bounds": bounds,
    "ago": ago,
}
