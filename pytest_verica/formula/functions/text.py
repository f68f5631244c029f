"""Functions of texts. Positions count characters (code points) from 1."""

from __future__ import annotations

import re
from decimal import Decimal
from typing import Any

from pytest_verica.formula.error import Fault, FormulaError, Passed
from pytest_verica.formula.function import Function
from pytest_verica.formula.value import (
    ONE,
    Number,
    check_length,
    integer_of,
    made_text,
    number_of,
    shown,
    text_of,
    truth_of,
)
from pytest_verica.formula.wildcard import search as find_pattern

_SPACES = re.compile(" +")


def length(text: Any) -> Number:
    return Decimal(len(text_of(text)))


def left(text: Any, count: Any = ONE) -> str:
    return text_of(text)[: _count(count)]


def right(text: Any, count: Any = ONE) -> str:
    whole, size = text_of(text), _count(count)
    return whole[max(len(whole) - size, 0) :]


def middle(text: Any, start: Any, count: Any) -> str:
    first, size = integer_of(start), _count(count)
    if first < 1:
        raise Fault("#NUM!", "the first character is number 1")
    return text_of(text)[first - 1 : first - 1 + size]


def _count(count: Any) -> int:
    size = integer_of(count)
    if size < 0:
        raise Fault("#NUM!", "a number of characters is not negative")
    return size


def find(wanted: Any, text: Any, start: Any = ONE) -> Number:
    needle, whole, first = text_of(wanted), text_of(text), integer_of(start)
    place = whole.find(needle, first - 1) if needle and 1 <= first <= len(whole) else -1
    return _place(None if place < 0 else place, needle)


def search(wanted: Any, text: Any, start: Any = ONE) -> Number:
    needle, whole, first = text_of(wanted), text_of(text), integer_of(start)
    if first < 1:
        raise Fault("#NUM!", "the first character is number 1")
    return _place(find_pattern(needle, whole, first - 1) if needle and first <= len(whole) else None, needle)


def _place(place: int | None, wanted: str) -> Number:
    if place is None:
        raise Fault("#VALUE!", f"{shown(wanted)} is not in the text")
    return Decimal(place + 1)


def substitute(text: Any, old: Any, new: Any, which: Any = None) -> str:
    whole, before, after = text_of(text), text_of(old), text_of(new)
    if which is None:
        if not before:
            return whole
        check_length(len(whole) + whole.count(before) * (len(after) - len(before)))
        return whole.replace(before, after)
    number = integer_of(which)
    if number < 1:
        raise Fault("#NUM!", "the first occurrence is number 1")
    parts = whole.split(before, number) if before else [whole]
    if len(parts) <= number:
        return whole
    return made_text(before.join(parts[:number]) + after + parts[number])


def trim(text: Any) -> str:
    return _SPACES.sub(" ", text_of(text)).strip(" ")


def upper(text: Any) -> str:
    return text_of(text).upper()


def lower(text: Any) -> str:
    return text_of(text).lower()


def concatenate(*texts: Any) -> str:
    return _joined("", _pieces(texts))


def join(separator: Any, skip_empty: Any, *texts: Any) -> str:
    pieces = _pieces(texts)
    return _joined(text_of(separator), [piece for piece in pieces if piece] if truth_of(skip_empty) else pieces)


def _pieces(arguments: tuple[Any, ...]) -> list[str]:
    pieces: list[str] = []
    for argument in arguments:
        for value in argument if argument.__class__ is tuple else (argument,):
            if value.__class__ is FormulaError:
                raise Passed(value)
            pieces.append(text_of(value))
    return pieces


def _joined(separator: str, pieces: list[str]) -> str:
    check_length(sum(map(len, pieces)) + len(separator) * len(pieces))
    return separator.join(pieces)


def value(text: Any) -> Number:
    return number_of(text)


def exact(text: Any, other: Any) -> bool:
    return text_of(text) == text_of(other)


ROWS = (
    Function("LEN(text)", "How many characters.", '=LEN("café")', "4", length),
    Function(
        "LEFT(text, [count])",
        "The first characters, one where no count is given.",
        '=LEFT("order-17", 5)',
        "order",
        left,
    ),
    Function("RIGHT(text, [count])", "The last characters.", '=RIGHT("order-17", 2)', "17", right),
    Function("MID(text, start, count)", "Characters from a position on.", '=MID("order-17", 7, 2)', "17", middle),
    Function(
        "FIND(wanted, text, [start])",
        "The position of a text in another; case counts.",
        '=FIND("-", "order-17")',
        "6",
        find,
    ),
    Function(
        "SEARCH(wanted, text, [start])",
        "As FIND, without case; `*`, `?` and `~` make a pattern.",
        '=SEARCH("E?-", "order-17")',
        "4",
        search,
    ),
    Function(
        "SUBSTITUTE(text, old, new, [which])",
        "Another text in place of each occurrence, or of one.",
        '=SUBSTITUTE("1.234", ".", "")',
        "1234",
        substitute,
    ),
    Function("TRIM(text)", "Without spaces around, and with single ones inside.", '=TRIM("  a   b ")', "a b", trim),
    Function("UPPER(text)", "In capitals.", '=UPPER("abc")', "ABC", upper),
    Function("LOWER(text)", "In small letters.", '=LOWER("ABC")', "abc", lower),
    Function("CONCAT(texts, …)", "One text behind the other.", '=CONCAT("a", 1, "b")', "a1b", concatenate),
    Function(
        "TEXTJOIN(separator, skip_empty, texts, …)",
        "Texts with a separator between them.",
        '=TEXTJOIN("-", TRUE, "a", "", "b")',
        "a-b",
        join,
    ),
    Function("VALUE(text)", "The number that a text is.", '=VALUE("1,234.50")', "1234.5", value),
    Function("EXACT(text, other)", "Whether two texts are the same; case counts.", '=EXACT("a", "A")', "FALSE", exact),
)
