"""A folder with evals, a judge of known mistakes and a saved run, as a team would have it: what the pages are shown."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pytest_verica.ui.labelling import deck

ROOT = Path(__file__).resolve().parent.parent.parent

CASES = 60
REASON = "zebra-reasoning"
POLITE, RUDE = "courteous-mark", "brusque-mark"
SECRETS_OF_THE_JUDGE = (REASON, POLITE, RUDE, "0.90625", "0.53125", "0.21875", "0.71875")
"""What the judges of the site say: none of it may reach a person who labels."""

JUDGES = f'''
"""The judges' answers: of each text a number in it decides. A third of the texts is bad; some verdicts are wrong."""
import asyncio
import re


def number_of(request):
    return int(re.search(r"Answer (\\d+)", request.messages[-1].content)[1])


def scored(request):
    """Wrong about 4 of 40 good ones (too strict) and 4 of 20 bad ones (too lenient), at a threshold of 0.6."""
    n = number_of(request)
    good = n % 3 != 0
    score = (0.53125 if n % 10 == 1 else 0.90625) if good else (0.71875 if n % 15 == 0 else 0.21875)
    return {{"reasoning": f"{REASON} {{n}}", "score": score}}


async def improved(request):
    """The same judge under an instruction that says `kindly`: right about every one; under `slowly`, slow."""
    n = number_of(request)
    if "slowly" in request.messages[-1].content:
        await asyncio.sleep(0.4)
    if "kindly" not in request.messages[-1].content:
        return scored(request)
    return {{"reasoning": f"{REASON} again {{n}}", "score": 0.90625 if n % 3 else 0.21875}}


def cared(request):
    n = number_of(request)
    return {{
        "friendly": {{"reasoning": f"{REASON} friendly {{n}}", "met": n % 3 != 0}},
        "sure": {{"reasoning": f"{REASON} sure {{n}}", "met": n % 2 == 0}},
    }}


def labelled(request):
    n = number_of(request)
    return {{"reasoning": f"{REASON} of tone {{n}}", "label": "{POLITE}" if n % 3 else "{RUDE}"}}
'''

EVAL = f"""\
# The comments of this file stay where they are.
name: refunds
golden_set: golden/refunds.jsonl
target: {{column: answer}}
criteria:
  - name: helpful
    type: score_model
    min: 0
    max: 1
    pass_at: 0.6   # tuned by hand
    prompt: |-
      Is this answer helpful? Question: {{{{ question }}}}
      {{{{ output.text }}}}
    model: {{provider: scripted, name: "site_judges:improved"}}
  - name: tone
    type: label_model
    labels: [{POLITE}, {RUDE}]
    passing_labels: [{POLITE}]
    prompt: "Which tone has it? {{{{ output.text }}}}"
    model: {{provider: scripted, name: "site_judges:labelled"}}
  - {{name: short, type: text_check, operation: length, max: 400}}
gate: 0.5
"""

RUBRIC_EVAL = """\
name: care
golden_set: golden/refunds.jsonl
target: {column: answer}
criteria:
  - name: care
    type: rubric_model
    rubric:
      friendly: It greets the customer kindly.
      sure: It promises nothing that is not sure.
    prompt: |
      {{ output.text }}
      {{ rubric }}
    model: {provider: scripted, name: "site_judges:cared"}
gate: 0.1
"""

HOSTILE = {
    "script": "Answer 1 <script>document.title='owned'; window.owned = 1</script>",
    "closing": "Answer 2 </pre></div></main></body></html><h1 id=owned>owned</h1>",
    "comment": 'Answer 3 <!-- --> ]]> " onmouseover=alert(1) \' <img src=x onerror="window.owned=1">',
    "jinja": "Answer 4 {{ 7 * 7 }} {% raw %} ${7*7} `ticks` \\u003cscript\\u003e",
    "large": "Answer 5 " + "1 MB of text without an end " * 37_450,
    "right-to-left": "Answer 6 שלום עולם \u202e evil \u202c مرحبا بالعالم",
    "surrogate": "Answer 7 \ud83d alone, \x00 and \x1b[31m",
    "unbroken": "Answer 8 " + "x" * 20_000,
}


@dataclass(frozen=True)
class Site:
    """A rootdir."""

    path: Path

    @property
    def eval_file(self) -> Path:
        return self.path / "refunds.eval.yaml"

    @property
    def labels(self) -> Path:
        return self.path / "golden" / "refunds.labels.jsonl"

    def acts(self) -> list[dict[str, Any]]:
        """The lines of the label file that are labels."""
        if not self.labels.exists():
            return []
        lines = map(json.loads, self.labels.read_text("ascii").splitlines())
        return [line for line in lines if line.get("record", "label") == "label"]

    def run(self, *args: str) -> None:
        """`pytest --verica` there."""
        environment = {name: value for name, value in os.environ.items() if not name.startswith(("VERICA_", "GITHUB_"))}
        environment.pop("CI", None)
        environment["PYTHONPATH"] = os.pathsep.join([str(ROOT), str(self.path)])
        command = [
            sys.executable,
            "-m",
            "pytest",
            "--verica",
            "-q",
            "-p",
            "no:cacheprovider",
            "-p",
            "no:randomly",
            *args,
        ]
        done = subprocess.run(command, cwd=self.path, env=environment, capture_output=True, text=True, timeout=120)
        assert done.returncode in (0, 1), done.stdout + done.stderr


def is_good(answer: str) -> bool:
    """What a person says of an answer of the site: every third one is bad."""
    found = re.search(r"Answer (\d+)", answer)
    assert found is not None, answer
    return int(found[1]) % 3 != 0


def label_all(site: Site, labeller: str = "ana", most: int = 50) -> None:
    """What a person would say, without the browser."""
    found = deck(site.path, "refunds.eval.yaml", "helpful", labeller, most)
    for place in range(len(found.queue)):
        card = found.screen(place)["card"]
        assert card is not None
        found.act({**card, "verdict": "pass" if is_good(card["output"][0]["text"]) else "fail"})


def make_site(path: Path, *, hostile: bool = False, cases: int = CASES) -> Site:
    """Writes the folder and runs its evals once."""
    site = Site(path)
    (path / "golden").mkdir()
    (path / "pytest.ini").write_text("[pytest]\npythonpath = .\n")
    (path / "site_judges.py").write_text(JUDGES)
    rows: list[Mapping[str, Any]] = [
        {"id": f"case-{n:02}", "question": f"Question {n}?", "answer": f"Answer {n} to it.", "channel": "mail"}
        for n in range(1, cases + 1)
    ]
    if hostile:
        rows = [
            {"id": name, "question": text[:200], "answer": text, "channel": "<b>"} for name, text in HOSTILE.items()
        ]
    (path / "golden" / "refunds.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    site.eval_file.write_text(EVAL)
    (path / "care.eval.yaml").write_text(RUBRIC_EVAL)
    site.run()
    return site
