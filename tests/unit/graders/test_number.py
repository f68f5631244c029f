"""Reading numbers from values and from prose, and comparing them."""

from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from pytest_verica.graders.number import (
    NotANumber,
    aggregate,
    extract_number,
    read_number,
    same,
    show,
    spans_of_numbers,
)

READ = [
    # value, number_format, the number by hand
    (42, None, "42"),
    (0.1, None, "0.1"),
    (12345678901234567890, None, "12345678901234567890"),
    ("42", None, "42"),
    (" 42.0 ", None, "42"),
    ("4.2e1", None, "42"),
    ("-3", None, "-3"),
    ("+7", None, "7"),
    ("\u22123", None, "-3"),  # the typographer's minus
    (".5", None, "0.5"),
    ("5.", None, "5"),
    ("٤٢", None, "42"),  # Arabic-Indic digits
    ("1,234.50", None, "1234.5"),
    ("1,234.50", "en", "1234.5"),
    ("1.234,50", "es", "1234.5"),
    ("1.234", "es", "1234"),
    ("80 000", "es", "80000"),
    ("1\u00a0234\u00a0567,5", "es", "1234567.5"),
    ("$80 000", "es", "80000"),
    ("0,5", "es", "0.5"),
    ("1.234,50", "auto", "1234.5"),
    ("1,234.50", "auto", "1234.5"),
    ("1,234,567", "auto", "1234567"),
    ("1234.567", "auto", "1234.567"),  # no one groups four digits
    ("0.123", "auto", "0.123"),  # no group begins with 0
    ("1,5", "auto", "1.5"),
    ("$5", "en", "5"),
    ("-$5", "en", "-5"),
    ("$-5", "en", "-5"),
    ("12 %", "en", "12"),
    ("1.234,50 €", "es", "1234.5"),
]


@pytest.mark.parametrize(("value", "form", "number"), READ)
def test_a_number_is_a_number(value, form, number):
    assert read_number(value, form) == Decimal(number)


NOT_READ = [
    (True, None, "a boolean"),
    (None, None, "null"),
    ([1], None, "an array of 1 element"),
    (float("nan"), None, "not a finite number"),
    (float("inf"), None, "not a finite number"),
    (Decimal("NaN"), None, "not a finite number"),
    ("NaN", None, "not a number"),
    ("Infinity", None, "not a number"),
    ("1_000", None, "not a number"),
    ("", None, "empty"),
    ("abc", None, "'abc', not a number"),
    ("1,23", None, "`number_format: es`"),
    ("1.234,50", "en", "`number_format: es`"),
    ("1,234.50", "es", "`number_format: en`"),
    ("1,234", "auto", "ambiguous: 1234 or 1.234"),
    ("1.234", "auto", "ambiguous: 1.234 or 1234"),
    ("$5", None, "currency signs and % are read with `number_format"),
    ("5 %", None, "currency signs"),
    ("--5", "en", "not a number"),
    ("-$-5", "en", "not a number"),
    ("it is 5", None, "`extract: last`"),
    ("\ud800", None, r"'\ud800'"),
    ("5\x00", None, r"'5\x00'"),
]


@pytest.mark.parametrize(("value", "form", "says"), NOT_READ)
def test_what_is_no_number_says_why(value, form, says):
    with pytest.raises(NotANumber) as caught:
        read_number(value, form)
    assert says in str(caught.value)


PROSE = [
    # text, first, last (None: that number cannot be read), how many there are
    ("The total is $1,234.50.", "1234.5", "1234.5", 1),
    ("it is -3", "-3", "-3", 1),
    ("about 4.2e1", "42", "42", 1),
    ("a trailing period: 26.", "26", "26", 1),
    ("5kg of v2", "5", "5", 1),  # a unit may follow, a word may not lead
    ("10-20", "10", "20", 2),
    ("16 - 3 = <<16-3=13>>13", "16", "13", 6),
    ("-$5 or $-6", "-5", "-6", 2),
    ("(-4)", "-4", "-4", 1),
    ("5 - -3", "5", "-3", 2),
    ("half .5", "0.5", "0.5", 1),
    ("7% of 1/2", "7", "2", 3),
    ("from 3...5", "3", "5", 2),
    ("\u22128 °C", "-8", "-8", 1),
    ("version 1.5.2", None, None, 1),
    ("1.234,50 euros", None, None, 1),
]


@pytest.mark.parametrize(("text", "first", "last", "count"), PROSE)
def test_numbers_in_prose(text, first, last, count):
    def found(which):
        try:
            return extract_number(text, which)
        except NotANumber:
            return None

    assert found("first") == (None if first is None else Decimal(first))
    assert found("last") == (None if last is None else Decimal(last))
    assert found("only") == (Decimal(first) if count == 1 and first else None)


SPANISH = [
    # text, every number
    ("cuesta $80 000 y luego 50 000.", ["80000", "50000"]),
    ("en 2024 300 personas", ["2024", "300"]),
    ("1 234 567,5 veces", ["1234567.5"]),
    ("son 12 3456 y 0 500", ["12", "3456", "0", "500"]),
    ("5.600 o 5,6", ["5600", "5.6"]),
]


@pytest.mark.parametrize(("text", "numbers"), SPANISH)
@pytest.mark.parametrize("before", ["", "Una frase que no termina. " * 9], ids=["short", "long"])
def test_spaces_group_digits_in_spanish(text, numbers, before):
    assert extract_number(before + text, "first", "es") == Decimal(numbers[0])
    assert extract_number(before + text, "last", "es") == Decimal(numbers[-1])
    text = before + text
    assert len(list(spans_of_numbers(text, spaced=True))) == len(numbers)


def test_only_names_the_numbers_it_found():
    with pytest.raises(NotANumber, match=r"several numbers in it: 3, -4; only one was expected"):
        extract_number("3 or -4", "only")
    with pytest.raises(NotANumber, match="no number in it"):
        extract_number("none", "last")


@pytest.mark.parametrize("piece", ["1", "1,", ".", "-", "$", "a1", " ", "1e", "-$"])
def test_a_megabyte_of_anything_is_read_or_refused(piece):
    for read in (lambda text: extract_number(text, "last"), read_number):
        try:
            said = show(read(piece * 500_000))
        except NotANumber as error:
            said = str(error)
        assert 0 < len(said) < 400


SAME = [
    ("0.3", "0.30000000000000004", None, True),  # =0.1+0.2 in doubles
    ("1e-9", "0", None, True),
    ("1.1e-9", "0", None, False),
    ("12345678901234567890", "12345678901234567891", None, False),  # whole numbers are exact
    ("1000000000.4", "1000000000.9", None, True),  # relative over 1
    ("1000000000.4", "1000000002.4", None, False),
    ("1", "1.05", "0.05", True),
    ("1", "1.051", "0.05", False),
    ("5", "6", "0", False),
    ("1e999999999", "1", None, False),
    ("-0", "0", "0", True),
]


@pytest.mark.parametrize(("one", "other", "tolerance", "expected"), SAME)
def test_equality(one, other, tolerance, expected):
    assert same(Decimal(one), Decimal(other), None if tolerance is None else Decimal(tolerance)) is expected


numbers = st.decimals(allow_nan=False, allow_infinity=False)


@given(numbers, numbers, st.none() | st.decimals(min_value=0, max_value=10, allow_nan=False))
def test_tolerance_is_symmetric(one, other, tolerance):
    assert same(one, other, tolerance) is same(other, one, tolerance)


@given(numbers, st.decimals(min_value=0, max_value=10, places=3), st.decimals(min_value=0, max_value=10, places=3))
def test_a_wider_tolerance_keeps_what_a_narrower_one_accepts(one, narrow, wide):
    assume(narrow <= wide and abs(one.adjusted()) < 50)
    assert same(one, one + narrow, narrow) <= same(one, one + narrow, wide)


@given(st.integers())
def test_whole_numbers_equal_only_themselves(number):
    assert same(Decimal(number), Decimal(number)) and not same(Decimal(number), Decimal(number + 1))


@given(st.decimals(allow_nan=False, allow_infinity=False, places=4), st.sampled_from(["en", "es"]))
def test_grouped_digits_read_back(number, form):
    assume(abs(number) < Decimal(10) ** 15)
    text = f"{number:,f}"
    if form == "es":
        text = text.translate(str.maketrans(",.", ".,"))
    assert read_number(text, form) == number


AGGREGATES = [("sum", "6.6"), ("avg", "2.2"), ("min", "1.1"), ("max", "3.3"), ("count", "3")]


@pytest.mark.parametrize(("which", "expected"), AGGREGATES)
def test_aggregates_are_decimal(which, expected):
    assert aggregate(which, [1.1, 2.2, "3.3"], "prices") == Decimal(expected)


@pytest.mark.parametrize(("which", "expected"), [("sum", 0), ("count", 0), ("avg", None), ("min", None), ("max", None)])
def test_aggregates_of_nothing(which, expected):
    if expected is not None:
        assert aggregate(which, [], "prices") == expected
        return
    with pytest.raises(NotANumber, match="`prices` has no elements"):
        aggregate(which, [], "prices")


@pytest.mark.parametrize("which", ["sum", "avg", "min", "max", "count"])
def test_an_element_that_is_no_number_is_named(which):
    with pytest.raises(NotANumber, match="its element 1 is true, a boolean"):
        aggregate(which, [1, True], "prices")


@pytest.mark.parametrize(
    ("number", "text"), [("42.0", "42"), ("1234.50", "1234.5"), ("4.2E+1", "42"), ("0E-7", "0"), ("1E+50", "1E+50")]
)
def test_numbers_are_shown_as_people_write_them(number, text):
    assert show(Decimal(number)) == text


pieces = st.sampled_from(
    ["word", "v2", "5", "-3", "12.50", "$-7", ".5", "1e3", "a.5", "10-20", "\n", "\u00a0", "x" * 50]
)


@given(st.lists(pieces, min_size=1, max_size=80), st.sampled_from([" ", "\n", ""]))
def test_the_last_number_is_found_from_the_end_as_from_the_beginning(words, between):
    text = between.join(words)
    spans = list(spans_of_numbers(text))
    try:
        found = extract_number(text, "last", "auto")
    except NotANumber:
        return
    start, end = spans[-1]
    assert abs(found) == read_number(text[start:end], "auto")
