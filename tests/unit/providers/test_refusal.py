"""How long an endpoint asks to wait, from its headers."""

from __future__ import annotations

import pytest

from pytest_verica.providers.refusal import retry_after_s

# 784111777 is 1994-11-06 08:49:37 UTC, the example date of RFC 9110, section 5.6.7.
NOW = 784_111_777.0


@pytest.mark.parametrize(
    ("headers", "expected"),
    [
        ({}, None),
        ({"retry-after": "3"}, 3.0),
        ({"retry-after": "0"}, 0.0),
        ({"retry-after": "1.5"}, 1.5),
        ({"retry-after": "-4"}, 0.0),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "inf"}, None),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "Sun, 06 Nov 1994 08:50:07 GMT"}, 30.0),
        ({"retry-after": "Sunday, 06-Nov-94 08:50:07 GMT"}, 30.0),  # the obsolete form, also of RFC 9110
        ({"retry-after": "Sun, 06 Nov 1994 08:49:00 GMT"}, 0.0),  # in the past
        ({"retry-after-ms": "250", "retry-after": "9"}, 0.25),
        ({"retry-after-ms": "x", "retry-after": "9"}, 9.0),
        ({"x-ratelimit-remaining-requests": "0", "x-ratelimit-reset-requests": "6m0s"}, 360.0),
        ({"x-ratelimit-remaining-tokens": "0", "x-ratelimit-reset-tokens": "120ms"}, 0.12),
        (
            {
                "x-ratelimit-remaining-requests": "0",
                "x-ratelimit-reset-requests": "1s",
                "x-ratelimit-remaining-tokens": "0",
                "x-ratelimit-reset-tokens": "1h0m2.5s",
            },
            3602.5,
        ),
        ({"x-ratelimit-remaining-requests": "17", "x-ratelimit-reset-requests": "6m0s"}, None),  # not exhausted
        ({"x-ratelimit-remaining-requests": "0", "x-ratelimit-reset-requests": "later 5s"}, None),
        (
            {
                "anthropic-ratelimit-input-tokens-remaining": "0",
                "anthropic-ratelimit-input-tokens-reset": "1994-11-06T08:50:07Z",
                "anthropic-ratelimit-requests-remaining": "0",
                "anthropic-ratelimit-requests-reset": "1994-11-06T08:49:40+00:00",
            },
            30.0,
        ),
        (
            {
                "anthropic-ratelimit-requests-remaining": "3",
                "anthropic-ratelimit-requests-reset": "1994-11-06T08:50:07Z",
            },
            None,
        ),
        ({"anthropic-ratelimit-tokens-remaining": "0", "anthropic-ratelimit-tokens-reset": "soon"}, None),
        ({"retry-after": "2", "x-ratelimit-remaining-requests": "0", "x-ratelimit-reset-requests": "6m"}, 2.0),
    ],
)
def test_the_wait_an_endpoint_asks_for(headers: dict[str, str], expected: float | None) -> None:
    found = retry_after_s(headers, NOW)
    assert found == (None if expected is None else pytest.approx(expected))
