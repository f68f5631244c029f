"""The holdout depends on the case id alone."""

from __future__ import annotations

import pytest

from pytest_verica.calibration.holdout import fold_of, is_held_out

CASES = [f"case-{number}" for number in range(5000)]


def test_two_fifths_are_held_out():
    """A binomial of 5000 at 0.4: 2000 ± 5 × 34.6."""
    assert abs(sum(map(is_held_out, CASES)) - 2000) < 173


def test_five_folds_of_like_size_independent_of_the_holdout():
    for held in (True, False):
        cases = [case for case in CASES if is_held_out(case) is held]
        for fold in range(5):
            assert abs(sum(fold_of(case) == fold for case in cases) - len(cases) / 5) < 5 * (len(cases) * 0.16) ** 0.5


@pytest.mark.parametrize(("case", "held", "fold"), [("case-0", True, 4), ("order-17", True, 3), ("ñ", False, 2)])
def test_it_never_moves(case, held, fold):
    """Written down once: another answer would let cases that were tuned on become a measurement."""
    assert (is_held_out(case), fold_of(case)) == (held, fold)
