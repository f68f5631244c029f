"""The syntax tree of a formula: frozen records. What it evaluates to is not known here."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from decimal import Decimal

from pytest_verica.template.reference import Reference

LEVELS = {"=": 1, "<>": 1, "<": 1, "<=": 1, ">": 1, ">=": 1, "&": 2, "+": 3, "-": 3, "*": 4, "/": 4, "^": 5}
"""Binary operators: how tightly each binds. Signs bind tighter than all of them, `%` tighter than signs."""


@dataclass(frozen=True, slots=True)
class Number:
    """A literal number; start, end (of every node): its place in the formula, 0-based."""

    value: Decimal
    start: int = field(default=0, compare=False)
    end: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class Text:
    """A literal text, without its quotes."""

    value: str
    start: int = field(default=0, compare=False)
    end: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class Truth:
    """TRUE or FALSE."""

    value: bool
    start: int = field(default=0, compare=False)
    end: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class Omitted:
    """An argument that was left out between two separators."""

    start: int = field(default=0, compare=False)
    end: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class Name:
    """A column or a part of the output. written: as in the formula, with its braces if it has them."""

    written: str
    reference: Reference = field(compare=False)
    start: int = field(default=0, compare=False)
    end: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class Signed:
    """Signs before an operand: `--x`."""

    signs: str
    operand: Node
    start: int = field(default=0, compare=False)
    end: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class Percent:
    """`%` behind an operand, once or more."""

    operand: Node
    times: int = 1
    start: int = field(default=0, compare=False)
    end: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class Operation:
    """Operands with operators of one level between them, worked out from left to right: `a - b + c`."""

    operators: tuple[str, ...]
    operands: tuple[Node, ...]
    start: int = field(default=0, compare=False)
    end: int = field(default=0, compare=False)

    @property
    def level(self) -> int:
        return LEVELS[self.operators[0]]


@dataclass(frozen=True, slots=True)
class Call:
    """A function with its arguments. name: in capitals."""

    name: str
    arguments: tuple[Node, ...]
    start: int = field(default=0, compare=False)
    end: int = field(default=0, compare=False)


Node = Number | Text | Truth | Omitted | Name | Signed | Percent | Operation | Call


def children(node: Node) -> tuple[Node, ...]:
    kind = node.__class__
    if kind is Operation:
        return node.operands  # type: ignore[union-attr]
    if kind is Call:
        return node.arguments  # type: ignore[union-attr]
    if kind is Signed or kind is Percent:
        return (node.operand,)  # type: ignore[union-attr]
    return ()


def postorder(tree: Node) -> list[tuple[Node, list[int]]]:
    """Every node behind its children, with their positions in this list. Not recursive: depth costs nothing."""
    found: list[tuple[Node, list[int]]] = []
    places: list[list[int]] = [[]]
    open_nodes: list[tuple[Node, Iterator[Node]]] = [(tree, iter(children(tree)))]
    while open_nodes:
        node, rest = open_nodes[-1]
        for child in rest:
            inner = children(child)
            if inner:
                open_nodes.append((child, iter(inner)))
                places.append([])
                break
            places[-1].append(len(found))
            found.append((child, []))
        else:
            open_nodes.pop()
            own = places.pop()
            if places:
                places[-1].append(len(found))
            found.append((node, own))
    return found
