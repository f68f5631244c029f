"""A published A/B pair (60 questions under two prompts, with the ratings of a judge): two runs, compared.

The model and the judge are scripts that say what the published ones said, so that prompts, outputs and ratings are the
real ones. What is expected is counted here from the data by hand, without anything of the product.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from scipy import stats
from statsmodels.stats.contingency_tables import mcnemar

from pytest_verica.cli.command import verica
from pytest_verica.compare.comparison import compare_runs
from pytest_verica.report.saved import find_run
from tests.pytest_door.conftest import Suite, judge, text
from tests.unit.compare.test_comparison import newcombe

VARIANTS = ("azure_baseline_60.jsonl", "azure_prompt_nomarkdownmention_60.jsonl")
SYSTEM = ("Answer from the sources.\nUse Markdown where it helps.", "Answer from the sources.")
RATINGS = {"grounded": "gpt_groundedness", "relevant": "gpt_relevance"}
SHORT = 600

SCRIPTS = """
import json
import pathlib

ROWS = json.loads(pathlib.Path(__file__).with_name("answers.json").read_text())


def row_of(request):
    said = request.messages[-1].content
    return next(row for question, row in ROWS.items() if question in said)


def bot(request):
    return row_of(request)["answer"]


def rated(name):
    def answer(request):
        return {"reasoning": "as published", "score": row_of(request)[name]}
    return answer


grounded = rated("gpt_groundedness")
relevant = rated("gpt_relevance")
"""


@pytest.fixture
def rows(shared_data: Path) -> list[list[dict[str, Any]]]:
    """The rows of A and of B."""
    return [
        [json.loads(line) for line in (shared_data / "rag" / name).read_text("utf-8").splitlines()] for name in VARIANTS
    ]


def run_variant(suite: Suite, rows: list[dict[str, Any]], variant: int) -> None:
    by_question = {row["question"]: row for row in rows}
    suite.file("answers.json", json.dumps(by_question))
    judges = [
        {**judge(name, f"scripts:{name}", min=1, max=5, pass_at=5), "prompt": "{{ question }}"} for name in RATINGS
    ]
    suite.eval(
        "rag",
        cases=[{"id": f"q{n}", "question": row["question"], "truth": row["truth"]} for n, row in enumerate(rows)],
        prompt={"system": SYSTEM[variant], "user": "{{ question }}"},
        model={"provider": "scripted", "name": "scripts:bot"},
        criteria=[*judges, text("short", length={"max": SHORT})],
        gate=0.5,
    )
    assert suite.run("-q").exit == 0


def outcomes(row: dict[str, Any]) -> dict[str, bool]:
    found = {name: row[column] == 5 for name, column in RATINGS.items()}
    return {**found, "short": len(row["answer"]) <= SHORT}


def test_the_pair_is_compared_as_counted_by_hand(
    suite: Suite,
    rows: list[list[dict[str, Any]]],
) -> None:
    suite.file("scripts.py", SCRIPTS)
    for variant, of_variant in enumerate(rows):
        run_variant(suite, of_variant, variant)
    (each,) = compare_runs(find_run(suite.path, "#1"), find_run(suite.path, "#2")).evals
    assert len(each.paired.common) == 60
    lines = {line.criterion: line for line in each.lines}
    by_hand = [(outcomes(a), outcomes(b)) for a, b in zip(*rows, strict=True)]
    for name in ("grounded", "relevant", "short"):
        count = Counter((a[name], b[name]) for a, b in by_hand)
        both, first, second, neither = (count[key] for key in ((1, 1), (1, 0), (0, 1), (0, 0)))
        line = lines[name]
        assert (line.rate_a, line.rate_b) == ((both + first) / 60, (both + second) / 60)
        assert line.difference is not None
        assert line.difference.estimate == pytest.approx((second - first) / 60)
        assert (line.difference.low, line.difference.high) == pytest.approx(newcombe(both, first, second, neither))
        assert line.p == pytest.approx(float(mcnemar([[both, first], [second, neither]], exact=True).pvalue))
    # Counted once with a shell: ratings of 5 are 58 and 59 (grounded), 57 and 58 (relevant); one changed in each.
    assert [(round(60 * lines[name].rate_a), round(60 * lines[name].rate_b)) for name in RATINGS] == [
        (58, 59),
        (57, 58),
    ]
    means = [[math.fsum(side.values()) / 3 for side in pair] for pair in by_hand]
    wanted = stats.ttest_rel([b for _, b in means], [a for a, _ in means]).confidence_interval(0.95)
    overall = lines[""].difference
    assert overall is not None
    assert (overall.low, overall.high) == pytest.approx((wanted.low, wanted.high))
    flips = {(flip.case, flip.criterion): flip.fixed for flip in each.flips}
    assert flips == {(f"q{n}", name): b[name] for n, (a, b) in enumerate(by_hand) for name in a if a[name] != b[name]}
    assert set(flips.values()) == {True, False}
    _check_command(suite, rows)


def _check_command(suite: Suite, rows: list[list[dict[str, Any]]]) -> None:
    result = CliRunner().invoke(verica, ["compare", "#1", "#2", "--root", str(suite.path)])
    assert result.exit_code == 0, result.output
    assert "all 60 cases are comparable" in result.output
    assert "      -Use Markdown where it helps." in result.output.splitlines()
    broke = next(n for n, (a, b) in enumerate(zip(*rows, strict=True)) if len(a["answer"]) <= SHORT < len(b["answer"]))
    assert f"q{broke} · short" in result.output
    assert rows[0][broke]["answer"][:25] in result.output
    suite.eval(
        "rag",
        cases=[{"id": "q0", "question": "another", "truth": ""}],
        criteria=[text("short", length={"max": 9})],
        target={"column": "question"},
    )
    suite.run("-q")
    refused = CliRunner().invoke(verica, ["compare", "#1", "#3", "--root", str(suite.path)])
    assert refused.exit_code == 1
    assert "no case in common: 1 have the same id and other columns, 59 are only in A" in refused.output
