"""Numbers: read from JSON and from text, found in prose, compared and added. Decimal throughout."""

from __future__ import annotations

import math
import re
import unicodedata
from collections import deque
from collections.abc import Iterator, Sequence
from decimal import MAX_EMAX, MIN_EMIN, Context, Decimal, DivisionByZero, InvalidOperation, Overflow
from itertools import islice
from typing import Any, Literal

from pytest_verica.graders.excerpt import excerpt
from pytest_verica.path import describe

NumberFormat = Literal["en", "es", "auto"]
Extract = Literal["last", "first", "only"]
Aggregate = Literal["sum", "avg", "min", "max", "count"]

# Wide enough for exact sums of 20-digit integers; what is out of range raises instead of turning into infinity.
ARITHMETIC = Context(prec=100, Emax=MAX_EMAX, Emin=MIN_EMIN, traps=[InvalidOperation, DivisionByZero, Overflow])
EPSILON = Decimal("1e-9")

_PLAIN = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d{1,9})?\Z")
_EXPONENT = r"(?:[eE][+-]?\d{1,9})?"
_EN = re.compile(rf"[+-]?(?:(?:[1-9]\d{{0,2}}(?:,\d{{3}})+|\d+)(?:\.\d*)?|\.\d+){_EXPONENT}\Z")
# Spanish groups with points, or as the Academy has it with (unbreakable, narrow) spaces.
_SPACES = " \u00a0\u2009\u202f"
_ES = re.compile(
    rf"[+-]?(?:(?:[1-9]\d{{0,2}}(?:(?:\.\d{{3}})+|(?:[{_SPACES}]\d{{3}})+)|\d+)(?:,\d*)?|,\d+){_EXPONENT}\Z"
)
# A number in prose: digits with single separators between them, or after one (.5); an exponent that ends there.
_EXPONENT_ENDS = r"(?:[eE][+-]?\d{1,9}(?!\w))?"
_DIGITS = re.compile(rf"(?P<first>\d+)(?:[.,]\d+)*{_EXPONENT_ENDS}")  # a digit comes first: found by the fast search
_SPACED = re.compile(rf"(?P<first>[1-9]\d{{0,2}}(?:[{_SPACES}]\d{{3}})+(?!\d)|\d+)(?:[.,]\d+)*{_EXPONENT_ENDS}")
_FRACTION = re.compile(rf"[.,]\d+{_EXPONENT_ENDS}")
# What may stand before it: a sign (unless a word stands before that: 10-20), a currency sign, a sign.
_BEFORE = re.compile(
    r"(?:(?<![\w)\]])(?P<sign>[-+\u2212]))?(?:[^\w\s.,;:!?()\[\]{}'\"<>=*/+\u2212-](?P<inner>[-\u2212])?)?\Z"
)
_FIRST_REACH = 60
_MOST_BEFORE = 4  # those three, and the character that decides on the first


class NotANumber(Exception):
    """There is no number, or no single one; says what was found in its place."""


def read_number(value: Any, form: NumberFormat | None = None) -> Decimal:
    """The number that a JSON value or a text is.

    `form` says how texts group digits; None is `en` without currency signs and `%`.

    Raises:
        NotANumber: it is none: a boolean, NaN, an infinity, an ambiguous or any other text, an array, an object.
    """
    if value.__class__ is str:
        return _from_text(value, form)
    if isinstance(value, bool):
        raise NotANumber(f"{describe(value)}, a boolean, not a number")
    if isinstance(value, int):
        return Decimal(value)
    if isinstance(value, float):
        if not math.isfinite(value):
            raise NotANumber(f"{value}, not a finite number")
        return Decimal(repr(value))  # 0.1 is 0.1
    if isinstance(value, Decimal):
        if not value.is_finite():
            raise NotANumber(f"{value}, not a finite number")
        return value
    if isinstance(value, str):
        return _from_text(str(value), form)
    raise NotANumber(f"{describe(value)}, not a number")


def _from_text(text: str, form: NumberFormat | None, *, alone: bool = True) -> Decimal:
    stripped = text.strip()
    if _PLAIN.match(stripped) and form in (None, "en"):
        return Decimal(stripped)
    body = stripped.replace("\u2212", "-")
    if form is not None:
        body = _without_signs(body)
    if not any(character.isdigit() for character in body[:400]):
        raise NotANumber(f"{excerpt(text)}, not a number" if stripped else "empty, not a number")
    readings = {}
    if form != "es":
        readings["en"] = _grouped(_EN, body, ",", ".")
    if form in ("es", "auto"):
        readings["es"] = _grouped(_ES, body, f".{_SPACES}", ",")
    numbers = {number for number in readings.values() if number is not None}
    if len(numbers) == 1:
        return numbers.pop()
    if numbers:
        raise NotANumber(
            f"{excerpt(text)}, which is ambiguous: {show(readings['en'])} or {show(readings['es'])}; "
            "set `number_format: en` or `es`"
        )
    raise NotANumber(f"{excerpt(text)}, not a number{_advice(body, form, alone)}")


def _grouped(pattern: re.Pattern[str], body: str, groups: str, point: str) -> Decimal | None:
    if not pattern.match(body):
        return None
    for group in groups:
        body = body.replace(group, "")
    return Decimal(body.replace(point, "."))


def _without_signs(body: str) -> str:
    """Leaves out one currency sign, before or after, and a `%`."""
    sign = ""
    if body[:1] in ("-", "+"):
        sign, body = body[0], body[1:].lstrip()
    if body and unicodedata.category(body[0]) == "Sc":
        body = body[1:].lstrip()
    elif body and (body[-1] == "%" or unicodedata.category(body[-1]) == "Sc"):
        body = body[:-1].rstrip()
    return sign + body if not (sign and body[:1] in ("-", "+")) else "not one number"


def _advice(body: str, form: NumberFormat | None, alone: bool) -> str:
    if form is None and _without_signs(body) != body:
        return " (currency signs and % are read with `number_format: en`, `es` or `auto`)"
    if form in (None, "en") and _ES.match(body):
        return " written the English way (`number_format: es` reads 1.234,50)"
    if form == "es" and _EN.match(body):
        return " written the Spanish way (`number_format: en` reads 1,234.50)"
    if alone and any(True for _ in spans_of_numbers(body[:2000])):
        return " (`extract: last`, `first` or `only` finds one inside a text)"
    return ""


def extract_number(text: str, which: Extract, form: NumberFormat | None = None) -> Decimal:
    """The last, the first or the only number inside prose.

    Raises:
        NotANumber: there is none; or several, where the only one was asked for; or it cannot be read as `form`.
    """
    # Four are enough for "only": the others are named in the message.
    spaced = form in ("es", "auto")
    if which == "last":
        spans = _last_span(text, spaced=spaced)
    else:
        spans = list(islice(spans_of_numbers(text, spaced=spaced), 1 if which == "first" else 4))
    if not spans:
        raise NotANumber(f"{excerpt(text)}, with no number in it")
    numbers = [_signed(text, start, end) for start, end in spans]
    if len(numbers) > 1:
        raise NotANumber(f"{excerpt(text)}, with several numbers in it: {', '.join(numbers)}; only one was expected")
    try:
        return _from_text(numbers[0], form, alone=False)
    except NotANumber as error:
        raise NotANumber(f"a text whose {which} number is {error}") from None


def _last_span(text: str, *, spaced: bool = False) -> list[tuple[int, int]]:
    """The last number's, looked for in the end of the text first, and in more and more of it. A look begins at a space
    that is in no number."""
    reach = _FIRST_REACH
    while (start := text.rfind(" ", 0, max(0, len(text) - reach))) > 0:
        if not (spaced and text[start - 1].isdigit()):
            spans = deque(spans_of_numbers(text, start, spaced=spaced), maxlen=1)
            if spans:
                return list(spans)
        reach *= 8
    return list(deque(spans_of_numbers(text, spaced=spaced), maxlen=1))


def spans_of_numbers(text: str, at: int = 0, *, spaced: bool = False) -> Iterator[tuple[int, int]]:
    """Where the numbers in prose begin and end, from the left, without what stands before them. Not inside a word (v2),
    but a unit may follow (5kg). spaced: single spaces may group their digits (80 000)."""
    pattern = _SPACED if spaced else _DIGITS
    while (found := pattern.search(text, at)) is not None:
        start, at = found.span()
        if start and text[start - 1] in ".," and not (start > 1 and _joins(text[start - 2])):
            start -= 1
            found = _FRACTION.match(text, start)
            assert found is not None
            at = found.end()
        elif start and (text[start - 1] == "_" or text[start - 1].isalnum()):
            at = start + len(found["first"])  # another may follow its point: v2.5
            continue
        yield start, at


def _joins(character: str) -> bool:
    return character in ".,_" or character.isalnum()


def _signed(text: str, start: int, end: int) -> str:
    """The number of a span with its sign, and without a currency sign."""
    found = _BEFORE.search(text[max(0, start - _MOST_BEFORE) : start])
    assert found is not None  # every part of it may be absent
    sign = "-" if (found["sign"] or found["inner"]) in ("-", "\u2212") else ""
    return sign + text[start:end]


def aggregate(which: Aggregate, values: Sequence[Any], name: str, form: NumberFormat | None = None) -> Decimal:
    """Sum, average, least, greatest or number of the elements of an array that messages call `name`.

    Raises:
        NotANumber: an element is none (named by its index), or the array is empty and only sum and count are known.
    """
    numbers: list[Decimal] = []
    for index, value in enumerate(values):
        try:
            numbers.append(read_number(value, form))
        except NotANumber as error:
            raise NotANumber(f"not known: its element {index} is {error}") from None
    if which == "count":
        return Decimal(len(numbers))
    if not numbers and which != "sum":
        raise NotANumber(f"not known: `{name}` has no elements")
    if which == "min":
        return min(numbers)
    if which == "max":
        return max(numbers)
    total = Decimal(0)
    for number in numbers:
        total = ARITHMETIC.add(total, number)
    return total if which == "sum" else ARITHMETIC.divide(total, Decimal(len(numbers)))


def same(one: Decimal, other: Decimal, tolerance: Decimal | None = None) -> bool:
    """Whether two numbers are equal: within the tolerance, else exactly for whole numbers and within 1e-9 for others
    (absolute, and relative where one of them is over 1). Symmetric."""
    if one == other:
        return True
    if tolerance is None:
        if _whole(one) and _whole(other):
            return False
        tolerance = ARITHMETIC.multiply(EPSILON, max(Decimal(1), ARITHMETIC.abs(one), ARITHMETIC.abs(other)))
    return ARITHMETIC.abs(ARITHMETIC.subtract(one, other)) <= tolerance


def _whole(number: Decimal) -> bool:
    exponent = number.as_tuple().exponent
    assert isinstance(exponent, int)
    if exponent >= 0:
        return True
    return number.adjusted() < 10_000 and number == number.to_integral_value()


def show(number: Decimal | None) -> str:
    """A number for people: 1234.5, not 1.2345E+3; cut where it is very long."""
    if number is None:
        return "nothing"
    text = str(number)
    if "E" in text and -10 < number.adjusted() < 40:
        text = format(number, "f")
    if "." in text and "E" not in text:
        text = text.rstrip("0").rstrip(".")
    return text if len(text) <= 60 else text[:60] + "…"
