"""A model as an eval names it: provider, name, the NAME of its credential, parameters."""

from __future__ import annotations

import re
from typing import Any, Literal

from pydantic import Field, field_validator

from pytest_verica.evals.fields import Strict
from pytest_verica.evals.secret import url_holds_key
from pytest_verica.request import ModelSpec, Rates

_ENVIRONMENT_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")
_LOOKS_LIKE_KEY = re.compile(r"(sk|pk|key|xai|gsk|AIza|hf)[-_]?[A-Za-z0-9_-]{16,}\Z")


class Params(Strict):
    """Sampling parameters. What is not set is not sent; null keeps a default, a judge's temperature of 0, from it."""

    temperature: float | None = Field(None, ge=0)
    max_tokens: int | None = Field(None, ge=1)
    top_p: float | None = Field(None, gt=0, le=1)
    seed: int | None = None
    reasoning_effort: str | None = None
    verbosity: str | None = None
    stop: str | list[str] | None = None
    extra: dict[str, Any] | None = Field(None, description="Passed through to the provider as it stands.")

    def as_mapping(self) -> dict[str, Any]:
        return self.model_dump(exclude_none=True)


class ModelConfig(Strict):
    """A model behind a provider's door."""

    provider: str
    name: str = Field(min_length=1)
    credential: str | None = Field(None, description="The NAME of an environment variable, never a key.")
    base_url: str | None = None
    api: Literal["chat", "responses"] | None = Field(
        None, description="Which API of `openai` or `openai_compatible`: Chat Completions (default) or Responses."
    )
    params: Params = Params()
    # Kept out of dumps: how fast a model may be asked makes it no other model, and a criterion no other criterion.
    requests_per_minute: float | None = Field(
        None, gt=0, exclude=True, description="Of the endpoint, for all its models."
    )
    tokens_per_minute: float | None = Field(
        None, gt=0, exclude=True, description="Of the endpoint, in and out together."
    )

    @field_validator("credential")
    @classmethod
    def _is_a_name(cls, value: str | None) -> str | None:
        if value is None:
            return None
        if _LOOKS_LIKE_KEY.match(value) or not _ENVIRONMENT_NAME.match(value):
            # The value is not repeated: it may be a key.
            raise ValueError(
                "looks like a key; write the NAME of the environment variable that holds it (such as OPENAI_API_KEY)"
            )
        return value

    @field_validator("base_url")
    @classmethod
    def _holds_no_key(cls, value: str | None) -> str | None:
        if value is not None and url_holds_key(value):
            # It is not repeated: it holds a key.
            raise ValueError(
                "seems to hold a password or a key; take it out, and name the environment variable that holds it in "
                "`credential`"
            )
        return value

    def spec(self, **defaults: Any) -> ModelSpec:
        """The record of this model; `defaults` are parameters used where the eval sets none."""
        unset = self.params.model_fields_set
        params = {name: value for name, value in defaults.items() if name not in unset} | self.params.as_mapping()
        api = None if self.api == "chat" else self.api
        return ModelSpec(self.provider, self.name, self.credential, self.base_url, params, api, self.rates)

    @property
    def rates(self) -> Rates | None:
        """The limits of its endpoint, None where none is set."""
        if self.requests_per_minute is None and self.tokens_per_minute is None:
            return None
        return Rates(self.requests_per_minute, self.tokens_per_minute)
