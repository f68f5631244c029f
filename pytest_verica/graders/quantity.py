"""Quantities: the numbers that a number_check compares with, fixed or found anew for each case.

A formula is one more kind of quantity: it gets its own class here and a branch in `quantity_of`.
"""

from __future__ import annotations

from decimal import Decimal
from typing import Protocol

from pytest_verica.case import Case
from pytest_verica.errors import ConfigError, MissingOutput
from pytest_verica.graders.excerpt import excerpt
from pytest_verica.graders.number import NotANumber, NumberFormat, read_number
from pytest_verica.graders.target import find
from pytest_verica.output import Output
from pytest_verica.path import parse_path
from pytest_verica.template import Scope, compile_template, is_missing

NO_FORMULAS = (
    "formulas (a text that starts with `=`) are not in this version yet; "
    "compute the value in a column of the golden set, or use a python_check"
)


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


def quantity_of(written: str | int | float, form: NumberFormat | None) -> Quantity:
    """A number, a template, or the text of a number.

    Raises:
        ConfigError: it is a text that is not a number, or a formula.
    """
    if not isinstance(written, str):
        return Constant(read_number(written))
    if is_formula(written):
        raise ConfigError(NO_FORMULAS)
    if "{{" in written or "{%" in written:
        return Templated(written, form)
    try:
        return Constant(read_number(written, form))
    except NotANumber as error:
        raise ConfigError(f"the expected value is {error}") from None


def is_formula(text: str) -> bool:
    return text.lstrip().startswith("=")
