"""Quantities: the numbers that a number_check compares with, fixed or found anew for each case."""

from __future__ import annotations

from collections.abc import Collection
from decimal import Decimal
from typing import Protocol

from pytest_verica.case import Case
from pytest_verica.errors import ConfigError, MissingOutput, Problem
from pytest_verica.evals.fields import is_formula
from pytest_verica.formula import Formula, FormulaError, compile_formula
from pytest_verica.graders.excerpt import excerpt
from pytest_verica.graders.number import NotANumber, NumberFormat, read_number
from pytest_verica.graders.target import find
from pytest_verica.output import Output
from pytest_verica.path import parse_path
from pytest_verica.template import Scope, compile_template, is_missing


class BlankQuantity(Exception):
    """The golden set has nothing here: the criterion does not apply to this case."""


class BadQuantity(Exception):
    """What the golden set has here is not a number: nothing can be said about the output."""


class Quantity(Protocol):
    """A number of one case and its output."""

    def read(self, case: Case, output: Output) -> Decimal:
        """The number.

        Raises:
            BlankQuantity: the case has none.
            BadQuantity: what the case has is not a number.
            MissingOutput: the output has none.
        """
        ...


class Constant:
    """The same number for every case."""

    def __init__(self, number: Decimal) -> None:
        self.number = number

    def read(self, case: Case, output: Output) -> Decimal:
        return self.number


class Templated:
    """A template that renders to a number."""

    def __init__(self, source: str, form: NumberFormat | None) -> None:
        self._template = compile_template(source)
        self._form = form

    def read(self, case: Case, output: Output) -> Decimal:
        value = self._template.value(Scope(case, output))
        if is_missing(value):
            raise BlankQuantity
        try:
            return read_number(value, self._form)
        except NotANumber as error:
            message = f"the expected value {excerpt(self._template.source, 60)} is {error}"
            if self._template.needs_output:
                raise MissingOutput(message) from None
            raise BadQuantity(message) from None


class FieldOfOutput:
    """A number elsewhere in the output's own JSON."""

    def __init__(self, path: str, form: NumberFormat | None) -> None:
        self._path = parse_path(path)
        self._form = form

    def read(self, case: Case, output: Output) -> Decimal:
        value, _ = find(self._path, output)
        try:
            return read_number(value, self._form)
        except NotANumber as error:
            raise MissingOutput(f"the expected value `{self._path}` is {error}") from None


class Calculated:
    """What a formula gives."""

    def __init__(self, formula: Formula, form: NumberFormat | None) -> None:
        self._formula = formula
        self._form = form
        self._name = f"the expected value {excerpt(formula.source.strip(), 60)}"

    def read(self, case: Case, output: Output) -> Decimal:
        if lacks_values(self._formula, case):
            raise BlankQuantity
        value = self._formula.value(Scope(case, output))
        if isinstance(value, FormulaError):
            raise MissingOutput(f"{self._name} is {value}")
        if value is None and not self._formula.needs_output:
            raise BlankQuantity
        try:
            return read_number(value, self._form)
        except NotANumber as error:
            message = f"{self._name} is {error}"
            if self._formula.needs_output:
                raise MissingOutput(message) from None
            raise BadQuantity(message) from None


def quantity_of(written: str | int | float, form: NumberFormat | None, columns: Collection[str] | None) -> Quantity:
    """A number, a template, a formula, or the text of a number. `columns` are the golden set's, None where it is not
    known.

    Raises:
        ConfigError: it is a text that is not a number, or a formula that is wrong.
    """
    if not isinstance(written, str):
        return Constant(read_number(written))
    if is_formula(written):
        return _calculated(checked_formula(written, columns), form)
    if "{{" in written or "{%" in written:
        return Templated(written, form)
    try:
        return Constant(read_number(written, form))
    except NotANumber as error:
        raise ConfigError(f"the expected value is {error}") from None


def _calculated(formula: Formula, form: NumberFormat | None) -> Quantity:
    """A formula without names is a number already."""
    if formula.names:
        return Calculated(formula, form)
    value = formula.value(Scope(Case("none", {})))
    try:
        if isinstance(value, FormulaError):
            raise NotANumber(str(value))
        return Constant(read_number(value, form))
    except NotANumber as error:
        raise ConfigError(f"the expected value {excerpt(formula.source.strip(), 60)} is {error}") from None


def lacks_values(formula: Formula, case: Case) -> bool:
    """Whether every column that a formula names is empty, which it would take for 0: then it says nothing. One that
    chooses (IF, IFS, SWITCH) says itself what becomes of an empty cell."""
    columns = () if formula.chooses else formula.columns
    return bool(columns) and all(is_missing(case.columns.get(column)) for column in columns)


def checked_formula(written: str, columns: Collection[str] | None) -> Formula:
    """The formula, its names checked against the golden set's columns where they are known.

    Raises:
        ConfigError: it is wrong; each place with a caret.
    """
    formula = compile_formula(written)
    problems = [] if columns is None else formula.problems(columns)
    if problems:
        raise ConfigError([Problem(message) for message in problems])
    return formula
