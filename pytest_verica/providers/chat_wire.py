"""Chat Completions on the wire: a request as its JSON body, a JSON answer as a completion. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pytest_verica.completion import Completion
from pytest_verica.providers.parameters import Rule, extra, taken
from pytest_verica.providers.reading import NotACompletion, called, count, forced, listed, text_of
from pytest_verica.providers.staging import arguments_text, staged
from pytest_verica.request import AnswerSchema, Message, Request, Tool
from pytest_verica.tool_calls import ToolCall
from pytest_verica.usage import Usage

__all__ = ["NotACompletion", "read_completion", "request_body"]


def request_body(request: Request, *, limit_name: str, rules: tuple[Rule, ...] = ()) -> dict[str, Any]:
    """The JSON body of a request. limit_name: what this endpoint calls `max_tokens`; rules: what its models do not
    take."""
    body: dict[str, Any] = {"model": request.model.name, "messages": _messages(request.messages)}
    for name, value in taken(request.model, rules).items():
        body[limit_name if name == "max_tokens" else name] = value
    tools = [_tool(tool) for tool in request.tools]
    if request.answer is not None:
        tools += _force(request.answer, body)
    if tools:
        body["tools"] = tools
    body.update(extra(request.model))
    return body


def _force(answer: AnswerSchema, body: dict[str, Any]) -> list[dict[str, Any]]:
    """Writes into the body what forces the shape of the answer; returns the tools that it needs."""
    if answer.structured == "json_object":
        body["response_format"] = {"type": "json_object"}
        return []
    if answer.structured == "tool":
        body["tool_choice"] = {"type": "function", "function": {"name": answer.name}}
        return [_tool(Tool(answer.name, "Gives the answer.", answer.schema))]
    shape = {"name": answer.name, "strict": True, "schema": dict(answer.schema)}
    body["response_format"] = {"type": "json_schema", "json_schema": shape}
    return []


def _tool(tool: Tool) -> dict[str, Any]:
    function: dict[str, Any] = {"name": tool.name}
    if tool.description:
        function["description"] = tool.description
    function["parameters"] = dict(tool.parameters) or {"type": "object", "properties": {}}
    return {"type": "function", "function": function}


def _messages(messages: Sequence[Message]) -> list[dict[str, Any]]:
    result = []
    for message in staged(messages):
        turn: dict[str, Any] = {"role": message.role, "content": message.content}
        if message.role == "tool":
            turn["tool_call_id"] = message.tool_call_id
        elif message.tool_calls:
            turn["tool_calls"] = [_call(call) for call in message.tool_calls]
        if turn["content"] is None and not message.tool_calls:
            turn["content"] = ""
        result.append(turn)
    return result


def _call(call: ToolCall) -> dict[str, Any]:
    return {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": arguments_text(call)}}


def read_completion(data: Any, answer: AnswerSchema | None) -> Completion:
    """A completion from the JSON of an endpoint. answer: the shape that was asked for: where it was forced as a tool
    call, the call's arguments are the text.

    Raises:
        NotACompletion: the JSON has another shape.
    """
    if not isinstance(data, Mapping):
        raise NotACompletion("its JSON is not an object")
    choices = data.get("choices")
    if not isinstance(choices, list) or not choices or not isinstance(choices[0], Mapping):
        raise NotACompletion("its JSON has no `choices`")
    message = choices[0].get("message")
    if not isinstance(message, Mapping):
        raise NotACompletion("its JSON has no `choices[0].message`")
    calls = tuple(_read_call(call) for call in listed(message.get("tool_calls")))
    tool = answer.name if answer is not None and answer.structured == "tool" else None
    text, calls = forced(_text(message.get("content")), calls, tool)
    refusal = text_of(message.get("refusal"))
    return Completion(
        text=None if refusal else text,
        tool_calls=calls,
        stop_reason="refusal" if refusal else text_of(choices[0].get("finish_reason")),
        refusal=refusal,
        model=text_of(data.get("model")),
        usage=_usage(data.get("usage")),
    )


def _text(content: Any) -> str | None:
    if content is None or isinstance(content, str):
        return content
    if isinstance(content, list):  # some endpoints answer in parts; those that are not text are thoughts
        parts = [part.get("text") for part in content if isinstance(part, Mapping) and part.get("type") == "text"]
        return "".join(part for part in parts if isinstance(part, str))
    raise NotACompletion("its `choices[0].message.content` is neither a text nor a list of parts")


def _read_call(call: Any) -> ToolCall:
    function = call.get("function") if isinstance(call, Mapping) else None
    if not isinstance(function, Mapping):
        raise NotACompletion("one of its tool calls has no function name")
    return called(function.get("name"), function.get("arguments"), call.get("id"))


def _usage(usage: Any) -> Usage | None:
    if not isinstance(usage, Mapping):
        return None
    return Usage(
        input_tokens=count(usage, "prompt_tokens"),
        output_tokens=count(usage, "completion_tokens"),
        cached_input_tokens=count(usage.get("prompt_tokens_details"), "cached_tokens"),
        reasoning_tokens=count(usage.get("completion_tokens_details"), "reasoning_tokens"),
    )
