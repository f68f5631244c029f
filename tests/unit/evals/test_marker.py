"""The arguments of @pytest.mark.verica."""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import Any

import pytest

from pytest_verica.declare import criterion, text_check
from pytest_verica.errors import ConfigError, Place
from pytest_verica.evals.config import EvalSpec, PythonRows
from pytest_verica.evals.marker import eval_from_marker, verica
from pytest_verica.plugin import MARKER
from tests.unit.evals.conftest import CONFIGS

POLITE = text_check(name="polite", contains="please")


def _eval(*args: Any, **kwargs: Any) -> EvalSpec:
    return eval_from_marker(
        args,
        kwargs,
        test="tests/test_bot.py::test_refund",
        place=Place("tests/test_bot.py", 12),
        base_dir=Path("tests"),
        kinds=CONFIGS,
    )


def test_a_marker_is_an_eval() -> None:
    spec = _eval(golden_set="golden/refunds.jsonl", criteria=[POLITE], gate=0.9)
    assert (spec.config.name, spec.config.golden_set) == ("tests/test_bot.py::test_refund", "golden/refunds.jsonl")
    assert spec.config.gate is not None and spec.config.gate.pass_rate == 0.9
    assert spec.base_dir == Path("tests")
    assert str(spec.place(("criteria", 0))) == "tests/test_bot.py:12"


@pytest.mark.parametrize(
    "written",
    [
        POLITE,
        criterion("text_check", "polite", contains="please"),
        {"name": "polite", "type": "text_check", "contains": "please"},
    ],
)
def test_three_ways_to_write_a_criterion(written: Any) -> None:
    assert _eval(criteria=[written]).config.criteria == _eval(criteria=[POLITE]).config.criteria


def test_what_a_marker_takes() -> None:
    spec = _eval(
        golden_set={"python": "shop.rows:rows"},
        criteria=(POLITE,),
        gate={"pass_rate": 0.5, "min_graded": 2},
        name="refunds",
        description="The refund and its deadline.",
        timeout=5,
    )
    config = spec.config
    assert (config.name, config.description, config.timeout) == ("refunds", "The refund and its deadline.", 5)
    assert isinstance(config.golden_set, PythonRows)
    assert config.gate is not None and config.gate.min_graded == 2


@pytest.mark.parametrize(
    ("args", "kwargs", "problem"),
    [
        ((), {}, "has no criteria: nothing would be checked"),
        ((), {"criteria": []}, "has no criteria: nothing would be checked"),
        (("refunds.csv",), {}, "too many positional arguments; it takes: golden_set, criteria, gate, name"),
        (
            (),
            {"golden": "g.csv", "criteria": [POLITE]},
            "got an unexpected keyword argument 'golden'; it takes: golden_set",
        ),
        (
            (),
            {"criteria": [text_check(name="polite", contians="please")]},
            "unknown key `contians`; did you mean 'contains'?",
        ),
        ((), {"criteria": [POLITE], "gate": 90}, "`gate.pass_rate`: expected a rate above 0 and up to 1"),
        ((), {"criteria": ["please"]}, "a criterion is a mapping with `name` and `type`"),
        ((), {"criteria": [POLITE, POLITE]}, "two criteria are named 'polite'"),
    ],
)
def test_a_problem_names_the_test_and_its_line(args: tuple[Any, ...], kwargs: dict[str, Any], problem: str) -> None:
    with pytest.raises(ConfigError) as caught:
        _eval(*args, **kwargs)
    (line,) = str(caught.value).splitlines()
    assert line.startswith("tests/test_bot.py:12: @pytest.mark.verica on tests/test_bot.py::test_refund")
    assert problem in line


def test_all_problems_are_told_together() -> None:
    with pytest.raises(ConfigError) as caught:
        _eval(criteria=[text_check(name="a", contians="x"), {"name": "b", "type": "nothing"}], gate=2)
    assert len(caught.value.problems) == 3


def test_pytests_list_of_markers_names_arguments_that_exist() -> None:
    named = {part.partition("=")[0] for part in MARKER.partition("(")[2].partition(")")[0].split(", ")}
    assert named <= set(inspect.signature(verica).parameters)
