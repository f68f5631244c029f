"""When a failed call is made again, and after how long. Pure: it neither sleeps nor knows the time."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

from pytest_verica.errors import ProviderError


@dataclass(frozen=True)
class RetryPolicy:
    """One policy for every provider.

    max_attempts: calls for one request, the first included; max_wait_s: longest single wait in seconds; first_wait_s:
    the wait after the first failure, doubled after each further one.
    """

    max_attempts: int = 5
    max_wait_s: float = 60.0
    first_wait_s: float = 0.5

    def wait_s(self, attempt: int, error: ProviderError, random: Random) -> float | None:
        """Seconds to wait before the next call, None where there should be none. attempt: calls made so far.

        Between half and the whole of the doubled wait, by chance, so that calls that failed together do not come back
        together. Where the endpoint says how long, never earlier than that, and spread over `first_wait_s` after it.
        """
        if not error.retryable or attempt >= self.max_attempts:
            return None
        if error.retry_after_s is not None:
            if error.retry_after_s > self.max_wait_s:
                return None
            return min(self.max_wait_s, error.retry_after_s + random.random() * self.first_wait_s)
        # The exponent is bounded: 2 ** attempt of a long-running policy would overflow.
        longest = min(self.max_wait_s, self.first_wait_s * 2.0 ** min(attempt - 1, 60))
        return longest * (0.5 + random.random() / 2)

    def given_up(self, attempt: int, error: ProviderError) -> ProviderError:
        """The error to raise when no further call is made: the last cause, and why it is the last."""
        message = error.message
        if error.retryable and error.retry_after_s is not None and error.retry_after_s > self.max_wait_s:
            message += (
                f" It asks to wait {error.retry_after_s:g} s before the next call, more than the {self.max_wait_s:g} s "
                "that a call may wait, so it was not asked again. Run again later: what was answered is kept."
            )
        elif error.retryable:
            message += f" Gave up after {attempt} {'call' if attempt == 1 else 'calls'}."
        return ProviderError(
            error.kind,
            message,
            status=error.status,
            retry_after_s=error.retry_after_s,
            retryable=error.retryable,
            raw=error.raw,
            attempts=attempt - 1 + error.attempts,  # the last may have failed before anything was sent
        )
