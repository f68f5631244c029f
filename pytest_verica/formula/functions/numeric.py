"""Functions of numbers: signs, division, powers, roots, logarithms."""

from __future__ import annotations

import math
from decimal import ROUND_DOWN, ROUND_FLOOR, Decimal, DecimalException
from typing import Any

from pytest_verica.formula.arithmetic import EXACT, LOOSE, clean, divide, finite, multiply, power, subtract
from pytest_verica.formula.error import Fault
from pytest_verica.formula.function import Function
from pytest_verica.formula.value import ZERO, Number, magnitude, number_of


def absolute(number: Any) -> Number:
    return magnitude(number_of(number))


def sign(number: Any) -> Number:
    value = number_of(number)
    return Decimal((value > 0) - (value < 0))


def modulo(number: Any, divisor: Any) -> Number:
    value, by = number_of(number), number_of(divisor)
    if by and isinstance(value, Decimal) and isinstance(by, Decimal):
        try:
            rest = LOOSE.remainder(value, by)
            return (LOOSE.add(rest, by) if (rest < 0) != (by < 0) else rest) if rest else ZERO
        except DecimalException:
            pass
    left = subtract(value, multiply(whole_part(divide(value, by), down=True), by))
    return left if magnitude(left) < magnitude(by) else ZERO


def quotient(number: Any, divisor: Any) -> Number:
    value, by = number_of(number), number_of(divisor)
    if by and isinstance(value, Decimal) and isinstance(by, Decimal):
        try:
            return LOOSE.divide_int(value, by) or ZERO
        except DecimalException:
            pass
    return whole_part(divide(value, by), down=False)


def whole_part(number: Number, *, down: bool) -> Decimal:
    """Without its fraction: the next whole number below, or towards zero."""
    return clean(number).to_integral_value(ROUND_FLOOR if down else ROUND_DOWN, LOOSE)


def raised(number: Any, exponent: Any) -> Number:
    return power(number_of(number), number_of(exponent))


def square_root(number: Any) -> Number:
    value = number_of(number)
    if value < 0:
        raise Fault("#NUM!", "a negative number has no square root")
    if isinstance(value, Decimal):
        try:
            return EXACT.sqrt(value)
        except DecimalException:
            pass
    return math.sqrt(value)


def exponential(number: Any) -> Number:
    try:
        return finite(math.exp(number_of(number)))
    except OverflowError:
        raise Fault("#NUM!", "the result is too large") from None


def natural_logarithm(number: Any) -> Number:
    return math.log(_positive(number))


def logarithm(number: Any, base: Any = Decimal(10)) -> Number:
    value, root = _positive(number), _positive(base)
    if root == 1:
        raise Fault("#NUM!", "a logarithm has no base 1")
    if root == 10:
        return math.log10(value)
    return math.log2(value) if root == 2 else math.log(value) / math.log(root)


def decimal_logarithm(number: Any) -> Number:
    return math.log10(_positive(number))


def _positive(number: Any) -> float:
    value = float(number_of(number))
    if value <= 0:
        raise Fault("#NUM!", "only numbers above zero have a logarithm")
    return value


ROWS = (
    Function(
        "INT(number)",
        "The next whole number below.",
        "=INT(-2.5)",
        "-3",
        lambda number: whole_part(number_of(number), down=True),
    ),
    Function("ABS(number)", "The number without its sign.", "=ABS(-3)", "3", absolute),
    Function("SIGN(number)", "The sign: 1, 0 or -1.", "=SIGN(-3)", "-1", sign),
    Function("MOD(number, divisor)", "The rest of a division; it has the divisor's sign.", "=MOD(-7, 3)", "2", modulo),
    Function("QUOTIENT(number, divisor)", "A division without its fraction.", "=QUOTIENT(-7, 2)", "-3", quotient),
    Function("POWER(number, exponent)", "The same as `number ^ exponent`.", "=POWER(2, 10)", "1024", raised),
    Function("SQRT(number)", "The square root.", "=SQRT(16)", "4", square_root),
    Function("EXP(number)", "The number e to a power.", "=ROUND(EXP(1), 4)", "2.7183", exponential),
    Function("LN(number)", "The natural logarithm.", "=LN(EXP(2))", "2", natural_logarithm),
    Function("LOG(number, [base])", "The logarithm to a base, 10 where none is given.", "=LOG(8, 2)", "3", logarithm),
    Function("LOG10(number)", "The logarithm to the base 10.", "=LOG10(1000)", "3", decimal_logarithm),
    Function("PI()", "The number pi.", "=ROUND(PI(), 4)", "3.1416", lambda: math.pi),
)
