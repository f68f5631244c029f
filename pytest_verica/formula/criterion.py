"""What COUNTIF and its kin look for: a value, or a text such as `">5"`, `"<>a"`, `"a*"`."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from pytest_verica.formula.compare import COMPARISONS, compare_numbers, compare_texts, same_text
from pytest_verica.formula.error import FormulaError
from pytest_verica.formula.numeral import numeral
from pytest_verica.formula.value import CellText, Number, number_of, text_of
from pytest_verica.formula.wildcard import is_pattern, matches

Test = Callable[[Any], bool]

_OPERATOR = re.compile(r"(<=|>=|<>|<|>|=)?(.*)", re.DOTALL)


def criterion(value: Any) -> Test:
    """The test of an element that a criterion stands for."""
    if not isinstance(value, str):
        return _number_test("=", number_of(value), "")
    match = _OPERATOR.fullmatch(value)
    assert match is not None
    sign, operand = match[1] or "=", match[2]
    if not operand and sign in ("=", "<>"):
        return (lambda element: element is None or element == "") if sign == "=" else _holds_something
    number = numeral(operand)
    return _text_test(sign, operand) if number is None else _number_test(sign, number, operand)


def equal_to(value: Any, *, patterns: bool = True) -> Test:
    """Whether an element is the same as a value: no operator, and a text may be a pattern."""
    if not isinstance(value, str):
        return _number_test("=", number_of(value), "")
    number = value.number if isinstance(value, CellText) else numeral(value)
    return _text_test("=", value, patterns) if number is None else _number_test("=", number, value)


def number_in(element: Any) -> Number | None:
    """The number that a list's element is; texts of the formula are none."""
    if isinstance(element, CellText):
        return element.number
    if element is None or isinstance(element, (str, FormulaError)):
        return None
    return number_of(element)


def _holds_something(element: Any) -> bool:
    return element is not None and element != ""


def _number_test(sign: str, wanted: Number, written: str) -> Test:
    holds = COMPARISONS["=" if sign == "<>" else sign]

    def test(element: Any) -> bool:
        number = number_in(element)
        if number is None:
            return sign in ("=", "<>") and bool(written) and isinstance(element, str) and same_text(element, written)
        return holds(compare_numbers(number, wanted), 0)

    return (lambda element: not test(element)) if sign == "<>" else test


def _text_test(sign: str, wanted: str, patterns: bool = True) -> Test:
    if sign not in ("=", "<>"):
        holds = COMPARISONS[sign]
        return lambda element: isinstance(element, str) and holds(compare_texts(element, wanted), 0)
    if patterns and is_pattern(wanted):
        return _pattern_test(wanted, wanted_outcome=sign == "=")
    if sign == "=":
        return lambda element: isinstance(element, str) and same_text(element, wanted)
    return lambda element: not (isinstance(element, str) and same_text(element, wanted))


def _pattern_test(pattern: str, *, wanted_outcome: bool) -> Test:
    """Numbers are matched by their text; an empty cell matches nothing, not even `*`."""

    def test(element: Any) -> bool:
        if element is None or element == "" or element.__class__ is FormulaError:
            return not wanted_outcome
        return matches(pattern, text_of(element)) is wanted_outcome

    return test
