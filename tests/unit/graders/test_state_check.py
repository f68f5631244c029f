"""state_check: registered functions asked about a final state, and everything that can go wrong in them."""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from pytest_verica.case import Case
from pytest_verica.errors import ConfigError
from pytest_verica.grade import Grade
from pytest_verica.graders import state_check
from pytest_verica.graders.criterion import Criterion, make_criterion
from pytest_verica.graders.protocol import BuildContext
from pytest_verica.judge.registry import KINDS
from pytest_verica.output import Output
from pytest_verica.state_checks import StateChecks


def refund_exists(state, order_id, amount=20):
    return any(refund == {"order": order_id, "amount": amount} for refund in state["refunds"])


def is_empty(state):
    return not state


async def later(state):
    await asyncio.sleep(0)
    return state == {}


def graded(state):
    return Grade.of(False, "2 orders are left; wanted 1", score=0.5)


def returns(state, value):
    return value


def raises(state):
    raise KeyError("refunds")


def sleeps(state):
    time.sleep(0.3)
    return True


def spoils(state, names):
    state.clear()
    names.clear()
    return True


def any_arguments(state, **arguments):
    return arguments == state


STATE = {"refunds": [{"order": "17", "amount": 20.0}]}


@pytest.fixture(autouse=True)
def checks(monkeypatch) -> Iterator[StateChecks]:
    registry = StateChecks()
    for function in (refund_exists, is_empty, later, graded, returns, raises, sleeps, spoils, any_arguments):
        registry.add(function.__name__, function)
    registry.add("twice", is_empty)
    registry.add("twice", later)
    monkeypatch.setattr(state_check, "STATE_CHECKS", registry)
    return registry


REFUND = {"check": "refund_exists", "args": {"order_id": "{{ order }}"}}
FROM_COLUMNS = {"check": "{{ success_check }}", "args": "{{ success_args }}"}

VERDICTS: list[tuple[dict[str, Any], Any, dict[str, Any], str, str]] = [
    # keys, state, columns, outcome, the explanation contains
    (REFUND, STATE, {"order": "17"}, "pass", "`refund_exists` with order_id='17' returned True"),
    (REFUND, STATE, {"order": "18"}, "fail", 'returned False; wanted True, of the state {"refunds": [{"order": "17"'),
    (REFUND, STATE, {"order": 17}, "fail", "order_id=17"),  # a number of the golden set stays a number
    (REFUND, STATE, {"order": ""}, "na", "nothing to check: '{{ order }}' is empty for this case"),
    ({**REFUND, "negate": True}, STATE, {"order": "18"}, "pass", "negated"),
    ({**REFUND, "negate": True}, None, {"order": "18"}, "error", "no final state"),
    (REFUND, None, {"order": "17"}, "error", "name the column that holds it in `target.state`"),
    ({"check": "refund_exists", "args": {"order_id": "17", "amount": 20}}, STATE, {}, "pass", "amount=20"),
    (
        {"check": "refund_exists", "args": {"order_id": "17", "amount": "{{ a | float }}"}},
        STATE,
        {"a": "20"},
        "pass",
        "amount=20.0",
    ),
    (FROM_COLUMNS, STATE, {"success_check": "refund_exists", "success_args": {"order_id": "17"}}, "pass", "True"),
    (FROM_COLUMNS, STATE, {"success_check": "refund_exists", "success_args": '{"order_id": "17"}'}, "pass", "True"),
    (FROM_COLUMNS, {}, {"success_check": "is_empty", "success_args": None}, "pass", "`is_empty` returned True"),
    (FROM_COLUMNS, {}, {"success_check": " ", "success_args": None}, "na", "the check {{ success_check }} is empty"),
    (
        FROM_COLUMNS,
        {},
        {"success_check": "is_emty", "success_args": None},
        "error",
        "no state check is named 'is_emty'; did you mean 'is_empty'?",
    ),
    (
        FROM_COLUMNS,
        {},
        {"success_check": "is_empty", "success_args": {"x": 1}},
        "error",
        "`is_empty(state)` is called as (state, x=…)",
    ),
    (
        FROM_COLUMNS,
        {},
        {"success_check": "refund_exists", "success_args": None},
        "error",
        "missing a required argument: 'order_id'",
    ),
    (
        FROM_COLUMNS,
        {},
        {"success_check": "is_empty", "success_args": "[1]"},
        "error",
        "`args` is the text '[1]'; an object",
    ),
    (FROM_COLUMNS, {}, {"success_check": "twice", "success_args": None}, "error", "several checks are named 'twice'"),
    ({"check": "is_empty"}, {}, {}, "pass", "returned True; wanted True, of the state {}"),
    ({"check": "is_empty"}, [], {}, "pass", "of the state []"),
    ({"check": "is_empty"}, "a text", {}, "fail", "of the state 'a text'"),
    ({"check": "later"}, {}, {}, "pass", "`later` returned True"),
    ({"check": "graded"}, {}, {}, "fail", "2 orders are left; wanted 1"),
    ({"check": "any_arguments", "args": {"año": "ß", "n": [1]}}, {"año": "ß", "n": [1]}, {}, "pass", "año='ß', n=[1]"),
    (
        {"check": "any_arguments", "args": {"a": {"b": "{{ b }}"}}},
        {"a": {"b": "5"}},
        {"b": "5"},
        "pass",
        'a={"b": "5"}',
    ),
    (
        {"check": "returns", "args": {"value": 1}},
        {},
        {},
        "error",
        "returned a int; True, False or a Grade was expected",
    ),
    ({"check": "returns", "args": {"value": "yes"}}, {}, {}, "error", "returned a str"),
    ({"check": "returns", "args": {"value": None}}, {}, {}, "error", "returned nothing"),
    ({"check": "raises"}, {}, {}, "error", "`raises` raised KeyError: \"'refunds'\""[:26]),
    ({"check": "sleeps", "timeout_s": 0.05}, {}, {}, "error", "did not answer within 0.05 s (`timeout_s`)"),
    ({"check": "is_empty"}, {"a": "x" * 10_000_000}, {}, "fail", "xxx…"),
]


@pytest.mark.parametrize(("keys", "state", "columns", "outcome", "says"), VERDICTS, ids=range(len(VERDICTS)))
def test_verdicts(grade, keys, state, columns, outcome, says):
    found = grade({"type": "state_check", **keys}, Output("done", state=state), columns)
    assert (found.outcome, says in found.explanation) == (outcome, True), found.explanation
    assert len(found.explanation) < 1500


def test_a_traceback_is_kept(grade):
    found = grade({"type": "state_check", "check": "raises"}, Output("x", state={}))
    assert found.error is not None
    assert found.error.kind == "exception"
    assert "in raises" in (found.error.raw or "")


def test_a_check_cannot_change_what_others_see(grade):
    output, names = Output("x", state={"a": 1}), ["b"]
    keys = {"type": "state_check", "check": "spoils", "args": {"names": "{{ names }}"}}
    assert grade(keys, output, {"names": names}).outcome == "pass"
    assert (output.state, names) == ({"a": 1}, ["b"])


@pytest.mark.parametrize(
    ("keys", "says"),
    [
        ({}, "Field required"),
        ({"check": " "}, "`check` is empty"),
        ({"check": "is_empty", "args": "x"}, "an object of arguments by name, or a template"),
        ({"check": "is_empty", "args": [1]}, "valid"),
        ({"check": "is_empty", "timeout_s": 0}, "greater than 0"),
    ],
)
def test_what_cannot_be_configured(build, keys, says):
    with pytest.raises(ValidationError, match=re.escape(says)):
        build({"type": "state_check", **keys})


def make(keys: Mapping[str, Any], **context: Any) -> Criterion:
    config = KINDS["state_check"].config.model_validate({"name": "checked", "type": "state_check", **keys})
    return make_criterion(config, KINDS, BuildContext(Path("."), **context))


ROWS = [
    Case("one", {"success_check": "is_empty", "success_args": None}, line=2),
    Case("two", {"success_check": "is_emty", "success_args": None}, line=3),
    Case("three", {"success_check": None, "success_args": None}, line=4),
    Case("four", {"success_check": "refund_exists", "success_args": {"order": "17"}}, line=5),
]

BEFORE_LAUNCH = [
    ({"check": "refund"}, {}, "no state check is named 'refund'; did you mean 'refund_exists'? known: refund_exists,"),
    ({"check": "refund"}, {}, '`@pytest_verica.state_check("…")` in conftest.py'),
    ({"check": "twice"}, {}, "several checks are named 'twice'"),
    ({"check": "refund_exists", "args": {"order": "{{ x }}"}}, {}, "is called as (state, order=…): missing a required"),
    ({"check": "refund_exists"}, {}, "missing a required argument: 'order_id'"),
    ({"check": "is_empty"}, {"recorded": frozenset({"column", "steps"})}, "names no column of final states"),
    (FROM_COLUMNS, {"cases": ROWS[:3]}, "case 'two' (line 3): no state check is named 'is_emty'"),
    (FROM_COLUMNS, {"cases": ROWS}, "case 'four' (line 5): `refund_exists(state, order_id, amount=20)` is called as"),
]


@pytest.mark.parametrize(("keys", "context", "says"), BEFORE_LAUNCH, ids=range(len(BEFORE_LAUNCH)))
def test_what_is_refused_before_launch(keys, context, says):
    with pytest.raises(ConfigError, match=re.escape(says)):
        make(keys, **context)


def test_the_source_of_the_check_is_part_of_the_version(checks, monkeypatch):
    before = make({"check": "is_empty"}).version_hash
    assert make({"check": "is_empty"}).version_hash == before
    other = StateChecks()
    other.add("is_empty", raises)
    monkeypatch.setattr(state_check, "STATE_CHECKS", other)
    assert make({"check": "is_empty"}).version_hash != before
