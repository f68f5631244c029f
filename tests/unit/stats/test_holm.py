"""Holm's correction against statsmodels."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from statsmodels.stats.multitest import multipletests

from pytest_verica.stats.holm import holm


@given(st.lists(st.floats(0, 1), min_size=1, max_size=8))
@settings(max_examples=25)  # it is slow, and imports much
def test_equal_to_statsmodels(p_values: list[float]) -> None:
    wanted = multipletests(p_values, method="holm")[1]
    assert list(holm(dict(enumerate(p_values))).values()) == pytest.approx(list(wanted))


def test_nothing_to_correct() -> None:
    assert holm({}) == {}
