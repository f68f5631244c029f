"""A formula: compiled once, checked before launch, worked out per case."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

from pytest_verica.errors import ConfigError, Problem
from pytest_verica.formula.checks import call_problems, name_problems
from pytest_verica.formula.error import FormulaError, TooMuch, WrongFormula, with_caret
from pytest_verica.formula.evaluate import Program
from pytest_verica.formula.grammar import parse
from pytest_verica.formula.tree import Call, Name, Node, postorder
from pytest_verica.formula.value import Value
from pytest_verica.template import Scope

_CHOOSING = frozenset({"IF", "IFS", "SWITCH"})


@dataclass(frozen=True, slots=True)
class Line:
    """A sub-expression of a formula and its value for a case. start, end: its place, 0-based."""

    source: str
    value: Value
    start: int
    end: int


class Formula:
    """A compiled formula. source: as written; tree: its structure."""

    def __init__(self, source: str, nodes: Sequence[tuple[Node, list[int]]]) -> None:
        """`nodes`: of the tree, in postorder."""
        self.source = source
        self.tree = nodes[-1][0]
        self._program = Program(source, nodes)

    def __repr__(self) -> str:
        return f"<Formula {self.source!r}>"

    @cached_property
    def names(self) -> tuple[Name, ...]:
        """Columns and parts of the output, as often as they stand in it."""
        return tuple(node for node in self._program.nodes if isinstance(node, Name))

    @cached_property
    def columns(self) -> frozenset[str]:
        """The columns that it uses."""
        references = (name.reference for name in self.names)
        return frozenset(reference.name for reference in references if reference.root == "column" and reference.name)

    @cached_property
    def needs_output(self) -> bool:
        return any(name.reference.root == "output" for name in self.names)

    @cached_property
    def chooses(self) -> bool:
        """Whether it has IF, IFS or SWITCH: it may say itself what becomes of an empty cell."""
        return any(isinstance(node, Call) and node.name in _CHOOSING for node in self._program.nodes)

    def problems(self, columns: Collection[str]) -> list[str]:
        """What is wrong with its names where the golden set has these columns: one text each, with a caret."""
        return [with_caret(self.source, w.message, w.start, w.end) for w in name_problems(self.names, columns)]

    def value(self, scope: Scope) -> Value:
        """Its value for a case: a number, a text, a truth value, None for an empty cell, a tuple for a list, or a
        FormulaError. Raises nothing."""
        try:
            value: Value = self._program.run(scope)[-1]
            return value
        except TooMuch as error:
            return self._too_much(error)

    def trace(self, scope: Scope) -> list[Line]:
        """Each sub-expression that is no literal with its value, inner ones first; the last is the formula."""
        program = self._program
        try:
            values = program.run(scope)
        except TooMuch as error:
            return [Line(self._body, self._too_much(error), 0, len(self.source))]
        shown = {place for place, _, _ in program.steps} | {len(program.nodes) - 1}
        return [
            Line(program.source(node), values[place], node.start, node.end)
            for place, node in enumerate(program.nodes)
            if place in shown
        ]

    @property
    def _body(self) -> str:
        return self.source.strip().removeprefix("=").strip()

    def _too_much(self, error: TooMuch) -> FormulaError:
        return FormulaError("#NUM!", str(error), self._body, 0, len(self.source))


@lru_cache(maxsize=4096)
def compile_formula(text: str) -> Formula:
    """Reads a formula.

    Raises:
        ConfigError: it is none, or names a function that does not exist; with a caret under each place.
    """
    try:
        nodes = postorder(parse(text))
        wrong = list(call_problems(node for node, _ in nodes))
    except WrongFormula as error:
        wrong = [error]
    if wrong:
        raise ConfigError([Problem(with_caret(text, w.message, w.start, w.end)) for w in wrong])
    return Formula(text, nodes)
