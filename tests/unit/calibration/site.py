"""A rootdir with an eval, its golden set and a saved run of a score judge, as `pytest --verica` leaves it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from decimal import Decimal
from pathlib import Path

from pytest_verica.calibration.judged import JudgedRun, read_judged
from pytest_verica.calibration.label import Label
from pytest_verica.calibration.queue import draw_queue
from pytest_verica.calibration.rejudging import written_criterion
from pytest_verica.grade import Grade
from pytest_verica.output import Output
from pytest_verica.report.json_report import write_report
from pytest_verica.run import (
    CaseRecord,
    CriterionRecord,
    EvalRecord,
    GateRecord,
    GateResult,
    RunEnd,
    RunHeader,
    VerdictRecord,
)
from pytest_verica.store.folder import RunFolder
from tests.unit.report.journals import write

EVAL = "evals/refunds.eval.yaml"
NUMBER = 60
YAML = """\
# Refunds: what support answers.  (this comment, and every space, stays)
golden_set: ../golden/refunds.csv
target: {column: answer}
criteria:
  - name: tone      # polite, blames nobody
    type: score_model
    min: 0
    max: 10
    pass_at:   6.0   # tried 5, too lenient
    prompt: |
      Rate the tone of {{ output.text }} to the question {{ question }}.
    model: {provider: scripted, name: "judge_script:answer"}
  - {name: long, type: text_check, contains: answer}
gate: {pass_rate: 0.5, criteria: {tone: 0.4}}
"""
SCRIPT = """\
def answer(request):
    text = request.messages[-1].content
    number = int(text.split("answer ")[1].split()[0].rstrip("."))
    return {"reasoning": "seen", "score": (number * 7) % 11}
"""


def score_of(number: int) -> int:
    """The judge's score of an answer, as SCRIPT has it: 0 to 10 evenly."""
    return (number * 7) % 11


def meets(number: int) -> bool:
    """What a person says: a threshold of 8 would agree with it nearly always."""
    return score_of(number) >= 8 or number % 20 == 0


def make_site(root: Path, *, yaml: str = YAML, run_id: str = "20261130-101530-0001", number: int = NUMBER) -> JudgedRun:
    (root / "evals").mkdir(parents=True, exist_ok=True)
    (root / "golden").mkdir(exist_ok=True)
    (root / EVAL).write_bytes(yaml.encode())
    rows = [f'order-{n},"what about {n}?",answer {n}\n' for n in range(number)]
    (root / "golden" / "refunds.csv").write_text("id,question,answer\n" + "".join(rows))
    (root / "judge_script.py").write_text(SCRIPT)
    folder = RunFolder.create(root, run_id)
    tone = CriterionRecord("tone", "tone", "score_model", {}, "")
    blank = EvalRecord(EVAL, "refunds", EVAL, "file", (tone,), 2 * number, 2 * number)
    criterion = written_criterion(root, JudgedRun(RunHeader(run_id, ""), blank, tone, ()))
    config = criterion.config.model_dump(mode="json", by_alias=True, exclude_defaults=True)
    tone = CriterionRecord("tone", "tone", "score_model", config, criterion.version_hash, None, criterion.judge_hash)
    long = CriterionRecord("long", "long", "text_check", {"name": "long", "type": "text_check"}, "c" * 64)
    gate = {"pass_rate": 0.5, "criteria": {"tone": 0.4}}
    record = replace(
        blank, criteria=(tone, long), golden_set="../golden/refunds.csv", golden_set_hash="g", rows=number, gate=gate
    )
    records = [RunHeader(run_id, "2026-12-01T10:15:30Z", command=("pytest", "--verica")), record]
    for n in range(number):
        columns = {"question": f"what about {n}?", "answer": f"answer {n}"}
        output = Output(f"answer {n}").to_json()
        records.append(CaseRecord(EVAL, f"order-{n}", f"order-{n}", n, 0, columns, output))
        passed = score_of(n) >= 6
        said = f"the judge's score is {score_of(n)}; wanted at least 6, up to 10"
        grade = Grade.of(
            passed, said, score=float(score_of(n)), judge_hash=criterion.judge_hash, cost=Decimal("0.002"), calls=1,
            reasoning=f"SECRET reasoning {n}",
        )  # fmt: skip
        told = "passed" if passed else "missed"
        records.append(VerdictRecord(EVAL, f"order-{n}", "tone", 0, f"{EVAL}::order-{n}::tone", grade.to_json(), told))
        plain = Grade.of(True, "found").to_json()
        records.append(VerdictRecord(EVAL, f"order-{n}", "long", 0, f"{EVAL}::order-{n}::long", plain, "passed"))
    records += [GateRecord(EVAL, GateResult("passed", ("fine",))), RunEnd("2026-12-01T10:16:30Z", 0)]
    write(folder.journal, records)
    write_report(folder.journal, folder.report)
    (run,) = read_judged(folder.journal)
    return run


def label_site(run: JudgedRun, count: int = 50, labeller: str = "ada") -> list[Label]:
    """The labels that a person gives to the queue."""
    found = []
    for queued in draw_queue(run)[:count]:
        verdict = "pass" if meets(int(queued.output.case.removeprefix("order-"))) else "fail"
        time = "2026-12-02T00:00:00Z"
        draw = queued.draw
        found.append(
            Label(EVAL, "tone", *queued.output.key, verdict, labeller, time, run.judge_hash, draw=draw)  # type: ignore[arg-type]
        )
    return found


def report_of(root: Path, run: JudgedRun) -> dict:
    assert run.journal is not None
    return json.loads(run.journal.with_name("report.json").read_text())


def lines_of(labels: Sequence[Label]) -> str:
    return "".join(json.dumps(label.to_json()) + "\n" for label in labels)
