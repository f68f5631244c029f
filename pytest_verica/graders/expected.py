"""Expected JSON values: literals and templates, read for a case and compared as JSON."""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Mapping
from typing import Any

from pytest_verica.graders.excerpt import excerpt
from pytest_verica.graders.text_check import is_template
from pytest_verica.json_text import read_json
from pytest_verica.path import describe, is_array, path_text
from pytest_verica.template import Scope, Template, compile_template, is_missing

_ABSENT = object()


class BlankValue(Exception):
    """What is expected is empty for this case; the message names the template."""


class BadExpected(Exception):
    """What a case expects cannot be checked: the golden set's or the eval's fault, never the output's."""


class Written:
    """A text that a template gave. It stands for itself and, where it is JSON, for that value: a cell of a CSV file
    that holds 5 is the number and the text."""

    __slots__ = ("text", "value")

    def __init__(self, text: str) -> None:
        self.text = text
        reading = read_json(text)
        self.value: Any = _ABSENT if reading.problem is not None or reading.fenced else reading.value

    @property
    def array(self) -> list[Any] | None:
        """The array that the text is, None where it is none."""
        return self.value if isinstance(self.value, list) else None


class Expected:
    """An expected value that is ready: a JSON value with templates in the place of any of its texts.

    literal: the same for every case; whole: one template gives all of it.
    """

    def __init__(self, written: Any, *, data: bool = False) -> None:
        """data: it comes from a golden set, where nothing is a template."""
        self._tree = written if data else _compiled(written)
        self.literal = data or not _holds_template(self._tree)
        self.whole = isinstance(self._tree, Template)

    def read(self, scope: Scope) -> Any:
        """The value for one case; texts of templates are `Written`.

        Raises:
            BlankValue: a template in it is empty here.
        """
        return self._tree if self.literal else _read(self._tree, scope)


def _compiled(written: Any) -> Any:
    if isinstance(written, str):
        return compile_template(written) if is_template(written) else written
    if isinstance(written, Mapping):
        return {key: _compiled(value) for key, value in written.items()}
    if is_array(written):
        return [_compiled(value) for value in written]
    return written


def _holds_template(tree: Any) -> bool:
    if isinstance(tree, Mapping):
        return any(map(_holds_template, tree.values()))
    if isinstance(tree, list):
        return any(map(_holds_template, tree))
    return isinstance(tree, Template)


def _read(tree: Any, scope: Scope) -> Any:
    if isinstance(tree, Template):
        value = tree.value(scope)
        if is_missing(value):
            raise BlankValue(f"{excerpt(tree.source.strip(), 60)} is empty for this case")
        return Written(value) if isinstance(value, str) else value
    if isinstance(tree, Mapping):
        return {key: _read(value, scope) for key, value in tree.items()}
    if isinstance(tree, list):
        return [_read(value, scope) for value in tree]
    return tree


def same_json(found: Any, wanted: Any) -> bool:
    """Whether two values are equal as JSON: 5 is 5.0 and neither is true; texts in Unicode's NFC."""
    return difference(found, wanted) is None


def difference(found: Any, wanted: Any) -> str | None:
    """Where two values first differ as JSON, and how; None where they are equal."""
    waiting: list[tuple[Any, Any, tuple[str | int, ...]]] = [(found, wanted, ())]
    while waiting:  # not recursive: models nest deeply
        one, other, at = waiting.pop()
        if isinstance(other, Written):
            if isinstance(one, str) and normalized(one) == normalized(other.text):
                continue
            other = other.text if other.value is _ABSENT else other.value
        if isinstance(one, Mapping) and isinstance(other, Mapping):
            for key in [*(key for key in other if key not in one), *(key for key in one if key not in other)]:
                there = "is missing" if key in other else "is not wanted"
                return f"`{path_text([*at, str(key)])}` {there}"
            waiting += [(one[key], other[key], (*at, str(key))) for key in reversed(other)]
        elif is_array(one) and is_array(other):
            if len(one) != len(other):
                return f"{_at(at)} has {len(one)} elements, not {len(other)}"
            pairs = list(zip(one, other, range(len(one)), strict=True))
            waiting += [(inner, outer, (*at, index)) for inner, outer, index in reversed(pairs)]
        elif not _same_scalar(one, other):
            return f"{_at(at)} is {shown(one)}, not {shown(other)}"
    return None


def _at(steps: tuple[str | int, ...]) -> str:
    return f"`{path_text(steps)}`" if steps else "it"


def _same_scalar(one: Any, other: Any) -> bool:
    if isinstance(one, bool) or isinstance(other, bool) or one is None or other is None:
        return one is other
    if isinstance(one, str) and isinstance(other, str):
        return normalized(one) == normalized(other)
    return bool(one == other)


def normalized(text: str) -> str:
    return text if text.isascii() else unicodedata.normalize("NFC", text)


def alternatives(wanted: Any) -> list[Any]:
    """The values of a list, also one that a cell holds as text; a single value is a list of one."""
    array: Any = wanted.array if isinstance(wanted, Written) else wanted
    return list(array) if is_array(array) else [wanted]


def plain(wanted: Any) -> Any:
    """The value that is expected, as JSON: a cell's text where it is not JSON itself."""
    if isinstance(wanted, Written):
        return wanted.text if wanted.value is _ABSENT else wanted.value
    if isinstance(wanted, Mapping):
        return {key: plain(value) for key, value in wanted.items()}
    return [plain(value) for value in wanted] if is_array(wanted) else wanted


def shown(value: Any, limit: int = 80) -> str:
    """A value as messages show it: compact JSON, cut; texts in quotes."""
    if isinstance(value, (str, Written)):
        return excerpt(value if isinstance(value, str) else value.text, limit)
    try:
        text = json.dumps(plain(value), ensure_ascii=False, separators=(", ", ": "))
    except (TypeError, ValueError, RecursionError):
        return describe(value, limit)
    text = text if len(text) <= limit else text[: limit - 1] + "…"
    return text if text.isprintable() else excerpt(text, limit)[1:-1]
