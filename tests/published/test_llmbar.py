"""LLMBar: the verdicts of its judges, replayed in both orders, keep to their choice as often as its authors published.

Published: `equal` (positional agreement) in `statistics.json` of each evaluator, as counts. Where neither order's
answer could be read the authors count the pair as equal; here it is an error, and is told apart below.
"""

from __future__ import annotations

import asyncio
import csv
import json
from collections import Counter
from dataclasses import dataclass
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
from pytest_verica.providers.scripted import ScriptedProvider
from pytest_verica.report.parts import PartTally
from pytest_verica.request import Request


@dataclass(frozen=True)
class Published:
    """equal: pairs judged the same in both orders; right: those where that is also the humans' choice; both_unread:
    pairs where neither order's answer could be read, which count as equal there; unread: pairs with any unread."""

    subset: str
    judge: str
    pairs: int
    equal: int
    right: int
    both_unread: int = 0
    unread: int = 0


PUBLISHED = [
    Published("Natural", "gpt4_vanilla", 100, 95, 93),
    Published("Natural", "falcon_vanilla", 100, 52, 50),
    Published("Natural", "chatgpt_cot", 100, 64, 56, unread=1),
    Published("Natural", "palm2_vanilla", 100, 80, 73, both_unread=2, unread=2),
    Published("Adversarial/Neighbor", "gpt4_vanilla", 134, 125, 101),
    Published("Adversarial/GPTInst", "falcon_vanilla", 92, 28, 14),
    Published("Adversarial/GPTOut", "chatgpt_cot", 47, 19, 7, unread=1),
    Published("Adversarial/Manual", "llama2_vanilla", 46, 30, 9),
]


def compare() -> Criterion:
    keys = {
        "name": "better",
        "type": "pairwise_model",
        "prompt": "{{ instruction }}\n[1]\n{{ first }}\n[2]\n{{ second }}",
        "a": "{{ output_1 }}",
        "b": "{{ output_2 }}",
        "passing": ["a"],
        "ties": False,
        "model": {"provider": "scripted", "name": "llmbar"},
    }
    config = KINDS["pairwise_model"].config.model_validate(keys)
    return make_criterion(config, KINDS, BuildContext(Path()))


def replayed(rows: list[dict[str, str]], texts: dict[str, dict[str, Any]], judge: str) -> list[Grade]:
    """The grade of each row, its judge answering as the authors recorded it for that order."""
    criterion = compare()

    def said(request: Request) -> str:
        prompt = request.messages[0].content or ""
        row = next(row for row in rows if prompt.startswith(f"{row['idx']}: "))
        one = texts[row["idx"]]["output_1"]
        swapped = f"[2]\n{one}" in prompt and f"[1]\n{one}\n[2]" not in prompt
        verdict = row[f"{judge}_{'ba' if swapped else 'ab'}"]  # which output won: 1 or 2, whatever the order
        if not verdict:
            return "I cannot tell."
        return json.dumps({"reasoning": "as recorded", "better": "second" if (verdict == "2") != swapped else "first"})

    provider = ScriptedProvider(said)

    async def ask(request: Request) -> Answer:
        completion: Completion = await provider.complete(request)
        return Answer(completion, Decimal(0), Decimal(0), reused=False, attempts=1, latency_s=0.0)

    async def all_of_them() -> list[Grade]:
        cases = [
            Case(row["idx"], {"instruction": f"{row['idx']}: {texts[row['idx']]['input']}", **texts[row["idx"]]})
            for row in rows
        ]
        return [await criterion.judge(case, Output(""), ask) for case in cases]

    return asyncio.run(all_of_them())


@pytest.fixture(scope="module")
def verdicts(shared_data: Path) -> list[dict[str, str]]:
    with (shared_data / "llmbar" / "llmbar_pairwise_verdicts.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


@pytest.fixture(scope="module")
def natural(shared_data: Path) -> dict[str, dict[str, Any]]:
    lines = (shared_data / "llmbar" / "llmbar_natural_texts.jsonl").read_text("utf-8").splitlines()
    return {str(text["idx"]): text for text in map(json.loads, lines)}


@pytest.mark.parametrize("published", PUBLISHED, ids=lambda row: f"{row.subset}, {row.judge}")
def test_the_share_of_consistent_verdicts_is_the_published_one(verdicts, natural, published):
    rows = [row for row in verdicts if row["subset"] == published.subset]
    stand_ins = {row["idx"]: {"input": "i", "output_1": "one", "output_2": "two"} for row in rows}
    texts = natural if published.subset == "Natural" else stand_ins  # only Natural comes with its texts
    grades = replayed(rows, texts, published.judge)
    assert len(grades) == published.pairs
    outcomes = Counter(grade.error.kind if grade.error else grade.label for grade in grades)
    kept = outcomes["a"] + outcomes["b"]
    assert (kept + published.both_unread, outcomes["judge_not_json"]) == (published.equal, published.unread)
    right = sum(
        grade.label == {"1": "a", "2": "b"}[row["human_label"]] for row, grade in zip(rows, grades, strict=True)
    )
    assert right == published.right
    tally = PartTally()
    for grade in grades:
        tally.add(grade.details or {}, 1)
    parts = tally.parts()
    assert parts is not None and parts.pairs is not None
    assert (parts.pairs.kept, parts.pairs.judged) == (kept, published.pairs - published.unread)
    # A coin would keep to its choice in half of the pairs: the summary says so of those judges, and of no other.
    assert ("cannot tell the two apart" in parts.sentences()[0]) is (2 * kept <= parts.pairs.judged)
