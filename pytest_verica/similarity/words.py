"""Words of a text for the metrics that count them: letters and digits of any script, without case."""

from __future__ import annotations

import unicodedata
from functools import lru_cache
from importlib import import_module
from typing import Any


def words_of(text: str) -> list[str]:
    """Runs of letters and digits, lower case. In scripts that put no space between words (Chinese, Japanese, Thai…)
    each sign is a word.

    For English the same as the tokens of rouge-score, which drops every letter outside a to z.
    """
    if not text.isascii():
        text = unicodedata.normalize("NFC", text)
    found: list[str] = _word().findall(text.lower())
    return found


@lru_cache(maxsize=1)
def _word() -> Any:
    regex: Any = import_module("regex")  # deferred: 20 ms, for runs with such a metric only
    unspaced = r"[\p{Han}\p{Hiragana}\p{Katakana}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}]"
    return regex.compile(rf"(?V1){unspaced}\p{{M}}*|[[\p{{L}}\p{{M}}\p{{N}}]--{unspaced}]+")
