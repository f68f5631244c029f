"""Figures as people read them: rates with their denominator, money, times. Unknown is said, never shown as 0."""

from __future__ import annotations

import datetime
from collections.abc import Mapping
from decimal import Decimal
from fractions import Fraction
from typing import Any

UNKNOWN = "unknown"


def percent(rate: Fraction | float | None, digits: int = 1) -> str:
    """`93.3 %`; never rounded to 100 % or 0 % where it is not quite that."""
    if rate is None:
        return "?"
    smallest = 10.0**-digits
    value = float(rate) * 100
    if 0 < value < 100:
        value = min(max(value, smallest), 100 - smallest)
    text = f"{value:.{digits}f}"
    return f"{text.rstrip('0').rstrip('.') if '.' in text else text} %"


def points(difference: float) -> str:
    """A difference of two rates: `+8.3 points`."""
    return f"{difference * 100:+.1f} points"


def dollars(amount: Decimal | float | None) -> str:
    """`$0.0123`; `unknown` where no price is known. Four significant digits."""
    if amount is None:
        return UNKNOWN
    return f"${float(amount):.4g}" if amount else "$0"


def seconds(value: float | None) -> str:
    return UNKNOWN if value is None else f"{value:.2f} s"


def many(count: int, noun: str) -> str:
    """`1 error`, `2 errors`, `12,000 errors`."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def rate_words(counts: Mapping[str, Any]) -> str:
    """Of a report's counts: `93.3 %, 56 of 60 graded passed`."""
    if counts["rate"] is None:
        return "no rate, nothing was graded"
    return f"{percent(counts['rate'])}, {counts['pass']:,} of {counts['graded']:,} graded passed"


def other_words(counts: Mapping[str, Any]) -> str:
    """What a rate leaves out: `12 N/A, 0 errors, 4 missed`."""
    return f"{counts['na']:,} N/A, {many(counts['error'], 'error')}, {counts['missed']:,} missed"


def interval_words(counts: Mapping[str, Any]) -> str | None:
    """`86.0 % to 97.1 % (95 % Wilson)`; None where nothing was graded."""
    interval = counts["interval"]
    if interval is None:
        return None
    bounds = f"{percent(interval['low'])} to {percent(interval['high'])}"
    return f"{bounds} ({percent(interval['confidence'])} {interval['method'].capitalize()})"


def ago(moment: str, now: datetime.datetime) -> str:
    """How long before `now` an ISO 8601 moment is: `2 min ago`; the date from a week on."""
    try:
        then = datetime.datetime.fromisoformat(moment.replace("Z", "+00:00"))
    except ValueError:
        return moment
    passed = (now - then).total_seconds()
    if passed < 60:
        return "just now"
    for limit, size, unit in ((3600, 60, "min"), (86_400, 3600, "h"), (7 * 86_400, 86_400, "d")):
        if passed < limit:
            return f"{int(passed // size)} {unit} ago"
    return then.date().isoformat()
