"""Functions of dates, which are numbers: days since 1899-12-30."""

from __future__ import annotations

import datetime
from decimal import Decimal
from typing import Any

from pytest_verica.formula.arithmetic import subtract
from pytest_verica.formula.error import Fault
from pytest_verica.formula.function import Function
from pytest_verica.formula.functions.numeric import whole_part
from pytest_verica.formula.numeral import DAY_ZERO
from pytest_verica.formula.value import Number, integer_of, number_of

FIRST_YEAR, LAST_YEAR = 1583, 9999
"""Whole years of the Gregorian calendar."""


def date(year: Any, month: Any, day: Any) -> Number:
    years, months, days = integer_of(year), integer_of(month), integer_of(day)
    if 0 <= years < 100:
        years += 2000 if years < 30 else 1900
    carried, index = divmod(months - 1, 12)
    if not FIRST_YEAR <= years + carried <= LAST_YEAR:
        raise _out_of_range()
    first = datetime.date(years + carried, index + 1, 1)
    number = (first - DAY_ZERO).days + days - 1
    _date(Decimal(number))
    return Decimal(number)


def year(date: Any) -> Number:
    return Decimal(_date(date).year)


def month(date: Any) -> Number:
    return Decimal(_date(date).month)


def day(date: Any) -> Number:
    return Decimal(_date(date).day)


def days(end: Any, start: Any) -> Number:
    return subtract(number_of(end), number_of(start))


def _date(value: Any) -> datetime.date:
    number = whole_part(number_of(value), down=True)
    if abs(number) > 10_000_000:
        raise _out_of_range()
    try:
        found = DAY_ZERO + datetime.timedelta(days=int(number))
    except OverflowError:
        raise _out_of_range() from None
    if found.year < FIRST_YEAR:
        raise _out_of_range()
    return found


def _out_of_range() -> Fault:
    return Fault("#NUM!", f"a date is in the years {FIRST_YEAR} to {LAST_YEAR}")


ROWS = (
    Function(
        "DATE(year, month, day)",
        "The number of a date; months and days may run over.",
        "=DATE(2024, 2, 30) = DATE(2024, 3, 1)",
        "TRUE",
        date,
    ),
    Function("YEAR(date)", "The year of a date.", '=YEAR("2024-02-29")', "2024", year),
    Function("MONTH(date)", "The month of a date, 1 to 12.", '=MONTH("2024-02-29")', "2", month),
    Function("DAY(date)", "The day of a date, 1 to 31.", '=DAY("2024-02-29")', "29", day),
    Function("DAYS(end, start)", "Days from one date to another.", '=DAYS("2024-03-01", "2024-02-01")', "29", days),
)
