"""How many verdicts a second the plain graders give in one process, outside pytest: 100,000 on 200-character outputs.

What counts is CPU time, and the best of three rounds: the rest tells what else the machine did.

Usage: python benchmarks/graders.py            prints the figure; the exit code is 1 where it is under the limit
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

from pytest_verica.case import Case
from pytest_verica.graders.criterion import Criterion, make_criterion
from pytest_verica.graders.protocol import BuildContext
from pytest_verica.judge.registry import KINDS
from pytest_verica.output import Output

GRADES = 100_000
LEAST_PER_SECOND = 50_000
CHARACTERS = 200
ROUNDS = 3

CRITERIA = (
    {"name": "polite", "type": "text_check", "contains": "please", "ignore_case": True},
    {"name": "names_the_order", "type": "text_check", "contains": "{{ order }}"},
    {"name": "has_a_date", "type": "text_check", "matches": r"\d{4}-\d\d-\d\d"},
    {"name": "short", "type": "text_check", "length": {"max": 60, "unit": "words"}},
    {"name": "amount", "type": "number_check", "extract": "last", "equals": "{{ amount }}"},
    {"name": "not_too_much", "type": "number_check", "extract": "last", "less": 1000},
)


def main() -> int:
    criteria = [_criterion(keys) for keys in CRITERIA]
    cases = [_case(number) for number in range(GRADES // len(CRITERIA) + 1)]
    _grades(criteria, cases[:200])  # what is loaded when first used is loaded now
    seconds = []
    for _ in range(ROUNDS):
        started = time.process_time()
        outcomes = _grades(criteria, cases)
        seconds.append(time.process_time() - started)
    passed, failed = outcomes.count("pass"), outcomes.count("fail")
    assert passed + failed == len(outcomes) >= GRADES and min(passed, failed) > GRADES // 20
    rate = len(outcomes) / min(seconds)
    word = "holds" if rate >= LEAST_PER_SECOND else "DOES NOT HOLD"
    figures = f"{len(outcomes):,} grades in {min(seconds):.2f} s of CPU: {rate:,.0f} a second"
    print(f"{figures}; limit {LEAST_PER_SECOND:,}: {word}")
    for criterion in criteria:
        started = time.process_time()
        _grades([criterion], cases)
        print(f"  {criterion.name}: {(time.process_time() - started) / len(cases) * 1e6:.1f} µs")
    return 0 if rate >= LEAST_PER_SECOND else 1


def _criterion(keys: dict[str, object]) -> Criterion:
    config = KINDS[str(keys["type"])].config.model_validate(keys)
    return make_criterion(config, KINDS, BuildContext(Path(".")))


def _case(number: int) -> tuple[Case, Output]:
    """An output of its own for each case; one in five is without the word that is looked for."""
    word = "kindly" if number % 5 == 0 else "Please"
    end = f" {word} keep it. You get {number % 1500}.50"
    start = f"On 2026-03-{number % 28 + 1:02} your order {number:06} came back. "
    text = start + ("We looked at it with care and " * 10)[: CHARACTERS - len(start) - len(end)] + end
    return Case(f"row-{number}", {"order": f"{number:06}", "amount": number % 1500 + 0.5}), Output(text)


def _grades(criteria: list[Criterion], cases: list[tuple[Case, Output]]) -> list[str]:
    return [criterion.grade(case, output).outcome for case, output in cases for criterion in criteria]


if __name__ == "__main__":
    sys.exit(main())
