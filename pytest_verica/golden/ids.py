"""Case ids: made safe for pytest's node ids and kept readable and unique."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Sequence

from pytest_verica.canonical import text_hash

MAX_LENGTH = 80
_SUSPECT = re.compile(r"[\[\]]|::|  |^[: ]|[: ]$")
_SPACES = re.compile(r"\s+")
_JOINERS = "\u200c\u200d"  # part of how words of some scripts are written
_HASH_LENGTHS = (8, 16, 64)


def positional_id(position: int) -> str:
    """`row-0001` for position 0: independent of how many rows there are."""
    return f"row-{position + 1:04d}"


def safe_ids(originals: Sequence[str]) -> list[str]:
    """One safe id for each (different) original, in their order.

    An id that is safe already stays as it is. Others lose what pytest gives a meaning (`::`, brackets), control
    characters and lone surrogates; where two would be the same, or one is too long, a hash of the original is added.
    """
    candidates = [safe_id(text) for text in originals]
    taken = Counter(candidates)
    if len(taken) == len(candidates):
        return candidates
    kept = {text for text, candidate in zip(originals, candidates, strict=True) if text == candidate}
    for length in _HASH_LENGTHS:
        ids = [
            candidate if text in kept or taken[candidate] == 1 else _with_hash(candidate, text, length)
            for text, candidate in zip(originals, candidates, strict=True)
        ]
        if len(set(ids)) == len(ids):
            break
    return ids


def safe_id(original: str) -> str:
    """The safe form of one id, not yet unique among others."""
    if original.isprintable() and 0 < len(original) <= MAX_LENGTH and _SUSPECT.search(original) is None:
        return original
    text = _SPACES.sub(" ", original).strip()
    text = "".join("_" if _is_unsafe(character) else character for character in text)
    text = re.sub(r"::+", "_", text)
    # A colon at an end would make `:::` beside the separator of node ids.
    text = re.sub(r"^[:\s]+|[:\s]+$", "_", text) or "_"
    return text if len(text) <= MAX_LENGTH else _with_hash(text, original, _HASH_LENGTHS[0])


def _is_unsafe(character: str) -> bool:
    if (
        character in "[]" or ord(character) & 0xFFFE == 0xFFFE
    ):  # the last two of a plane are no characters: XML has none
        return True
    return unicodedata.category(character) in ("Cc", "Cf", "Cs", "Zl", "Zp") and character not in _JOINERS


def _with_hash(text: str, original: str, length: int) -> str:
    digest = text_hash(original)[:length]
    return f"{text[: MAX_LENGTH - length - 1].rstrip(': ')}-{digest}"
