"""Case ids (safe in node ids, readable, unique) and the round trip of CSV, over any text."""

from __future__ import annotations

import csv
import io
import tempfile
import unicodedata
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_verica.golden import golden_set_from_rows, load_golden_set
from pytest_verica.golden.delimited import separator_of
from pytest_verica.golden.ids import MAX_LENGTH, positional_id, safe_id, safe_ids


@pytest.mark.parametrize(
    ("original", "safe"),
    [
        ("order-17", "order-17"),
        ("pedido ñ 3/4", "pedido ñ 3/4"),
        ("日本語", "日本語"),
        ("a::b", "a_b"),
        ("a:b", "a:b"),
        (":a:", "_a_"),
        ("x[1]", "x_1_"),
        (" a\n\tb ", "a b"),
        ("a\x00b\x1b[0m", "a_b__0m"),
        ("a\u202eb", "a_b"),  # turns the direction of what follows in a terminal
        ("a\ud800", "a_"),
        ("::", "_"),
        ("\x00", "_"),
    ],
)
def test_safe_id(original, safe):
    assert safe_id(original) == safe


def test_a_long_id_is_cut_with_a_hash():
    # sha256 of 100 times "x" starts with 09ecb6eb
    assert safe_id("x" * 100) == "x" * 71 + "-09ecb6eb"
    first, second = safe_ids(["x" * 100 + "1", "x" * 100 + "2"])
    assert first != second and len(first) == len(second) == 80


def test_ids_that_become_equal_get_a_hash_and_safe_ones_stay():
    # sha256("a::b") starts with 8e7fdc27, sha256("a[b") with 0df0d3ad
    ids = safe_ids(["a::b", "a_b", "a[b", "c::d"])
    assert ids[1] == "a_b" and ids[3] == "c_d"
    assert ids[0].startswith("a_b-") and ids[2].startswith("a_b-") and len(set(ids)) == 4


def test_the_original_is_kept():
    golden = golden_set_from_rows([{"id": "a::b"}, {"id": 3.0}], "x")
    assert [(case.id, case.original_id) for case in golden] == [("a_b", "a::b"), ("3", "3")]


@pytest.mark.parametrize(("position", "id"), [(0, "row-0001"), (9998, "row-9999"), (9999, "row-10000")])
def test_positional_ids_do_not_depend_on_the_size(position, id):
    assert positional_id(position) == id


ODD = st.text(st.sampled_from("ab:[]/ \n\t\x00\u202e\ud800\u00a0é_-") | st.characters(), min_size=1, max_size=100)


@given(st.lists(ODD, unique_by=lambda text: text.strip(), max_size=8))
def test_any_ids_become_safe_and_unique(originals):
    ids = safe_ids(originals)
    assert len(set(ids)) == len(originals)
    assert ids == safe_ids(originals)
    for safe in ids:
        assert 0 < len(safe) <= MAX_LENGTH
        assert "::" not in safe and not set("[]") & set(safe)
        assert safe == safe.strip() and not safe.startswith(":") and not safe.endswith(":")
        assert all(unicodedata.category(character) not in ("Cc", "Cs", "Zl", "Zp") for character in safe)
        safe.encode("utf-8")


@given(st.lists(st.text("ab-_", min_size=1, max_size=30), unique=True, max_size=8))
def test_safe_ids_are_left_alone(originals):
    assert safe_ids(originals) == originals


CELLS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00"), max_size=20)


@given(
    st.lists(st.tuples(CELLS, CELLS).filter(lambda row: any(cell.strip() for cell in row)), min_size=1, max_size=5),
    st.sampled_from(",;\t"),
    st.sampled_from(["\n", "\r\n"]),
    st.booleans(),
)
def test_what_csv_writes_is_read_back(written, separator, newline, marked):
    stream = io.StringIO()
    # Not every Python quotes a lone \r by itself.
    quoting = csv.QUOTE_ALL if any("\r" in cell for row in written for cell in row) else csv.QUOTE_MINIMAL
    writer = csv.writer(stream, delimiter=separator, lineterminator=newline, quoting=quoting)
    writer.writerows([("question", "año"), *written])
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "x.csv").write_bytes(stream.getvalue().encode("utf-8-sig" if marked else "utf-8"))
        golden = load_golden_set("x.csv", Path(folder))
    assert [tuple(case.values()) for case in golden] == written
    assert golden.columns == ("question", "año")


@pytest.mark.parametrize(
    ("header", "expected", "separator"),
    [
        ("a,b", ",", ","),
        ("a;b", ",", ";"),
        ("a\tb", ",", "\t"),
        ("a,b", "\t", ","),
        ("a\tb, c", "\t", "\t"),  # a TSV file with a tab is not guessed at
        ("a", ",", ","),
        ("a", "\t", "\t"),
        ('"a;b",c', ",", ","),  # inside quotes it separates nothing
        ("a b;c,d", ",", ","),  # neither makes names: as many columns, so the expected one
        ("\n\na;b", ",", ";"),
        (",a,a", ",", ","),
    ],
)
def test_the_separator_is_that_of_the_header(header, expected, separator):
    assert separator_of(header, expected) == separator
