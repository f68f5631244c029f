"""Excerpts: a piece of a long text as it stands in an explanation: quoted, on one line, printable."""

from __future__ import annotations

LIMIT = 120
_BEFORE = 30


def excerpt(text: str, limit: int = LIMIT, at: int = 0) -> str:
    """At most `limit` characters of a text, from a little before position `at`; what cannot be shown is escaped."""
    length = len(text)
    if length <= limit:
        piece = text
    else:
        start = max(0, min(at - _BEFORE, length - limit))
        piece = text[start : start + limit]
        if start + limit < length:
            piece += "…"
        if start:
            piece = "…" + piece
    return f"'{piece}'" if piece.isprintable() else f"'{''.join(map(_shown, piece))}'"


def _shown(character: str) -> str:
    return character if character.isprintable() else character.encode("unicode_escape").decode("ascii")
