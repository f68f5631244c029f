"""A judge and what it answers, in one line."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from pytest_verica.case import Case
from pytest_verica.completion import Answer, Completion
from pytest_verica.grade import Grade
from pytest_verica.graders.criterion import Criterion, make_criterion
from pytest_verica.graders.protocol import BuildContext
from pytest_verica.judge.registry import KINDS
from pytest_verica.output import Output
from pytest_verica.request import Request
from pytest_verica.usage import Usage

LABEL = {
    "name": "tone",
    "type": "label_model",
    "prompt": "Is this polite? {{ output.text }}",
    "model": {"provider": "scripted", "name": "judge-1"},
    "labels": ["good", "bad", "ugly"],
    "passing_labels": ["good"],
}
SCORE = {
    "name": "tone",
    "type": "score_model",
    "prompt": "Score the politeness of: {{ output.text }}",
    "model": {"provider": "scripted", "name": "judge-1"},
    "min": 1,
    "max": 10,
    "pass_at": 6,
}
RUBRIC = {
    "name": "complete",
    "type": "rubric_model",
    "prompt": "Answer: {{ output.text }}\nRubric:\n{{ rubric }}",
    "model": {"provider": "scripted", "name": "judge-1"},
    "rubric": {"greets": "The answer greets the customer.", "dated": "It names the date {{ date }}."},
}
PAIR = {
    "name": "better",
    "type": "pairwise_model",
    "prompt": "1: {{ first }}\n2: {{ second }}",
    "model": {"provider": "scripted", "name": "judge-1"},
    "b": "{{ reference }}",
    "passing": ["a"],
}
FAITHFUL = {
    "type": "preset",
    "preset": "rag/faithfulness",
    "model": {"provider": "scripted", "name": "judge-1"},
}

COLUMNS = {
    "question": "Where is my order?",
    "reference": "It arrives on Friday.",
    "contexts": ["Order 7 is on its way.", "It arrives on Friday."],
    "date": "3 May",
    "blank": "",
}

Scripted = str | None | Completion | Answer | Exception


class Asked:
    """Answers in order (the last one again and again), and the requests that were made."""

    def __init__(self, *answers: Scripted) -> None:
        self.answers: Sequence[Scripted] = answers
        self.requests: list[Request] = []

    async def __call__(self, request: Request) -> Answer:
        scripted = self.answers[min(len(self.requests), len(self.answers) - 1)]
        self.requests.append(request)
        if isinstance(scripted, Exception):
            raise scripted
        if isinstance(scripted, Answer):
            return scripted
        completion = scripted
        if not isinstance(completion, Completion):
            completion = Completion(scripted, stop_reason="stop", usage=Usage(100, 10, 0, 0))
        return Answer(completion, Decimal("0.002"), Decimal(0), reused=False, attempts=1, latency_s=0.5)


@pytest.fixture(scope="session")
def judge() -> Callable[..., Criterion]:
    def make(keys: Mapping[str, Any], **more: Any) -> Criterion:
        config = KINDS[keys["type"]].config.model_validate({**keys, **more})
        return make_criterion(config, KINDS, BuildContext(Path(".")))

    return make


@pytest.fixture(scope="session")
def judged(judge: Callable[..., Criterion]) -> Callable[..., Grade]:
    def run(
        keys: Mapping[str, Any],
        ask: Asked,
        output: str | None = "Dear customer",
        columns: Mapping[str, Any] | None = None,
        **more: Any,
    ) -> Grade:
        case = Case("row-0001", {**COLUMNS, **(columns or {})})
        return asyncio.run(judge(keys, **more).judge(case, Output(output), ask))

    return run
