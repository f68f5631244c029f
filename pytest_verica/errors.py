"""The exceptions of the product. Nothing here formats for a terminal or knows pytest."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Place:
    """Where something was written. `line` and `column` count from 1; None means not known."""

    file: str
    line: int | None = None
    column: int | None = None

    def __str__(self) -> str:
        return self.file if self.line is None else f"{self.file}:{self.line}"


@dataclass(frozen=True)
class Problem:
    """One thing wrong with what a user wrote: where, and what was expected, found, and is to be done."""

    message: str
    place: Place | None = None

    def __str__(self) -> str:
        return self.message if self.place is None else f"{self.place}: {self.message}"


class VericaError(Exception):
    """Ground of every error the product raises on purpose."""


class ConfigError(VericaError):
    """What a user wrote cannot be run. Carries every problem found, not the first one only."""

    def __init__(self, problems: Sequence[Problem] | str, place: Place | None = None) -> None:
        if isinstance(problems, str):
            problems = [Problem(problems, place)]
        self.problems: tuple[Problem, ...] = tuple(problems)
        super().__init__("\n".join(str(problem) for problem in self.problems))


class GoldenSetError(ConfigError):
    """A golden set cannot be read, or breaks a rule; names the file and the line."""


class TemplateError(ConfigError):
    """A template has a syntax error or names a variable that does not exist."""


class MissingPath(VericaError):
    """A path leads to nothing in a value.

    `path` is what was asked for; `deepest` the longest part of it that exists ("" is the value itself);
    `found` a short description of what stands there.
    """

    def __init__(self, path: str, deepest: str, found: str) -> None:
        self.path = path
        self.deepest = deepest
        self.found = found
        there = f"`{deepest}`" if deepest else "the top"
        super().__init__(f"no `{path}`: {there} is {found}")


class MissingOutput(VericaError):
    """A template needs a part of the output that is not there: the criterion fails with this sentence."""


class TargetError(VericaError):
    """The target of an eval produced no output for a case. kind: a stable word; raw: the detail kept."""

    def __init__(self, kind: str, message: str, raw: str | None = None) -> None:
        self.kind = kind
        self.raw = raw
        super().__init__(message)


class ProviderError(VericaError):
    """A provider's endpoint did not answer a request.

    kind: stable word (`rate_limit`, `quota`, `server`, `connection`, `timeout`, `auth`, `not_found`, `bad_request`,
    `malformed`, `missing_credential`, `not_stored`, `budget`); status: HTTP status, None where there was none;
    retry_after_s: seconds the endpoint asked to wait, None where it did not say; retryable: whether asking again may
    help; raw: what the endpoint said, without secrets; attempts: calls made before giving up.
    """

    def __init__(
        self,
        kind: str,
        message: str,
        *,
        status: int | None = None,
        retry_after_s: float | None = None,
        retryable: bool = False,
        raw: str | None = None,
        attempts: int = 1,
    ) -> None:
        self.kind = kind
        self.message = message
        self.status = status
        self.retry_after_s = retry_after_s
        self.retryable = retryable
        self.raw = raw
        self.attempts = attempts
        super().__init__(message)

    def again(self) -> ProviderError:
        """The same for another who waited for the answer: the calls were counted once."""
        return ProviderError(
            self.kind,
            self.message,
            status=self.status,
            retry_after_s=self.retry_after_s,
            retryable=self.retryable,
            raw=self.raw,
            attempts=0,
        )


class StoreError(VericaError):
    """The folder of runs and answers cannot be written or read; says which and what to do."""
