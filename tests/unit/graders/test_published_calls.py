"""tool_check and trajectory_check against published verdicts: BFCL and tau-bench, as their pages map them."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pytest_verica.case import Case
from pytest_verica.graders.criterion import Criterion, make_criterion
from pytest_verica.graders.protocol import BuildContext
from pytest_verica.judge.registry import KINDS
from pytest_verica.output import output_of

PAGES = Path(__file__).parents[3] / "docs" / "reference" / "criteria"
NESTED_INT_FOR_FLOAT = {"simple_python_13", "simple_python_82", "simple_python_87", "simple_python_103"}


def documented(page: str, title: str) -> dict[str, Any]:
    """What a Python file of a page defines."""
    text = (PAGES / page).read_text("utf-8")
    found = re.search(rf"^```python title={title}\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)
    assert found is not None
    names: dict[str, Any] = {}
    exec(found[1], names)
    return names


def criterion(**keys: Any) -> Criterion:
    config = KINDS[keys["type"]].config.model_validate({"name": "checked", **keys})
    return make_criterion(config, KINDS, BuildContext(Path(".")))


def lines_of(path: Path) -> Iterator[dict[str, Any]]:
    with path.open(encoding="utf-8") as lines:
        yield from map(json.loads, lines)


def test_bfcl(shared_data):
    """Agrees with `valid` on 156 of 160 rows. The other four pass [1, 3] for [1.0, 3.0]: the same JSON, which the
    leaderboard's check of Python's types refuses."""
    cases_of = documented("tool_check.md", "bfcl_rows.py")["cases_of"]
    criteria = [
        criterion(type="tool_check", tool="{{ tool }}", arguments="{{ arguments }}"),
        criterion(type="number_check", value="{{ output.tool_calls | length }}", equals="{{ count }}"),
        criterion(type="tool_check", expect="no_call", only_if={"variable": "{{ tool }}", "condition": "is_empty"}),
    ]
    differ: set[str] = set()
    rows = Counter[str]()
    for category in ("simple_python", "multiple", "parallel", "irrelevance"):
        for row in lines_of(shared_data / "bfcl" / f"{category}.jsonl"):
            outcomes = set()
            for columns in cases_of(row):
                output = output_of({"text": columns["answer"], "tool_calls": columns["calls"]}, record=True)
                outcomes |= {each.grade(Case(columns["id"], columns), output).outcome for each in criteria}
            assert "error" not in outcomes
            rows[category] += 1
            if ("fail" not in outcomes and "pass" in outcomes) != row["valid"]:
                differ.add(row["id"])
    assert rows == {"simple_python": 40, "multiple": 40, "parallel": 40, "irrelevance": 40}
    assert differ == NESTED_INT_FOR_FLOAT


def test_tau_bench(shared_data):
    """Agrees with `reward` on 187 of 200 runs. Of the others nine made a call that the tool refused, which changes
    nothing; one (task 5, trial 1) reached the same state by another order, with fields that the tool does not read; 3
    did not tell a figure that was asked for."""
    case_of = documented("trajectory_check.md", "tau_rows.py")["case_of"]
    check = criterion(type="trajectory_check", sequence="exact", reference="{{ expected }}")
    agree, differ = 0, Counter[str]()
    for run in lines_of(shared_data / "tau_bench" / "gpt4o_airline_200_runs.jsonl"):
        columns = case_of(run)
        case, output = Case(columns["id"], columns), output_of({"text": "", "steps": columns["steps"]}, record=True)
        passed = check.grade(case, output).passed
        assert passed is not None
        if passed == (run["reward"] == 1):
            agree += 1
        elif passed:
            differ["asked for a figure"] += bool(run["expected_outputs"])
        else:
            differ["a refused call" if run["tool_errors"] else columns["id"]] += 1
    assert agree == 187
    assert differ == {"a refused call": 9, "task-5-trial-1": 1, "asked for a figure": 3}
