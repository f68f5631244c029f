"""Evaluation: the nodes of a tree in postorder, each worked out from its children's values. Nothing is recursive."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from decimal import Decimal
from functools import partial
from typing import Any

from pytest_verica.errors import MissingOutput, TemplateError
from pytest_verica.formula.arithmetic import BINARY, negative, percent
from pytest_verica.formula.broadcast import Work, call, each, single, values_shown
from pytest_verica.formula.compare import COMPARISONS, compare
from pytest_verica.formula.error import Fault, FormulaError, Passed, cut
from pytest_verica.formula.table import FUNCTIONS
from pytest_verica.formula.tree import (
    Call,
    Name,
    Node,
    Number,
    Omitted,
    Operation,
    Percent,
    Signed,
    Text,
    Truth,
    children,
)
from pytest_verica.formula.value import ZERO, Value, cell, check_length, number_of, text_of
from pytest_verica.template import Scope
from pytest_verica.template.reference import Reference

_LITERALS = (Number, Text, Truth, Omitted)


Step = tuple[int, Node, "list[int]"]
"""A node to be worked out: its position, itself, and the positions of its children."""


class Program:
    """A tree made ready: literals in their places, and the steps between them."""

    def __init__(self, formula: str, nodes: Sequence[tuple[Node, list[int]]]) -> None:
        self._formula = formula
        self.nodes = [node for node, _ in nodes]
        self._start: list[Any] = [_literal(node) for node in self.nodes]
        self.steps: list[Step] = [
            (place, node, inputs) for place, (node, inputs) in enumerate(nodes) if node.__class__ not in _LITERALS
        ]
        self._fill_omitted()

    def _fill_omitted(self) -> None:
        """An argument that is left out is empty, and 0 among many values."""
        for _, node, inputs in self.steps:
            if isinstance(node, Call):
                for position, place in enumerate(inputs):
                    if isinstance(self.nodes[place], Omitted) and FUNCTIONS[node.name].counts(position):
                        self._start[place] = ZERO

    def source(self, node: Node) -> str:
        return self._formula[node.start : node.end]

    def run(self, scope: Scope) -> list[Any]:
        """The value of every node.

        Raises:
            TooMuch: lists or texts are too long.
        """
        values = self._start.copy()
        work = Work()
        for place, node, inputs in self.steps:
            value = self._value(node, [values[position] for position in inputs], scope, work)
            if value.__class__ is not Decimal:
                work.add(value)
            values[place] = value
        return values

    def _value(self, node: Node, inputs: list[Any], scope: Scope, work: Work) -> Value:
        if isinstance(node, Name):
            return self._read(node, node.reference, scope)
        if isinstance(node, Operation):
            return self._chain(node, inputs, work)
        blame = partial(self._blame, node, None)
        if isinstance(node, Call):
            return call(FUNCTIONS[node.name], inputs, blame, work)
        apply: Callable[..., Any] = _Percents(node.times) if isinstance(node, Percent) else _Signs(node)
        return each(apply, inputs, blame, work) if inputs[0].__class__ is tuple else single(apply, inputs, blame)

    def _chain(self, node: Operation, inputs: list[Any], work: Work) -> Value:
        if node.operators[0] == "&" and len(inputs) > 2 and not any(value.__class__ is tuple for value in inputs):
            return single(_joined, inputs, partial(self._blame, node, None))
        result = inputs[0]
        for place, operator in enumerate(node.operators, 1):
            other, apply = inputs[place], _OPERATORS[operator]
            if result.__class__ is tuple or other.__class__ is tuple:
                result = each(apply, (result, other), partial(self._blame, node, place), work)
                work.add(result)
                continue
            try:  # as `single`, in place: it runs once per operator
                result = apply(result, other)
            except Passed as passed:
                result = passed.error
            except Fault as fault:
                result = self._blame(node, place, fault, (result, other))
        return result  # type: ignore[no-any-return]

    def _blame(self, node: Node, place: int | None, fault: Fault, values: Sequence[Any]) -> FormulaError:
        """The error of a node, or of a chain up to the operand at a place."""
        inner, start, end = children(node), node.start, node.end
        names = [self._name(child) for child in inner]
        if place is not None:
            end = node.end if place == len(inner) - 1 else inner[place].end
            names = [names[0] if place == 1 else self._formula[start : inner[place - 1].end], names[place]]
        known = values_shown([cut(name, 40) for name in names], values)
        return FormulaError(fault.code, fault.reason, self._formula[start:end], start, end, known)

    def _name(self, node: Node) -> str:
        return "" if isinstance(node, _LITERALS) else self.source(node)

    def _read(self, node: Name, reference: Reference, scope: Scope) -> Value:
        def error(code: str, reason: str) -> FormulaError:
            return FormulaError(code, reason, node.written, node.start, node.end)

        if reference.root == "column" and reference.name and reference.name not in scope.case.columns:
            return error("#NAME?", f"the case has no column `{reference.name}`")
        try:
            value = reference.value(scope)
        except (MissingOutput, TemplateError) as missing:
            return error("#REF!", str(missing))
        if value is None and reference.root == "output" and reference.path is None and reference.name != "json":
            return error("#REF!", f"the output has no {reference.name}")
        return cell(value, error)


def _literal(node: Node) -> Any:
    return node.value if isinstance(node, (Number, Text, Truth)) else None


class _Signs:
    """`-` and `+` before a value: `+` alone leaves it as it is."""

    def __init__(self, node: Node) -> None:
        self._minus = node.signs.count("-") if isinstance(node, Signed) else 0

    def __call__(self, value: Any) -> Any:
        if not self._minus or value.__class__ is FormulaError:
            return value
        number = number_of(value)
        return negative(number) if self._minus % 2 else number


class _Percents:
    def __init__(self, times: int) -> None:
        self._times = times

    def __call__(self, value: Any) -> Any:
        return percent(number_of(value), self._times)


def _arithmetic(operator: str) -> Callable[[Any, Any], Any]:
    apply = BINARY[operator]

    def work_out(one: Any, other: Any) -> Any:
        if one.__class__ is not Decimal:
            one = number_of(one)
        if other.__class__ is not Decimal:
            other = number_of(other)
        return apply(one, other)

    return work_out


def _comparison(operator: str) -> Callable[[Any, Any], bool]:
    holds = COMPARISONS[operator]
    return lambda one, other: holds(compare(one, other), 0)


def _joined(*values: Any) -> str:
    texts = [text_of(value) for value in values]
    check_length(sum(map(len, texts)))
    return "".join(texts)


_OPERATORS: dict[str, Callable[[Any, Any], Any]] = {
    **{operator: _arithmetic(operator) for operator in BINARY},
    **{operator: _comparison(operator) for operator in COMPARISONS},
    "&": _joined,
}
