"""What the fake provider's model says: sums solved, JSON drawn from schemas, tools called. Pure and deterministic."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from typing import Any

_SUM = re.compile(r"(-?\d+) \+ (-?\d+)")


class Draw:
    """An endless row of numbers that follow from its parts: the same parts, the same numbers."""

    def __init__(self, *parts: bytes | int) -> None:
        digest = hashlib.blake2b(digest_size=16)
        for part in parts:
            digest.update(part if isinstance(part, bytes) else b"%d," % part)
        self._seed = digest.digest()
        self._count = 0

    def unit(self) -> float:
        """The next number, from 0 to below 1."""
        self._count += 1
        digest = hashlib.blake2b(self._seed, digest_size=8, salt=self._count.to_bytes(8, "little")).digest()
        return int.from_bytes(digest, "little") / 2**64


def chat_completion(
    request: Mapping[str, Any], draw: Draw, *, wrong_rate: float, fail_rate: float, cut_short: bool = False
) -> dict[str, Any]:
    """The answer to a Chat Completions request. wrong_rate: share of wrong sums; fail_rate: share of bad verdicts;
    cut_short: the model ran into its token limit."""
    text: str | None
    calls: list[dict[str, Any]] = []
    form = request.get("response_format") or {}
    tool = _tool_to_call(request)
    bad = draw.unit() < fail_rate
    if tool is not None:
        arguments = json.dumps(value_of(tool["function"].get("parameters") or {}, draw, bad))
        function = {"name": tool["function"]["name"], "arguments": arguments}
        text, calls = None, [{"id": f"call_{int(draw.unit() * 1e9)}", "type": "function", "function": function}]
    elif form.get("type") == "json_schema":
        text = json.dumps(value_of(form["json_schema"]["schema"], draw, bad))
    elif form.get("type") == "json_object":
        text = json.dumps({"answer": plain_answer(_last(request), draw, wrong_rate)})
    else:
        text = plain_answer(_last(request), draw, wrong_rate)
    if cut_short and text is not None:
        text = text[: len(text) // 2]
    message = {"role": "assistant", "content": text, "refusal": None, **({"tool_calls": calls} if calls else {})}
    forced = isinstance(request.get("tool_choice"), dict)
    reason = "length" if cut_short else "tool_calls" if calls and not forced else "stop"
    read = sum(len(turn.get("content") or "") for turn in request["messages"]) // 4 + 8
    written = len(text or calls[0]["function"]["arguments"]) // 4 + 1
    return {
        "id": f"chatcmpl-{int(draw.unit() * 1e12)}",
        "object": "chat.completion",
        "created": 1,
        "model": request["model"],
        "choices": [{"index": 0, "message": message, "finish_reason": reason, "logprobs": None}],
        "usage": {
            "prompt_tokens": read,
            "completion_tokens": written,
            "total_tokens": read + written,
            "prompt_tokens_details": {"cached_tokens": 0},
            "completion_tokens_details": {"reasoning_tokens": 0},
        },
    }


def plain_answer(question: str, draw: Draw, wrong_rate: float) -> str:
    """A text with a sum in it is answered with “The answer is N.”."""
    found = _SUM.search(question)
    if found is None:
        return f"There is no sum in these {len(question)} characters."
    right = int(found[1]) + int(found[2])
    return f"The answer is {right + 1 if draw.unit() < wrong_rate else right}."


def value_of(schema: Mapping[str, Any], draw: Draw, bad: bool, root: Mapping[str, Any] | None = None) -> Any:
    """A value that fits a JSON Schema. bad: the last of an enum, the lower half of a range, false."""
    root = schema if root is None else root
    if "$ref" in schema:
        return value_of(_resolve(root, schema["$ref"]), draw, bad, root)
    if "const" in schema:
        return schema["const"]
    if "enum" in schema:
        return schema["enum"][-1 if bad else 0]
    for choice in (*schema.get("anyOf", ()), *schema.get("oneOf", ())):
        if choice.get("type") != "null":
            return value_of(choice, draw, bad, root)
    kind = schema.get("type", "object" if "properties" in schema else "string")
    if isinstance(kind, list):
        kind = next((each for each in kind if each != "null"), "null")
    if kind == "object":
        return {name: value_of(inner, draw, bad, root) for name, inner in schema.get("properties", {}).items()}
    if kind == "array":
        count = min(max(schema.get("minItems", 0), 2), schema.get("maxItems", 2))
        return [value_of(schema.get("items", {}), draw, bad, root) for _ in range(count)]
    if kind in ("integer", "number"):
        return _number(schema, draw, bad, whole=kind == "integer")
    return {"boolean": not bad, "null": None}.get(kind, f"Reason {int(draw.unit() * 1000)}.")


def _number(schema: Mapping[str, Any], draw: Draw, bad: bool, *, whole: bool) -> float:
    low = schema.get("minimum", schema.get("exclusiveMinimum", -1) + 1)
    high = schema.get("maximum", schema.get("exclusiveMaximum", low + 11) - 1)
    place = draw.unit() / 2 + (0.0 if bad else 0.5)
    value: float = low + place * (high - low)
    return round(value) if whole else round(value, 3)


def _resolve(root: Mapping[str, Any], reference: str) -> Mapping[str, Any]:
    found: dict[str, Any] = dict(root)
    for part in reference.removeprefix("#/").split("/"):
        found = found[part] if part else found
    return found


def _last(request: Mapping[str, Any]) -> str:
    return next((turn.get("content") or "" for turn in reversed(request["messages"]) if turn["role"] == "user"), "")


def _tool_to_call(request: Mapping[str, Any]) -> Any:
    """The tool that is forced, or that the last message names."""
    tools = request.get("tools") or []
    choice = request.get("tool_choice", "auto")
    if isinstance(choice, dict):
        return next(tool for tool in tools if tool["function"]["name"] == choice["function"]["name"])
    if choice == "required":
        return tools[0]
    last = _last(request) if tools else ""
    return next((tool for tool in tools if tool["function"]["name"] in last), None)
