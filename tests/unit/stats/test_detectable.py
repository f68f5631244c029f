"""The smallest detectable drop against the table of STATISTICS (1.6), which rounds up to hundredths."""

from __future__ import annotations

import math

import pytest

from pytest_verica.stats.detectable import detectable_drop

# n → drops with nothing, 2 % and 5 % going the other way.
TABLE = {
    30: (0.26, 0.29, 0.34),
    50: (0.16, 0.19, 0.23),
    100: (0.08, 0.11, 0.15),
    200: (0.04, 0.07, 0.09),
    500: (0.02, 0.04, 0.05),
}


@pytest.mark.parametrize("n", TABLE)
def test_table(n: int) -> None:
    drops = [detectable_drop(n, improved=improved).drop for improved in (0.0, 0.02, 0.05)]
    assert [math.ceil(round(drop, 3) * 100 - 1e-9) / 100 for drop in drops if drop is not None] == list(TABLE[n])


@pytest.mark.parametrize(("n", "drop"), [(5, None), (6, 0.9635), (0, None)])
def test_few_cases(n: int, drop: float | None) -> None:
    """Of six cases all must fall; each with 0.9635: 0.9635⁶ = 0.8."""
    found = detectable_drop(n)
    assert found.drop == drop and found.needed == 6 and found.n == n


def test_more_cases_show_less() -> None:
    drops = [detectable_drop(n).drop or 1 for n in range(6, 400, 7)]
    assert drops == sorted(drops, reverse=True)
