"""What can go wrong in a formula: error values with a code and a place, and what a syntax error says."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

CODES: Mapping[str, str] = {
    "#DIV/0!": "a number was divided by zero, or an average was taken of nothing",
    "#VALUE!": "a value is of the wrong kind: a text that is not a number, lists of different lengths, an object",
    "#NAME?": "the case has no column of this name; before launch it is an error of the eval",
    "#N/A": "nothing was found: MATCH, XLOOKUP, IFS, SWITCH",
    "#NUM!": "a number is out of the range that a function takes, or a result or a list is too large",
    "#REF!": "a path leads to nothing, in the output or in a column; or a list has no such position",
}
"""The catalogue: every code that an error value can have, and when it has it."""

MOST_SHOWN = 60


@dataclass(frozen=True, slots=True)
class FormulaError:
    """An error as a value: it passes through whatever uses it, until IFERROR or IFNA.

    code: a key of CODES; reason: a clause; source: the sub-expression it arose in; start, end: its place in the
    formula, 0-based; values: what its operands were, as (sub-expression, value) texts.
    """

    code: str
    reason: str
    source: str = ""
    start: int = 0
    end: int = 0
    values: tuple[tuple[str, str], ...] = ()

    def __str__(self) -> str:
        where = f" in `{cut(self.source)}`" if self.source else ""
        having = f" (with {', '.join(f'{name} = {value}' for name, value in self.values)})" if self.values else ""
        return f"{self.code}{where}: {self.reason}{having}"


class Fault(Exception):
    """Raised by a function or an operator: it has no value here. Becomes a FormulaError with its place."""

    def __init__(self, code: str, reason: str) -> None:
        self.code = code
        self.reason = reason
        super().__init__(reason)


class Passed(Exception):
    """Raised where an error value among many is met: it is the result."""

    def __init__(self, error: FormulaError) -> None:
        self.error = error
        super().__init__(error.reason)


class TooMuch(Exception):
    """The formula has used what it may use of lists and texts; ends its evaluation, and nothing catches it inside."""


class WrongFormula(Exception):
    """What is written is no formula. start, end: the place, 0-based; end is behind the last character."""

    def __init__(self, message: str, start: int, end: int) -> None:
        self.message = message
        self.start = start
        self.end = end
        super().__init__(message)


def cut(text: str, limit: int = MOST_SHOWN) -> str:
    """On one line, at most `limit` characters, printable."""
    text = text if len(text) <= limit else text[: limit - 1] + "…"
    return text if text.isprintable() else "".join(map(_printable, text))


def _printable(character: str) -> str:
    return character if character.isprintable() else character.encode("unicode_escape").decode("ascii")


def with_caret(formula: str, message: str, start: int, end: int) -> str:
    """The message, the formula's part around a place, and carets under the place."""
    start = min(start, len(formula))
    end = max(start + 1, min(end, start + MOST_SHOWN))
    first = max(0, start - 40)
    piece = formula[first : end + 40]
    shown = "".join(character if character.isprintable() else " " for character in piece)
    before = "…" if first else ""
    after = "…" if first + len(piece) < len(formula) else ""
    carets = " " * (len(before) + start - first) + "^" * (end - start)
    return f"{message} (at character {start + 1} of the formula)\n    {before}{shown}{after}\n    {carets}"
