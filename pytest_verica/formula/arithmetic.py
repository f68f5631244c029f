"""Arithmetic on numbers: exact decimals as long as they are exact, floats behind that, never NaN or infinite."""

from __future__ import annotations

import math
from collections.abc import Callable
from decimal import (
    ROUND_HALF_UP,
    Context,
    Decimal,
    DecimalException,
    DivisionByZero,
    Inexact,
    InvalidOperation,
    Overflow,
)

from pytest_verica.formula.error import Fault
from pytest_verica.formula.value import ONE, ZERO, Number

EXACT = Context(prec=60, Emin=-307, Emax=307, traps=[Inexact, InvalidOperation, DivisionByZero, Overflow])
"""What cannot be written in 60 digits raises, and is worked out with floats."""

LOOSE = Context(prec=400, rounding=ROUND_HALF_UP, traps=[InvalidOperation, DivisionByZero, Overflow])
"""For rounding, which may need more digits on the way."""

_NEAR = 2.0**-48
_MOST_EXPONENT = 10_000


def finite(value: float) -> float:
    """The value. Raises Fault where it is NaN or infinite."""
    if not math.isfinite(value):
        raise Fault("#NUM!", "the result is too large")
    return value


def near(one: float, other: float) -> bool:
    """Whether two floats are the same but for what binary fractions lose: 48 bits agree."""
    return one == other or abs(one - other) < abs(one) * _NEAR


def clean(number: Number) -> Decimal:
    """A float as the decimal that it stands for, of 15 digits; a decimal as it is."""
    return Decimal(f"{number:.15g}") if number.__class__ is float else number  # type: ignore[return-value]


def add(one: Number, other: Number) -> Number:
    if one.__class__ is Decimal and other.__class__ is Decimal:
        try:
            return EXACT.add(one, other)
        except DecimalException:
            pass
    left, right = float(one), float(other)
    return 0.0 if near(left, -right) else finite(left + right)


def subtract(one: Number, other: Number) -> Number:
    return add(one, -other)


def multiply(one: Number, other: Number) -> Number:
    if one.__class__ is Decimal and other.__class__ is Decimal:
        try:
            return EXACT.multiply(one, other)
        except DecimalException:
            pass
    return finite(float(one) * float(other))


def divide(one: Number, other: Number) -> Number:
    if not other:
        raise Fault("#DIV/0!", "a number was divided by zero")
    if one.__class__ is Decimal and other.__class__ is Decimal:
        try:
            return EXACT.divide(one, other)
        except DecimalException:
            pass
    divisor = float(other)
    if not divisor:
        raise Fault("#NUM!", "the result is too large")
    return finite(float(one) / divisor)


def power(base: Number, exponent: Number) -> Number:
    if base.__class__ is Decimal and exponent.__class__ is Decimal and abs(exponent) <= _MOST_EXPONENT:
        try:
            if exponent == int(exponent) and base:
                return EXACT.power(base, exponent)
        except DecimalException:
            pass
    return _power(float(base), float(exponent))


def _power(base: float, exponent: float) -> Number:
    if not exponent:
        return ONE
    if not base:
        if exponent < 0:
            raise Fault("#NUM!", "zero has no negative power")
        return ZERO
    try:
        if base < 0 and exponent != math.floor(exponent):
            return -finite((-base) ** exponent) if _odd_root(exponent) else _no_root()
        return finite(base**exponent)
    except OverflowError:
        raise Fault("#NUM!", "the result is too large") from None


def _odd_root(exponent: float) -> bool:
    """Whether it is 1/3, 1/5 and so on: negative numbers have such roots."""
    if abs(exponent) > 1 or abs(exponent) < 1e-9:
        return False
    root = round(1 / exponent)
    return root % 2 == 1 and near(1 / root, exponent)


def _no_root() -> float:
    raise Fault("#NUM!", "a negative number has no such root")


def percent(number: Number, times: int) -> Number:
    if number.__class__ is Decimal:
        try:
            return EXACT.scaleb(number, -2 * times)
        except DecimalException:
            pass
    return float(number) / 100.0**times if times < 150 else ZERO


def negative(number: Number) -> Number:
    return -number if number else number


def total(numbers: list[Number]) -> Number:
    result: Number = ZERO
    for number in numbers:
        result = add(result, number)
    return result


BINARY: dict[str, Callable[[Number, Number], Number]] = {
    "+": add,
    "-": subtract,
    "*": multiply,
    "/": divide,
    "^": power,
}
