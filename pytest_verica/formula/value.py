"""The values of formulas, and how one kind becomes another.

Numbers are decimals where they are exact and floats elsewhere; None is an empty cell; a list is a tuple.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from decimal import Decimal
from typing import Any

from pytest_verica.formula.error import Fault, FormulaError, Passed, TooMuch, cut
from pytest_verica.formula.numeral import numeral
from pytest_verica.path import describe, is_array

Number = Decimal | float
Scalar = Decimal | float | bool | str | FormulaError | None
Value = Scalar | tuple[Scalar, ...]

MOST_ELEMENTS = 100_000
MOST_TEXT = 1_000_000
ZERO = Decimal(0)
ONE = Decimal(1)

_EXACT_DIGITS = 60


class CellText(str):
    """A text that stands in a column or in the output. Where it is a number to a spreadsheet, it is also that number,
    as it would be in a spreadsheet that opened the file; sums pass over it where it is none."""

    __slots__ = ()

    @property
    def number(self) -> Number | None:
        return numeral(self)


def number_of(value: Any) -> Number:
    """The number that a value is: TRUE is 1, an empty cell is 0, a text the number that it shows.

    Raises:
        Fault: it is none.
        Passed: it is an error.
    """
    kind = value.__class__
    if kind is Decimal or kind is float:
        return value  # type: ignore[no-any-return]
    if value is None:
        return ZERO
    if kind is bool:
        return ONE if value else ZERO
    if kind is FormulaError:
        raise Passed(value)
    if kind is tuple:
        raise Fault("#VALUE!", f"a list of {len(value)} stands where one value is needed")
    number = numeral(value)
    if number is None:
        raise Fault("#VALUE!", f"{shown(value)} is not a number")
    return number


def magnitude(number: Number) -> Number:
    """Without its sign."""
    return -number if number < 0 else number


def integer_of(value: Any) -> int:
    """The whole number that is left of a number without its fraction. Raises as `number_of`."""
    number = number_of(value)
    if magnitude(number) > 10**15:
        raise Fault("#NUM!", f"{shown(number)} is out of range")
    return int(number)


def truth_of(value: Any) -> bool:
    """Whether a value is true: any number but 0 is. Raises as `number_of`."""
    return value if value.__class__ is bool else number_of(value) != 0


def text_of(value: Any) -> str:
    """A value as text: at most 15 digits of an inexact number, TRUE as 1, an empty cell as nothing.

    Raises:
        Fault, Passed: as `number_of`.
    """
    if isinstance(value, str):
        return value
    if value is None:
        return ""
    return number_text(number_of(value))


def number_text(number: Number) -> str:
    """Digits without an exponent, where they are not many."""
    if number.__class__ is float:
        number = Decimal(f"{number:.15g}")
    assert isinstance(number, Decimal)
    if not number:
        return "0"
    if -21 < number.adjusted() < 21 or number == number.to_integral_value():
        text = format(number, "f")
        return text.rstrip("0").rstrip(".") if "." in text else text
    return str(number.normalize())


def made_text(text: str) -> str:
    """A text that a formula made.

    Raises:
        TooMuch: it is too long.
    """
    check_length(len(text))
    return text


def check_length(length: int) -> None:
    if length > MOST_TEXT:
        raise TooMuch(f"a formula makes texts of at most {MOST_TEXT:,} characters, this one has {length:,}")


def cell(value: Any, error: Callable[[str, str], FormulaError]) -> Value:
    """A JSON value as a cell: arrays, also nested ones, are lists; "" and null are empty; an object is an error."""
    kind = value.__class__
    if kind is str:
        return CellText(value) if value else None
    if value is None or kind is bool:
        return value  # type: ignore[no-any-return]
    if kind is int:
        return Decimal(value) if -(10**_EXACT_DIGITS) < value < 10**_EXACT_DIGITS else _large(value, error)
    if kind is float:
        return Decimal(repr(value)) if math.isfinite(value) else error("#NUM!", "the number is not finite")
    if isinstance(value, Decimal):
        return value if value.is_finite() and abs(value.adjusted()) < 308 else error("#NUM!", "the number is too large")
    if is_array(value):
        return tuple(_element(item, error) for item in _flat(value))
    if isinstance(value, Mapping):
        return error("#VALUE!", f"this is {describe(value)}; a formula takes numbers, texts and lists of them")
    return cell(str(value), error)


def _element(item: Any, error: Callable[[str, str], FormulaError]) -> Scalar:
    if item.__class__ is str:
        return CellText(item) if item else None
    found = cell(item, error)
    assert found.__class__ is not tuple
    return found  # type: ignore[return-value]


def _flat(array: Any) -> Iterator[Any]:
    """Every element of an array and of the arrays in it, one at a time: a 5,000-fold nesting is no recursion."""
    waiting = [iter(array)]
    count = 0
    while waiting:
        for item in waiting[-1]:
            if is_array(item):
                waiting.append(iter(item))
                break
            count += 1
            if count > MOST_ELEMENTS:
                raise TooMuch(f"a formula takes lists of at most {MOST_ELEMENTS:,} elements")
            yield item
        else:
            waiting.pop()


def _large(value: int, error: Callable[[str, str], FormulaError]) -> Scalar:
    try:
        return float(value)
    except OverflowError:
        return error("#NUM!", "the number is too large")


def shown(value: Any, limit: int = 40) -> str:
    """A value for people: texts in quotes, TRUE and FALSE, the first elements of a list."""
    if value is None:
        return "empty"
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, str):
        return f'"{cut(value, limit)}"'
    if isinstance(value, FormulaError):
        return value.code
    if isinstance(value, tuple):
        first = ", ".join(shown(item, 20) for item in value[:5])
        more = f", … {len(value)} in all" if len(value) > 5 else ""
        return f"{{{first}{more}}}"
    return cut(number_text(value), limit)
