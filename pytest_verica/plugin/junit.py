"""What junit's test suite says of the whole run: a block of properties beside its test cases. Writes no file itself."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from pytest_verica.report.failure import printable
from pytest_verica.report.summary import RunSummary
from pytest_verica.report.totals import Cost, Counts
from pytest_verica.run import RUN_GATE

UNKNOWN = "unknown"
"""What stands for a rate without a denominator, or a cost without a price: never 0."""


def describe_run(config: pytest.Config, summary: RunSummary) -> None:
    """Adds the properties to the junit file that is being made, where one is."""
    for plugin in config.pluginmanager.get_plugins():
        add: Any = getattr(plugin, "add_global_property", None)  # pytest's own writer; its class is not public
        if add is not None:
            for name, value in suite_properties(summary):
                add(printable(name), printable(value))


def suite_properties(summary: RunSummary) -> Iterator[tuple[str, str]]:
    """Name and value: of the run, then of each eval."""
    yield "verica.run_id", summary.header.id
    yield from _totals("verica", summary.overall.counts, summary.overall.cost)
    if RUN_GATE in summary.gates:
        yield from _gate("verica", summary, RUN_GATE)
    for eval_id, found in summary.evals.items():
        head = f"verica.eval.{found.record.name}"
        yield from _totals(head, found.totals.counts, found.totals.cost)
        if eval_id in summary.gates:
            yield from _gate(head, summary, eval_id)


def _totals(head: str, counts: Counts, cost: Cost) -> Iterator[tuple[str, str]]:
    yield f"{head}.pass_rate", UNKNOWN if counts.rate is None else repr(float(counts.rate))
    yield f"{head}.passed", str(counts.passed)
    yield f"{head}.graded", str(counts.graded)
    yield f"{head}.cost_usd", UNKNOWN if cost.total is None else str(cost.total)


def _gate(head: str, summary: RunSummary, eval_id: str) -> Iterator[tuple[str, str]]:
    result = summary.gates[eval_id]
    yield f"{head}.gate", result.status
    yield f"{head}.gate_reason", "; ".join(result.reasons)
