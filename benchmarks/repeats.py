"""How often the 95 % interval of a rate holds the true one, where each case is sampled several times.

Cases differ: each has a chance of its own to pass (a beta distribution), and the samples of a case are drawn with it.
The correlation is that of two samples of one case: 0 where cases are alike, near 1 where a case always passes or always
fails. Beside it stands the interval that takes each sample for a case of its own.

    python benchmarks/repeats.py [RUNS]        # 1,000 data sets a cell by default: about two minutes
"""

from __future__ import annotations

import random
import sys

from pytest_verica.stats.proportion import effective_number, wilson

REPEATS = 5
CASES = (10, 20, 50, 100, 200)
RATES = (0.5, 0.7, 0.85, 0.95)
CORRELATIONS = (0.0, 0.2, 0.5, 0.8)


def coverage(cases: int, rate: float, correlation: float, runs: int, source: random.Random) -> tuple[float, float]:
    """The shares of the data sets whose interval holds the rate: with the case as the unit, and with the sample."""
    held = held_naive = 0
    for _ in range(runs):
        clusters = [(_passes(rate, correlation, source), REPEATS) for _ in range(cases)]
        passed, n = sum(k for k, _ in clusters), cases * REPEATS
        interval, naive = wilson(passed, n, effective_n=effective_number(clusters)), wilson(passed, n)
        assert interval is not None and naive is not None
        held += interval.low <= rate <= interval.high
        held_naive += naive.low <= rate <= naive.high
    return held / runs, held_naive / runs


def _passes(rate: float, correlation: float, source: random.Random) -> int:
    chance = rate
    if correlation:
        weight = 1 / correlation - 1
        chance = source.betavariate(rate * weight, (1 - rate) * weight)
    return sum(source.random() < chance for _ in range(REPEATS))


def main() -> None:
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 1000
    source = random.Random(20261)
    print(f"{REPEATS} samples of each case, {runs} data sets a cell: % of the intervals that hold the true rate")
    print("cases  rate  correlation  case is the unit  sample is the unit")
    found = []
    for cases in CASES:
        for rate in RATES:
            for correlation in CORRELATIONS:
                ours, naive = coverage(cases, rate, correlation, runs, source)
                found.append((cases, ours))
                print(f"{cases:5}  {rate:4}  {correlation:11}  {ours:16.1%}  {naive:18.1%}")
    for cases in CASES:
        of_these = [ours for number, ours in found if number == cases]
        inside = sum(0.92 <= ours <= 0.97 for ours in of_these)
        least, most = min(of_these), max(of_these)
        print(f"{cases} cases: {least:.1%} to {most:.1%}; {inside} of {len(of_these)} cells in 92-97 %")


if __name__ == "__main__":
    main()
