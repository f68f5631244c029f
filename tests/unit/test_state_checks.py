"""The registry of state checks, and its decorator."""

from __future__ import annotations

import pytest

import pytest_verica
from pytest_verica.declare import Declared
from pytest_verica.state_checks import STATE_CHECKS, StateChecks, place_of


def test_a_function_is_registered_and_stays_itself():
    @pytest_verica.state_check("registered_here")
    def check(state):
        return True

    assert check(None) is True
    assert STATE_CHECKS["registered_here"] == (check,)


def test_a_module_that_is_imported_again_registers_its_function_again():
    def made():
        def check(state):
            return True

        return check

    checks, first, again = StateChecks(), made(), made()
    checks.add("x", first)
    checks.add("x", again)
    assert checks["x"] == (again,)
    assert (list(checks), len(checks)) == (["x"], 1)


def test_two_functions_of_one_name_are_both_kept():
    def one(state):
        return True

    def other(state):
        return True

    checks = StateChecks()
    checks.add("x", one)
    checks.add("x", other)
    assert checks["x"] == (one, other)
    assert place_of(one).endswith("test_state_checks.py:test_two_functions_of_one_name_are_both_kept.<locals>.one")


def test_with_keys_it_is_a_criterion():
    declared = pytest_verica.state_check("did_it", check="refund_exists", args={"order_id": "17"})
    assert isinstance(declared, Declared)
    assert declared.keys == {
        "type": "state_check",
        "name": "did_it",
        "check": "refund_exists",
        "args": {"order_id": "17"},
    }


def test_the_name_may_not_be_forgotten():
    with pytest.raises(TypeError, match="under a name"):
        pytest_verica.state_check(lambda state: True)  # type: ignore[call-overload]
