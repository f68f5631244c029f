"""The smallest drop that a number of cases can show, and what a comparison of two runs would miss."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from math import comb
from typing import Any

from pytest_verica.stats.mcnemar import binomial_tail, least_significant, mcnemar_exact

ALPHA = 0.05
POWER = 0.8
_STEPS = 10_000


@dataclass(frozen=True)
class DetectableDrop:
    """drop: the smallest fall of the pass rate, 0 to 1, that two runs over the same n cases show with `power`, by an
    exact McNemar test at level alpha; None where no fall can be shown. improved: share of the cases assumed to go the
    other way at the same time; with none of them the drop is the best that these cases can do."""

    drop: float | None
    n: int
    alpha: float = ALPHA
    power: float = POWER
    improved: float = 0.0

    @property
    def needed(self) -> int:
        """The cases without which no fall is significant: that many have to fall."""
        return least_significant(self.alpha)

    def to_json(self) -> dict[str, Any]:
        return {
            "drop": self.drop,
            "n": self.n,
            "alpha": self.alpha,
            "power": self.power,
            "improved": self.improved,
            "method": "mcnemar-exact-paired",
        }


@lru_cache(maxsize=256)
def detectable_drop(n: int, *, alpha: float = ALPHA, power: float = POWER, improved: float = 0.0) -> DetectableDrop:
    """The smallest net drop (share that fell less share that improved) that n paired cases show, in steps of 0.0001."""
    if n < least_significant(alpha):
        return DetectableDrop(None, n, alpha, power, improved)
    low, high = 0, int((1 - improved) * _STEPS)
    if _power(n, high / _STEPS, improved, alpha) < power:
        return DetectableDrop(None, n, alpha, power, improved)
    while high - low > 1:  # the more fall, the likelier it is seen
        middle = (low + high) // 2
        if _power(n, middle / _STEPS, improved, alpha) >= power:
            high = middle
        else:
            low = middle
    return DetectableDrop(round(high / _STEPS - improved, 4), n, alpha, power, improved)


def _power(n: int, fell: float, improved: float, alpha: float) -> float:
    """P(the test says that it fell), where each case falls, improves or stays."""
    if improved == 0:
        return binomial_tail(n, least_significant(alpha), fell)
    total = 0.0
    for other_way in range(n + 1):
        weight = comb(n, other_way) * improved**other_way * (1 - improved) ** (n - other_way)
        total += weight * binomial_tail(n - other_way, _least(other_way, alpha), fell / (1 - improved))
        if other_way > n * improved and weight < 1e-9:
            break
    return total


@lru_cache(maxsize=4096)
def _least(other_way: int, alpha: float) -> int:
    """How many must fall where so many improved, for the test to say that it fell."""
    fell = other_way + 1
    while mcnemar_exact(fell, other_way) > alpha:
        fell += 1
    return fell
