"""From the words of a formula to its tree: lark's LALR parser for the structure, a table for what binds tighter.

One rule for all operators, and a table of their levels, where a rule per level would read as well: a parser with six
levels takes 60 ms for 8,192 characters, this one 15.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from pytest_verica.errors import ConfigError
from pytest_verica.formula.error import WrongFormula, cut
from pytest_verica.formula.tokens import Token, tokens
from pytest_verica.formula.tree import (
    LEVELS,
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
)
from pytest_verica.path import parse_path
from pytest_verica.template.reference import Reference, reference_of

if TYPE_CHECKING:
    from lark import Lark

GRAMMAR = """
formula: EQUAL expression
expression: SIGNS? (OPERAND | call | group) PERCENT? (BINARY SIGNS? (OPERAND | call | group) PERCENT?)*
call: FUNCTION [expression] (SEPARATOR [expression])* RPAR
group: LPAR expression RPAR
%declare EQUAL SIGNS OPERAND PERCENT BINARY FUNCTION SEPARATOR RPAR LPAR
"""

_VALUES = frozenset({"OPERAND", "FUNCTION", "LPAR"})


def parse(formula: str) -> Node:
    """The tree of a formula.

    Raises:
        WrongFormula: it is none; says why and where.
    """
    from lark.exceptions import UnexpectedToken  # deferred: see _parser

    try:
        tree: Node = _parser().parse(formula)  # type: ignore[assignment]  # the transformer makes nodes of ours
    except UnexpectedToken as error:
        raise _unexpected(error.token, set(error.expected), len(formula)) from None
    return tree


@functools.lru_cache(maxsize=1)
def _parser() -> Lark:
    # Deferred: lark takes long to import, and most evals have no formula.
    from lark import Lark, Transformer
    from lark.lexer import Lexer

    class Words(Lexer):
        def __init__(self, lexer_conf: Any) -> None:
            pass

        def lex(self, data: Any) -> Iterator[Any]:  # type: ignore[override]  # one argument, as lark documents it
            return tokens(data)

    class Build(Transformer):  # type: ignore[type-arg]
        formula = staticmethod(lambda parts: parts[1])
        expression = staticmethod(_expression)
        call = staticmethod(_call)
        group = staticmethod(_group)

    return Lark(GRAMMAR, start="formula", parser="lalr", lexer=Words, transformer=Build(), maybe_placeholders=True)


def _expression(parts: Sequence[Any]) -> Node:
    if len(parts) == 1:
        part = parts[0]
        return _operand(part) if part.__class__ is Token else part
    operands: list[Node] = []
    operators: list[Token] = []
    signs: Token | None = None
    for part in parts:
        kind = part.type if part.__class__ is Token else ""
        if not kind:
            operands.append(part)
        elif kind == "OPERAND":
            operands.append(_operand(part))
        elif kind == "BINARY":
            operators.append(part)
            if signs is not None:
                operands[-1], signs = _signed(signs, operands[-1]), None
        elif kind == "SIGNS":
            signs = part
        else:  # `%` binds tighter than signs, which wait until the operand is complete
            operand = operands[-1]
            operands[-1] = Percent(operand, part.text.count("%"), operand.start, part.end)
    if signs is not None:
        operands[-1] = _signed(signs, operands[-1])
    for level in sorted({LEVELS[operator.text] for operator in operators}, reverse=True):
        operands, operators = _joined(level, operands, operators)
    return operands[0]


def _joined(level: int, operands: list[Node], operators: list[Token]) -> tuple[list[Node], list[Token]]:
    """One level worked in: runs of its operators become an operation each."""
    wider: list[Node] = []
    rest: list[Token] = []
    run: list[Node] = [operands[0]]
    signs: list[str] = []
    for operator, operand in zip(operators, operands[1:], strict=True):
        if LEVELS[operator.text] == level:
            if signs and level == 1:
                advice = "write AND(a < b, b < c)"
                raise WrongFormula(f"comparisons are not chained: {advice}", operator.start, operator.end)
            signs.append(operator.text)
            run.append(operand)
            continue
        wider.append(_operation(signs, run))
        rest.append(operator)
        run, signs = [operand], []
    wider.append(_operation(signs, run))
    return wider, rest


def _operation(operators: list[str], operands: list[Node]) -> Node:
    if not operators:
        return operands[0]
    return Operation(tuple(operators), tuple(operands), operands[0].start, operands[-1].end)


def _signed(signs: Token, operand: Node) -> Node:
    return Signed("".join(signs.text.split()), operand, signs.start, operand.end)


def _group(parts: Sequence[Any]) -> Node:
    """What stands in parentheses; they belong to its place."""
    opening, inner, closing = parts
    return replace(inner, start=opening.start, end=closing.end)  # type: ignore[no-any-return]


def _call(parts: Sequence[Any]) -> Node:
    name, *inner, closing = parts
    arguments: list[Node] = []
    place = name.end
    for part in inner:
        if part is None:
            arguments.append(Omitted(place, place))
        elif part.__class__ is Token:
            place = part.end
        else:
            arguments.append(part)
    if len(arguments) == 1 and isinstance(arguments[0], Omitted):
        arguments = []
    return Call(name.text.rstrip("( ").upper(), tuple(arguments), name.start, closing.end)


def _operand(token: Token) -> Node:
    kind, text, start, end = token.kind, token.text, token.start, token.end
    if kind == "NUMBER":
        value = Decimal(text)
        if not math.isfinite(float(value)) or bool(value) != bool(float(value)):
            raise WrongFormula("this number is too large or too small", start, end)
        return Number(value, start, end)
    if kind == "TEXT":
        return Text(text[1:-1].replace('""', '"'), start, end)
    if kind == "NAME" and text.upper() in ("TRUE", "FALSE"):
        return Truth(text.upper() == "TRUE", start, end)
    return Name(text, _reference(text, start, end), start, end)


def name_node(written: str) -> Name:
    """A name as it would stand in a formula.

    Raises:
        WrongFormula: it is none.
    """
    return Name(written, _reference(written, 0, len(written)))


def _reference(written: str, start: int, end: int) -> Reference:
    source = written[2:-2].strip() if written.startswith("{{") else written
    found = _reference_of(source)
    if found is None:
        advice = "a column or a path stands in `{{ }}` here; a formula has functions of its own"
        raise WrongFormula(f"`{cut(source)}` is not a name: {advice}", start, end)
    return found


@functools.lru_cache(maxsize=4096)
def _reference_of(source: str) -> Reference | None:
    try:
        steps = parse_path(source).steps
    except ConfigError:
        return None
    if not str(steps[0]).isidentifier():
        return None
    if steps[0] == "json":
        return reference_of(("output", *steps), f"output.{source}")
    return reference_of(steps, source)


def _unexpected(token: Any, expected: set[str], length: int) -> WrongFormula:
    wanted = "a value" if expected & _VALUES else "an operator"
    closing = " or `)`" if "RPAR" in expected else ""
    if token.type == "$END":
        missing = "`)`" if "RPAR" in expected and not expected & _VALUES else "a value"
        return WrongFormula(f"the formula ends too early: {missing} is missing", length, length + 1)
    said = f"`{cut(token.text)}` cannot stand here: {wanted}{closing} was expected"
    if token.type == "SEPARATOR" and "SEPARATOR" not in expected and "RPAR" in expected:
        said = f"`{token.text}` separates the arguments of a function, and here is none"
    return WrongFormula(said, token.start, token.end)
