"""The target of a check: the response, a field of its JSON, the elements of an array, or any expression."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, ConfigDict, Field, model_validator

from pytest_verica.case import Case
from pytest_verica.errors import MissingOutput, MissingPath
from pytest_verica.evals.fields import Strict, TemplateText
from pytest_verica.grade import Grade
from pytest_verica.graders.excerpt import excerpt
from pytest_verica.graders.shorthand import Shorthand
from pytest_verica.output import Output
from pytest_verica.path import Path, describe, parse_path
from pytest_verica.template import Scope, compile_template, is_missing, text_of

Match = Literal["all", "any", "none"]

Check = Callable[[Any, str], "tuple[bool, str]"]
"""A check of one value: (value, how messages name it) -> (whether it passes, a sentence)."""

FENCE_NOTE = " (a code fence around the JSON was stripped)"


class TargetConfig(Strict):
    """What is looked at; without any key, the response."""

    model_config = ConfigDict(defer_build=True)  # as for every kind

    json_path: str | None = Field(default=None, description="One field of the output's JSON.")
    json_items: str | None = Field(default=None, description="An array in the output's JSON: each of its elements.")
    value: TemplateText | None = Field(default=None, description="Any expression, such as `{{ case.draft }}`.")
    each: str | None = Field(default=None, description="With json_items: a path inside each element.")
    match: Match = Field(default="all", description="How many elements must satisfy the check.")
    allow_empty: bool = Field(default=False, description="Whether `match: all` passes on an empty array.")

    @classmethod
    def ways(cls) -> tuple[str, ...]:
        """The keys of which one says what is looked at."""
        return ("json_path", "json_items", "value")

    @model_validator(mode="after")
    def _one_way(self) -> TargetConfig:
        chosen = [key for key in self.ways() if getattr(self, key) is not None]
        if len(chosen) > 1:
            raise ValueError(f"a target has one of: {', '.join(self.ways())}; found {' and '.join(chosen)}")
        if self.each is not None and self.json_items is None:
            raise ValueError("`each` is a path inside the elements of `json_items`, which is not set")
        if not chosen and self.model_fields_set:
            given = ", ".join(sorted(self.model_fields_set))
            raise ValueError(f"a target is `response` or has one of: {', '.join(self.ways())}; found only {given}")
        return self


def response_or_keys(value: Any) -> Any:
    """`target: response` is the target without keys."""
    if value == "response":
        return {}
    if isinstance(value, str):
        raise ValueError(f"a target is `response` or a mapping such as {{json_path: order.total}}; found {value!r}")
    return value


RESPONSE = Shorthand({"const": "response"})
TargetField = Annotated[TargetConfig, BeforeValidator(response_or_keys), RESPONSE]


class Target:
    """A target that is ready: finds what is looked at, and checks it."""

    def __init__(self, config: TargetConfig, value: str | None = None) -> None:
        """`value`, an expression, stands in place of the target where it is given."""
        expression = config.value if value is None else value
        self._template = None if expression is None else compile_template(expression)
        self._json_path = None if config.json_path is None else parse_path(config.json_path)
        self._items = None if config.json_items is None else parse_path(config.json_items)
        self._each = None if config.each is None else parse_path(config.each)
        self._match = config.match
        self._allow_empty = config.allow_empty
        self._plain = self._template is None and self._json_path is None and self._items is None

    def grade(self, case: Case, output: Output, check: Check) -> Grade:
        """The verdict of `check` on what is looked at.

        Raises:
            MissingOutput: there is nothing to look at. A criterion fails then, also a negated one: nothing was checked.
        """
        if self._plain:
            passed, sentence = check(response_of(output), "the response")
        elif self._template is not None:
            value = self._template.value(Scope(case, output))
            if is_missing(value) and not self._template.needs_output:
                return Grade.na(f"no value to check: {excerpt(self._template.source)} is empty here")
            passed, sentence = check(value, "the value")
        elif self._items is not None:
            passed, sentence = self._quantified(self._elements(self._items, output), self._items, check)
            sentence += _note(output)
        else:
            assert self._json_path is not None
            value, plural = find(self._json_path, output)
            if plural:
                found = [(f"`{self._json_path}` number {i + 1}", item, None) for i, item in enumerate(value)]
                passed, sentence = self._quantified(iter(found), self._json_path, check)
            else:
                passed, sentence = check(value, f"`{self._json_path}`")
            sentence += _note(output)
        return Grade("pass" if passed else "fail", passed, explanation=sentence)  # `of`, without its detour

    def _elements(self, path: Path, output: Output) -> Iterator[tuple[str, Any, str | None]]:
        """Each element: how it is named, its value, and why it has none."""
        value, plural = find(path, output)
        if plural and all(isinstance(item, list) for item in value):
            value = [item for items in value for item in items]
        if not isinstance(value, list):
            raise MissingOutput(f"`{path}` is {describe(value)}; an array was expected")
        for index, element in enumerate(value):
            name = f"element {index} of `{path}`" if plural else f"`{path}[{index}]`"
            if self._each is None:
                yield name, element, None
                continue
            try:
                inner = self._each.find(element)
            except MissingPath as error:
                yield name, None, f"{name} has {error}"
                continue
            named = f"`{self._each}` of {name}"
            if self._each.plural(element):
                yield from ((named, item, None) for item in inner)
            else:
                yield named, inner, None

    def _quantified(
        self, elements: Iterator[tuple[str, Any, str | None]], path: Path, check: Check
    ) -> tuple[bool, str]:
        count = good = 0
        first: dict[bool, str] = {}
        missing: str | None = None
        for name, value, absent in elements:
            count += 1
            if absent is not None:
                missing = missing or absent
                first.setdefault(False, absent)
                continue
            passed, sentence = check(value, name)
            good += passed
            first.setdefault(passed, sentence)
        if missing is not None and not (self._match == "any" and good):
            raise MissingOutput(missing)
        if count == 0:
            return self._nothing(path)
        if self._match == "all":
            if good == count:
                return True, f"all {count} elements pass; the first: {first[True]}"
            return False, f"{count - good} of {count} elements fail; the first: {first[False]}"
        if good:
            return self._match == "any", f"{good} of {count} elements satisfy the check; the first: {first[True]}"
        return self._match == "none", f"none of {count} elements satisfies the check; the first: {first[False]}"

    def _nothing(self, path: Path) -> tuple[bool, str]:
        if self._match == "any":
            return False, f"`{path}` has no elements, so none of them satisfies the check"
        if self._match == "none":
            return True, f"`{path}` has no elements, so none of them satisfies the check"
        if self._allow_empty:
            return True, f"`{path}` has no elements, which `allow_empty` accepts"
        raise MissingOutput(f"`{path}` has no elements: nothing was checked (`allow_empty: true` accepts that)")


def response_of(output: Output) -> str:
    """The text of the response.

    Raises:
        MissingOutput: there is none.
    """
    text = output.text
    if text is not None:
        return text
    if output.data is not None:
        return text_of(output.data)
    calls = len(output.tool_calls)
    raise MissingOutput(f"the output has no text{f', only {calls} tool calls' if calls else ''}")


def json_of(output: Output) -> Any:
    """The output's JSON.

    Raises:
        MissingOutput: it is not JSON.
    """
    reading = output.json
    if reading.problem is None:
        return reading.value
    shown = "" if output.text is None else f"; it begins {excerpt(output.text, 60)}"
    raise MissingOutput(f"the output is not JSON: {reading.problem}{shown}")


def find(path: Path, output: Output) -> tuple[Any, bool]:
    """What a path leads to in the output's JSON, and whether that is the list of every element of an array.

    Raises:
        MissingOutput: the output is not JSON, or has no such path.
    """
    value = json_of(output)
    try:
        found = path.find(value)
        return found, isinstance(found, list) and path.plural(value)
    except MissingPath as error:
        raise MissingOutput(f"the output's JSON has {error}{_note(output)}") from None


def _note(output: Output) -> str:
    return FENCE_NOTE if output.json.fenced else ""
