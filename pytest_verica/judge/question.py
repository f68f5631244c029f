"""The question that a judge is asked: the user's own prompt, the model, and the shape of the answer."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Literal

from pydantic import BeforeValidator, ConfigDict, Field, model_validator

from pytest_verica.canonical import content_hash
from pytest_verica.case import Case
from pytest_verica.errors import TemplateError
from pytest_verica.evals.criterion import CriterionConfig
from pytest_verica.evals.model import ModelConfig
from pytest_verica.evals.prompt import Prompt, PromptConfig, prompt_json
from pytest_verica.graders.shorthand import Shorthand
from pytest_verica.judge.shape import schema_text
from pytest_verica.output import Output
from pytest_verica.request import AnswerSchema, ModelSpec, Request, Structured
from pytest_verica.template import Scope

NEED_A_CREDENTIAL = ("openai", "anthropic", "google")
"""Providers of which no endpoint is open. Others say themselves whether they need one, and are asked before launch."""


def _text_or_turns(value: Any) -> Any:
    """A text is one user turn."""
    return {"user": value} if isinstance(value, str) else value


VERDICT_SCHEMA = "verdict_schema"
"""The name that the JSON Schema of the verdict has in every judge's prompt, for endpoints that are not shown it."""

JudgePrompt = Annotated[PromptConfig, BeforeValidator(_text_or_turns), Shorthand({"type": "string"})]


class JudgeConfig(CriterionConfig):
    """The keys of every judge."""

    model_config = ConfigDict(defer_build=True)  # built for the kinds in use only: it takes 10 ms each

    prompt_names: ClassVar[frozenset[str]] = frozenset({VERDICT_SCHEMA})

    prompt: JudgePrompt = Field(description="The whole instruction: one text, `system` and `user`, or `messages`.")
    model: ModelConfig
    structured: Literal["json_schema", "tool", "json_object"] = Field(
        "json_schema", description="How the endpoint is made to answer in the verdict's shape."
    )
    samples: int = Field(1, ge=1, le=99, description="How often to ask. Labels: the most frequent; scores: the median.")

    @model_validator(mode="after")
    def _can_be_asked(self) -> JudgeConfig:
        if self.prompt.tools:
            raise ValueError("a judge is offered no tools; leave `prompt.tools` out")
        if self.model.provider in NEED_A_CREDENTIAL and self.model.credential is None:
            raise ValueError(
                f"a judge needs its own `credential`: name the environment variable that holds its key for "
                f"{self.model.provider} under `model`"
            )
        return self


def shows(prompt: PromptConfig, name: str) -> bool:
    """Whether a prompt prints this name. A prompt with an error in it, which is told elsewhere, counts as if it did."""
    try:
        return name in Prompt(prompt).columns
    except TemplateError:
        return True


class Question:
    """A judge's question that is ready.

    schema: of the verdict; asks: what makes it this judge beside prompt, model and schema, as JSON, None where nothing
    does; identity: hash of everything that makes it this judge and not another.
    """

    def __init__(self, config: JudgeConfig, schema: dict[str, Any], asks: Mapping[str, Any] | None = None) -> None:
        self.model: ModelSpec = config.model.spec(temperature=0.0)
        self.structured: Structured = config.structured
        self.samples = config.samples
        self.answer = AnswerSchema("verdict", schema, config.structured)
        self._prompt = Prompt(config.prompt)
        self._shape = {VERDICT_SCHEMA: schema_text(schema)} if VERDICT_SCHEMA in self._prompt.columns else {}
        identity: dict[str, Any] = {
            "provider": self.model.provider,
            "model": self.model.name,
            "params": dict(self.model.params),
            "prompt": prompt_json(config.prompt),
            "schema": schema,
            "structured": config.structured,
            "samples": config.samples,
            **({} if self.model.api is None else {"api": self.model.api}),
        }
        self.identity = content_hash(identity if asks is None else {**identity, "asks": asks})

    def requests(self, case: Case, output: Output, names: Mapping[str, Any] | None = None) -> list[Request]:
        """The same question once for each sample.

        Raises:
            MissingOutput: the prompt speaks of a part of the output that is not there; nothing was asked.
        """
        return [self.request(case, output, sample, names) for sample in range(self.samples)]

    def request(self, case: Case, output: Output, sample: int, names: Mapping[str, Any] | None = None) -> Request:
        """The question about one case. names: what the prompt may speak of beside the case's columns and the output;
        a column of the same name is hidden by it.

        Raises:
            MissingOutput: the prompt speaks of a part of the output that is not there.
        """
        given = {**self._shape, **(names or {})}
        seen = Case(case.id, {**case.columns, **given}) if given else case
        return Request(self.model, self._prompt.render(Scope(seen, output)), answer=self.answer, repeat=sample)
