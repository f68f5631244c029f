"""The numbers of Spanish prose: the same problems in English, written by the same people, say what they are."""

from __future__ import annotations

import re
from decimal import Decimal
from pathlib import Path

from pytest_verica.graders.number import NotANumber, extract_number, read_number, spans_of_numbers

_GROUPED = re.compile(r"\d{1,3}(?:,\d{3})+")


def _questions(folder: Path, language: str) -> list[str]:
    lines = (folder / "gsm8k" / f"mgsm_{language}.tsv").read_text("utf-8").splitlines()
    return [line.split("\t")[0] for line in lines]


def _numbers(spanish: str) -> list[str]:
    return [spanish[start:end] for start, end in spans_of_numbers(spanish, spaced=True)]


def _read(number: str) -> Decimal | None:
    """One question has `0.30`, written the English way."""
    try:
        return read_number(number, "es")
    except NotANumber:
        assert number == "0.30"
        return None


def test_the_last_number_of_every_question_is_read(shared_data: Path) -> None:
    questions = _questions(shared_data, "es")
    assert len(questions) == 250
    with_number = [text for text in questions if _numbers(text)]
    assert len(with_number) > 240
    for text in with_number:
        assert extract_number(text, "last", "es") is not None


def test_grouped_numbers_are_those_of_the_english_question(shared_data: Path) -> None:
    pairs = zip(_questions(shared_data, "es"), _questions(shared_data, "en"), strict=True)
    checked = 0
    for spanish, english in pairs:
        numbers = [read_number(match[0], "en") for match in _GROUPED.finditer(english)]
        found = [number for number in map(_read, _numbers(spanish)) if number is not None]
        for number in numbers:
            assert number in found, (spanish, english)
            checked += 1
    assert checked == 7  # as many as the English questions have
