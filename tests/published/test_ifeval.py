"""IFEval and M-IFEval: the criteria of `ifeval_criteria.py` against the published verdicts of the official checker."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from pytest_verica.case import Case
from pytest_verica.graders.criterion import make_criterion
from pytest_verica.graders.protocol import BuildContext
from pytest_verica.judge.registry import KINDS as CHECKS
from pytest_verica.output import Output
from tests.published.ifeval_criteria import KINDS, criteria_for
from tests.published.languages import language_of

FILES = {"en_gpt-4o-mini_sample_200": "en_gpt-4o-mini_200.jsonl", "es_gpt-4o-mini": "es_gpt-4o-mini.jsonl"}
"""As expected.json names them."""

DIFFERENCES = {
    # The checker's model of English finds no end at a heading's empty line: 4 sentences, and 5 here.
    ("1262", "en:length_constraints:number_sentences"): True,
    # It takes the numbers of a list (`1.`) for sentences: 20 or more, and 17 here.
    ("2162", "en:length_constraints:number_sentences"): False,
    # A list of a hundred names is in no language; the checker's detector guessed English.
    ("3456", "en:change_case:english_capital"): True,
}
"""(row, instruction) -> the published verdict, where ours is another."""

ASKS_A_FUNCTION = {
    "change_case:english_capital",
    "change_case:english_lowercase",
    "change_case:spanish_capital",
    "change_case:spanish_lowercase",
    "language:response_language",
}
"""Kinds with a python_check: which language a text is in, no operation can tell."""


NEVER_MET = {"es:special_character:enie", "es:special_character:dieresis"}
"""No answer has exactly so many words with ñ, or with ü: they are shown others, below."""


class Instruction(NamedTuple):
    """One instruction of a row. response: the answer; followed: the published `strict` verdict."""

    row: str
    kind: str
    arguments: dict[str, Any]
    response: str
    followed: bool


def instructions_of(path: Path) -> Iterator[Instruction]:
    for line in path.read_text("utf-8").splitlines():
        row = json.loads(line)
        for kind, arguments, followed in zip(row["instruction_id_list"], row["kwargs"], row["strict"], strict=True):
            yield Instruction(str(row["key"]), kind, arguments, row["response"], followed)


@pytest.fixture(scope="session")
def instructions(shared_data: Path) -> dict[str, list[Instruction]]:
    return {name: list(instructions_of(shared_data / "ifeval" / file)) for name, file in FILES.items()}


def outcomes_of(instruction: Instruction, response: str) -> set[str]:
    outcomes = set()
    for keys in criteria_for(instruction.kind, instruction.arguments):
        config = CHECKS[keys["type"]].config.model_validate({"name": "it", **keys})
        criterion = make_criterion(config, CHECKS, BuildContext(Path(".")))
        outcomes.add(criterion.grade(Case(instruction.row, {}), Output(response)).outcome)
    return outcomes


def test_verdicts_equal_the_published_ones(instructions: dict[str, list[Instruction]]) -> None:
    """463 of 466 instructions (99.4 %); every one of keywords, length in words and paragraphs, format, punctuation."""
    differ: dict[tuple[str, str], bool] = {}
    for each in (each for found in instructions.values() for each in found):
        outcomes = outcomes_of(each, each.response)
        assert outcomes <= {"pass", "fail"}, each
        if (outcomes == {"pass"}) != each.followed:
            differ[each.row, each.kind] = each.followed
    assert sum(map(len, instructions.values())) == 466
    assert differ == DIFFERENCES


@pytest.mark.parametrize("name", FILES)
def test_the_rows_are_those_that_the_totals_were_published_for(
    shared_data: Path, instructions: dict[str, list[Instruction]], name: str
) -> None:
    """So that a verdict read wrongly cannot agree with ours."""
    expected = json.loads((shared_data / "ifeval" / "expected.json").read_text("utf-8"))[name]["strict"]
    asked, followed = Counter[str](), Counter[str]()
    for each in instructions[name]:
        asked[each.kind] += 1
        followed[each.kind] += each.followed
    assert {kind: [followed[kind], asked[kind]] for kind in asked} == expected["by_instruction"]


def test_every_kind_can_pass_and_can_fail(instructions: dict[str, list[Instruction]]) -> None:
    """On its own answers, or on those of others where its own are all right or all wrong."""
    every = [each for found in instructions.values() for each in found]
    answers = ["x", "- QUÉ, AÑO *\n* DOS\n\n\n?", *(each.response for each in every)]
    unmoved: dict[str, set[str]] = {}
    for kind in KINDS.keys() - NEVER_MET:
        own = [each for each in every if each.kind == kind]
        tried = ((each, answer) for each in own for answer in (each.response, *answers))
        seen: set[str] = set()
        while len(seen) < 2 and (pair := next(tried, None)) is not None:
            seen.add("pass" if outcomes_of(*pair) == {"pass"} else "fail")
        if len(seen) < 2:
            unmoved[kind] = seen
    assert not unmoved


@pytest.mark.parametrize(
    ("kind", "answer", "followed"),
    [
        ("enie", "El niño, la niña y la Ñ.", True),
        ("enie", "El niño y la niña.", False),
        ("enie", "Ñoño, niño, niña y año.", False),
        ("dieresis", "Pingüino, cigüeña-vergüenza; ÜBER", True),  # a hyphen makes one word
        ("dieresis", "Pingüino", False),
    ],
)
def test_words_with_a_letter(kind: str, answer: str, followed: bool) -> None:
    asked = Instruction("made up", f"es:special_character:{kind}", {"let_frequency": 3}, answer, followed)
    assert (outcomes_of(asked, answer) == {"pass"}) is followed


def test_which_kinds_ask_a_function(instructions: dict[str, list[Instruction]]) -> None:
    asking = set()
    for each in (each for found in instructions.values() for each in found):
        types = {keys["type"] for keys in criteria_for(each.kind, each.arguments)}
        if "python_check" in types:
            asking.add(each.kind.split(":", 1)[1])
    assert asking == ASKS_A_FUNCTION


def test_every_kind_is_among_the_rows(instructions: dict[str, list[Instruction]]) -> None:
    seen = {each.kind for found in instructions.values() for each in found}
    assert seen == set(KINDS)


def test_the_language_is_that_of_the_answer(instructions: dict[str, list[Instruction]]) -> None:
    """Ten answers in nine languages, and no other language than the one that was asked for."""
    asked = [
        each for found in instructions.values() for each in found if each.kind.endswith("language:response_language")
    ]
    assert [language_of(each.response) for each in asked] == [each.arguments["language"] for each in asked]
    assert len({each.arguments["language"] for each in asked}) == 9
