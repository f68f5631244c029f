"""Comparison of values: numbers come before texts, case does not count, an empty cell is what it is compared with."""

from __future__ import annotations

import operator
import unicodedata
from collections.abc import Callable
from decimal import Decimal
from typing import Any

from pytest_verica.formula.arithmetic import near
from pytest_verica.formula.error import Fault, FormulaError, Passed
from pytest_verica.formula.value import CellText, Number, number_of

# Signs stand before digits, digits before letters: the order of the Unicode Collation Algorithm's root table (DUCET).
_ASCII = " _-,;:!?.'\"()[]{}@*/\\&#%`^+<=>|~$0123456789abcdefghijklmnopqrstuvwxyz"
_ORDER = {character: place for place, character in enumerate(_ASCII)}
_LETTERS = len(_ASCII)


def compare(one: Any, other: Any) -> int:
    """-1, 0 or 1.

    Raises:
        Passed: one of them is an error.
    """
    for value in (one, other):
        if value.__class__ is FormulaError:
            raise Passed(value)
        if value.__class__ is tuple:
            raise Fault("#VALUE!", "a list stands where one value is needed")
    if one is None and isinstance(other, str):
        one = ""
    if other is None and isinstance(one, str):
        other = ""
    left, right = _as_number(one, other), _as_number(other, one)
    if left is not None and right is not None:
        return compare_numbers(left, right)
    if left is None and right is None:
        return compare_texts(str(one), str(other))
    return 1 if left is None else -1


def _as_number(value: Any, beside: Any) -> Number | None:
    """A number, or a cell's text that is one, beside anything but a text of the formula."""
    if not isinstance(value, str):
        return number_of(value)
    if isinstance(value, CellText) and (isinstance(beside, CellText) or not isinstance(beside, str)):
        return value.number if not isinstance(beside, CellText) or beside.number is not None else None
    return None


def compare_numbers(one: Number, other: Number) -> int:
    if one.__class__ is Decimal and other.__class__ is Decimal:
        return (one > other) - (one < other)
    left, right = float(one), float(other)
    return 0 if near(left, right) else (left > right) - (left < right)


def same_text(one: str, other: str) -> bool:
    return one == other or folded(one) == folded(other)


def folded(text: str) -> str:
    """Without case, each character for itself; composed characters."""
    if text.isascii():
        return text.lower()
    return "".join(map(_lower, unicodedata.normalize("NFC", text)))


def _lower(character: str) -> str:
    lower = character.lower()
    return lower if len(lower) == 1 else character


def compare_texts(one: str, other: str) -> int:
    if same_text(one, other):
        return 0
    left, right = _key(one), _key(other)
    return (left > right) - (left < right)


def _key(text: str) -> tuple[list[int], list[str]]:
    """Letters first, accents only where all letters are the same."""
    letters: list[int] = []
    accents: list[str] = []
    for character in unicodedata.normalize("NFD", folded(text)):
        if unicodedata.combining(character):
            accents.append(f"{len(letters):09}{character}")
        else:
            letters.append(_ORDER.get(character, _LETTERS + ord(character)))
    return letters, accents


COMPARISONS: dict[str, Callable[[int, int], bool]] = {
    "=": operator.eq,
    "<>": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
"""What the result of `compare` is to be, beside 0."""
