"""A row of the function table: what a function is called with, what it does, and an example that is run."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

WHOLE = frozenset({"values", "list", "sum_list", "return_list", "texts", "truths"})
"""Parameters that take a list as a whole. Any other takes one value; given a list, the function runs per element."""

_PARAMETER = re.compile(r"\[?(\w+|…)\]?")


@dataclass(frozen=True, eq=False)
class Function:
    """A function of formulas.

    signature: as the docs show it, `[x]` may be left out, `…` repeats; says: one sentence; example, result: a formula
    and the text of its right value; apply: takes values, returns one or raises Fault; sees_errors: whether it is called
    with error values (else the first one is its result); deciding: positions that decide what is chosen, None where
    nothing is chosen; pairs: whether arguments come two by two.
    """

    signature: str
    says: str
    example: str
    result: str
    apply: Callable[..., Any]
    sees_errors: bool = False
    deciding: Callable[[int], Iterable[int]] | None = None
    pairs: bool = False

    @cached_property
    def name(self) -> str:
        return self.signature.partition("(")[0]

    @cached_property
    def parameters(self) -> tuple[str, ...]:
        return tuple(name for name in _PARAMETER.findall(self.signature.partition("(")[2]) if name != "…")

    @cached_property
    def least(self) -> int:
        """Fewest arguments."""
        return len(self.parameters) - self.signature.count("[")

    @cached_property
    def most(self) -> int | None:
        """Most arguments, None where there is no end."""
        return None if "…" in self.signature else len(self.parameters)

    @cached_property
    def _whole(self) -> tuple[bool, ...]:
        return tuple(name in WHOLE for name in self.parameters)

    def takes_list(self, position: int) -> bool:
        """Whether the argument at a position is taken as a whole; the last parameter is the one that repeats."""
        return self._whole[min(position, len(self._whole) - 1)]

    def counts(self, position: int) -> bool:
        """Whether the argument at a position is one of many numbers or truth values."""
        return self.parameters[min(position, len(self.parameters) - 1)] in ("values", "truths")
