"""Run conditions: whether a criterion is looked at for a case, decided before any call."""

from __future__ import annotations

import unicodedata
from typing import Any, Literal

from pytest_verica.case import Case
from pytest_verica.errors import ConfigError, MissingOutput
from pytest_verica.evals.criterion import RunCondition
from pytest_verica.grade import Grade
from pytest_verica.graders.excerpt import excerpt
from pytest_verica.output import Output
from pytest_verica.template import Scope, compile_template, is_missing, text_of

_WORDS = {"equals": "equals", "not_equals": "does not equal", "contains": "contains"}


class Condition:
    """A run condition that is ready. Texts are compared without white space at their ends, in Unicode's NFC."""

    def __init__(self, config: RunCondition, otherwise: Literal["na", "pass", "fail"]) -> None:
        """Raises ConfigError where a value is needed and absent, or given and not needed."""
        self._name = config.condition
        self._otherwise = otherwise
        self._variable = compile_template(config.variable)
        self._about_presence = config.condition in ("is_empty", "has_value")
        if self._about_presence and config.value is not None:
            raise ConfigError(f"`only_if`: the condition {config.condition} takes no `value`")
        if not self._about_presence and config.value is None:
            raise ConfigError(f"`only_if`: the condition {config.condition} needs a `value`")
        self._value = None if config.value is None else compile_template(config.value)

    def decide(self, case: Case, output: Output) -> Grade | None:
        """None where the condition holds; else the verdict that stands in place of the criterion's."""
        scope = Scope(case, output)
        try:
            found = self._found(scope)
            value = None if self._value is None else _ready(self._value.render(scope))
        except MissingOutput as error:
            return Grade.of(False, f"the run condition could not be read: {error}", evaluated=False)
        if self._holds(found, value):
            return None
        sentence = self._sentence(found, value)
        if self._otherwise == "na":
            return Grade.na(sentence, evaluated=False)
        return Grade.of(self._otherwise == "pass", f"{sentence}; marked as {self._otherwise}", evaluated=False)

    def _found(self, scope: Scope) -> Any:
        try:
            return self._variable.value(scope)
        except MissingOutput:
            if self._about_presence:
                return None  # what is not there is empty
            raise

    def _holds(self, found: Any, value: str | None) -> bool:
        if self._name == "has_value":
            return not is_missing(found)
        if self._name == "is_empty":
            return is_missing(found)
        assert value is not None
        if self._name == "contains":
            if not value:
                return False  # every text contains nothing
            if isinstance(found, (list, tuple)):
                return any(_ready(text_of(part)) == value for part in found)
            return value in _ready(text_of(found))
        return (_ready(text_of(found)) == value) is (self._name == "equals")

    def _sentence(self, found: Any, value: str | None) -> str:
        source = self._variable.source.strip()
        if self._name == "has_value":
            return f"not evaluated: only where {source} has a value, and here it is empty"
        shown = excerpt(text_of(found), 60)
        if self._name == "is_empty":
            return f"not evaluated: only where {source} is empty, and here it is {shown}"
        here = "empty" if is_missing(found) else shown
        return (
            f"not evaluated: only where {source} {_WORDS[self._name]} {excerpt(value or '', 60)}, and here it is {here}"
        )


def _ready(text: str) -> str:
    text = text.strip()
    return text if text.isascii() else unicodedata.normalize("NFC", text)
