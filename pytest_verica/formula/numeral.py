"""Texts read as numbers, as a spreadsheet reads what is typed into a cell: `1,234.50`, `12%`, `$5`, `2024-01-31`."""

from __future__ import annotations

import datetime
import re
from decimal import Decimal
from functools import lru_cache

DAY_ZERO = datetime.date(1899, 12, 30)
"""The date whose number is 0."""

_LONGEST = 400
_NUMBER = re.compile(
    r"(?P<open>\()?(?P<sign>[+-]?)\s*(?P<currency>\$?)\s*"
    r"(?P<digits>(?:[0-9]{1,3}(?:,[0-9]{3})+|[0-9]+)(?:\.[0-9]*)?|\.[0-9]+)(?P<exponent>[eE][+-]?[0-9]{1,4})?"
    r"\s*(?P<percent>%?)(?P<behind>\$?)(?P<close>\))?"
)
_DATE = re.compile(r"([0-9]{4})-([0-9]{1,2})-([0-9]{1,2})(?:[T ]([0-9]{2}):([0-9]{2})(?::([0-9]{2}))?)?")


def numeral(text: str) -> Decimal | float | None:
    """The number that a text is, None where it is none."""
    return None if len(text) > _LONGEST else _numeral(text.strip())


@lru_cache(maxsize=4096)
def _numeral(text: str) -> Decimal | float | None:
    match = _NUMBER.fullmatch(text)
    if match is not None:
        return _number(match)
    date = _DATE.fullmatch(text)
    if date is not None:
        return _date(*(int(part or 0) for part in date.groups()))
    return {"TRUE": Decimal(1), "FALSE": Decimal(0)}.get(text.upper())


def _number(match: re.Match[str]) -> Decimal | None:
    if bool(match["open"]) != bool(match["close"]) or (match["open"] and match["sign"]):
        return None
    if bool(match["currency"]) + bool(match["behind"]) + bool(match["percent"]) > 1:
        return None
    value = Decimal(match["digits"].replace(",", "") + (match["exponent"] or ""))
    if value and not -308 < value.adjusted() < 308:
        return None
    if match["percent"]:
        value = value.scaleb(-2)
    return -value if match["open"] or match["sign"] == "-" else value


def _date(year: int, month: int, day: int, hour: int, minute: int, second: int) -> Decimal | float | None:
    try:
        date = datetime.datetime(year, month, day, hour, minute, second)
    except ValueError:
        return None
    seconds = hour * 3600 + minute * 60 + second
    days = (date.date() - DAY_ZERO).days
    return days + seconds / 86400 if seconds else Decimal(days)
