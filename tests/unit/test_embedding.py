"""Embeddings as records: what is asked, how a vector is kept."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_verica.completion import Completion
from pytest_verica.embedding import Embedding, EmbeddingRequest, NotAnEmbedding
from pytest_verica.request import Message, ModelSpec, Request
from pytest_verica.usage import Usage

MODEL = ModelSpec("openai", "text-embedding-3-small", "OPENAI_API_KEY")


def test_a_text_to_embed_is_no_question_to_answer() -> None:
    embedding = EmbeddingRequest.of(MODEL, "hello")
    question = Request(MODEL, (Message("user", "hello"),))
    assert embedding.text == "hello"
    assert embedding.key != question.key and embedding.content_key != question.content_key
    assert embedding.key == EmbeddingRequest.of(MODEL, "hello").key
    assert embedding.key != EmbeddingRequest.of(MODEL, "hello!").key


vectors = st.lists(st.floats(width=32, allow_nan=False, allow_infinity=False), min_size=1, max_size=20)


@given(vectors)
def test_a_vector_is_kept_whole_through_the_store(vector: list[float]) -> None:
    kept = Embedding(tuple(vector), "m", Usage(3, 0)).completion().to_json()
    assert Embedding.of(Completion.from_json(kept)) == Embedding(tuple(vector), "m", Usage(3, 0))


def test_the_form_in_which_it_is_kept() -> None:
    # 1.0 is 0x3f800000 and -2.0 is 0xc0000000 in IEEE 754, low byte first; base64 by hand.
    assert Embedding((1.0, -2.0)).completion().text == "AACAPwAAAMA="


@pytest.mark.parametrize("text", [None, "", "prose", "AAA=", Embedding((math.nan,)).completion().text])
def test_what_is_no_vector(text: str | None) -> None:
    with pytest.raises(NotAnEmbedding):
        Embedding.of(Completion(text))
