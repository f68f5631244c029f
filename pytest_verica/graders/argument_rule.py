"""What a tool_check may ask of one argument of a call."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import ConfigDict, Field, ValidationError, model_validator

from pytest_verica.errors import ConfigError, MissingPath
from pytest_verica.evals.fields import Strict, TemplateMark
from pytest_verica.graders.expected import BadExpected, Expected, Written, alternatives, normalized, same_json, shown
from pytest_verica.graders.pattern import BadPattern, Pattern
from pytest_verica.graders.text_check import is_template
from pytest_verica.path import describe, is_array, parse_path, path_text
from pytest_verica.template import Scope, text_of

Comparison = Literal["equals", "not_equals", "contains", "matches", "one_of", "exists"]
TIMEOUT_MS = 100


class ArgumentConfig(Strict):
    """One argument, and what it must be."""

    model_config = ConfigDict(defer_build=True)  # as for every kind

    name: str = Field(min_length=1, description="Its name; `filtro.estado` is a field inside it.")
    comparison: Comparison = "equals"
    value: Annotated[Any, TemplateMark()] = Field(None, description="Any JSON; texts in it may be templates.")
    optional: bool = Field(False, description="Whether a call without this argument is right too.")

    @model_validator(mode="after")
    def _has_its_value(self) -> ArgumentConfig:
        given = "value" in self.model_fields_set
        if self.comparison == "exists":
            if given or self.optional:
                raise ValueError("`exists` takes no `value` and is never `optional`")
            return self
        if not given:
            raise ValueError(f"`{self.comparison}` needs a `value`")
        value = self.value
        if self.comparison == "one_of" and not (isinstance(value, str) or (isinstance(value, list) and value)):
            raise ValueError("`one_of` takes a list of values, or a template that gives one")
        if self.comparison == "matches" and not (isinstance(value, str) and value):
            raise ValueError("`matches` takes a regular expression")
        if self.comparison == "contains" and value in (None, "", [], {}):
            raise ValueError("`contains` has an empty value, which checks nothing")
        return self


def equal_arguments(wanted: Mapping[Any, Any]) -> list[dict[str, Any]]:
    """`{city: Rome}` as rules: each named argument equals its value."""
    return [{"name": path_text([str(key)]), "comparison": "equals", "value": value} for key, value in wanted.items()]


class ArgumentRule:
    """A rule that is ready for every case. Raises ConfigError where its path or its pattern is wrong."""

    def __init__(self, config: ArgumentConfig, *, data: bool = False) -> None:
        """data: it comes from a golden set, where nothing is a template."""
        self.name = config.name
        self._path = parse_path(config.name)
        self._comparison = config.comparison
        self._optional = config.optional
        self._expected = Expected(config.value, data=data)
        if config.comparison == "matches" and (data or not is_template(config.value)):
            Pattern.compile(config.value, "", TIMEOUT_MS)
        if config.comparison == "one_of" and isinstance(config.value, str) and not (data or is_template(config.value)):
            raise ConfigError(f"`{config.name}`: `one_of` takes a list of values, or a template that gives one")

    def read(self, scope: Scope) -> Any:
        """What is expected for one case.

        Raises:
            BlankValue: it is empty here.
            BadExpected: it cannot be compared with.
        """
        if self._comparison == "exists":
            return None
        wanted = self._expected.read(scope)
        if self._comparison in ("one_of", "contains") and not alternatives(wanted):
            raise BadExpected(f"`{self.name}`: `{self._comparison}` has an empty list, which checks nothing")
        if self._comparison == "contains" and any(part == "" for part in alternatives(wanted)):
            raise BadExpected(f"`{self.name}`: `contains` has an empty value, which checks nothing")
        if self._comparison == "matches":
            try:
                return Pattern.compile(_text(wanted), "", TIMEOUT_MS)
            except BadPattern as error:
                raise BadExpected(f"`{self.name}`: {error}") from None
        return wanted

    def check(self, arguments: Mapping[str, Any] | None, wanted: Any) -> tuple[bool, str]:
        """Whether a call's arguments satisfy the rule, and a sentence.

        Raises:
            TimeoutError: its pattern took too long; the message says so.
        """
        if arguments is None:
            return False, f"`{self.name}` is not known: the call's arguments were not recorded"
        try:
            found = self._path.find(arguments)
        except MissingPath as error:
            return self._optional, f"the arguments have {error}" + (" (it is optional)" if self._optional else "")
        here = f"`{self.name}` is {shown(found)}"
        if self._comparison == "exists":
            return True, here
        if self._comparison == "contains":
            return self._contains(found, wanted, here)
        if self._comparison == "matches":
            return self._matches(found, wanted, here)
        if self._comparison == "one_of":
            values = alternatives(wanted)
            return any(same_json(found, value) for value in values), f"{here}; wanted one of {shown(values)}"
        inverted = self._comparison == "not_equals"
        words = "anything but" if inverted else "it equal to"
        return same_json(found, wanted) is not inverted, f"{here}; wanted {words} {shown(wanted)}"

    def _contains(self, found: Any, wanted: Any, here: str) -> tuple[bool, str]:
        parts = alternatives(wanted)
        sentence = f"{here}; wanted it to contain {shown(wanted)}"
        if isinstance(found, str):
            text = normalized(found)
            return all(normalized(_text(part)) in text for part in parts), sentence
        if is_array(found):
            return all(any(same_json(inner, part) for inner in found) for part in parts), sentence
        return False, f"`{self.name}` is {describe(found)}; `contains` looks into texts and arrays"

    def _matches(self, found: Any, pattern: Pattern, here: str) -> tuple[bool, str]:
        try:
            return pattern.find(text_of(found)) is not None, f"{here}; wanted it to match {shown(pattern.source)}"
        except TimeoutError:
            raise TimeoutError(f"`{self.name}`: {pattern.too_slow()}") from None


def _text(wanted: Any) -> str:
    return wanted.text if isinstance(wanted, Written) else text_of(wanted)


def rules_of_cell(value: Any) -> list[ArgumentRule]:
    """The rules that a golden set holds: a list of them, or an object of the arguments that are expected.

    Raises:
        BadExpected: it is neither.
    """
    written = equal_arguments(value) if isinstance(value, Mapping) else value
    if not is_array(written):
        raise BadExpected(
            f"`arguments` is {describe(value)}; an object of arguments or a list of {{name, comparison, value}} was "
            "expected"
        )
    rules = []
    for place, item in enumerate(written):
        try:
            rules.append(ArgumentRule(ArgumentConfig.model_validate(item), data=True))
        except ValidationError as error:
            first = error.errors(include_url=False, include_context=False, include_input=False)[0]
            where = ".".join(map(str, first["loc"]))
            message = first["msg"].removeprefix("Value error, ")
            raise BadExpected(f"`arguments[{place}]{'.' if where else ''}{where}`: {message}") from None
        except ConfigError as error:
            raise BadExpected(f"`arguments[{place}]`: {error}") from None
    return rules
