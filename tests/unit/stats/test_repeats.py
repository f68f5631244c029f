"""Intervals where each case was sampled five times, in a simulation whose true rate is known."""

from __future__ import annotations

import random

import pytest

from benchmarks.repeats import coverage


@pytest.mark.parametrize("correlation", [0.0, 0.2, 0.5, 0.8])
def test_intervals_hold_the_rate(correlation: float) -> None:
    """92 to 97 % of them (a cell's own error is ± 0.8 points); with the sample as the unit far fewer do."""
    ours, naive = coverage(100, 0.85, correlation, 700, random.Random(f"{correlation}"))
    assert 0.92 <= ours <= 0.97
    if correlation >= 0.5:
        assert naive < 0.8
