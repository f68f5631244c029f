"""What it means that an endpoint did not answer: statuses, error bodies and broken connections as ProviderErrors."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pytest_verica.errors import ProviderError
from pytest_verica.providers.connection import Reply, TransportFailure
from pytest_verica.providers.door import Door

_SAID_LIMIT = 300
_NO_QUOTA = frozenset({"insufficient_quota", "billing_hard_limit_reached", "billing_not_active"})
_DURATION = re.compile(r"(\d+(?:\.\d+)?)(ms|h|m|s)")
_SECONDS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0}


@dataclass(frozen=True)
class _Said:
    """An error body in words. code: its `code` or `type`; param: the parameter it complains of; None: not said."""

    message: str
    code: str | None = None
    param: str | None = None


def refusal(door: Door, model: str, reply: Reply, now: float) -> ProviderError:
    """The error for a reply that is not an answer. now: seconds since the epoch, for a Retry-After that is a date."""
    status = reply.status
    said = _read(reply.body)
    kind, retryable, sentence = _classify(door, model, reply, said)
    return door.error(
        kind,
        sentence,
        status=status,
        retry_after_s=retry_after_s(reply.headers, now) if retryable else None,
        retryable=retryable,
        raw=reply.body.decode("utf-8", "replace"),
    )


def _classify(door: Door, model: str, reply: Reply, said: _Said) -> tuple[str, bool, str]:
    status = reply.status
    key = f"the key in {door.credential}" if door.credential else "a request without a key"
    http = f"(HTTP {status}): {said.message}"
    if status in (401, 403):
        todo = (
            f"Check that {door.credential} holds a valid key for this endpoint, and that the key may use `{model}`."
            if door.credential
            else "Name the environment variable that holds its key in `credential`."
        )
        return "auth", False, f"{door} refused {key} {http}. {todo}"
    if status == 402 or (status == 429 and said.code in _NO_QUOTA):
        todo = "Add credit or use another credential; asking again does not help."
        return "quota", False, f"{door} has no credit or quota left for {key} {http}. {todo}"
    if status == 429:
        todo = "Lower --verica-concurrency or set requests_per_minute."
        return "rate_limit", True, f"{door} limits the rate of requests {http}. {todo}"
    if status == 404:
        todo = "Check `name` and `base_url`."
        return "not_found", False, f"{door} has no model `{model}`, or no such address {http}. {todo}"
    if status == 408:
        return "timeout", True, f"{door} gave up waiting {http}."
    if status == 409 or status >= 500:
        return "server", True, f"{door} had an error of its own {http}."
    if 300 <= status < 400:
        target = reply.headers.get("location", "an address that it does not name")
        return "bad_request", False, f"{door} is not there (HTTP {status}): it points to {target}. Correct `base_url`."
    param = f", parameter `{said.param}`" if said.param else ""
    todo = f"Change or remove `{said.param}`." if said.param else "Check the model's parameters, tools and messages."
    return "bad_request", False, f"{door} does not accept the request for `{model}`{param} {http}. {todo}"


def broken(door: Door, failure: TransportFailure, timeout_s: float) -> ProviderError:
    """The error for a reply that never came whole."""
    kind = "connection" if failure.kind == "tls" else failure.kind
    if failure.kind == "timeout":
        sentence = f"{door} did not answer within {timeout_s:g} s. Raise the timeout if its answers take that long."
    elif failure.kind == "tls":
        # Certificates do not mend themselves: asking again only delays the message.
        sentence = (
            f"No secure connection to {door}: {failure.words}. Check the base_url (https:// for a server that speaks "
            "plain http?), the clock of this machine, and, behind a proxy that opens TLS, that SSL_CERT_FILE names a "
            "file with its certificate."
        )
    elif failure.kind == "malformed":
        sentence = f"{door} answered something that is not HTTP: {failure.words}."
    else:
        sentence = (
            f"No connection to {door}, or it broke off: {failure.words}. Check that the server runs, the base_url, and "
            "HTTP_PROXY / HTTPS_PROXY / NO_PROXY."
        )
    return door.error(kind, sentence, retryable=failure.kind != "tls")


def malformed(door: Door, model: str, found: str, body: bytes) -> ProviderError:
    """The error for a 200 whose body is not an answer."""
    return door.error(
        "malformed",
        f"{door} answered for `{model}` with HTTP 200, but {found}. If this persists, the base_url does not lead to "
        "an API of this kind.",
        status=200,
        retryable=True,
        raw=body.decode("utf-8", "replace"),
    )


def retry_after_s(headers: Mapping[str, str], now: float) -> float | None:
    """Seconds that the headers (by lower-case name) ask to wait, None where they do not say.

    `retry-after-ms`, then `retry-after` (seconds or an HTTP date), then the reset of an exhausted `x-ratelimit-*`.
    """
    for name, unit in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        value = headers.get(name, "").strip()
        seconds = _number(value)
        if seconds is not None:
            return max(0.0, seconds * unit)
        if name == "retry-after" and value:
            date = _http_date(value)
            if date is not None:
                return max(0.0, date - now)
    resets = [
        _duration(headers.get(f"x-ratelimit-reset-{what}", ""))
        for what in ("requests", "tokens")
        if headers.get(f"x-ratelimit-remaining-{what}", "").strip() == "0"
    ]
    return max((seconds for seconds in resets if seconds is not None), default=None)


def _number(text: str) -> float | None:
    try:
        value = float(text)
    except ValueError:
        return None
    return value if math.isfinite(value) else None


def _http_date(text: str) -> float | None:
    from email.utils import parsedate_to_datetime  # deferred: slow to import, rarely needed

    try:
        return parsedate_to_datetime(text).timestamp()
    except (TypeError, ValueError, OverflowError):
        return None


def _duration(text: str) -> float | None:
    """A duration as `6m0s`, `120ms` or plain seconds."""
    text = text.strip()
    seconds = _number(text)
    if seconds is not None:
        return max(0.0, seconds)
    parts = _DURATION.findall(text)
    if not parts or "".join(number + unit for number, unit in parts) != text:
        return None
    return sum(float(number) * _SECONDS[unit] for number, unit in parts)


def error_inside(data: Mapping[str, Any]) -> int | None:
    """The status of an error that came with HTTP 200, as some gateways send it; None where there is none."""
    error = data.get("error")
    if not error or data.get("choices"):
        return None
    code = error.get("code") if isinstance(error, Mapping) else None
    return code if isinstance(code, int) and 400 <= code < 600 else 500


def _read(body: bytes) -> _Said:
    text = body.decode("utf-8", "replace")
    try:
        data: Any = json.loads(text)
    except (ValueError, RecursionError):
        return _Said(_short(text) or "it said nothing")
    if not isinstance(data, Mapping):
        return _Said(_short(text))
    error: Any = data.get("error") or data
    if not isinstance(error, Mapping):
        return _Said(_short(str(error)))
    detail = error.get("detail")
    if isinstance(detail, list) and detail and isinstance(detail[0], Mapping):  # how FastAPI reports a bad body
        where = [str(part) for part in detail[0].get("loc") or ()]
        return _Said(_short(str(detail[0].get("msg"))), param=where[-1] if where else None)
    message = error.get("message") or detail
    code = error.get("code") or error.get("type")
    param = error.get("param")
    return _Said(
        _short(message if isinstance(message, str) else text),
        code if isinstance(code, str) else None,
        param if isinstance(param, str) and param else None,
    )


def _short(text: str) -> str:
    words = " ".join(text.split()).rstrip(".")
    return words if len(words) <= _SAID_LIMIT else words[:_SAID_LIMIT] + "…"
