"""What is asked of a model: messages, tools, parameters, the shape of the answer. The key of the response store."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal

from pytest_verica.canonical import content_hash
from pytest_verica.tool_calls import ToolCall

Role = Literal["system", "user", "assistant", "tool"]
Structured = Literal["json_schema", "tool", "json_object"]


@dataclass(frozen=True)
class Rates:
    """What an endpoint lets an account do in a minute, as the user knows it. None: not limited, or not known."""

    requests_per_minute: float | None = None
    tokens_per_minute: float | None = None


@dataclass(frozen=True)
class ModelSpec:
    """A model behind a door.

    provider: a registered provider; credential: the NAME of an environment variable, None where the door needs none;
    base_url: None where the provider has its own; params: sampling parameters as the eval wrote them; api: which of the
    provider's APIs is spoken, None for its usual one; rates: of its endpoint, None where none are set (no part of what
    is asked).
    """

    provider: str
    name: str
    credential: str | None = None
    base_url: str | None = None
    params: Mapping[str, Any] = field(default_factory=dict)
    api: str | None = None
    rates: Rates | None = field(default=None, compare=False)

    @property
    def endpoint(self) -> tuple[str, str | None, str | None]:
        """What limits and connections are kept by: provider, base_url and credential."""
        return (self.provider, self.base_url, self.credential)

    def __str__(self) -> str:
        return f"{self.provider}/{self.name}"


@dataclass(frozen=True)
class Message:
    """One turn. tool_calls: only on assistant turns; tool_call_id: only on tool turns."""

    role: Role
    content: str | None = None
    tool_calls: tuple[ToolCall, ...] = ()
    tool_call_id: str | None = None

    def to_json(self) -> dict[str, Any]:
        data: dict[str, Any] = {"role": self.role, "content": self.content}
        if self.tool_calls:
            data["tool_calls"] = [call.to_json() for call in self.tool_calls]
        if self.tool_call_id is not None:
            data["tool_call_id"] = self.tool_call_id
        return data


@dataclass(frozen=True)
class Tool:
    """A tool that a prompt offers. parameters: its JSON Schema."""

    name: str
    description: str = ""
    parameters: Mapping[str, Any] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        return {"name": self.name, "description": self.description, "parameters": dict(self.parameters)}


@dataclass(frozen=True)
class AnswerSchema:
    """The shape an answer must have. name: for the provider; schema: a JSON Schema; structured: how it is forced."""

    name: str
    schema: Mapping[str, Any]
    structured: Structured = "json_schema"


@dataclass(frozen=True)
class Request:
    """One question to one model. repeat: index of the sample (0 for the first): equal questions with another index are
    other questions, so that repeats are not answered by one stored answer."""

    model: ModelSpec
    messages: tuple[Message, ...]
    tools: tuple[Tool, ...] = ()
    answer: AnswerSchema | None = None
    repeat: int = 0

    @cached_property
    def content(self) -> dict[str, Any]:
        """The question itself, without the door it goes through: JSON."""
        answer = self.answer
        return {
            "model": self.model.name,
            "params": dict(self.model.params),
            "messages": [message.to_json() for message in self.messages],
            "tools": [tool.to_json() for tool in self.tools],
            "answer": None if answer is None else [answer.name, dict(answer.schema), answer.structured],
            "repeat": self.repeat,
        }

    @cached_property
    def content_key(self) -> str:
        """Hash of the question, whatever door it goes through: what `provider: replay` looks up."""
        return content_hash(self.content)

    @cached_property
    def key(self) -> str:
        """Hash of the question and its door (provider, base_url, API): the key of the response store."""
        model = self.model
        # The usual API is left out, so that answers bought before there was another are found.
        spoken = [] if model.api is None else [model.api]
        return content_hash([model.provider, model.base_url, self.content_key, *spoken])
