"""Numbers: read from JSON and from text, found in prose, compared and added. Decimal throughout."""

from __future__ import annotations

import math
import re
import unicodedata
from collections import deque
from collections.abc import Sequence
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
_ES = re.compile(rf"[+-]?(?:(?:[1-9]\d{{0,2}}(?:\.\d{{3}})+|\d+)(?:,\d*)?|,\d+){_EXPONENT}\Z")
# A number in prose: its sign (unless a word stands before it: 10-20), a currency sign, digits with single separators.
# Not inside a word (v2), but a unit may follow (5kg).
_IN_PROSE = re.compile(
    r"(?:(?<![\w)\]])(?P<sign>[-+\u2212]))?(?:[^\w\s.,;:!?()\[\]{}'\"<>=*/+\u2212-](?P<inner>[-\u2212])?)?"
    r"(?<!\w)(?P<digits>\d+(?:[.,]\d+)*|(?<![\w.,])[.,]\d+)(?P<exponent>[eE][+-]?\d{1,9}(?!\w))?"
)


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
        readings["es"] = _grouped(_ES, body, ".", ",")
    numbers = {number for number in readings.values() if number is not None}
    if len(numbers) == 1:
        return numbers.pop()
    if numbers:
        raise NotANumber(
            f"{excerpt(text)}, which is ambiguous: {show(readings['en'])} or {show(readings['es'])}; "
            "set `number_format: en` or `es`"
        )
    raise NotANumber(f"{excerpt(text)}, not a number{_advice(body, form, alone)}")


def _grouped(pattern: re.Pattern[str], body: str, group: str, point: str) -> Decimal | None:
    if not pattern.match(body):
        return None
    return Decimal(body.replace(group, "").replace(point, "."))


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
    if alone and any(found["digits"] for found in _IN_PROSE.finditer(body[:2000])):
        return " (`extract: last`, `first` or `only` finds one inside a text)"
    return ""


def extract_number(text: str, which: Extract, form: NumberFormat | None = None) -> Decimal:
    """The last, the first or the only number inside prose.

    Raises:
        NotANumber: there is none; or several, where the only one was asked for; or it cannot be read as `form`.
    """
    # Four are enough for "only": the others are named in the message. The last one is found by going through all.
    limit = {"first": 1, "only": 4, "last": None}[which]
    numbers = deque(islice(_IN_PROSE.finditer(text), limit), maxlen=1 if which == "last" else limit)
    if not numbers:
        raise NotANumber(f"{excerpt(text)}, with no number in it")
    if len(numbers) > 1:
        several = ", ".join(match[0].strip() for match in numbers)
        raise NotANumber(f"{excerpt(text)}, with several numbers in it: {several}; only one was expected")
    found = numbers[0]
    sign = "-" if (found["sign"] or found["inner"] or "+") in ("-", "\u2212") else ""
    written = sign + found["digits"] + (found["exponent"] or "")
    try:
        return _from_text(written, form, alone=False)
    except NotANumber as error:
        raise NotANumber(f"a text whose {which} number is {error}") from None


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
