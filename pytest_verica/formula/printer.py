"""A syntax tree as text: what it prints reads back as the same tree."""

from __future__ import annotations

from pytest_verica.formula.tree import (
    Call,
    Name,
    Node,
    Number,
    Operation,
    Percent,
    Signed,
    Text,
    Truth,
    children,
    postorder,
)


def print_formula(tree: Node) -> str:
    """The formula, with `=`, and parentheses only where the structure needs them."""
    texts: list[str] = []
    for node, positions in postorder(tree):
        inner = [
            f"({texts[position]})" if _needs_parentheses(node, child) else texts[position]
            for child, position in zip(children(node), positions, strict=True)
        ]
        texts.append(_text(node, inner))
    return f"={texts[-1]}"


def _text(node: Node, inner: list[str]) -> str:
    if isinstance(node, Call):
        return f"{node.name}({', '.join(inner)})"
    if isinstance(node, Operation):
        pairs = zip(node.operators, inner[1:], strict=True)
        return inner[0] + "".join(f" {operator} {operand}" for operator, operand in pairs)
    if isinstance(node, Signed):
        return node.signs + inner[0]
    if isinstance(node, Percent):
        return inner[0] + "%" * node.times
    if isinstance(node, Text):
        return '"' + node.value.replace('"', '""') + '"'
    if isinstance(node, Truth):
        return "TRUE" if node.value else "FALSE"
    if isinstance(node, Name):
        return node.written
    return str(node.value) if isinstance(node, Number) else ""


def _needs_parentheses(node: Node, child: Node) -> bool:
    if isinstance(node, Operation):
        return isinstance(child, Operation) and child.level <= node.level
    if isinstance(node, Signed):
        return isinstance(child, (Operation, Signed))
    return isinstance(node, Percent) and isinstance(child, (Operation, Signed, Percent))
