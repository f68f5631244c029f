"""What every criterion has, whatever its kind: a name, a run condition, a negation."""

from __future__ import annotations

from typing import ClassVar, Literal

from pydantic import Field

from pytest_verica.evals.fields import Strict, TemplateText

ConditionName = Literal["equals", "not_equals", "contains", "is_empty", "has_value"]


class RunCondition(Strict):
    """When a criterion is looked at. Evaluated before any call of that criterion."""

    variable: TemplateText
    condition: ConditionName
    value: TemplateText | None = None


class CriterionConfig(Strict):
    """The ground of a grader's configuration; each kind adds its own keys."""

    prompt_names: ClassVar[frozenset[str]] = frozenset()
    """Names that this kind gives to its prompt, beside the golden set's columns and the output."""

    name: str = Field(min_length=1, max_length=120, description="Names the criterion in node ids, reports and gates.")
    type: str
    description: str = Field("", description="What meets it, in words: for people who label, never part of a verdict.")
    negate: bool = Field(False, description="Swap pass and fail; never na or error.")
    only_if: RunCondition | None = Field(None, description="Look at this criterion only where the condition holds.")
    otherwise: Literal["na", "pass", "fail"] = Field("na", description="The verdict where the condition does not hold.")
