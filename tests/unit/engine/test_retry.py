"""Waits between calls, with the arithmetic beside each."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_verica.engine.retry import RetryPolicy
from pytest_verica.errors import ProviderError


class Fixed(Random):
    """Chance that always falls the same way."""

    def __init__(self, value: float) -> None:
        super().__init__()
        self.value = value

    def random(self) -> float:
        return self.value


def failure(retry_after_s: float | None = None, *, retryable: bool = True) -> ProviderError:
    return ProviderError(
        "rate_limit", "Slow down.", status=429, retry_after_s=retry_after_s, retryable=retryable, raw="r"
    )


@pytest.mark.parametrize(
    ("attempt", "retry_after_s", "chance", "expected"),
    [
        (1, None, 0.0, 0.25),  # 0.5 × 2⁰ × ½
        (1, None, 1.0, 0.5),  # 0.5 × 2⁰
        (2, None, 1.0, 1.0),  # 0.5 × 2¹
        (3, None, 0.5, 1.5),  # 0.5 × 2² × ¾
        (4, None, 1.0, 4.0),  # 0.5 × 2³
        (5, None, 1.0, None),  # five calls were made
        (1, 7.0, 0.0, 7.0),  # the endpoint's word
        (1, 7.0, 1.0, 7.5),  # and up to 0.5 s after it
        (1, 0.0, 0.5, 0.25),
        (1, 60.0, 1.0, 60.0),  # never over the longest wait
        (1, 60.1, 0.0, None),  # longer than a call may wait
        (5, 1.0, 0.0, None),
    ],
)
def test_waits(attempt: int, retry_after_s: float | None, chance: float, expected: float | None) -> None:
    found = RetryPolicy().wait_s(attempt, failure(retry_after_s), Fixed(chance))
    assert found == (None if expected is None else pytest.approx(expected))


def test_the_longest_wait_bounds_the_doubling() -> None:
    assert RetryPolicy(max_attempts=10**9).wait_s(10**6, failure(), Fixed(1.0)) == 60.0


@pytest.mark.parametrize("retry_after_s", [None, 1.0])
def test_what_is_final_is_not_asked_again(retry_after_s: float | None) -> None:
    assert RetryPolicy().wait_s(1, failure(retry_after_s, retryable=False), Fixed(0.0)) is None


@given(
    attempt=st.integers(1, 20),
    retry_after_s=st.none() | st.floats(0, 100),
    seed=st.integers(),
    most=st.floats(0.01, 100),
    first=st.floats(0, 10),
    attempts=st.integers(1, 20),
)
def test_a_wait_is_never_sooner_than_asked_nor_longer_than_allowed(
    attempt: int, retry_after_s: float | None, seed: int, most: float, first: float, attempts: int
) -> None:
    policy = RetryPolicy(max_attempts=attempts, max_wait_s=most, first_wait_s=first)
    wait = policy.wait_s(attempt, failure(retry_after_s), Random(seed))
    if wait is None:
        assert attempt >= attempts or (retry_after_s or 0) > most
    else:
        assert attempt < attempts
        assert (retry_after_s or 0) <= wait <= most


@pytest.mark.parametrize(
    ("error", "attempts", "words"),
    [
        (failure(), 5, "Slow down. Gave up after 5 calls."),
        (failure(), 1, "Slow down. Gave up after 1 call."),
        (failure(3600.0), 1, "It asks to wait 3600 s before the next call, more than the 60 s that a call may wait"),
        (failure(retryable=False), 1, "Slow down."),
    ],
)
def test_giving_up_says_why(error: ProviderError, attempts: int, words: str) -> None:
    found = RetryPolicy().given_up(attempts, error)
    assert words in found.message
    assert (found.kind, found.status, found.raw, found.attempts) == ("rate_limit", 429, "r", attempts)
    assert (found.retryable, found.retry_after_s) == (error.retryable, error.retry_after_s)
    assert error.attempts == 1  # the original is as it was
