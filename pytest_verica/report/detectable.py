"""The smallest drop that an eval's golden set could show."""

from __future__ import annotations

from pytest_verica.report.totals import Totals
from pytest_verica.stats.detectable import DetectableDrop, detectable_drop


def most_detectable(totals: Totals) -> DetectableDrop:
    """Of the criterion with the most graded cases: the others show less. A case that was sampled several times counts
    once."""
    if totals.samples:
        counted = [sum(s.graded > 0 for s in of_case.values()) for of_case in totals.samples.values()]
    else:
        counted = [counts.graded for counts in totals.criteria.values()]
    return detectable_drop(max(counted, default=0))
