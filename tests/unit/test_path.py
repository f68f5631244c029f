"""Paths into JSON: what they find, what they say where there is nothing."""

from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_verica.errors import ConfigError, MissingPath
from pytest_verica.path import describe, parse_path, path_text

ORDER = {
    "id": 7,
    "items": [{"sku": "a", "tags": [{"n": 1}, {"n": 2}]}, {"sku": "b", "tags": []}],
    "odd key": {"a.b": 3},
    "rows": [[{"n": 1}], [{"n": 2}, {"n": 3}]],
    "none": None,
    "empty": [],
    "año": 2024,
    "order-id": "x",
}


@pytest.mark.parametrize(
    ("path", "found", "plural"),
    [
        ("id", 7, False),
        ("items[0].sku", "a", False),
        ("items[-1].sku", "b", False),
        ("items.sku", ["a", "b"], True),
        ("items.tags.n", [1, 2], True),  # flat, though two arrays are crossed
        ("items[0].tags.n", [1, 2], True),
        ("items.tags", [[{"n": 1}, {"n": 2}], []], True),  # the last arrays are what was asked for: not crossed
        ("rows.n", [1, 2, 3], True),  # an array of arrays is crossed at once
        ("rows[1].n", [2, 3], True),
        ("rows[1][0].n", 2, False),
        ("items", ORDER["items"], False),
        ('["odd key"]["a.b"]', 3, False),
        ("['odd key']['a.b']", 3, False),
        ("none", None, False),
        ("empty.name", [], True),
        ("año", 2024, False),
        ("order-id", "x", False),
    ],
)
def test_finds(path, found, plural):
    parsed = parse_path(path)
    assert parsed.find(ORDER) == found
    assert parsed.plural(ORDER) is plural
    assert str(parsed) == path


def test_starts_at_an_array():
    assert parse_path("[1].a").find([{"a": 1}, {"a": 2}]) == 2
    assert parse_path("a").find([{"a": 1}, {"a": 2}]) == [1, 2]


@pytest.mark.parametrize(
    ("path", "deepest", "found"),
    [
        ("nope", "", "an object with keys id, items, odd key, rows, none, empty, año, order-id"),
        ("id.x", "id", "the number 7"),
        ("id[0]", "id", "the number 7"),
        ("items[2].sku", "items", "an array of 2 elements"),
        ("items[-3]", "items", "an array of 2 elements"),
        ("items.price", "items[0]", "an object with keys sku, tags"),
        ("items.tags.price", "items[0].tags[0]", "an object with key n"),
        ("none.x", "none", "null"),
        ("empty[0]", "empty", "an empty array"),
        ('["odd key"].x', '["odd key"]', "an object with key a.b"),
        ("order-id.x", "order-id", "the text 'x'"),
    ],
)
def test_names_the_deepest_part_that_exists(path, deepest, found):
    with pytest.raises(MissingPath) as caught:
        parse_path(path).find(ORDER)
    assert (caught.value.path, caught.value.deepest, caught.value.found) == (path, deepest, found)


def test_a_path_that_ends_early_is_not_plural():
    assert parse_path("nope.items").plural(ORDER) is False


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "empty"),
        ("a..b", "character 3"),
        (".a", "character 1"),
        ("a.", "too early"),
        ("a b", '["odd key"]'),
        ("a[*].b", "leave the brackets out"),
        ("a[].b", "leave the brackets out"),
        ("a[x]", "character 2"),
        ("a[0]b", "character 5"),
        ('a["b', "character 2"),
        ("$.a[0]", "write `a[0]`"),
        ("{{ a }}", "character 1"),
    ],
)
def test_says_what_is_no_path(text, says):
    with pytest.raises(ConfigError) as caught:
        parse_path(text)
    assert says in str(caught.value)


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (None, "null"),
        (True, "true"),
        (False, "false"),
        (4, "the number 4"),
        (4.0, "the number 4"),
        (Decimal("4.10"), "the number 4.10"),
        ("abc", "the text 'abc'"),
        ("", "an empty text"),
        ("a\nb", r"the text 'a\nb'"),
        ("x" * 100, "the text '" + "x" * 79 + "…'"),
        ([], "an empty array"),
        ([1], "an array of 1 element"),
        ([1, 2, 3], "an array of 3 elements"),
        ({}, "an empty object"),
        ({"a": 1, "b": 2}, "an object with keys a, b"),
        pytest.param(10**5000, "the number with more than 3,000 digits", id="more digits than Python writes"),
        (b"x", "a value of type bytes"),
    ],
)
def test_describes_in_short_words(value, words):
    assert describe(value) == words


KEYS = st.text(min_size=1, max_size=6).filter(lambda key: key != "$")
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3),
    max_leaves=12,
)


def places(value, steps=()):
    """Every place of a value, without crossing arrays."""
    if steps:
        yield steps, value
    for key, inner in value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ():
        yield from places(inner, (*steps, key))


@given(JSON)
def test_every_place_is_found_by_its_path(value):
    for steps, inner in places(value):
        path = parse_path(path_text(steps))
        assert path.steps == steps
        assert path.find(value) == inner and not path.plural(value)


@given(st.lists(st.dictionaries(st.just("n"), st.integers(), min_size=1), max_size=5))
def test_a_crossed_array_is_a_map(elements):
    assert parse_path("items.n").find({"items": elements}) == [element["n"] for element in elements]
