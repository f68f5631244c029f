"""Lists element by element, and what a formula may use of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from pytest_verica.formula.error import Fault, FormulaError, Passed, TooMuch
from pytest_verica.formula.function import Function
from pytest_verica.formula.value import MOST_ELEMENTS, Scalar, Value, shown

MOST_WORK = 1_000_000
"""List elements made in one evaluation; 256 characters of text count as one."""

_CHARACTERS = 256


class Work:
    """What one evaluation has used."""

    __slots__ = ("left",)

    def __init__(self) -> None:
        self.left = MOST_WORK

    def add(self, value: Any) -> None:
        """Counts a value that was made.

        Raises:
            TooMuch: it is too long, or all of them together are.
        """
        if value.__class__ is tuple:
            if len(value) > MOST_ELEMENTS:
                raise TooMuch(f"a formula takes lists of at most {MOST_ELEMENTS:,} elements")
            self.use(len(value))
        elif isinstance(value, str) and len(value) >= _CHARACTERS:
            self.use(len(value) // _CHARACTERS)

    def use(self, amount: int) -> None:
        self.left -= amount
        if self.left < 0:
            raise TooMuch(f"a formula works on at most {MOST_WORK:,} list elements in all")


Blame = Callable[[Fault, "Sequence[Any]"], FormulaError]
"""Makes the error value of a fault: with its place and the values that were there."""


def each(apply: Callable[..., Any], values: Sequence[Any], blame: Blame, work: Work, cost: int = 0) -> Value:
    """`apply` on the elements of the lists among the values; single values go with every element.

    `cost`: elements that each application goes through besides.
    """
    lengths = {len(value) for value in values if value.__class__ is tuple}
    if len(lengths) > 1:
        found = ", ".join(map(str, sorted(lengths)))
        return blame(Fault("#VALUE!", f"the lists have different lengths: {found}"), values)
    (length,) = lengths
    work.use(length * (1 + cost))
    columns = [value if value.__class__ is tuple else (value,) * length for value in values]
    results: list[Scalar] = []
    for row in zip(*columns, strict=True):
        result = single(apply, row, blame)
        if result.__class__ is tuple:
            result = blame(Fault("#VALUE!", "a list stands inside a list"), row)
        elif isinstance(result, str):
            work.add(result)
        results.append(result)  # type: ignore[arg-type]
    return tuple(results)


def single(apply: Callable[..., Any], values: Sequence[Any], blame: Blame) -> Value:
    """`apply` once; what it raises becomes an error value."""
    try:
        return apply(*values)  # type: ignore[no-any-return]
    except Passed as passed:
        return passed.error
    except Fault as fault:
        return blame(fault, values)


def call(function: Function, arguments: list[Any], blame: Blame, work: Work) -> Value:
    """A function with the values of its arguments."""
    whole = [function.takes_list(position) for position in range(len(arguments))]
    looked_at = range(len(arguments)) if function.deciding is None else function.deciding(len(arguments))
    if any(arguments[position].__class__ is tuple and not whole[position] for position in looked_at):
        kept = [len(value) for value, taken in zip(arguments, whole, strict=True) if taken and value.__class__ is tuple]
        apply = _Partly(function, arguments, whole)
        return each(apply, apply.single_values, blame, work, sum(kept))
    if not function.sees_errors:
        for value, taken in zip(arguments, whole, strict=True):
            if value.__class__ is FormulaError and not taken:
                return value
    return single(function.apply, arguments, blame)


class _Partly:
    """A function whose lists that are taken as a whole are in place already."""

    def __init__(self, function: Function, arguments: list[Any], whole: list[bool]) -> None:
        self._apply = function.apply
        self._sees_errors = function.sees_errors
        self._arguments = arguments
        self._places = [position for position, taken in enumerate(whole) if not taken]
        self.single_values = [arguments[position] for position in self._places]

    def __call__(self, *values: Any) -> Any:
        arguments = list(self._arguments)
        for position, value in zip(self._places, values, strict=True):
            if value.__class__ is FormulaError and not self._sees_errors:
                raise Passed(value)
            arguments[position] = value
        return self._apply(*arguments)


def values_shown(names: Sequence[str], values: Sequence[Any]) -> tuple[tuple[str, str], ...]:
    """Each value beside its sub-expression; once, and not where the expression is the value."""
    pairs = ((name, shown(value)) for name, value in zip(names, values, strict=False) if name)
    return tuple({name: text for name, text in pairs if name != text}.items())
