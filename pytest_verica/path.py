"""Paths into JSON values: `a.b.c`, `items[0].name`, `items[-1]`, `["odd key"]`. Never touches a file or a model."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache
from typing import Any

from pytest_verica.errors import ConfigError, MissingPath

Step = str | int

_NAME = re.compile(r"[^\s.\[\]\"'{}]+")
_BRACKET = re.compile(r"""\[\s*(?:(-?[0-9]{1,9})|"((?:[^"\\]|\\.)*)"|'((?:[^'\\]|\\.)*)')\s*\]""", re.DOTALL)
_ESCAPE = re.compile(r"\\(.)", re.DOTALL)
_ESCAPED = {"n": "\n", "t": "\t", "r": "\r"}
_FORMS = 'a path looks like `a.b.c`, `items[0].name`, `items[-1]` or `["odd key"].name`'


@dataclass(frozen=True, slots=True)
class Path:
    """A parsed path. steps: keys (text) and places in arrays (number; a negative one counts from the end)."""

    source: str
    steps: tuple[Step, ...]

    def __str__(self) -> str:
        return self.source

    def find(self, value: Any) -> Any:
        """What the path leads to.

        A key that meets an array means every element: the result is then the list of all that was found, flat however
        many arrays were crossed ([] where an array on the way is empty).

        Raises:
            MissingPath: it leads to nothing, in the value or in any of the elements that it crosses.
        """
        found, crossed = self._walk(value)
        return found if crossed else found[0]

    def plural(self, value: Any) -> bool:
        """Whether the path crosses an array without an index in this value. False where it ends before."""
        here = [value]
        for step in self.steps:
            if isinstance(step, str) and any(is_array(inner) for inner in here):
                return True
            try:
                here = [_take(inner, step) for inner in here]
            except LookupError:
                return False
        return False

    def _walk(self, value: Any) -> tuple[list[Any], bool]:
        here: list[tuple[Any, tuple[Step, ...]]] = [(value, ())]
        crossed = False
        for step in self.steps:
            if isinstance(step, str) and any(is_array(inner) for inner, _ in here):
                crossed = True
                here = _spread(here)
            following: list[tuple[Any, tuple[Step, ...]]] = []
            for inner, at in here:
                try:
                    following.append((_take(inner, step), (*at, step)))
                except LookupError:
                    raise MissingPath(self.source, path_text(at), describe(inner)) from None
            here = following
        return [inner for inner, _ in here], crossed


@lru_cache(maxsize=4096)
def parse_path(text: str) -> Path:
    """Reads a path.

    Raises:
        ConfigError: it is not one; says at which character and what to write.
    """
    steps: list[Step] = []
    at = 0
    while at < len(text):
        bracket = _BRACKET.match(text, at)
        if bracket is not None:
            index, double, single = bracket.groups()
            steps.append(int(index) if index is not None else _unescaped(double if double is not None else single))
            at = bracket.end()
            continue
        start = at
        if steps and text[at] == ".":
            at += 1
        name = _NAME.match(text, at)
        if name is None or (steps and at == start):
            raise _not_a_path(text, at)
        steps.append(name[0])
        at = name.end()
    if not steps:
        raise ConfigError(f"a path is empty; {_FORMS}")
    if steps[0] == "$" and len(steps) > 1 and not text.startswith("["):
        raise ConfigError(f"`{text}` is not a path: it starts at the top without `$`; write `{path_text(steps[1:])}`")
    return Path(text, tuple(steps))


def path_text(steps: Sequence[Step]) -> str:
    """The steps as a person writes them; "" for no step."""
    text = ""
    for step in steps:
        if isinstance(step, int):
            text += f"[{step}]"
        elif _NAME.fullmatch(step):
            text += f".{step}" if text else step
        else:
            text += '["' + step.replace("\\", "\\\\").replace('"', '\\"') + '"]'
    return text


def describe(value: Any, limit: int = 80) -> str:
    """A value in short words, for messages: "the number 4", "the text 'abc'", "an object with keys a, b"."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, float, Decimal)):
        return f"the number {_number_text(value, limit)}"
    if isinstance(value, str):
        return f"the text {_cut(value, limit)!r}" if value else "an empty text"
    if isinstance(value, Mapping):
        if not value:
            return "an empty object"
        keys = _cut(", ".join(str(key) for key in value), limit)
        shown = keys if keys.isprintable() else repr(keys)[1:-1]
        return f"an object with {'key' if len(value) == 1 else 'keys'} {shown}"
    if is_array(value):
        if not value:
            return "an empty array"
        return f"an array of {len(value)} element{'' if len(value) == 1 else 's'}"
    return f"a value of type {type(value).__name__}"


def is_array(value: Any) -> bool:
    return isinstance(value, (list, tuple))


def _take(value: Any, step: Step) -> Any:
    """One step down. Raises LookupError where there is nothing."""
    if isinstance(step, int):
        if not is_array(value):
            raise LookupError
        return value[step]
    if not isinstance(value, Mapping):
        raise LookupError
    return value[step]


def _spread(here: list[tuple[Any, tuple[Step, ...]]]) -> list[tuple[Any, tuple[Step, ...]]]:
    """Every element of the arrays, and of the arrays inside them; what is no array stays."""
    while any(is_array(value) for value, _ in here):
        wider: list[tuple[Any, tuple[Step, ...]]] = []
        for value, at in here:
            if is_array(value):
                wider.extend((inner, (*at, index)) for index, inner in enumerate(value))
            else:
                wider.append((value, at))
        here = wider
    return here


def _unescaped(text: str) -> str:
    return _ESCAPE.sub(lambda match: _ESCAPED.get(match[1], match[1]), text)


def _not_a_path(text: str, at: int) -> ConfigError:
    rest = text[at : at + 20]
    if re.match(r"\[\s*(\*|:)?\s*\]", rest):
        advice = "every element of an array is meant where no index is written: leave the brackets out"
    elif not rest:
        advice = f"it ends too early; {_FORMS}"
    elif rest[0].isspace():
        advice = 'a key with white space is written `["odd key"]`'
    else:
        advice = _FORMS
    return ConfigError(f"`{text}` is not a path: character {at + 1} ({rest!r}) cannot stand there; {advice}")


def _cut(text: str, limit: int) -> str:
    return text if len(text) <= limit else text[: max(limit - 1, 0)] + "…"


def _number_text(value: int | float | Decimal, limit: int) -> str:
    if isinstance(value, int) and value.bit_length() > 10_000:
        return "with more than 3,000 digits"  # Python refuses to write out very long ones
    text = str(value)
    return _cut(text[:-2] if text.endswith(".0") else text, limit)
