"""OpenAI's Responses API on the wire: a request as its JSON body, a JSON answer as a completion. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pytest_verica.completion import Completion
from pytest_verica.providers.parameters import RESPONSES, Rule, extra, merged, taken
from pytest_verica.providers.reading import NotACompletion, called, count, forced, listed, mapping, text_of
from pytest_verica.providers.staging import arguments_text, staged
from pytest_verica.request import AnswerSchema, Message, Request, Tool
from pytest_verica.tool_calls import ToolCall
from pytest_verica.usage import Usage

_NAMES = {"max_tokens": "max_output_tokens"}
_NESTED = {"reasoning_effort": ("reasoning", "effort"), "verbosity": ("text", "verbosity")}
_STOPS = {"max_output_tokens": "length", "content_filter": "content_filter"}
_POLICY = "policy"


def request_body(request: Request, *, rules: tuple[Rule, ...] = ()) -> dict[str, Any]:
    """The JSON body of a request. rules: what the endpoint's models do not take, beside what the API has not.

    Nothing is kept by the provider (`store` is false) unless `extra` says otherwise.
    """
    body: dict[str, Any] = {"model": request.model.name, "input": _items(request.messages), "store": False}
    for name, value in taken(request.model, rules, RESPONSES).items():
        if name in _NESTED:
            outer, inner = _NESTED[name]
            body.setdefault(outer, {})[inner] = value
        else:
            body[_NAMES.get(name, name)] = value
    tools = [_tool(tool) for tool in request.tools]
    if request.answer is not None:
        tools += _force(request.answer, body)
    if tools:
        body["tools"] = tools
    return merged(body, extra(request.model))


def _force(answer: AnswerSchema, body: dict[str, Any]) -> list[dict[str, Any]]:
    """Writes into the body what forces the shape of the answer; returns the tools that it needs."""
    if answer.structured == "tool":
        body["tool_choice"] = {"type": "function", "name": answer.name}
        return [_tool(Tool(answer.name, "Gives the answer.", answer.schema))]
    shape: dict[str, Any] = {"type": "json_object"}
    if answer.structured == "json_schema":
        shape = {"type": "json_schema", "name": answer.name, "strict": True, "schema": dict(answer.schema)}
    body.setdefault("text", {})["format"] = shape
    return []


def _tool(tool: Tool) -> dict[str, Any]:
    described = {"description": tool.description} if tool.description else {}
    parameters = dict(tool.parameters) or {"type": "object", "properties": {}}
    # Not strict, as Chat Completions are not: a strict one would refuse schemas with optional parameters.
    return {"type": "function", "name": tool.name, **described, "parameters": parameters, "strict": False}


def _items(messages: Sequence[Message]) -> list[dict[str, Any]]:
    items: list[dict[str, Any]] = []
    for message in staged(messages):
        if message.role == "tool":
            output = message.content or ""
            items.append({"type": "function_call_output", "call_id": message.tool_call_id, "output": output})
            continue
        if message.content is not None or not message.tool_calls:
            items.append({"role": message.role, "content": message.content or ""})
        items += [
            {"type": "function_call", "call_id": call.id, "name": call.name, "arguments": arguments_text(call)}
            for call in message.tool_calls
        ]
    return items


def read_completion(data: Any, answer: AnswerSchema | None) -> Completion:
    """A completion from the JSON of an endpoint.

    Raises:
        NotACompletion: the JSON has another shape.
    """
    if not isinstance(data, Mapping):
        raise NotACompletion("its JSON is not an object")
    output = data.get("output")
    if not isinstance(output, list):
        raise NotACompletion("its JSON has no `output`")
    if data.get("status") in ("queued", "in_progress"):
        raise NotACompletion("it is still being made: `extra.background` gives an answer later. Remove it")
    items = [mapping(item) for item in output]
    parts = [mapping(part) for item in items if item.get("type") == "message" for part in listed(item.get("content"))]
    calls: tuple[ToolCall, ...] = tuple(
        called(item.get("name"), item.get("arguments"), item.get("call_id"))
        for item in items
        if item.get("type") == "function_call"
    )
    texts = [text_of(part.get("text")) or "" for part in parts if part.get("type") == "output_text"]
    tool = answer.name if answer is not None and answer.structured == "tool" else None
    stop_reason = _stop_reason(data, calls)
    text, calls = forced("".join(texts) if texts else None, calls, tool)
    refusal = "".join(text_of(part.get("refusal")) or "" for part in parts if part.get("type") == "refusal") or None
    return Completion(
        text=None if refusal else text,
        tool_calls=calls,
        stop_reason="refusal" if refusal else stop_reason,
        refusal=refusal,
        model=text_of(data.get("model")),
        usage=_usage(data.get("usage")),
    )


def _stop_reason(data: Mapping[str, Any], calls: tuple[ToolCall, ...]) -> str | None:
    status = data.get("status")
    if status == "incomplete":
        reason = text_of(mapping(data.get("incomplete_details")).get("reason"))
        return _STOPS.get(reason or "", reason or "incomplete")
    if status == "failed" and _POLICY in str(mapping(data.get("error")).get("code")):
        return "content_filter"
    if status not in (None, "completed"):
        return str(status)
    return "tool_calls" if calls else "stop"


def _usage(usage: Any) -> Usage | None:
    if not isinstance(usage, Mapping):
        return None
    return Usage(
        input_tokens=count(usage, "input_tokens"),
        output_tokens=count(usage, "output_tokens"),
        cached_input_tokens=count(usage.get("input_tokens_details"), "cached_tokens"),
        reasoning_tokens=count(usage.get("output_tokens_details"), "reasoning_tokens"),
    )
