"""Made-up answers, and names of models as endpoints list them."""

from __future__ import annotations

from typing import Any

import pytest

from pytest_verica.judge.shape import flaw_in, object_of
from pytest_verica.preflight.look import serves
from pytest_verica.preflight.rehearsal import fitting, stand_in

ITEM = object_of({"reasoning": {"type": "string"}, "met": {"type": "boolean"}})
SCHEMAS = [
    object_of({"reasoning": {"type": "string"}, "label": {"type": "string", "enum": ["good", "bad"]}}),
    object_of({"reasoning": {"type": "string"}, "score": {"type": "number", "minimum": 1, "maximum": 5}}),
    object_of({"polite": ITEM, "short": ITEM}),
    object_of({"claims": {"type": "array", "items": ITEM}, "count": {"type": "integer"}}),
]


@pytest.mark.parametrize("schema", SCHEMAS)
def test_a_made_up_verdict_fits_its_schema(schema: dict[str, Any]) -> None:
    assert flaw_in(fitting(schema), schema) is None


@pytest.mark.parametrize("length", [0, 1, 17, 64, 1000])
def test_stand_ins_are_as_long_as_asked_and_unlike_each_other(length: int) -> None:
    texts = {stand_in(str(seed), length) for seed in range(50)}
    assert len(texts) == 50 and {len(text) for text in texts} == {max(8, length)}


@pytest.mark.parametrize(
    ("name", "listed", "served"),
    [
        ("gpt-5-mini", ["gpt-5", "gpt-5-mini"], True),
        ("gpt-5-mini", ["gpt-5", "gpt-5-mini-2025-08-07"], True),  # an alias of a dated version
        ("gpt-5", ["gpt-5-mini", "gpt-5-nano"], False),  # another model, not a version
        ("claude-sonnet-4-5", ["claude-sonnet-4-5-20250929"], True),
        ("claude-3-7-sonnet-latest", ["claude-3-7-sonnet-20250219"], True),
        ("gemini-2.5-pro", ["models/gemini-2.5-pro"], True),
        ("models/gemini-2.5-pro", ["gemini-2.5-pro"], True),
        ("llama3", ["llama3:latest"], True),  # Ollama's tags
        ("deepseek/deepseek-r1:free", ["deepseek/deepseek-r1"], True),  # OpenRouter's variants
        ("gpt-5-mni", ["gpt-5-mini"], False),
        ("gpt-5-mini", [], False),
    ],
)
def test_whether_a_list_has_a_model(name: str, listed: list[str], served: bool) -> None:
    assert serves(name, listed) is served
