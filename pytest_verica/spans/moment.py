"""Moments of a trace: dates and numbers in any unit that exporters use, as whole nanoseconds."""

from __future__ import annotations

import math
import re
from datetime import date
from decimal import Decimal
from typing import Any

_SECOND = 1_000_000_000
_DATE = re.compile(
    r"(\d{4})-(\d\d)-(\d\d)[T ](\d\d):(\d\d):(\d\d)(?:[.,](\d{1,9})\d*)?\s*(?:Z|UTC|([+-])(\d\d):?(\d\d))?",
    re.IGNORECASE,
)
_EPOCH = date(1970, 1, 1).toordinal()
# From which magnitude on a number is no longer counted in seconds, milliseconds, microseconds: for dates after 1973.
_UNITS = ((10**11, _SECOND), (10**14, 1_000_000), (10**17, 1_000))


class NoMoment(ValueError):
    """A value that is no moment: a phrase that says what it is."""


def read_moments(start: Any, end: Any, *, nanoseconds: bool) -> tuple[int | None, int | None]:
    """Start and end of one span. nanoseconds: what their field's name says; else numbers are read by their magnitude,
    both in the unit of the larger: seconds below 10^11, then milliseconds, microseconds, nanoseconds.

    Raises:
        NoMoment: one of them is neither a date nor a number.
    """
    found = [_number_or_date(value) for value in (start, end)]
    numbers = [abs(value) for value in found if isinstance(value, Decimal)]
    unit = 1
    if numbers and not nanoseconds:
        unit = next((unit for limit, unit in _UNITS if max(numbers) < limit), 1)
    first, last = (int((value * unit).to_integral_value()) if isinstance(value, Decimal) else value for value in found)
    return first, last


def _number_or_date(value: Any) -> Decimal | int | None:
    """A number in a unit not known yet, or a date in nanoseconds."""
    if value is None or value == "":
        return None
    if isinstance(value, (int, float, Decimal)) and not isinstance(value, bool):
        if isinstance(value, float) and not math.isfinite(value):
            raise NoMoment(f"{value} is not a time")
        return Decimal(str(value)) if isinstance(value, float) else Decimal(value)
    if isinstance(value, str):
        text = value.strip()
        if re.fullmatch(r"-?\d{1,40}(\.\d{1,40})?", text):
            return Decimal(text)
        match = _DATE.fullmatch(text)
        if match is not None:
            return _nanoseconds(match)
    raise NoMoment(f"{str(value)[:60]!r} is not a time; a date such as 2026-01-31T12:00:00Z or a number was expected")


def _nanoseconds(match: re.Match[str]) -> int:
    year, month, day, hour, minute, second, fraction, sign, east_h, east_m = match.groups()
    try:
        days = date(int(year), int(month), int(day)).toordinal() - _EPOCH
    except ValueError as error:
        raise NoMoment(f"{match[0]!r} is not a date: {error}") from None
    seconds = days * 86_400 + int(hour) * 3_600 + int(minute) * 60 + int(second)
    if sign is not None:
        seconds -= (1 if sign == "+" else -1) * (int(east_h) * 3_600 + int(east_m) * 60)
    return seconds * _SECOND + int((fraction or "").ljust(9, "0"))
