"""What calls are expected to use: guessed, then learned."""

from __future__ import annotations

import pytest

from pytest_verica.embedding import EmbeddingRequest
from pytest_verica.engine.expectation import OUTPUT_TOKENS, Expectation, guess
from pytest_verica.request import AnswerSchema, Message, ModelSpec, Request
from pytest_verica.usage import Usage

MODEL = ModelSpec("door", "m")


def question(characters: int, **more: object) -> Request:
    return Request(ModelSpec("door", "m", **more), (Message("user", "x" * characters),))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("request_", "expected"),
    [
        (question(400), Usage(104, OUTPUT_TOKENS)),  # 400 / 4 and 4 around the message
        (question(400, params={"max_tokens": 20}), Usage(104, 20)),
        (EmbeddingRequest.of(MODEL, "x" * 400), Usage(100, 0)),
        (Request(MODEL, (Message("user", ""),), answer=AnswerSchema("v", {"type": "object"})), Usage(8, OUTPUT_TOKENS)),
    ],
)
def test_a_guess(request_: Request, expected: Usage) -> None:
    assert guess(request_) == Expectation().usage(request_) == expected


@pytest.mark.parametrize(
    ("asked", "expected"),
    [(100, 35), (500, 135), (1000, 260)],  # 10 tokens beside the texts, and a quarter token a character
)
def test_what_is_learned(asked: int, expected: int) -> None:
    known = Expectation()
    for characters in (100, 200, 300):
        known.learn(question(characters), Usage(characters // 4 + 10, 7))
    found = known.usage(question(asked))
    assert (known.learned, found.input_tokens, found.output_tokens) == (3, expected, 7)


def test_nothing_is_learned_from_what_is_not_known() -> None:
    known = Expectation()
    known.learn(question(100), None)
    known.learn(question(100), Usage(10, None))
    assert known.learned == 0


def test_cached_tokens_are_expected_in_the_same_share() -> None:
    known = Expectation()
    known.learn(question(400), Usage(100, 1, 50, None, 20))
    assert known.usage(question(800)) == Usage(200, 1, 100, None, 40)
