"""Checks of the final state of an agent, which a user's code registers by name.

Only the standard library is imported here, as in `declare.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

Check = Callable[..., Any]
"""`(state, **arguments) -> bool | Grade`, sync or async."""


class StateChecks(Mapping[str, tuple[Check, ...]]):
    """What was registered under each name: one function, or several where different places use the same name."""

    def __init__(self) -> None:
        self._checks: dict[str, dict[str, Check]] = {}

    def add(self, name: str, check: Check) -> None:
        """A function from the same place takes the place of the one before: its module was imported again."""
        self._checks.setdefault(name, {})[place_of(check)] = check

    def __getitem__(self, name: str) -> tuple[Check, ...]:
        return tuple(self._checks[name].values())

    def __iter__(self) -> Iterator[str]:
        return iter(self._checks)

    def __len__(self) -> int:
        return len(self._checks)


def place_of(check: Check) -> str:
    """The file and the name of a function."""
    code = getattr(check, "__code__", None)
    file = getattr(code, "co_filename", None) or getattr(check, "__module__", "?")
    return f"{file}:{getattr(check, '__qualname__', type(check).__qualname__)}"


STATE_CHECKS = StateChecks()
"""Filled while conftest.py and test modules are imported."""
