"""Which language a text is written in, told from its letters and its commonest words: enough for IFEval's answers."""

from __future__ import annotations

import re
from collections.abc import Mapping

import regex

SCRIPTS: Mapping[str, str] = {"kn": "Kannada", "pa": "Gurmukhi", "mr": "Devanagari", "fa": "Arabic"}
"""Languages that are told from the script alone, among those that are asked for."""

WORDS: Mapping[str, str] = {
    "de": "der die das und ist nicht mit ein eine den von zu für auf im auch sich des dem wir sie",
    "en": "the and of to is in that it for with as you are this be on was we your i",
    "es": "el la los las de que y en un una por con para su del se es al lo como",
    "fi": "ja on ei että se hän ovat oli mutta kuin tai myös joka kun sen ole jotka voi mukaan",
    "it": "il lo la gli che di e è un una per con non del della sono nel le si alla",
    "vi": "và là của có các cho không được trong những một với để này tôi bạn người",
}


def language_of(text: str) -> str | None:
    """The language with the most of its common words, None where there are none of any."""
    letters = regex.findall(r"\p{L}", text)
    for code, script in SCRIPTS.items():
        if len(regex.findall(rf"\p{{Script={script}}}", text)) > len(letters) / 2:
            return code
    words = re.findall(r"[^\W\d_]+", text.lower())
    common = {code: len([word for word in words if word in known.split()]) for code, known in WORDS.items()}
    best = max(common, key=lambda code: common[code])
    return best if common[best] else None


def is_written_in(code: str, output, case) -> bool:
    """A check for python_check, with the language filled in."""
    return language_of(output.text) == code
