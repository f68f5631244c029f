"""What the body of an error says, in the shapes that the APIs give it. Pure."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pytest_verica.providers.reading import listed, mapping, text_of

_SAID_LIMIT = 300
_SECONDS = re.compile(r"(\d+(?:\.\d+)?)s")
_PARAMETER = re.compile(r"([a-z_]+(?:\.[a-z_0-9]+)*): ")
# The words for a status, where an error comes with HTTP 200; what is not here is an error of the server's own.
_STATUS_OF = {
    "rate_limit_exceeded": 429,
    "rate_limit_error": 429,
    "insufficient_quota": 429,
    "RESOURCE_EXHAUSTED": 429,
    "invalid_prompt": 400,
    "invalid_request_error": 400,
    "INVALID_ARGUMENT": 400,
    "authentication_error": 401,
    "permission_error": 403,
    "not_found_error": 404,
    "overloaded_error": 529,
}


@dataclass(frozen=True)
class Said:
    """An error body in words. code: its `code`, `type` or `status`; param: the parameter it complains of; None: not
    said; details: codes of what lies behind it; wait_s: seconds that it asks to wait."""

    message: str
    code: str | None = None
    param: str | None = None
    details: tuple[str, ...] = ()
    wait_s: float | None = None


def read_error(body: bytes) -> Said:
    """Never fails: a body in no known shape is its own message."""
    text = body.decode("utf-8", "replace")
    try:
        data: Any = json.loads(text)
    except (ValueError, RecursionError):
        return Said(_words(text))
    if isinstance(data, list) and len(data) == 1:  # how Google answers where a stream was possible
        data = data[0]
    if not isinstance(data, Mapping):
        return Said(_words(text))
    error: Any = data.get("error") or data
    if not isinstance(error, Mapping):
        return Said(_words(str(error), text))
    detail = error.get("detail")
    if isinstance(detail, list) and detail and isinstance(detail[0], Mapping):  # how FastAPI reports a bad body
        where = [str(part) for part in listed(detail[0].get("loc"))]
        return Said(_words(str(detail[0].get("msg")), text), param=where[-1] if where else None)
    message = _words(text_of(error.get("message")), text_of(detail), text)
    words = [text_of(error.get(name)) for name in ("code", "type", "status")]
    code = next((word for word in words if word not in (None, "error")), None)
    details = [mapping(each) for each in listed(error.get("details"))]
    return Said(message, code, _param(error, details, message), tuple(_codes(details)), _retry_delay_s(details))


def _param(error: Mapping[str, Any], details: list[Mapping[str, Any]], message: str) -> str | None:
    """The parameter: said outright (OpenAI), in a violation (Google), or before the first colon (Anthropic)."""
    named = text_of(error.get("param"))
    violations = [mapping(each) for detail in details for each in listed(detail.get("fieldViolations"))]
    field = next((text_of(each.get("field")) for each in violations), None)
    begins = _PARAMETER.match(message) if error.get("type") == "invalid_request_error" and not named else None
    return named or field or (begins[1] if begins else None)


def _codes(details: list[Mapping[str, Any]]) -> list[str]:
    violations = [mapping(each) for detail in details for each in listed(detail.get("violations"))]
    words = [detail.get("reason") for detail in details] + [each.get("quotaId") for each in violations]
    return [word for word in words if isinstance(word, str)]


def _retry_delay_s(details: list[Mapping[str, Any]]) -> float | None:
    for detail in details:
        found = _SECONDS.fullmatch(str(detail.get("retryDelay")))
        if found:
            return float(found[1])
    return None


def error_inside(data: Mapping[str, Any]) -> int | None:
    """The status of an error that came with HTTP 200, as some gateways send it; None where there is none."""
    error = data.get("error")
    if not error or any(data.get(answer) for answer in ("choices", "content", "candidates", "output")):
        return None
    code = mapping(error).get("code")
    if isinstance(code, int):
        return code if 400 <= code < 600 else 500
    word = text_of(code) or text_of(mapping(error).get("type")) or ""
    if "policy" in word:
        return None  # what was asked was filtered: the API's own reader says so
    return _STATUS_OF.get(word, 500)


def _words(*texts: str | None) -> str:
    """The first of these that says anything, in one line, cut short."""
    lines = (" ".join((text or "").split()).rstrip(".") for text in texts)
    words = next(filter(None, lines), "it said nothing")
    return words if len(words) <= _SAID_LIMIT else words[:_SAID_LIMIT] + "…"
