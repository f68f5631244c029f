"""An eval of sums at the fake provider (a sample, two judges, two plain checks a case), and how its runs are read."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.pytest_door.conftest import OTHER_PLUGINS

CRITERIA = 4
CALLS_PER_CASE = 3

_EVAL = """\
name: sums
golden_set: sums.jsonl
prompt:
  system: Answer in one short sentence.
  user: "{{{{ question }}}}"
model: {{provider: openai_compatible, name: fake-1, base_url: "{url}", params: {{temperature: 0}}}}
criteria:
  - {{name: contains, type: text_check, contains: "{{{{ expected }}}}"}}
  - {{name: sentence, type: text_check, matches: 'The answer is -?\\d+\\.$'}}
  - name: label
    type: label_model
    prompt: "Question: {{{{ question }}}} Expected: {{{{ expected }}}} Answer: {{{{ output.text }}}} Is it correct?"
    labels: [correct, incorrect]
    passing_labels: [correct]
    model: {{provider: openai_compatible, name: fake-judge, base_url: "{url}"}}
  - name: score
    type: score_model
    prompt: "Question: {{{{ question }}}} Expected: {{{{ expected }}}} Answer: {{{{ output.text }}}} Score 1 to 5."
    min: 1
    max: 5
    pass_at: 3
    model: {{provider: openai_compatible, name: fake-judge, base_url: "{url}"}}
gate: 0.5
"""

Verdict = tuple[str, str, str, Any, Any, str]


def write_sums(folder: Path, url: str, cases: int) -> None:
    """An eval of `cases` sums whose models are at `url`, with a price for both."""
    (folder / "sums.eval.yaml").write_text(_EVAL.format(url=url))
    rows = [
        {"id": f"sum-{i}", "question": f"What is {i + 3} + {i * 7}?", "expected": str(i + 3 + i * 7)}
        for i in range(cases)
    ]
    (folder / "sums.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (folder / "prices.toml").write_text('[[price]]\nmodel = "fake-*"\ninput = 1.0\noutput = 2.0\n')
    (folder / "pytest.ini").write_text("[pytest]\nverica_prices = prices.toml\n")


def command(*args: str) -> list[str]:
    off = [part for name in OTHER_PLUGINS for part in ("-p", f"no:{name}")]
    return [sys.executable, "-m", "pytest", "--verica", "-q", *off, *args]


def environment() -> dict[str, str]:
    """The environment without what CI services and this very test run put there."""
    kept = {k: v for k, v in os.environ.items() if k != "CI" and not k.startswith(("PYTEST_", "VERICA_", "GITHUB_"))}
    # What a run asks before launch has its own tests (test_preflight.py); others count the calls of their evals.
    return {**kept, "VERICA_NO_PREFLIGHT": "1"}


@dataclass(frozen=True)
class Run:
    """A finished run: exit code, what it printed, its report (None where it wrote none)."""

    code: int
    text: str
    report: dict[str, Any] | None

    @property
    def totals(self) -> dict[str, Any]:
        assert self.report is not None, self.text
        return self.report["totals"]

    @property
    def verdicts(self) -> dict[str, Verdict]:
        """By node id: what was found, without times and costs."""
        assert self.report is not None, self.text
        found = {}
        for ready in self.report["evals"]:
            for case in ready["cases"]:
                for grade in case["grades"]:
                    found[grade["node_id"]] = (
                        case["id"],
                        grade["criterion"],
                        grade["outcome"],
                        grade["score"],
                        grade["label"],
                        grade["explanation"],
                    )
        return found


def run(folder: Path, *args: str, timeout: float = 120) -> Run:
    """Runs the evals of a folder to the end."""
    path = folder / "report.json"
    path.unlink(missing_ok=True)
    done = subprocess.run(
        command(f"--verica-report={path}", *args),
        cwd=folder,
        env=environment(),
        capture_output=True,
        text=True,
        timeout=timeout,
        check=False,
    )
    report = json.loads(path.read_text()) if path.is_file() else None
    return Run(done.returncode, done.stdout + done.stderr, report)
