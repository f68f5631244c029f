"""Anthropic's Messages API on the wire: a request as its JSON body, a JSON answer as a completion. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pytest_verica.completion import Completion
from pytest_verica.providers.parameters import ANTHROPIC, extra, merged, taken
from pytest_verica.providers.reading import NotACompletion, added, called, count, forced, mapping, text_of
from pytest_verica.providers.staging import Unasked, arguments_object, staged
from pytest_verica.request import AnswerSchema, Message, Request
from pytest_verica.tool_calls import ToolCall
from pytest_verica.usage import Usage

MOST_TOKENS = 8192
"""`max_tokens` where the eval sets none: the API does not go without."""

_STOPS = {
    "end_turn": "stop",
    "stop_sequence": "stop",
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "tool_use": "tool_calls",
}
# What a schema may say here; the rest of JSON Schema goes into the description, where the model may read it.
_KEPT = ("$ref", "enum", "const", "anyOf", "allOf", "type", "description", "title", "properties", "required", "items")
_FORMATS = frozenset({"date-time", "time", "date", "duration", "email", "hostname", "uri", "ipv4", "ipv6", "uuid"})


def request_body(request: Request) -> dict[str, Any]:
    """The JSON body of a request.

    Raises:
        Unasked: the API cannot be asked so.
    """
    params = taken(request.model, ANTHROPIC)
    system, messages = _messages(request.messages)
    body: dict[str, Any] = {
        "max_tokens": params.get("max_tokens", MOST_TOKENS),
        "messages": messages,
        "model": request.model.name,
    }
    output: dict[str, Any] = {"effort": params["reasoning_effort"]} if "reasoning_effort" in params else {}
    tools = [_tool(tool.name, tool.description, tool.parameters) for tool in request.tools]
    if request.answer is not None:
        tools += _force(request.answer, body, output)
    if output:
        body["output_config"] = output
    if "stop" in params:
        stop = params["stop"]
        body["stop_sequences"] = [stop] if isinstance(stop, str) else list(stop)
    if system:
        body["system"] = system
    if tools:
        body["tools"] = tools
    return merged(body, extra(request.model))


def _force(answer: AnswerSchema, body: dict[str, Any], output: dict[str, Any]) -> list[dict[str, Any]]:
    """Writes what forces the shape of the answer; returns the tools that it needs."""
    if answer.structured == "json_object":
        raise Unasked(
            "the Messages API has no `structured: json_object`. Use `json_schema`, or `tool` for models without it."
        )
    if answer.structured == "tool":
        body["tool_choice"] = {"type": "tool", "name": answer.name, "disable_parallel_tool_use": True}
        return [_tool(answer.name, "Gives the answer.", answer.schema)]
    output["format"] = {"type": "json_schema", "schema": plain_schema(answer.schema)}
    return []


def _tool(name: str, description: str, parameters: Mapping[str, Any]) -> dict[str, Any]:
    described = {"description": description} if description else {}
    return {"name": name, **described, "input_schema": dict(parameters) or {"type": "object", "properties": {}}}


def plain_schema(schema: Mapping[str, Any]) -> dict[str, Any]:
    """A JSON Schema in the keywords that structured output takes. A limit that it cannot state, such as `maximum`, is
    put into the description; answers are checked against the whole schema anyway."""
    plain: dict[str, Any] = {}
    if "$defs" in schema:
        plain["$defs"] = {name: plain_schema(inner) for name, inner in schema["$defs"].items()}
    for key in _KEPT:
        if key in schema:
            plain[key] = schema[key]
    if "enum" in plain or "const" in plain:
        plain.pop("type", None)  # the values say it
    if "oneOf" in schema:
        plain["anyOf"] = schema["oneOf"]
    for key in ("anyOf", "allOf"):
        if key in plain:
            plain[key] = [plain_schema(inner) for inner in plain[key]]
    if "items" in plain:
        plain["items"] = plain_schema(plain["items"])
    if plain.get("type") == "object" or "properties" in plain:
        plain["properties"] = {name: plain_schema(inner) for name, inner in plain.get("properties", {}).items()}
        plain["additionalProperties"] = False
    if schema.get("format") in _FORMATS:
        plain["format"] = schema["format"]
    if schema.get("minItems") in (0, 1):
        plain["minItems"] = schema["minItems"]
    told = {*plain, "type", "oneOf", "additionalProperties"}
    rest = ", ".join(f"{key}: {value}" for key, value in schema.items() if key not in told)
    if rest:
        plain["description"] = "\n\n".join(filter(None, (plain.get("description"), f"{{{rest}}}")))
    return plain


def _messages(messages: Sequence[Message]) -> tuple[str | None, list[dict[str, Any]]]:
    """The system text, and the turns. Results that follow one another are one turn, as the API wants them."""
    turns = list(staged(messages))
    system: list[str] = []
    while turns and turns[0].role == "system":
        system.append(turns.pop(0).content or "")
    result: list[dict[str, Any]] = []
    results: list[dict[str, Any]] | None = None
    for message in turns:
        if message.role == "tool":
            if results is None:
                results = []
                result.append({"role": "user", "content": results})
            results.append(
                {"type": "tool_result", "tool_use_id": message.tool_call_id, "content": message.content or ""}
            )
            continue
        results = None
        result.append({"role": message.role, "content": _content(message)})
    return "\n\n".join(system) or None, result


def _content(message: Message) -> str | list[dict[str, Any]]:
    if not message.tool_calls:
        return message.content or ""
    text = [{"type": "text", "text": message.content}] if message.content else []
    uses = [
        {"type": "tool_use", "id": call.id, "name": call.name, "input": arguments_object(call)}
        for call in message.tool_calls
    ]
    return [*text, *uses]


def read_completion(data: Any, answer: AnswerSchema | None) -> Completion:
    """A completion from the JSON of an endpoint.

    Raises:
        NotACompletion: the JSON has another shape.
    """
    if not isinstance(data, Mapping):
        raise NotACompletion("its JSON is not an object")
    content = data.get("content")
    if not isinstance(content, list):
        raise NotACompletion("its JSON has no `content`")
    blocks = [mapping(block) for block in content]
    texts = [text_of(block.get("text")) or "" for block in blocks if block.get("type") == "text"]
    calls: tuple[ToolCall, ...] = tuple(
        called(block.get("name"), block.get("input"), block.get("id"))
        for block in blocks
        if block.get("type") == "tool_use"
    )
    tool = answer.name if answer is not None and answer.structured == "tool" else None
    text, calls = forced("".join(texts) if texts else None, calls, tool)
    stopped = text_of(data.get("stop_reason"))
    refusal = _refusal(data, text) if stopped == "refusal" else None
    return Completion(
        text=None if refusal else text,
        tool_calls=calls,
        stop_reason=_STOPS.get(stopped, stopped) if stopped else None,
        refusal=refusal,
        model=text_of(data.get("model")),
        usage=_usage(data.get("usage")),
    )


def _refusal(data: Mapping[str, Any], text: str | None) -> str:
    """The words of a refusal: those of the API, else those of the model."""
    details = mapping(data.get("stop_details"))
    category = text_of(details.get("category"))
    words = text_of(details.get("explanation")) or text or "the model refused, and gave no words for it"
    return f"{words} ({category})" if category else words


def _usage(usage: Any) -> Usage | None:
    """`input_tokens` are those that no cache had to do with; all that was read is counted here."""
    if not isinstance(usage, Mapping):
        return None
    cached, written = count(usage, "cache_read_input_tokens"), count(usage, "cache_creation_input_tokens")
    return Usage(
        input_tokens=added(count(usage, "input_tokens"), cached, written),
        output_tokens=count(usage, "output_tokens"),
        cached_input_tokens=cached,
        reasoning_tokens=count(usage.get("output_tokens_details"), "thinking_tokens"),
        cache_write_tokens=written,
    )
