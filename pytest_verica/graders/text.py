"""Texts made ready to be compared (Unicode normal form, case, white space), and their length in units people use."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

Normalize = Literal["nfc", "nfkc", "none"]
Unit = Literal["characters", "words", "lines", "sentences"]

_WHITE_SPACE = re.compile(r"\s+")
# A sentence ends at . ! ? … before white space (closing quotes may stand between), at the full-width signs, and at an
# empty line. The look-behind keeps a long row of dots linear.
_SENTENCE_END = re.compile(r"(?<![.!?…])[.!?…]+[\"'”’»)\]]*(?:\s+|\Z)|[。！？]+[」』”’]*|\n[^\S\n]*\n")
_WORD = re.compile(r"\w")
_LIST_NUMBER = re.compile(r"^[^\S\n]*\d{1,3}[.)][^\S\n]+(?=\S)", re.MULTILINE)


@dataclass(frozen=True)
class Preparation:
    """What is done to both sides before they are compared."""

    ignore_case: bool = False
    strip: bool = False
    normalize: Normalize = "nfc"
    collapse_whitespace: bool = False

    def step(self) -> Callable[[str], str]:
        """One function that does all of it."""
        if not (self.ignore_case or self.strip or self.collapse_whitespace):
            return _FORMS[self.normalize]
        return self._apply

    def _apply(self, text: str) -> str:
        if text.isascii():
            text = text.lower() if self.ignore_case else text
        elif self.ignore_case:
            text = _folded(text, self.normalize)
        else:
            text = _FORMS[self.normalize](text)
        if self.collapse_whitespace:
            text = _WHITE_SPACE.sub(" ", text)
        return text.strip() if self.strip else text


def _as_it_is(text: str) -> str:
    return text


def _nfc(text: str) -> str:
    return text if text.isascii() else unicodedata.normalize("NFC", text)


def _nfkc(text: str) -> str:
    return text if text.isascii() else unicodedata.normalize("NFKC", text)


def _folded(text: str, normalize: Normalize) -> str:
    """Unicode's caseless matching (The Unicode Standard, 3.13, D144 to D146): ß is ss, and İ is i with a dot above."""
    if normalize == "none":
        return text.casefold()
    text = unicodedata.normalize("NFD", text).casefold()
    if normalize == "nfkc":
        text = unicodedata.normalize("NFKD", text).casefold()
    return _FORMS[normalize](text)


_FORMS: dict[str, Callable[[str], str]] = {"nfc": _nfc, "nfkc": _nfkc, "none": _as_it_is}


def measure(text: str, unit: Unit) -> int:
    """The length of a text. characters: code points; words: parts between white space; lines: as an editor shows them,
    without an empty last one; sentences: parts with a letter or digit in them, up to . ! ? … or an empty line, where
    the number of an item of a list (`1. `) is none."""
    if unit == "characters":
        return len(text)
    if unit == "words":
        return len(text.split())
    if unit == "lines":
        return len(text.splitlines())
    return len(sentences(text))


def sentences(text: str) -> list[str]:
    """The sentences of a text, as `measure` counts them, without white space around them."""
    plain = _LIST_NUMBER.sub(lambda number: "\0" * len(number[0]), text)  # the number of a list's item ends nothing
    found, start = [], 0
    for end in (*(match.end() for match in _SENTENCE_END.finditer(plain)), len(text)):
        if _WORD.search(plain, start, end):
            found.append(text[start:end].strip())
        start = end
    return found
