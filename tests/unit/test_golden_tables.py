"""Golden sets in .xlsx books and Parquet files: types, odd sheets, and the extras' absence."""

from __future__ import annotations

import datetime
import sys
from decimal import Decimal

import pytest

from pytest_verica.errors import GoldenSetError
from pytest_verica.golden import load_golden_set


@pytest.fixture
def book(tmp_path):
    """Writes sheets (name -> rows) to book.xlsx."""
    openpyxl = pytest.importorskip("openpyxl")

    def write(**sheets):
        workbook = openpyxl.Workbook()
        workbook.remove(workbook.active)
        for name, rows in sheets.items():
            sheet = workbook.create_sheet(name)
            for row in rows:
                sheet.append(row)
        workbook.save(tmp_path / "book.xlsx")
        return tmp_path

    return write


def test_cells_keep_their_types(book):
    day, at = datetime.date(2024, 2, 29), datetime.datetime(2024, 2, 29, 10, 30)
    folder = book(Cases=[["q", "n", "x", "flag", "day", "at", "none"], ["a", 3, 2.5, True, day, at, None]])
    golden = load_golden_set("book.xlsx", folder)
    assert dict(golden[0]) == {
        "q": "a", "n": 3, "x": 2.5, "flag": True, "day": "2024-02-29", "at": "2024-02-29T10:30:00", "none": None,
    }  # fmt: skip
    assert (golden[0].line, golden.warnings) == (2, ())


def test_numbers_serve_as_ids(book):
    folder = book(Cases=[["id"], [17], [18.0]])
    assert [case.id for case in load_golden_set("book.xlsx", folder)] == ["17", "18"]


def test_a_sheet_by_its_name(book):
    folder = book(First=[["q"], [1]], Second=[["q"], [2]])
    assert load_golden_set("book.xlsx#Second", folder)[0].q == 2
    golden = load_golden_set("book.xlsx", folder)
    assert golden[0].q == 1 and "2 sheets" in golden.warnings[0]
    with pytest.raises(GoldenSetError, match=r"no sheet 'Secnd'; did you mean `Second`\?; its sheets: First, Second"):
        load_golden_set("book.xlsx#Secnd", folder)


def test_gaps_and_empty_ends(book):
    folder = book(Cases=[[None], ["q", "a", None], ["1", None, " "], [None, None], ["2"], [None], [" "]])
    golden = load_golden_set("book.xlsx", folder)
    assert [(case.line, dict(case)) for case in golden] == [(3, {"q": "1", "a": None}), (5, {"q": "2", "a": None})]
    assert golden.warnings == ("book.xlsx: rows without any value are left out: line 4",)


@pytest.mark.parametrize(
    ("rows", "says"),
    [
        ([], ["the sheet is empty"]),
        ([["q", "a"]], ["a header and no rows"]),
        ([["q", None, "a"], [1, 2, 3]], ["book.xlsx:1: ", "column 2"]),
        ([["q"], [1], [1, 2]], ["book.xlsx:3: ", "cell B3", "no name"]),
        ([["q", "a"], ["x", "#N/A"]], ["book.xlsx:2: ", "cell B2", "#N/A"]),
        ([["q", "a"], ["x", "=1+1"]], ["book.xlsx:2: ", "cell B2", "formula without a result"]),
        ([["id"], ["a"], ["a"]], ["book.xlsx:3: ", "line 2", "line 3"]),
    ],
)
def test_errors_name_the_cell(book, rows, says):
    folder = book(Cases=rows)
    with pytest.raises(GoldenSetError) as caught:
        load_golden_set("book.xlsx", folder)
    for words in says:
        assert words in str(caught.value)


@pytest.fixture
def table(tmp_path):
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    def write(columns, names=None):
        made = pyarrow.table(columns) if names is None else pyarrow.Table.from_arrays(columns, names)
        parquet.write_table(made, tmp_path / "x.parquet")
        return tmp_path

    return write


def test_parquet_keeps_types(table):
    row = {"q": "a", "n": 3, "x": 2.5, "none": None, "nested": {"a": [1, 2]}, "list": ["x"]}
    folder = table(
        {
            **{name: [value] for name, value in row.items()},
            "day": [datetime.date(2024, 2, 29)],
            "price": [Decimal("10.50")],
        }
    )
    golden = load_golden_set("x.parquet", folder)
    assert dict(golden[0]) == {**row, "day": "2024-02-29", "price": "10.50"}
    assert golden[0].line is None


def test_parquet_in_batches_keeps_the_order(table):
    golden = load_golden_set("x.parquet", table({"n": list(range(10_000))}))
    assert [case.n for case in golden] == list(range(10_000))
    assert (golden[0].id, golden[-1].id) == ("row-0001", "row-10000")


@pytest.mark.parametrize(
    ("columns", "says"),
    [
        ({"q": []}, "a header and no rows"),
        ({"q": [1.0, float("nan")]}, "row 2, column 'q': nan"),
        ({"q": [b"x"]}, "row 1, column 'q': a value of type bytes"),
        ({"item": [1]}, "'item' is reserved"),
    ],
)
def test_parquet_errors(table, columns, says):
    with pytest.raises(GoldenSetError, match=says):
        load_golden_set("x.parquet", table(columns))


@pytest.mark.parametrize(
    ("name", "module", "says"),
    [
        ("x.xlsx", "openpyxl", r'pip install "pytest-verica\[xlsx\]"'),
        ("x.parquet", "pyarrow", r'pip install "pytest-verica\[parquet\]"'),
    ],
)
def test_an_absent_extra_is_named(tmp_path, monkeypatch, name, module, says):
    (tmp_path / name).write_bytes(b"x")
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(GoldenSetError, match=says):
        load_golden_set(name, tmp_path)
