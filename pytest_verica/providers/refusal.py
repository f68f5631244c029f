"""What it means that an endpoint did not answer: statuses, error bodies and broken connections as ProviderErrors."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping

from pytest_verica.errors import ProviderError
from pytest_verica.providers.connection import Reply, TransportFailure
from pytest_verica.providers.door import Door
from pytest_verica.providers.error_body import Said, read_error

_NO_QUOTA = frozenset({"insufficient_quota", "billing_hard_limit_reached", "billing_not_active", "billing_error"})
_NO_CREDIT = re.compile(r"credit balance is too low", re.IGNORECASE)
_PER_DAY = "PerDay"
_BAD_KEY = "API_KEY_INVALID"
_DURATION = re.compile(r"(\d+(?:\.\d+)?)(ms|h|m|s)")
_SECONDS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0}
_LIMITS = ("requests", "tokens", "input-tokens", "output-tokens")


def refusal(door: Door, model: str, reply: Reply, now: float) -> ProviderError:
    """The error for a reply that is not an answer. now: seconds since the epoch, for a Retry-After that is a date."""
    status = reply.status
    said = read_error(reply.body)
    kind, retryable, sentence = _classify(door, model, reply, said)
    return door.error(
        kind,
        sentence,
        status=status,
        retry_after_s=_wait_s(reply.headers, said, now) if retryable else None,
        retryable=retryable,
        raw=reply.body.decode("utf-8", "replace"),
    )


def _classify(door: Door, model: str, reply: Reply, said: Said) -> tuple[str, bool, str]:
    status = reply.status
    key = f"the key in {door.credential}" if door.credential else "a request without a key"
    http = f"(HTTP {status}): {said.message}"
    if status in (401, 403) or _BAD_KEY in said.details:
        todo = (
            f"Check that {door.credential} holds a valid key for this endpoint, and that the key may use `{model}`."
            if door.credential
            else "Name the environment variable that holds its key in `credential`."
        )
        return "auth", False, f"{door} refused {key} {http}. {todo}"
    if _has_no_quota(status, said):
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


def _has_no_quota(status: int, said: Said) -> bool:
    """Whether money or a day's allowance has run out: no wait of this run brings it back."""
    if status == 402:
        return True
    if status == 429:
        return said.code in _NO_QUOTA or any(_PER_DAY in detail for detail in said.details)
    return status == 400 and (said.code in _NO_QUOTA or _NO_CREDIT.search(said.message) is not None)


def _wait_s(headers: Mapping[str, str], said: Said, now: float) -> float | None:
    asked = retry_after_s(headers, now)
    return said.wait_s if asked is None else asked


def retry_after_s(headers: Mapping[str, str], now: float) -> float | None:
    """Seconds that the headers (by lower-case name) ask to wait, None where they do not say.

    `retry-after-ms`, then `retry-after` (seconds or an HTTP date), then the reset of an exhausted limit:
    `x-ratelimit-*` (a duration) or `anthropic-ratelimit-*` (a time).
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
        for what in _LIMITS
        if headers.get(f"x-ratelimit-remaining-{what}", "").strip() == "0"
    ]
    resets += [
        _time_left(headers.get(f"anthropic-ratelimit-{what}-reset", ""), now)
        for what in _LIMITS
        if headers.get(f"anthropic-ratelimit-{what}-remaining", "").strip() == "0"
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


def _time_left(text: str, now: float) -> float | None:
    """Seconds until a time of RFC 3339."""
    from datetime import datetime, timezone  # deferred: rarely needed

    try:
        moment = datetime.fromisoformat(text.strip().replace("Z", "+00:00"))
    except ValueError:
        return None
    return max(0.0, (moment if moment.tzinfo else moment.replace(tzinfo=timezone.utc)).timestamp() - now)
