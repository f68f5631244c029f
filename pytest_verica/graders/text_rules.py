"""What a text_check may ask of a text: the operations, both ways to write them, and their options."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Literal

from pydantic import BeforeValidator, ConfigDict, Field, model_validator

from pytest_verica.evals.criterion import CriterionConfig
from pytest_verica.evals.fields import TemplateText
from pytest_verica.graders.bounds import Bounds
from pytest_verica.graders.target import TargetConfig, TargetField
from pytest_verica.graders.text import Normalize, Unit

Operation = Literal[
    "equals",
    "not_equals",
    "contains",
    "not_contains",
    "matches",
    "not_matches",
    "starts_with",
    "ends_with",
    "one_of",
    "length",
]
OPERATIONS: tuple[str, ...] = Operation.__args__  # type: ignore[attr-defined]
LISTS = ("contains", "not_contains", "one_of")


def _texts(value: Any) -> Any:
    parts = value if isinstance(value, list) else [value]
    if value is not None and not all(isinstance(part, (str, int, float)) for part in parts):
        raise ValueError("a text, a template or a list of them was expected")
    return value


Texts = Annotated[TemplateText | list[TemplateText] | None, BeforeValidator(_texts)]


class LengthRule(Bounds):
    """How long the text may be."""

    unit: Unit = "characters"

    @model_validator(mode="after")
    def _bounded(self) -> LengthRule:
        if not self.given:
            raise ValueError("`length` needs `min`, `max` or `equals`")
        return self


@dataclass(frozen=True)
class TextRule:
    """One operation, whichever way it was written. operand: what the text is compared with, None for length;
    value: the expression that is looked at in place of the target."""

    operation: str
    operand: str | list[str] | None
    length: LengthRule | None
    value: str | None
    ignore_case: bool


class TextRulesConfig(CriterionConfig):
    """The keys of a text_check: `operation` with `value`, or the operation itself as the key."""

    model_config = ConfigDict(defer_build=True)  # built for the kinds in use only: it takes 10 ms each

    target: TargetField = Field(default_factory=TargetConfig)
    operation: str | None = None
    value: Texts = Field(
        None, description="With `operation`: what the text is compared with. Else an expression that is looked at."
    )
    equals: Texts = None
    not_equals: Texts = None
    contains: Texts = None
    not_contains: Texts = None
    matches: Texts = Field(None, description="A regular expression, Python syntax, searched for anywhere.")
    not_matches: Texts = None
    starts_with: Texts = None
    ends_with: Texts = None
    one_of: Texts = None
    length: LengthRule | None = None
    match: Literal["all", "any"] = Field("all", description="How many values of a list must satisfy the operation.")
    ignore_case: bool = False
    strip: bool | None = Field(None, description="Leave out white space at both ends; default: equals and one_of do.")
    normalize: Normalize = "nfc"
    collapse_whitespace: bool = False
    flags: str = Field("", pattern="^[aimsx]*$", description="Of the regular expression.")
    timeout_ms: int = Field(100, ge=1, le=60_000, description="Milliseconds that one match may take.")
    unit: Unit | None = None
    min: int | None = Field(None, ge=0, strict=True)
    max: int | None = Field(None, ge=0, strict=True)

    old_operations: ClassVar[Mapping[str, str]] = {}

    @model_validator(mode="after")
    def _one_operation(self) -> TextRulesConfig:
        rule = self.rule()
        operand = rule.operand
        if isinstance(operand, list) and rule.operation not in LISTS:
            raise ValueError(f"`{rule.operation}` takes one text; a list goes with {', '.join(LISTS)}")
        if operand is not None and (not operand or "" in (operand if isinstance(operand, list) else [operand])):
            raise ValueError(
                f"`{rule.operation}` has an empty value, which checks nothing; for empty texts there is `length`"
            )
        if "flags" in self.model_fields_set and rule.operation not in ("matches", "not_matches"):
            raise ValueError(f"`flags` belongs to matches and not_matches, not to `{rule.operation}`")
        return self

    def rule(self) -> TextRule:
        """The one operation.

        Raises:
            ValueError: there is none, or more than one, or its parts do not fit together.
        """
        named = self.old_operations.get(self.operation or "", self.operation)
        keys = [name for name in OPERATIONS if getattr(self, name) is not None]
        ignore_case = self.ignore_case or self.operation == "ilike"
        if named == "length" or keys == ["length"]:
            return TextRule("length", None, self._length(named, keys), self._looked_at(self.value), ignore_case)
        self._refuse_bounds()
        if named is not None and keys:
            raise self._not_one([named, *keys])
        if named is not None:
            operand = self._operand()
            if operand is None:
                raise ValueError(f"`operation: {named}` needs `value`")
            return TextRule(named, operand, None, self._looked_at(None), ignore_case)
        if len(keys) != 1:
            raise self._not_one(keys)
        return TextRule(keys[0], getattr(self, keys[0]), None, self._looked_at(self.value), ignore_case)

    def _operand(self) -> str | list[str] | None:
        return self.value

    def _looked_at(self, value: str | list[str] | None) -> str | None:
        if isinstance(value, list):
            raise ValueError("`value` is a list here; an expression such as `{{ case.draft }}` was expected")
        if value is not None and self.target.model_fields_set:
            raise ValueError("`value` and `target` both say what is looked at; keep one")
        return value

    def _length(self, named: str | None, keys: list[str]) -> LengthRule:
        if self.length is not None:
            if named is not None or self.min is not None or self.max is not None or self.unit is not None:
                raise ValueError("write `length: {min: …, max: …, unit: …}`, or `operation: length` with these keys")
            return self.length
        if [key for key in keys if key != "equals"]:
            raise self._not_one(["length", *keys])
        exact = self.equals
        if exact is not None and not (isinstance(exact, str) and exact.isdecimal()):
            raise ValueError(f"`equals` of a length is a whole number, not {exact!r}")
        equals = None if exact is None else int(exact)
        return LengthRule(min=self.min, max=self.max, equals=equals, unit=self.unit or "characters")

    def _refuse_bounds(self) -> None:
        for key in ("min", "max", "unit"):
            if getattr(self, key) is not None:
                raise ValueError(f"`{key}` belongs to `operation: length`")

    def _not_one(self, found: list[str]) -> ValueError:
        known = ", ".join([*OPERATIONS, *self.old_operations])
        return ValueError(f"write exactly one operation; found {' and '.join(found) or 'none'}; known: {known}")


class TextCheckConfig(TextRulesConfig):
    """Compares a text."""

    type: Literal["text_check"]
    operation: Operation | None = None


class StringCheckConfig(TextRulesConfig):
    """The old name of text_check, with the operations and keys that OpenAI's string_check has."""

    type: Literal["string_check"]
    operation: Operation | Literal["eq", "ne", "like", "ilike"] | None = None
    input: TemplateText | None = Field(None, description="OpenAI's word for the expression that is looked at.")
    reference: TemplateText | None = Field(None, description="OpenAI's word for `value`.")

    old_operations: ClassVar[Mapping[str, str]] = {
        "eq": "equals",
        "ne": "not_equals",
        "like": "contains",
        "ilike": "contains",
    }

    def _operand(self) -> str | list[str] | None:
        if self.reference is not None and self.value is not None:
            raise ValueError("`reference` and `value` say the same; keep one")
        return self.value if self.reference is None else self.reference

    def _looked_at(self, value: str | list[str] | None) -> str | None:
        return super()._looked_at(self.input if value is None else value)
