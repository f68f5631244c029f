"""Excel-style formulas: `=ROUND({{ subtotal }} * 1.21, 2)`. Checked before launch; errors are values with a place."""

from pytest_verica.formula.error import FormulaError
from pytest_verica.formula.formula import Formula, Line, compile_formula
from pytest_verica.formula.value import shown

__all__ = ["Formula", "FormulaError", "Line", "compile_formula", "shown"]
