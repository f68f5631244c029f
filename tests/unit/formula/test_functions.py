"""The function table and docs/formulas.md: every example is worked out, every function and code is on the page."""

from __future__ import annotations

import re
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from pytest_verica.formula.error import CODES, FormulaError
from pytest_verica.formula.function import WHOLE
from pytest_verica.formula.table import FAMILIES, FUNCTIONS
from pytest_verica.formula.value import text_of

PAGE = Path(__file__).resolve().parents[3] / "docs" / "formulas.md"

EXAMPLE = {"prices": [10, 20, 30], "names": ["ink", "pen", "pad"], "quantities": [1, 0, 3], "subtotal": "100"}
OUTPUT = '{"total": 121, "note": "paid", "items": [{"qty": 2, "price": 9.5}, {"qty": 1, "price": 4}]}'

NAMES_OF_THE_SPEC = """
SUM AVERAGE MIN MAX COUNT COUNTA COUNTIF SUMIF AVERAGEIF SUMPRODUCT MEDIAN MODE STDEV STDEVP VAR LARGE SMALL PRODUCT
ROUND ROUNDUP ROUNDDOWN MROUND CEILING FLOOR INT TRUNC ABS SIGN MOD QUOTIENT POWER SQRT EXP LN LOG LOG10 PI
IF IFS IFERROR IFNA AND OR NOT XOR SWITCH
LEN LEFT RIGHT MID FIND SEARCH SUBSTITUTE TRIM UPPER LOWER CONCAT TEXTJOIN VALUE EXACT
DATE YEAR MONTH DAY DAYS INDEX MATCH XLOOKUP
"""


def written(value: Any) -> str:
    """A value as the page shows it."""
    if isinstance(value, FormulaError):
        return value.code
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, tuple):
        return "{" + ", ".join(map(written, value)) + "}"
    return text_of(value)


def functions_tables() -> str:
    """The tables of docs/formulas.md."""
    parts: list[str] = []
    for family, rows in FAMILIES.items():
        parts += [f"### {family}", "", "| function | what it gives | example | its value |", "|---|---|---|---|"]
        parts += [f"| `{row.signature}` | {row.says} | `{row.example}` | `{row.result}` |" for row in rows]
        parts.append("")
    return "\n".join(parts)


def codes_table() -> str:
    rows = ["| code | when |", "|---|---|"]
    return "\n".join([*rows, *(f"| `{code}` | {when} |" for code, when in CODES.items())])


@pytest.mark.parametrize("row", FUNCTIONS.values(), ids=list(FUNCTIONS))
def test_the_example_of_a_function_has_its_value(value_of, row):
    assert f"{row.name}(" in row.example
    assert written(value_of(row.example, EXAMPLE)) == row.result


def test_the_functions_are_those_of_the_specification():
    assert sorted(FUNCTIONS) == sorted(NAMES_OF_THE_SPEC.split())


@pytest.mark.parametrize("row", FUNCTIONS.values(), ids=list(FUNCTIONS))
def test_a_signature_says_what_is_called(value_of, row):
    assert row.says[0].isupper() and row.says.endswith(".")
    assert not [name for name in row.parameters if name.endswith("s") and name not in WHOLE | {"digits"}]
    arguments = ", ".join(["1"] * (row.least + (row.pairs and row.least % 2)))
    value_of(f"={row.name}({arguments})")  # whatever it gives, it is no crash


def test_the_page_has_every_function():
    assert functions_tables() in PAGE.read_text("utf-8"), f"docs/formulas.md should have:\n{functions_tables()}"


def test_the_page_has_every_code():
    assert codes_table() in PAGE.read_text("utf-8"), f"docs/formulas.md should have:\n{codes_table()}"


def shown_on_the_page() -> list[tuple[str, str]]:
    """Rows of two cells outside the function tables: a formula and its value."""
    return re.findall(r"^\| `(=[^`]+)` \| `([^`]*)` \|", PAGE.read_text("utf-8"), re.MULTILINE)


@pytest.mark.parametrize(("formula", "right"), shown_on_the_page())
def test_a_formula_on_the_page_has_its_value(value_of, formula, right):
    assert written(value_of(formula, EXAMPLE, OUTPUT)) == right


def test_the_page_shows_the_columns_and_the_output_of_its_examples():
    text = PAGE.read_text("utf-8")
    assert f"```json\n{OUTPUT}\n```" in text
    assert all(f"`{name}`" in text for name in EXAMPLE)
    assert len(shown_on_the_page()) >= 20


def test_no_function_goes_on_without_end(value_of):
    """Every function with every argument being a long list, a long text, and a large number."""
    columns = {"v": list(range(3000)), "t": "a*" * 5000, "n": 1e300}
    for row in FUNCTIONS.values():
        for name in columns:
            count = row.least + (row.pairs and row.least % 2)
            found = value_of(f"={row.name}({', '.join([name] * count)})", columns)
            assert isinstance(found, (Decimal, float, bool, str, tuple, FormulaError))
