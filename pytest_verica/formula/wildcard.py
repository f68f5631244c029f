"""Patterns with `*` (any characters), `?` (one) and `~` before a character that stands for itself; case does not
count. Linear in the text: pieces between stars are looked for one after the other."""

from __future__ import annotations

import re
from functools import lru_cache

from pytest_verica.formula.compare import folded


def is_pattern(text: str) -> bool:
    return any(sign in text for sign in "*?~")


def matches(pattern: str, text: str) -> bool:
    """Whether the pattern is the whole text."""
    text = folded(text)
    first, *rest = _pieces(folded(pattern))
    found = first.match(text)
    if found is None:
        return False
    if not rest:
        return found.end() == len(text)
    at = found.end()
    for piece in rest[:-1]:
        found = piece.search(text, at)
        if found is None:
            return False
        at = found.end()
    last = len(text) - _length(pattern)
    return last >= at and rest[-1].match(text, last) is not None


def search(pattern: str, text: str, start: int) -> int | None:
    """The first place, 0-based, from `start` on where the pattern begins; None where it is nowhere."""
    text = folded(text)
    first, *rest = _pieces(folded(pattern))
    found = first.search(text, start)
    if found is None:
        return None
    place, at = found.start(), found.end()
    for piece in rest:
        found = piece.search(text, at)
        if found is None:
            return None
        at = found.end()
    return place


@lru_cache(maxsize=512)
def _pieces(pattern: str) -> tuple[re.Pattern[str], ...]:
    return tuple(re.compile("".join(piece), re.DOTALL) for piece in _split(pattern))


@lru_cache(maxsize=512)
def _length(pattern: str) -> int:
    """Characters that the last piece stands for."""
    return len(_split(pattern)[-1])


def _split(pattern: str) -> list[list[str]]:
    pieces: list[list[str]] = [[]]
    at = 0
    while at < len(pattern):
        character = pattern[at]
        if character == "~" and at + 1 < len(pattern):
            at += 1
            pieces[-1].append(re.escape(pattern[at]))
        elif character == "*":
            pieces.append([])
        else:
            pieces[-1].append("." if character == "?" else re.escape(character))
        at += 1
    return pieces
