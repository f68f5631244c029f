"""Regular expressions on text that a model wrote: a match may take only so long."""

from __future__ import annotations

import importlib
import warnings
from functools import lru_cache
from typing import Any

from pytest_verica.errors import ConfigError
from pytest_verica.graders.excerpt import excerpt


class BadPattern(ConfigError):
    """What was written is not a regular expression; says at which character."""


class Pattern:
    """A compiled expression, searched for anywhere in a text, with a limit for one search."""

    __slots__ = ("_compiled", "_timeout_s", "source")

    def __init__(self, source: str, compiled: Any, timeout_ms: int) -> None:
        self.source = source
        self._compiled = compiled
        self._timeout_s = timeout_ms / 1000

    @classmethod
    def compile(cls, source: str, flags: str, timeout_ms: int) -> Pattern:
        """flags: letters of a, i, m, s, x.

        Raises:
            BadPattern: it is not a regular expression.
        """
        return cls(source, _compiled(source, "".join(sorted(flags))), timeout_ms)

    def find(self, text: str) -> tuple[str, int] | None:
        """What matches first, and where.

        Raises:
            TimeoutError: the search took longer than the limit.
        """
        found = self._compiled.search(text, timeout=self._timeout_s)
        return None if found is None else (found[0], found.start())

    def too_slow(self) -> str:
        return (
            f"the pattern {excerpt(self.source, 60)} took longer than {self._timeout_s * 1000:.0f} ms on this text; "
            "write it without nested repetition"
        )


@lru_cache(maxsize=1024)
def _compiled(source: str, flags: str) -> Any:
    # Deferred: 30 ms, and only patterns need it. By name, because it is not typed.
    regex: Any = importlib.import_module("regex")

    options = regex.VERSION0
    for letter in flags:
        options |= getattr(regex, letter.upper())
    if "i" in flags and "a" not in flags:
        options |= regex.FULLCASE  # ß matches SS
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # notes about future syntax are not the user's concern
            return regex.compile(source, options)
    except regex.error as error:
        place = "" if error.pos is None else f" at character {error.pos + 1}"
        raise BadPattern(f"{excerpt(source)} is not a regular expression: {error.msg}{place}") from None
    except (RecursionError, OverflowError, ValueError) as error:
        raise BadPattern(f"{excerpt(source)} is not a regular expression: {error}") from None
