"""Formulas in one line: a text, the columns of a case, an output."""

from __future__ import annotations

from typing import Any

import pytest

from pytest_verica.case import Case
from pytest_verica.formula import compile_formula
from pytest_verica.output import Output
from pytest_verica.template import Scope


@pytest.fixture(scope="session")
def value_of():
    def work_out(formula: str, columns: dict[str, Any] | None = None, output: str | Output | None = None) -> Any:
        made = Output(output) if isinstance(output, str) else output
        return compile_formula(formula).value(Scope(Case("row-0001", columns or {}), made))

    return work_out
