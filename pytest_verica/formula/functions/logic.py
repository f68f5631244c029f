"""Functions that choose, and truth values."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from pytest_verica.formula.compare import compare
from pytest_verica.formula.error import Fault, FormulaError, Passed
from pytest_verica.formula.function import Function
from pytest_verica.formula.value import CellText, Value, number_of, shown, truth_of


def choose(condition: Any, then: Any, otherwise: Any = False) -> Value:
    chosen: Value = then if truth_of(condition) else otherwise
    return chosen


def first_true(*arguments: Any) -> Value:
    for condition, value in zip(arguments[::2], arguments[1::2], strict=True):
        if truth_of(condition):
            return value  # type: ignore[no-any-return]
    raise Fault("#N/A", "no condition is true")


def switch(value: Any, *cases: Any) -> Value:
    for case, result in zip(cases[::2], cases[1::2], strict=False):
        if compare(value, case) == 0:
            return result  # type: ignore[no-any-return]
    if len(cases) % 2:
        return cases[-1]  # type: ignore[no-any-return]
    raise Fault("#N/A", f"{shown(value)} is none of the cases, and there is no default")


def instead_of_error(value: Any, instead: Any) -> Value:
    return instead if isinstance(value, FormulaError) else value  # type: ignore[no-any-return]


def instead_of_nothing(value: Any, instead: Any) -> Value:
    return instead if isinstance(value, FormulaError) and value.code == "#N/A" else value  # type: ignore[no-any-return]


def all_true(*truths: Any) -> bool:
    return all(_truths(truths))


def any_true(*truths: Any) -> bool:
    return any(_truths(truths))


def odd_true(*truths: Any) -> bool:
    return sum(_truths(truths)) % 2 == 1


def opposite(truth: Any) -> bool:
    return not truth_of(truth)


def _truths(arguments: tuple[Any, ...]) -> list[bool]:
    """Every truth value in the arguments; cells that are texts or empty are passed over."""
    found = list(_each_truth(arguments))
    if not found:
        raise Fault("#VALUE!", "there is no truth value among the arguments")
    return found


def _each_truth(arguments: tuple[Any, ...]) -> Iterator[bool]:
    for argument in arguments:
        in_list = argument.__class__ is tuple
        for value in argument if in_list else (argument,):
            if isinstance(value, CellText):
                if value.number is not None:
                    yield value.number != 0
            elif isinstance(value, str):
                if not in_list:
                    raise Fault("#VALUE!", f"{shown(value)} is not a truth value")
            elif value.__class__ is FormulaError:
                raise Passed(value)
            elif value is not None:
                yield number_of(value) != 0


def _switch_decides(count: int) -> Iterator[int]:
    yield 0
    yield from range(1, count - count % 2, 2)


ROWS = (
    Function(
        "IF(condition, then, [otherwise])",
        "One value or another; FALSE where there is no other.",
        '=IF(1 < 2, "yes", "no")',
        "yes",
        choose,
        sees_errors=True,
        deciding=lambda count: (0,),
    ),
    Function(
        "IFS(condition, value, …)",
        "The value of the first condition that is true.",
        '=IFS(1 > 2, "a", TRUE, "b")',
        "b",
        first_true,
        sees_errors=True,
        deciding=lambda count: range(0, count, 2),
        pairs=True,
    ),
    Function(
        "SWITCH(value, case, result, …)",
        "The result of the first case that is equal; a last argument alone is the default.",
        '=SWITCH("b", "a", 1, "b", 2, 0)',
        "2",
        switch,
        sees_errors=True,
        deciding=_switch_decides,
    ),
    Function(
        "IFERROR(value, instead)",
        "Another value in place of any error.",
        "=IFERROR(1 / 0, 5)",
        "5",
        instead_of_error,
        sees_errors=True,
        deciding=lambda count: (0,),
    ),
    Function(
        "IFNA(value, instead)",
        "Another value in place of `#N/A`.",
        '=IFNA(SWITCH(3, 1, "a"), "none")',
        "none",
        instead_of_nothing,
        sees_errors=True,
        deciding=lambda count: (0,),
    ),
    Function("AND(truths, …)", "Whether all are true.", "=AND(1 < 2, 2 < 3)", "TRUE", all_true),
    Function("OR(truths, …)", "Whether one is true.", "=OR(1 > 2, 2 < 3)", "TRUE", any_true),
    Function("XOR(truths, …)", "Whether an odd number of them is true.", "=XOR(TRUE, TRUE)", "FALSE", odd_true),
    Function("NOT(truth)", "The opposite.", "=NOT(1 = 2)", "TRUE", opposite),
)
