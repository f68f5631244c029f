"""Canonical JSON (sorted keys, no white space, no NaN) and the content hashes made from it."""

from __future__ import annotations

import hashlib
import json

_ENCODER = json.JSONEncoder(sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)


def canonical_json(value: object) -> str:
    """One text for one JSON value, whatever the order of its keys.

    Raises:
        ValueError: a NaN or an infinity is inside.
        TypeError: something that JSON does not have is inside.
    """
    return _ENCODER.encode(value)


def content_hash(value: object) -> str:
    """SHA-256 of the canonical JSON, as 64 hexadecimal digits."""
    return text_hash(canonical_json(value))


def text_hash(text: str) -> str:
    """SHA-256 of a text in UTF-8 (lone surrogates included), as 64 hexadecimal digits."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def short_hash(digest: str) -> str:
    """The first 12 digits of a hash, for people to read."""
    return digest[:12]
