"""Where an eval's rate stands: beside its earlier runs, and beside what so few cases can show."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from pytest_verica.report.figures import percent


def standing(found: Mapping[str, Any]) -> Iterator[str]:
    """Sentences about an eval (its head), those for which something is known."""
    history, reused, drop = found["history"], found["reused_from"], found["detectable_drop"]
    if history is not None:
        last, mean = history["last"], history["mean"]
        several = f"; mean of the last {mean['runs']}: {percent(mean['rate'])}" if mean["runs"] > 1 else ""
        yield f"last run {percent(last['rate'])} ({last['passed']} of {last['graded']}){several}"
    if drop["drop"] is not None:
        yield f"smallest drop that {drop['n']} cases could show: {100 * drop['drop']:.1f} points"
    if reused is not None and found["totals"]["reused"]:
        prices = "; prices have changed since, costs are those of then" if reused["prices_changed"] else ""
        yield f"{found['totals']['reused']:,} verdicts reused of the run {reused['run']}{prices}"
    rates = [f"{percent(each['rate'])} {each['k']}×" for each in found["pass_hat"] if each["rate"] is not None]
    if rates:
        yield f"passes every time (pass^k): {', '.join(rates)}"
