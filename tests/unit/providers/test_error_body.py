"""What the error bodies of each provider mean, in the shapes that their APIs document."""

from __future__ import annotations

import json
from typing import Any

import pytest

from pytest_verica.providers.connection import Reply
from pytest_verica.providers.door import Door
from pytest_verica.providers.error_body import error_inside, read_error
from pytest_verica.providers.refusal import refusal

DOOR = Door("some", "http://host", "SOME_KEY")


def anthropic(kind: str, message: str) -> dict[str, Any]:
    return {"type": "error", "error": {"type": kind, "message": message}, "request_id": "req_1"}


def google(status: str, message: str, *details: dict[str, Any], code: int = 400) -> dict[str, Any]:
    return {"error": {"code": code, "message": message, "status": status, "details": list(details)}}


def quota(name: str) -> dict[str, Any]:
    return {"@type": "type.googleapis.com/google.rpc.QuotaFailure", "violations": [{"quotaId": name}]}


RETRY_IN_34_S = {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "34s"}
BAD_KEY = {"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": "API_KEY_INVALID"}
BAD_FIELD = {
    "@type": "type.googleapis.com/google.rpc.BadRequest",
    "fieldViolations": [{"field": "generation_config.top_k", "description": "too big"}],
}
PER_DAY = "GenerateRequestsPerDayPerProjectPerModel-FreeTier"
PER_MINUTE = "GenerateRequestsPerMinutePerProjectPerModel"


@pytest.mark.parametrize(
    ("status", "body", "kind", "wait", "words"),
    [
        (
            400,
            anthropic("invalid_request_error", "max_tokens: must be at least 1"),
            "bad_request",
            None,
            "`max_tokens`",
        ),
        (
            400,
            anthropic("invalid_request_error", "messages.1.content.0.id: odd"),
            "bad_request",
            None,
            "`messages.1.content.0.id`",
        ),
        (400, anthropic("invalid_request_error", "Your credit balance is too low."), "quota", None, "Add credit"),
        (401, anthropic("authentication_error", "invalid key"), "auth", None, "SOME_KEY"),
        (402, anthropic("billing_error", "pay"), "quota", None, "Add credit"),
        (403, anthropic("permission_error", "not yours"), "auth", None, "may use `m`"),
        (404, anthropic("not_found_error", "model: m"), "not_found", None, "no model `m`"),
        (413, anthropic("request_too_large", "too large"), "bad_request", None, "too large"),
        (429, anthropic("rate_limit_error", "slow down"), "rate_limit", None, "slow down"),
        (500, anthropic("api_error", "oh"), "server", None, "oh"),
        (504, anthropic("timeout_error", "late"), "server", None, "late"),
        (529, anthropic("overloaded_error", "full"), "server", None, "full"),
        (429, google("RESOURCE_EXHAUSTED", "slow", quota(PER_MINUTE), RETRY_IN_34_S), "rate_limit", 34.0, "slow"),
        (429, google("RESOURCE_EXHAUSTED", "slow", RETRY_IN_34_S), "rate_limit", 34.0, "slow"),
        # The day's allowance comes back tomorrow, whatever the delay says.
        (
            429,
            google("RESOURCE_EXHAUSTED", "used up", quota(PER_DAY), RETRY_IN_34_S),
            "quota",
            None,
            "no credit or quota",
        ),
        (400, google("INVALID_ARGUMENT", "API key not valid", BAD_KEY), "auth", None, "SOME_KEY"),
        (400, google("INVALID_ARGUMENT", "bad", BAD_FIELD), "bad_request", None, "`generation_config.top_k`"),
        (403, google("PERMISSION_DENIED", "no"), "auth", None, "may use `m`"),
        (404, google("NOT_FOUND", "models/m is not found"), "not_found", None, "no model `m`"),
        (503, google("UNAVAILABLE", "overloaded"), "server", None, "overloaded"),
        (503, [google("UNAVAILABLE", "overloaded")], "server", None, "overloaded"),
    ],
)
def test_an_error_has_its_kind(status: int, body: Any, kind: str, wait: float | None, words: str) -> None:
    error = refusal(DOOR, "m", Reply(status, {}, json.dumps(body).encode()), 0.0)
    assert (error.kind, error.retry_after_s) == (kind, wait)
    assert error.retryable == (kind in ("rate_limit", "server"))
    assert words in error.message


def test_the_header_is_believed_before_the_body() -> None:
    body = json.dumps(google("RESOURCE_EXHAUSTED", "slow", RETRY_IN_34_S)).encode()
    assert refusal(DOOR, "m", Reply(429, {"retry-after": "2"}, body), 0.0).retry_after_s == 2.0


@pytest.mark.parametrize(
    ("data", "status"),
    [
        ({"error": {"code": 429}}, 429),
        ({"error": {"code": 12}}, 500),
        ({"error": {"message": "?"}}, 500),
        ({"error": "?"}, 500),
        (anthropic("overloaded_error", "full"), 529),
        (anthropic("authentication_error", "no"), 401),
        ({"error": {"code": "rate_limit_exceeded"}, "output": []}, 429),
        ({"error": {"code": "misalignment_policy_violation"}, "output": []}, None),
        ({"error": None, "choices": [1]}, None),
        ({"error": {"code": 500}, "choices": [1]}, None),
        ({"error": {"code": 500}, "content": [1]}, None),
        ({}, None),
    ],
)
def test_an_error_that_comes_with_200(data: Any, status: int | None) -> None:
    assert error_inside(data) == status


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"\xff\xfe",
        b"null",
        b"7",
        b"[]",
        b"[[]]",
        b'{"error": []}',
        b'{"error": {"details": 5}}',
        b'{"error": {"details": [5, {"violations": [7], "fieldViolations": [{}], "retryDelay": 3}]}}',
        b'{"error": {"message": {"a": 1}}}',
        b'{"detail": [7]}',
    ],
)
def test_no_body_breaks_the_reader(body: bytes) -> None:
    assert read_error(body).message
