"""Google's Gemini API on the wire: a request as its JSON body, a JSON answer as a completion or vectors. Pure."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from pytest_verica.completion import Completion
from pytest_verica.embedding import Embedding, EmbeddingRequest
from pytest_verica.providers.embedding_wire import NotEmbeddings, shared, vector
from pytest_verica.providers.parameters import GOOGLE, extra, merged, taken
from pytest_verica.providers.reading import NotACompletion, called, count, forced, listed, mapping, text_of
from pytest_verica.providers.staging import arguments_object, staged, tool_names
from pytest_verica.request import AnswerSchema, Message, Request, Tool
from pytest_verica.tool_calls import ToolCall
from pytest_verica.usage import Usage

_NAMES = {"temperature": "temperature", "top_p": "topP", "max_tokens": "maxOutputTokens", "seed": "seed"}
# Tokens that the models of 2.5 may think: what Google's own Chat Completions make of these words.
_BUDGETS = {"none": 0, "minimal": 1024, "low": 1024, "medium": 8192, "high": 24576}
_STOPS = {"STOP": "stop", "MAX_TOKENS": "length"}
_FILTERED = re.compile(r"SAFETY|RECITATION|BLOCKLIST|PROHIBITED_CONTENT|SPII|MODEL_ARMOR|LANGUAGE")
# Later models refuse a call that they did not make themselves, unless it is marked as such, in these bytes.
_WITHOUT_SIGNATURES = re.compile(r"gemini-[12]\b.*|gemma-.*")
_STAGED_CALL = base64.b64encode(b"skip_thought_signature_validator").decode("ascii")


def path_of(request: Request, method: str) -> str:
    """Where a request goes, under the API's version."""
    name = request.model.name
    return f"/{name if name.startswith(('models/', 'tunedModels/')) else f'models/{name}'}:{method}"


def request_body(request: Request) -> dict[str, Any]:
    """The JSON body of a request."""
    turns = list(staged(request.messages))
    system: list[dict[str, Any]] = []
    while turns and turns[0].role == "system":
        system.append({"text": turns.pop(0).content or ""})
    body: dict[str, Any] = {"contents": _contents(turns, request.model.name)}
    if system:
        body["systemInstruction"] = {"parts": system, "role": "user"}
    config = _config(request)
    declared = [_declared(tool) for tool in request.tools]
    answer = request.answer
    if answer is not None and answer.structured == "tool":
        declared.append(_declared(Tool(answer.name, "Gives the answer.", answer.schema)))
        chosen = {"allowedFunctionNames": [answer.name], "mode": "ANY"}
        body["toolConfig"] = {"functionCallingConfig": chosen}
    elif answer is not None:
        config["responseMimeType"] = "application/json"
        if answer.structured == "json_schema":
            config["responseJsonSchema"] = dict(answer.schema)
    if declared:
        body["tools"] = [{"functionDeclarations": declared}]
    if config:
        body["generationConfig"] = config
    return merged(body, extra(request.model))


def _config(request: Request) -> dict[str, Any]:
    params = taken(request.model, GOOGLE)
    config: dict[str, Any] = {_NAMES[name]: value for name, value in params.items() if name in _NAMES}
    if "stop" in params:
        stop = params["stop"]
        config["stopSequences"] = [stop] if isinstance(stop, str) else list(stop)
    effort = params.get("reasoning_effort")
    if effort is not None:
        older = "gemini-2.5" in request.model.name
        # Written as the SDK writes them: the API takes the names of its own definition as well as those of JSON.
        config["thinkingConfig"] = (
            {"thinking_budget": _BUDGETS[effort]} if older else {"thinking_level": effort.upper()}
        )
    return config


def _declared(tool: Tool) -> dict[str, Any]:
    described = {"description": tool.description} if tool.description else {}
    schema = dict(tool.parameters) or {"type": "object", "properties": {}}
    return {**described, "name": tool.name, "parameters_json_schema": schema}


def _contents(turns: Sequence[Message], model: str) -> list[dict[str, Any]]:
    """The turns. Results that follow one another are one turn, as the API wants them."""
    names = tool_names(turns)
    contents: list[dict[str, Any]] = []
    results: list[dict[str, Any]] | None = None
    for message in turns:
        if message.role == "tool":
            if results is None:
                results = []
                contents.append({"parts": results, "role": "user"})
            identifier = message.tool_call_id or ""
            response = {"id": identifier, "name": names.get(identifier, identifier), "response": _result(message)}
            results.append({"functionResponse": response})
            continue
        results = None
        role = "model" if message.role == "assistant" else "user"
        contents.append({"parts": _parts(message, model), "role": role})
    return contents


def _parts(message: Message, model: str) -> list[dict[str, Any]]:
    parts: list[dict[str, Any]] = []
    if message.content or not message.tool_calls:
        parts.append({"text": message.content or ""})
    for index, call in enumerate(message.tool_calls):
        part: dict[str, Any] = {"functionCall": {"id": call.id, "args": arguments_object(call), "name": call.name}}
        if index == 0 and not _WITHOUT_SIGNATURES.match(model):
            part["thoughtSignature"] = _STAGED_CALL
        parts.append(part)
    return parts


def _result(message: Message) -> dict[str, Any]:
    """A tool's result as an object: what is none is put under `result`."""
    try:
        value = json.loads(message.content or "")
    except (ValueError, RecursionError):
        value = message.content or ""
    return value if isinstance(value, dict) else {"result": value}


def read_completion(data: Any, answer: AnswerSchema | None) -> Completion:
    """A completion from the JSON of an endpoint.

    Raises:
        NotACompletion: the JSON has another shape.
    """
    if not isinstance(data, Mapping):
        raise NotACompletion("its JSON is not an object")
    candidates = data.get("candidates")
    model, usage = text_of(data.get("modelVersion")), _usage(data.get("usageMetadata"))
    if not isinstance(candidates, list) or not candidates or not isinstance(candidates[0], Mapping):
        if mapping(data.get("promptFeedback")).get("blockReason"):
            return Completion(stop_reason="content_filter", model=model, usage=usage)
        raise NotACompletion("its JSON has no `candidates`")
    parts = [mapping(part) for part in listed(mapping(candidates[0].get("content")).get("parts"))]
    texts = [text_of(part["text"]) or "" for part in parts if "text" in part and not part.get("thought")]
    calls: tuple[ToolCall, ...] = tuple(
        called(call.get("name"), call.get("args"), call.get("id"))
        for call in (mapping(part["functionCall"]) for part in parts if "functionCall" in part)
    )
    stop_reason = _stop_reason(candidates[0].get("finishReason"), calls)
    tool = answer.name if answer is not None and answer.structured == "tool" else None
    text, calls = forced("".join(texts) if texts else None, calls, tool)
    return Completion(text, calls, stop_reason, None, model, usage)


def _stop_reason(reason: Any, calls: tuple[ToolCall, ...]) -> str | None:
    word = text_of(reason)
    if word is None:
        return None
    if _FILTERED.search(word):
        return "content_filter"
    if word == "STOP" and calls:
        return "tool_calls"
    return _STOPS.get(word, word.lower())


def _usage(usage: Any) -> Usage | None:
    """What the cache held is a part of the prompt's tokens here; thoughts are no part of the candidates'. This API's
    JSON leaves out what is 0, so that what is missing beside the prompt's tokens is known."""
    if not isinstance(usage, Mapping):
        return None
    prompt = count(usage, "promptTokenCount")
    if prompt is None:
        return Usage()
    thoughts = count(usage, "thoughtsTokenCount") or 0
    return Usage(
        input_tokens=prompt + (count(usage, "toolUsePromptTokenCount") or 0),
        output_tokens=(count(usage, "candidatesTokenCount") or 0) + thoughts,
        cached_input_tokens=count(usage, "cachedContentTokenCount") or 0,
        reasoning_tokens=thoughts,
    )


def embeddings_body(requests: Sequence[EmbeddingRequest]) -> dict[str, Any]:
    """The JSON body of one call for the texts of several requests to one model."""
    model = path_of(requests[0], "")[1:-1]
    more = extra(requests[0].model)
    return {
        "requests": [
            {"content": {"parts": [{"text": request.text}], "role": "user"}, **more, "model": model}
            for request in requests
        ]
    }


def read_embeddings(data: Any, requests: Sequence[EmbeddingRequest]) -> list[Embedding]:
    """The vectors, in the order of the requests.

    Raises:
        NotEmbeddings: the JSON has another shape.
    """
    items = data.get("embeddings") if isinstance(data, Mapping) else None
    if not isinstance(items, list):
        raise NotEmbeddings("its JSON has no `embeddings`")
    vectors = [vector(mapping(item).get("values")) for item in items]
    if len(vectors) != len(requests):
        raise NotEmbeddings(f"it has {len(vectors)} embeddings for {len(requests)} texts")
    shares = shared(count(data.get("usageMetadata"), "promptTokenCount"), requests)
    model = requests[0].model.name
    return [Embedding(numbers, model, share) for numbers, share in zip(vectors, shares, strict=True)]
