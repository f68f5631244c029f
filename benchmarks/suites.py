"""The folders that are run: the product's evals and, beside each, the plain suite that is its floor."""

from __future__ import annotations

import json
from pathlib import Path

SYSTEM = "Answer the question in one short sentence."
SENTENCE = r"The answer is -?\d+\.$"
JUDGE = "Question: {question}\nExpected: {expected}\nAnswer: {answer}\n{ask}"
CORRECT = "Is the answer correct?"
CLEAR = "How clear is the answer, from 1 to 5?"
QUIET = ["-q", "-p", "no:cacheprovider"]

_REFERENCE = """\
name: reference
golden_set: rows.jsonl
prompt: {{system: "{system}", user: "{{{{ question }}}}"}}
model: {{provider: openai_compatible, name: fake-1, base_url: "{url}", params: {{temperature: 0}}}}
criteria:
  - {{name: states_it, type: text_check, contains: "{{{{ expected }}}}"}}
  - {{name: one_sentence, type: text_check, matches: '{sentence}'}}
  - name: correct
    type: label_model
    prompt: "{correct}"
    labels: [correct, incorrect]
    passing_labels: [correct]
    model: {{provider: openai_compatible, name: fake-judge, base_url: "{url}"}}
  - name: clear
    type: score_model
    prompt: "{clear}"
    min: 1
    max: 5
    pass_at: 3
    model: {{provider: openai_compatible, name: fake-judge, base_url: "{url}"}}
"""

_DETERMINISTIC = f"""\
name: deterministic
golden_set: rows.jsonl
target: {{column: answer}}
criteria:
  - {{name: states_it, type: text_check, contains: "{{{{ expected }}}}"}}
  - {{name: one_sentence, type: text_check, matches: '{SENTENCE}'}}
  - {{name: short, type: text_check, length: {{max: 200}}}}
"""

_ASSERTS = f'''\
import json
import pathlib
import re

import pytest

SENTENCE = re.compile(r"{SENTENCE}")
ROWS = [json.loads(line) for line in pathlib.Path(__file__).with_name("rows.jsonl").open()]


@pytest.mark.parametrize("row", ROWS, ids=[row["id"] for row in ROWS])
def test_row(row):
    assert row["expected"] in row["answer"]
    assert SENTENCE.search(row["answer"])
    assert len(row["answer"]) <= 200
'''


def reference(folder: Path, url: str, cases: int) -> None:
    """A sample, two judges and two plain checks a case."""
    asks = {
        name: JUDGE.format(
            question="{{ question }}", expected="{{ expected }}", answer="{{ output.text }}", ask=ask
        ).replace("\n", "\\n")
        for name, ask in (("correct", CORRECT), ("clear", CLEAR))
    }
    text = _REFERENCE.format(system=SYSTEM, sentence=SENTENCE, url=url, **asks)
    (folder / "reference.eval.yaml").write_text(text)
    _rows(folder, cases)


def deterministic(folder: Path, cases: int) -> None:
    """Three plain checks a case over a column."""
    (folder / "deterministic.eval.yaml").write_text(_DETERMINISTIC)
    _rows(folder, cases)


def asserts(folder: Path, cases: int) -> None:
    """The floor of that: one item a row, three asserts in it."""
    (folder / "test_rows.py").write_text(_ASSERTS)
    _rows(folder, cases)


def trivial(folder: Path, modules: int, tests: int) -> None:
    """A plain suite that has nothing to do with evals."""
    body = "".join(f"def test_{number}():\n    assert {number} + 1 > {number}\n\n\n" for number in range(tests))
    for module in range(modules):
        (folder / f"test_{module:02}.py").write_text(body)


def one_case(folder: Path, url: str) -> None:
    """An eval of a single case at a model, whose answer is stored once it was run."""
    reference(folder, url, 1)
    path = folder / "reference.eval.yaml"
    path.write_text(path.read_text().partition("  - name: correct")[0])


def _rows(folder: Path, cases: int) -> None:
    with (folder / "rows.jsonl").open("w") as file:
        for number in range(cases):
            one, other = number + 3, number * 7
            row = {"id": f"sum-{number}", "question": f"What is {one} + {other}?", "expected": str(one + other)}
            file.write(json.dumps({**row, "answer": f"The answer is {one + other}."}) + "\n")
