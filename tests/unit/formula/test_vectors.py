"""Right values from LibreOffice Calc 7.4.7: see make_vectors.py for how, and for what is left out and why."""

from __future__ import annotations

import json
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from pytest_verica.formula import FormulaError
from pytest_verica.formula.table import FUNCTIONS
from pytest_verica.formula.tree import LEVELS
from tests.unit.formula.make_vectors import VECTORS, rows

ROWS = [json.loads(line) for line in Path(VECTORS).read_text("utf-8").splitlines()]

DIGITS = Decimal("1e-14")
"""Calc writes 15 digits; the last one may be rounded."""


def same(found: Any, vector: dict[str, Any]) -> bool:
    if "error" in vector:
        return isinstance(found, FormulaError) and found.code == vector["error"]
    wanted = vector["result"]
    if found is None:
        return wanted in (0, "")  # a sheet shows an empty result as 0, or as nothing where a text is made
    if isinstance(found, bool):
        # An array formula shows truth values as numbers.
        in_array = any(isinstance(value, list) for value in vector.get("values", {}).values())
        return found == wanted and (isinstance(wanted, bool) or in_array)
    if isinstance(found, str) or isinstance(wanted, (str, bool)):
        return type(found) is type(wanted) and found == wanted
    difference = abs(Decimal(found) - Decimal(repr(wanted)))
    return difference <= DIGITS * abs(Decimal(repr(wanted))) or (wanted == 0 and difference < Decimal("1e-15"))


@pytest.mark.parametrize("vector", ROWS, ids=lambda vector: vector["formula"])
def test_it_is_what_calc_says(value_of, vector):
    found = value_of(vector["formula"], vector.get("values"))
    assert same(found, vector), f"{vector}: {found!r}"


def test_the_vectors_are_those_of_the_script():
    asked = [(f"={expression}", values) for expression, values, _ in rows()]
    assert [(row["formula"], row.get("values", {})) for row in ROWS] == asked
    assert len(ROWS) >= 300


def test_every_function_operator_and_code_is_in_them():
    formulas = " ".join(row["formula"] for row in ROWS)
    assert not [name for name in FUNCTIONS if f"{name}(" not in formulas]
    assert not [operator for operator in [*LEVELS, "%"] if operator not in formulas]
    assert {row.get("error") for row in ROWS} == {None, "#DIV/0!", "#VALUE!", "#N/A", "#NUM!", "#REF!"}
