"""`verica graders`."""

from __future__ import annotations

from pytest_verica.graders.registry import GRADERS
from pytest_verica.judge.registry import JUDGES, KINDS
from tests.unit.cli.conftest import Verica

# The order of the selector, as it was asked for; judges of ours come last.
SELECTOR = [
    "text_check",
    "number_check",
    "json_check",
    "tool_check",
    "trajectory_check",
    "state_check",
    "span_check",
    "python_check",
    "text_similarity",
    "label_model",
    "score_model",
    "rubric_model",
    "pairwise_model",
    "preset",
]


def test_every_type_is_listed_in_the_order_of_the_selector(run: Verica) -> None:
    result = run("graders")
    assert result.exit_code == 0
    listed = [line.split()[0] for line in result.output.splitlines()]
    assert listed == [name for name in SELECTOR if name in listed] == [*GRADERS, *JUDGES]


def test_each_line_says_what_it_costs_and_what_it_does(run: Verica) -> None:
    lines = {line.split()[0]: line for line in run("graders").output.splitlines()}
    for name, line in lines.items():
        assert line.endswith(f"  {KINDS[name].about}") and KINDS[name].about.endswith(".")
        assert (f"  {KINDS[name].costs} " in line) and len(line) < 160
    assert "  free  " in lines["text_check"]
    assert "  free, or model calls  " in lines["text_similarity"]
    assert "  model calls  " in lines["label_model"]


def test_those_that_are_free_come_first(run: Verica) -> None:
    paid = [not KINDS[name].free for name in (line.split()[0] for line in run("graders").output.splitlines())]
    assert paid == sorted(paid)
