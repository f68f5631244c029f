"""Globs: names with `*` for anything, compared without regard to case. Linear, whatever the pattern."""

from __future__ import annotations

import unicodedata


class Glob:
    """A pattern that is ready; the empty one fits every name."""

    def __init__(self, pattern: str) -> None:
        self.source = pattern
        first, *rest = _folded(pattern).split("*")
        self._first = first
        self._middle = [part for part in rest[:-1] if part]
        self._last = rest[-1] if rest else None

    def fits(self, name: str) -> bool:
        if not self.source:
            return True
        name = _folded(name)
        if self._last is None:
            return name == self._first
        end = len(name) - len(self._last)
        if end < len(self._first) or not (name.startswith(self._first) and name.endswith(self._last)):
            return False
        at = len(self._first)
        for part in self._middle:  # the first place that fits is as good as any: no way back is needed
            found = name.find(part, at, end)
            if found < 0:
                return False
            at = found + len(part)
        return True

    def __str__(self) -> str:
        return f"'{self.source}'"


def _folded(text: str) -> str:
    if text.isascii():
        return text.lower()
    return unicodedata.normalize("NFC", unicodedata.normalize("NFD", text).casefold())
