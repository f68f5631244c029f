"""How the pages write numbers, times and verdicts. Unknown is a dash, never 0; every rate has its denominator."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from datetime import datetime, timezone
from typing import Any

UNKNOWN = "—"

VERDICTS: Mapping[str, str] = {"pass": "PASS", "fail": "FAIL", "na": "N/A", "error": "ERROR", "missed": "MISSED"}


def percent(rate: float | None, decimals: int = 0) -> str:
    """`78 %`; a rate that is not quite 0 or 1 never looks as if it were."""
    if rate is None:
        return UNKNOWN
    text = f"{100 * rate:.{decimals}f}"
    if 0 < rate < 1 and float(text) in (0, 100):
        return "< 1 %" if rate < 0.5 else "> 99 %"
    return f"{text} %"


def rate(passed: int, graded: int) -> str:
    """`93.3 %` of what was graded."""
    return percent(passed / graded, 1) if graded else UNKNOWN


def dollars(amount: float | None) -> str:
    """`$0.012`: enough digits to be told from nothing, never exponents."""
    if amount is None:
        return UNKNOWN
    amount = float(amount)
    if amount == 0:
        return "$0"
    for decimals in (2, 3, 4, 6, 8):
        if amount >= 10 ** (1 - decimals):
            break
    return f"${amount:,.{decimals}f}"


def number(value: float | None, digits: int = 2) -> str:
    return UNKNOWN if value is None else f"{value:.{digits}f}"


def plain(value: float | None) -> str:
    """A score or a threshold as one would write it."""
    return UNKNOWN if value is None else f"{value:g}"


def interval(bounds: Any) -> str:
    """`[70 to 86 %]`."""
    if bounds is None:
        return ""
    low, high = (bounds["low"], bounds["high"]) if isinstance(bounds, Mapping) else (bounds.low, bounds.high)
    return f"[{100 * low:.0f} to {100 * high:.0f} %]"


def counted(count: int, noun: str, plural: str | None = None) -> str:
    """`1 label`, `20 labels`."""
    return f"{count:,} {noun if count == 1 else plural or noun + 's'}"


def ago(moment: str | None, now: datetime | None = None) -> str:
    """`2 min ago` for an ISO 8601 time; the date where it is long ago; the text itself where it is no time."""
    if not moment:
        return UNKNOWN
    try:
        then = datetime.fromisoformat(moment.replace("Z", "+00:00"))
    except ValueError:
        return moment
    if then.tzinfo is None:
        then = then.replace(tzinfo=timezone.utc)
    seconds = ((now or datetime.now(timezone.utc)) - then).total_seconds()
    for limit, unit, word in ((60, 1, "s"), (3600, 60, "min"), (86400, 3600, "h"), (14 * 86400, 86400, "d")):
        if seconds < limit:
            return f"{max(0, int(seconds // unit))} {word} ago"
    return then.strftime("%Y-%m-%d")


def value(found: Any) -> str:
    """A column or an output as text: JSON where it is none."""
    return found if isinstance(found, str) else json.dumps(found, ensure_ascii=False, indent=1, default=str)


FILTERS: dict[str, Callable[..., Any]] = {
    "percent": percent,
    "dollars": dollars,
    "number": number,
    "plain": plain,
    "interval": interval,
    "counted": counted,
    "ago": ago,
    "value": value,
    "verdict": lambda word: VERDICTS.get(word, word),
}
