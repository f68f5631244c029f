"""The words of a formula: cut with one regular expression, each with its place."""

from __future__ import annotations

import re
from collections.abc import Iterator

from pytest_verica.formula.error import WrongFormula, cut
from pytest_verica.formula.tree import LEVELS

MOST_CHARACTERS = 8192
MOST_LEVELS = 64

_NAME = r"[^\W\d]\w*"
_STEPS = r"""(?:\.[^\W\d]\w*|\[[ ]*(?:-?[0-9]{1,9}|"[^"]*"|'[^']*')[ ]*\])*"""
_WORD = re.compile(
    rf"""
    (?P<NUMBER> (?:[0-9]+\.?[0-9]*|\.[0-9]+) (?:[eE][+-]?[0-9]+)? )
  | (?P<FUNCTION> {_NAME} [ ]* \( )
  | (?P<NAME> {_NAME}{_STEPS} )
  | (?P<OPERATOR> <>|<=|>=|[-+*/^&=<>] )
  | (?P<PERCENT> %(?:\s*%)* )
  | (?P<SEPARATOR> [,;] )
  | (?P<TEXT> "(?:[^"]|"")*" )
  | (?P<LPAR> \( )
  | (?P<RPAR> \) )
  | (?P<BRACES> \{{\{{[^{{}}]*\}}\}} )
  | (?P<SPACE> \s+ )
    """,
    re.VERBOSE,
)
_SIGNS = re.compile(r"(?:\s*[-+])*")
_TYPES = {
    **dict.fromkeys(("NUMBER", "NAME", "TEXT", "BRACES"), "OPERAND"),
    **{kind: kind for kind in ("FUNCTION", "PERCENT", "SEPARATOR", "LPAR", "RPAR", "SPACE")},
    "OPERATOR": "BINARY",
}
_AFTER_A_VALUE = frozenset({"OPERAND", "RPAR", "PERCENT"})


class Token:
    """A word. type: for the grammar; kind: what it is; start, end: its place. The rest is what lark asks of a token."""

    __slots__ = ("end", "kind", "start", "text", "type")

    line = column = end_line = end_column = 0

    def __init__(self, type: str, kind: str, text: str, start: int, end: int) -> None:
        self.type = type
        self.kind = kind
        self.text = text
        self.start = start
        self.end = end

    @property
    def start_pos(self) -> int:
        return self.start

    @property
    def end_pos(self) -> int:
        return self.end


def tokens(formula: str) -> Iterator[Token]:
    """The words in turn; the first is `=`.

    Raises:
        WrongFormula: a limit is passed, a character has no meaning, or `,` and `;` are mixed.
    """
    length = len(formula)
    if length > MOST_CHARACTERS:
        raise WrongFormula(f"a formula has at most {MOST_CHARACTERS:,} characters, this one has {length:,}", 0, 1)
    at = length - len(formula.lstrip())
    if formula[at : at + 1] != "=":
        raise WrongFormula("a formula begins with `=`", at, at + 1)
    yield Token("EQUAL", "EQUAL", "=", at, at + 1)
    at += 1
    level = 0
    separator = before = ""
    for match in _WORD.finditer(formula, at):
        start, end = match.span()
        if start != at:
            if start < at:
                continue  # a sign of a run that is told already
            break
        at, kind = end, str(match.lastgroup)
        if kind == "SPACE":
            continue
        text, role = match[0], _TYPES[kind]
        if kind == "OPERATOR":
            if before not in _AFTER_A_VALUE:
                if text not in "+-":
                    raise WrongFormula(f"a value is missing before `{text}`", start, end)
                role, at = "SIGNS", _end_of_signs(formula, end)
                text = formula[start:at]
        elif kind == "FUNCTION" or kind == "LPAR":
            level += 1
            if level > MOST_LEVELS:
                raise WrongFormula(f"a formula has at most {MOST_LEVELS} levels of parentheses", start, end)
        elif kind == "RPAR":
            level -= 1
        elif kind == "SEPARATOR":
            separator = separator or text
            if text != separator:
                said = f"arguments are separated by `{separator}` in this formula, and here by `{text}`"
                raise WrongFormula(f"{said}: use one of them throughout", start, end)
        yield Token(role, kind, text, start, at)
        before = role
    if at < length:
        raise _stranger(formula, at)


def _end_of_signs(formula: str, at: int) -> int:
    match = _SIGNS.match(formula, at)
    assert match is not None
    return match.end()


def _stranger(formula: str, at: int) -> WrongFormula:
    character = formula[at]
    if character == '"':
        return WrongFormula('a text has no closing `"` (a quote inside it is written twice)', at, at + 1)
    if formula.startswith("{{", at):
        return WrongFormula("`{{` has no closing `}}`, or braces inside", at, at + 2)
    if character == "'":
        return WrongFormula("a text stands between `\"`, not `'`", at, at + 1)
    known = "numbers, texts, names, functions, parentheses and " + " ".join([*LEVELS, "%"])
    return WrongFormula(f"`{cut(character)}` has no meaning here; a formula has {known}", at, at + 1)
