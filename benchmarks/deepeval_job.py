"""The reference job in deepeval's own terms, run by a Python that has it: `run.py reference --deepeval PYTHON`.

    python deepeval_job.py URL CONCURRENCY ROWS

deepeval grades outputs that exist, so the samples are taken first; each judge is a GEval with given steps, which is one
call; the model is a class over one shared client, as its documentation has it.
"""

from __future__ import annotations

import asyncio
import json
import re
import sys
from pathlib import Path
from typing import Any

import openai
from deepeval import evaluate
from deepeval.evaluate.configs import AsyncConfig, CacheConfig, DisplayConfig
from deepeval.metrics import BaseMetric, GEval
from deepeval.models import DeepEvalBaseLLM
from deepeval.test_case import LLMTestCase, SingleTurnParams
from suites import CLEAR, CORRECT, SENTENCE, SYSTEM


class Judge(DeepEvalBaseLLM):
    def __init__(self, url: str) -> None:
        self.client = openai.AsyncOpenAI(api_key="none", base_url=url)
        super().__init__("fake-judge")

    def load_model(self) -> Any:
        return self.client

    def get_model_name(self) -> str:
        return "fake-judge"

    def generate(self, prompt: str, schema: Any = None) -> Any:
        raise NotImplementedError("only asked asynchronously")

    async def a_generate(self, prompt: str, schema: Any = None) -> Any:
        messages = [{"role": "user", "content": prompt}]
        completions = self.client.chat.completions
        if schema is None:
            reply = await completions.create(model="fake-judge", temperature=0, messages=messages)
            return reply.choices[0].message.content
        parsed = await completions.parse(model="fake-judge", temperature=0, messages=messages, response_format=schema)
        return parsed.choices[0].message.parsed


class Check(BaseMetric):
    """A plain check: deepeval has neither `contains` nor a pattern."""

    threshold = 1.0
    async_mode = True

    def __init__(self, name: str) -> None:
        self.name = name

    def measure(self, test_case: LLMTestCase, *args: Any, **kwargs: Any) -> float:
        said = test_case.actual_output
        holds = test_case.expected_output in said if self.name == "states_it" else re.search(SENTENCE, said)
        self.success = bool(holds)
        self.score, self.reason = float(self.success), "looked"
        return self.score

    async def a_measure(self, test_case: LLMTestCase, *args: Any, **kwargs: Any) -> float:
        return self.measure(test_case)

    def is_successful(self) -> bool:
        return self.success

    @property
    def __name__(self) -> str:
        return self.name


async def samples(url: str, concurrency: int, rows: list[dict[str, str]]) -> list[str]:
    slots = asyncio.Semaphore(concurrency)
    async with openai.AsyncOpenAI(api_key="none", base_url=url) as client:

        async def one(row: dict[str, str]) -> str:
            messages: Any = [{"role": "system", "content": SYSTEM}, {"role": "user", "content": row["question"]}]
            async with slots:
                reply = await client.chat.completions.create(model="fake-1", temperature=0, messages=messages)
            return reply.choices[0].message.content or ""

        return await asyncio.gather(*map(one, rows))


def main(url: str, concurrency: int, path: Path) -> None:
    rows = [json.loads(line) for line in path.open()]
    outputs = asyncio.run(samples(url, concurrency, rows))
    cases = [
        LLMTestCase(name=row["id"], input=row["question"], actual_output=output, expected_output=row["expected"])
        for row, output in zip(rows, outputs, strict=True)
    ]
    looked_at = [SingleTurnParams.INPUT, SingleTurnParams.ACTUAL_OUTPUT, SingleTurnParams.EXPECTED_OUTPUT]
    judge = Judge(url)
    judges = [
        GEval(name=name, evaluation_steps=[ask], evaluation_params=looked_at, model=judge)
        for name, ask in (("correct", CORRECT), ("clear", CLEAR))
    ]
    result = evaluate(
        cases,
        [Check("states_it"), Check("one_sentence"), *judges],
        async_config=AsyncConfig(max_concurrent=concurrency),
        display_config=DisplayConfig(show_indicator=False, print_results=False),
        cache_config=CacheConfig(write_cache=False),
    )
    print(f"{len(result.test_results)} rows")


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), Path(sys.argv[3]))
