"""What can be known to be wrong with a formula before any case: its functions, their arguments, its columns."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator

from pytest_verica.formula.error import WrongFormula
from pytest_verica.formula.function import Function
from pytest_verica.formula.table import FUNCTIONS
from pytest_verica.formula.tree import Call, Name, Node
from pytest_verica.template.reference import nearest

_OTHER_NAMES = {
    "AVG": "AVERAGE",
    "MEAN": "AVERAGE",
    "CONCATENATE": "CONCAT",
    "LENGTH": "LEN",
    "STDEV_S": "STDEV",
    "STDEV_P": "STDEVP",
    "VLOOKUP": "XLOOKUP",
    "HLOOKUP": "XLOOKUP",
    "LOOKUP": "XLOOKUP",
    "ISERROR": "IFERROR",
    "TRUE": "TRUE without parentheses",
    "FALSE": "FALSE without parentheses",
}
"""Names that other programs have for these functions, too far from them to be found by their letters."""


def call_problems(nodes: Iterable[Node]) -> Iterator[WrongFormula]:
    """Functions that do not exist, and wrong numbers of arguments."""
    for node in nodes:
        if not isinstance(node, Call):
            continue
        end = node.start + len(node.name)
        function = FUNCTIONS.get(node.name)
        if function is None:
            other = _OTHER_NAMES.get(node.name)
            near = f"; did you mean {other}?" if other else nearest(node.name, list(FUNCTIONS))
            yield WrongFormula(f"there is no function `{node.name}`{near}", node.start, end)
            continue
        message = _arguments_problem(function, len(node.arguments))
        if message is not None:
            yield WrongFormula(message, node.start, end)


def _arguments_problem(function: Function, count: int) -> str | None:
    if function.least <= count and (function.most is None or count <= function.most):
        if function.pairs and count % 2:
            return f"`{function.signature}` takes its arguments in pairs, found {count}"
        return None
    wanted = str(function.least)
    if function.most is None:
        wanted = f"at least {function.least}"
    elif function.most != function.least:
        wanted = f"{function.least} to {function.most}"
    plural = "" if wanted.endswith(" 1") or wanted == "1" else "s"
    return f"`{function.signature}` takes {wanted} argument{plural}, found {count}"


def name_problems(nodes: Iterable[Node], columns: Collection[str]) -> Iterator[WrongFormula]:
    """Names that are no column of the golden set and no part of the output."""
    seen: set[str] = set()
    for node in nodes:
        if isinstance(node, Name) and node.written not in seen:
            seen.add(node.written)
            message = node.reference.problem(columns, output=True)
            if message is not None:
                yield WrongFormula(message, node.start, node.end)
