"""Functions that round: to digits, and to multiples."""

from __future__ import annotations

from decimal import ROUND_DOWN, ROUND_HALF_UP, ROUND_UP, Decimal
from typing import Any

from pytest_verica.formula.arithmetic import LOOSE, clean, divide, multiply
from pytest_verica.formula.error import Fault
from pytest_verica.formula.function import Function
from pytest_verica.formula.value import ONE, ZERO, Number, integer_of, number_of

_MOST_DIGITS = 320


def to_digits(number: Any, digits: Any, rounding: str) -> Number:
    """Rounded to digits behind the point, before it where they are negative; an inexact number as its 15 digits."""
    value, places = number_of(number), integer_of(digits)
    exact = clean(value)
    exponent = exact.as_tuple().exponent
    assert isinstance(exponent, int)
    if -exponent <= places or not exact:
        return value
    if places < -_MOST_DIGITS:
        return ZERO
    result = exact.quantize(Decimal(1).scaleb(-places), rounding, LOOSE)
    return result + 0 if result else ZERO


def nearest(number: Any, digits: Any = ZERO) -> Number:
    return to_digits(number, digits, ROUND_HALF_UP)


def away_from_zero(number: Any, digits: Any = ZERO) -> Number:
    return to_digits(number, digits, ROUND_UP)


def towards_zero(number: Any, digits: Any = ZERO) -> Number:
    return to_digits(number, digits, ROUND_DOWN)


def nearest_multiple(number: Any, multiple: Any) -> Number:
    value, step = number_of(number), number_of(multiple)
    return multiply(step, to_digits(divide(value, step), ZERO, ROUND_HALF_UP)) if step else ZERO


def multiple_above(number: Any, step: Any = None) -> Number:
    return _multiple(number, step, "ROUND_CEILING")


def multiple_below(number: Any, step: Any = None) -> Number:
    return _multiple(number, step, "ROUND_FLOOR")


def _multiple(number: Any, significance: Any, rounding: str) -> Number:
    value = number_of(number)
    step = (ONE if value >= 0 else -ONE) if significance is None else number_of(significance)
    if not step or not value:
        return ZERO
    if (value < 0) != (step < 0):
        raise Fault("#NUM!", "the number and the step have different signs")
    # A negative step counts from zero downwards: what is asked for is above or below all the same.
    times = clean(divide(value, step))
    if step < 0:
        rounding = "ROUND_FLOOR" if rounding == "ROUND_CEILING" else "ROUND_CEILING"
    return multiply(step, times.to_integral_value(rounding, LOOSE))


ROWS = (
    Function(
        "ROUND(number, [digits])",
        "To digits behind the point; a half goes away from zero.",
        "=ROUND(2.675, 2)",
        "2.68",
        nearest,
    ),
    Function("ROUNDUP(number, [digits])", "To digits, away from zero.", "=ROUNDUP(-2.1, 0)", "-3", away_from_zero),
    Function("ROUNDDOWN(number, [digits])", "To digits, towards zero.", "=ROUNDDOWN(-2.9, 0)", "-2", towards_zero),
    Function("TRUNC(number, [digits])", "The same as ROUNDDOWN.", "=TRUNC(2.567, 2)", "2.56", towards_zero),
    Function(
        "MROUND(number, multiple)",
        "To the nearest multiple; a half goes away from zero.",
        "=MROUND(7.5, 3)",
        "9",
        nearest_multiple,
    ),
    Function(
        "CEILING(number, [step])",
        "To the next multiple of the step above; both have one sign.",
        "=CEILING(2.1, 0.5)",
        "2.5",
        multiple_above,
    ),
    Function(
        "FLOOR(number, [step])",
        "To the next multiple of the step below; both have one sign.",
        "=FLOOR(-2.1, -0.5)",
        "-2.5",
        multiple_below,
    ),
)
