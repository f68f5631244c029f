"""The published verdicts on four models' answers to 200 problems, reproduced through the whole product."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.pytest_door.reference_eval import run

# Passed of 200: `sample_correct` of the data's expected.json, which counts the published `is_correct`.
PUBLISHED = {"6b_finetuning": 45, "6b_verification": 75, "175b_finetuning": 65, "175b_verification": 110}

_EVAL = """\
name: {model}
golden_set: {model}.jsonl
target: {{column: solution}}
criteria:
  - name: answer
    type: number_check
    extract: last
    comparison: equals
    expected: "{{{{ answer }}}}"
  - {{name: by_formula, type: number_check, target: {{formula: "=output.text"}}, extract: last, equals: "=answer + 0"}}
gate: 0.1
"""


@pytest.mark.slow
def test_verdicts_equal_the_published_ones(shared_data: Path, tmp_path: Path) -> None:
    text = (shared_data / "gsm8k" / "model_solutions_200.jsonl").read_text("utf-8")
    rows = [json.loads(line) for line in text.splitlines()]
    published: dict[tuple[str, str], bool] = {}
    for model in PUBLISHED:
        (tmp_path / f"m{model}.eval.yaml").write_text(_EVAL.format(model=f"m{model}"))
        with (tmp_path / f"m{model}.jsonl").open("w") as file:
            for row in rows:
                case = {"id": f"p{row['index']}", "answer": row["answer"], "solution": row[model]["solution"]}
                file.write(json.dumps(case) + "\n")
                published[f"m{model}", case["id"]] = row[model]["is_correct"]
    found = run(tmp_path)
    assert found.code == 0, found.text
    assert found.report is not None
    for place, criterion in enumerate(("answer", "by_formula")):
        grades = [
            (ready["name"], case["id"], case["grades"][place])
            for ready in found.report["evals"]
            for case in ready["cases"]
        ]
        assert {grade["criterion"] for _, _, grade in grades} == {criterion}
        verdicts = {(model, case): grade["passed"] for model, case, grade in grades}
        assert len(verdicts) == 800
        assert verdicts == published
        for model, count in PUBLISHED.items():
            assert sum(verdicts[name, case] for name, case in verdicts if name == f"m{model}") == count
