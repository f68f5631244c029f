"""A prompt: system and user texts, or a staged chain of messages; tools are offered and never executed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from pydantic import Field, model_validator

from pytest_verica.canonical import canonical_json
from pytest_verica.evals.fields import Strict, TemplateText
from pytest_verica.request import Message, Tool
from pytest_verica.template import Scope, Template, compile_template
from pytest_verica.tool_calls import ToolCall


class ToolConfig(Strict):
    name: str = Field(min_length=1)
    description: str = ""
    parameters: dict[str, Any] = Field(default_factory=lambda: {"type": "object", "properties": {}})


class ToolCallConfig(Strict):
    """A tool call written into a staged assistant turn."""

    name: str
    arguments: dict[str, Any] = Field(default_factory=dict)
    id: str | None = None


class MessageConfig(Strict):
    role: Literal["system", "user", "assistant", "tool"]
    content: TemplateText | None = None
    tool_calls: list[ToolCallConfig] = Field(default_factory=list)
    tool_call_id: str | None = None

    @model_validator(mode="after")
    def _says_something(self) -> MessageConfig:
        if self.content is None and not self.tool_calls:
            raise ValueError("a message needs `content`, or `tool_calls` on an assistant turn")
        if self.tool_calls and self.role != "assistant":
            raise ValueError(f"`tool_calls` belong on an assistant turn, not on a {self.role} turn")
        return self


class PromptConfig(Strict):
    """`system` and `user`, or `messages`; with the tools the model may decide to call."""

    system: TemplateText | None = None
    user: TemplateText | None = None
    messages: list[MessageConfig] | None = None
    tools: list[ToolConfig] = Field(default_factory=list)

    @model_validator(mode="after")
    def _one_form(self) -> PromptConfig:
        if self.messages is not None:
            if self.system is not None or self.user is not None:
                raise ValueError("write `messages`, or `system` and `user`, not both")
            if not self.messages:
                raise ValueError("`messages` is empty")
        elif self.user is None:
            raise ValueError("a prompt needs `user` or `messages`")
        return self

    def all_messages(self) -> list[MessageConfig]:
        if self.messages is not None:
            return self.messages
        system = [] if self.system is None else [MessageConfig(role="system", content=self.system)]
        return [*system, MessageConfig(role="user", content=self.user)]


class Prompt:
    """A prompt whose templates are compiled: case in, messages out."""

    def __init__(self, config: PromptConfig) -> None:
        self._turns: list[tuple[MessageConfig, Template | None, tuple[ToolCall, ...]]] = []
        for turn, message in enumerate(config.all_messages()):
            calls = tuple(
                ToolCall(call.name, call.arguments, canonical_json(call.arguments), call.id or f"call_{turn}_{index}")
                for index, call in enumerate(message.tool_calls)
            )
            text = None if message.content is None else compile_template(message.content)
            self._turns.append((message, text, calls))
        self.tools: tuple[Tool, ...] = tuple(
            Tool(tool.name, tool.description, tool.parameters) for tool in config.tools
        )

    @property
    def columns(self) -> frozenset[str]:
        """The columns of the case that the prompt refers to."""
        return frozenset().union(*(text.columns for _, text, _ in self._turns if text is not None))

    def render(self, scope: Scope) -> tuple[Message, ...]:
        """The messages for one case.

        Raises:
            MissingOutput: a template needs a part of the output that is not there.
        """
        return tuple(
            Message(message.role, None if text is None else text.render(scope), calls, message.tool_call_id)
            for message, text, calls in self._turns
        )


def prompt_json(config: PromptConfig) -> Mapping[str, Any]:
    """The prompt as the report shows it and as its version is hashed: what was written, nothing else."""
    return config.model_dump(exclude_defaults=True)
