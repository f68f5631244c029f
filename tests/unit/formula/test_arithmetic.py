"""Arithmetic: exact as Python's decimals where it can be, and never NaN, infinite or a traceback."""

from __future__ import annotations

import math
from decimal import ROUND_HALF_UP, Context, Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_verica.formula import FormulaError

PRECISE = Context(prec=120)
decimals = st.decimals(min_value=-(10**12), max_value=10**12, allow_nan=False, places=6)
digits = st.integers(-6, 8)

OPERATORS = [("+", PRECISE.add), ("-", PRECISE.subtract), ("*", PRECISE.multiply)]


@pytest.mark.parametrize(("sign", "right"), OPERATORS)
@given(decimals, decimals)
def test_sums_and_products_are_exact(value_of, sign, right, one, other):
    found = value_of(f"=a{sign}b", {"a": str(one), "b": str(other)})
    assert isinstance(found, Decimal) and found == right(one, other)
    assert value_of(f"=({one}){sign}({other})") == found


@given(decimals, decimals)
def test_a_division_is_exact_or_a_double(value_of, one, other):
    found = value_of(f"=({one})/({other})")
    if not other:
        assert isinstance(found, FormulaError) and found.code == "#DIV/0!"
    elif isinstance(found, Decimal):
        assert PRECISE.multiply(found, other) == one
    else:
        assert math.isclose(found, float(one) / float(other), rel_tol=1e-15)


@given(st.lists(decimals, min_size=1, max_size=20))
def test_a_sum_is_that_of_the_decimals(value_of, numbers):
    columns = {"v": [str(number) for number in numbers]}
    total = Decimal(0)
    for number in numbers:
        total = PRECISE.add(total, number)
    assert value_of("=SUM(v)", columns) == total
    assert value_of("=SUMPRODUCT(v)", columns) == total
    assert (value_of("=MIN(v)", columns), value_of("=MAX(v)", columns)) == (min(numbers), max(numbers))


@given(decimals, digits)
def test_rounding_is_half_away_from_zero(value_of, number, places):
    right = number.quantize(Decimal(1).scaleb(-places), ROUND_HALF_UP, PRECISE)
    assert value_of(f"=ROUND({number},{places})") == right


@given(decimals, decimals)
def test_a_rest_has_the_sign_of_the_divisor(value_of, one, other):
    if not other:
        return
    rest = value_of(f"=MOD({one},{other})")
    assert abs(rest) < abs(other) and (not rest or (rest > 0) == (other > 0))
    times = PRECISE.divide(PRECISE.subtract(one, Decimal(rest)), other)
    assert abs(times - times.to_integral_value()) < Decimal("1e-9")


@given(decimals, decimals)
def test_comparisons_agree(value_of, one, other):
    columns = {"a": str(one), "b": str(other)}
    signs = ("=", "<>", "<", "<=", ">", ">=")
    found = [value_of(f"=a{sign}b", columns) for sign in signs]
    assert found == [one == other, one != other, one < other, one <= other, one > other, one >= other]


EXACT = [
    ("=0.1+0.2", "0.3"),
    ("=0.1*3-0.3", "0"),
    ("=12345678901234567890+1", "12345678901234567891"),
    ("=12345678901234567890=12345678901234567891", "False"),
    ("=1.1*1.1", "1.21"),
    ("=10/4", "2.5"),
    ("=2^64", "18446744073709551616"),
    ("=SUM(1E16,1,-1E16)", "1"),
    ("=SQRT(0.0625)", "0.25"),
    ("=ROUND(1.005,2)", "1.01"),
    ("=7%", "0.07"),
    ("=-0", "0"),
    ("=ROUND(-0.4,0)", "0"),
]


@pytest.mark.parametrize(("formula", "right"), EXACT)
def test_exact(value_of, formula, right):
    found = value_of(formula)
    assert not isinstance(found, float)
    assert str(found) == right or Decimal(found) == Decimal(right)


LARGE = [
    "=1e300*1e300",
    "=EXP(1e300)",
    "=1e300/1e-300",
    "=SUM(1e307,9e307,1.7e308)",
    "=10^308*10",
    "=1%^99^9",
]


@pytest.mark.parametrize("formula", LARGE)
def test_what_is_too_large_is_an_error_value(value_of, formula):
    found = value_of(formula)
    assert found == 0 or (isinstance(found, FormulaError) and found.code == "#NUM!")
