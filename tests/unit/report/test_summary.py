"""Totals of a run, by hand arithmetic."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_verica.errors import StoreError
from pytest_verica.report.summary import RunSummary, read_run
from pytest_verica.report.totals import Calls, Cost, Counts, Latency, Tokens
from pytest_verica.run import CaseRecord, Record
from pytest_verica.usage import Usage
from tests.unit.report.journals import END, EVAL, HEADER, case, eval_record, judged, reused, verdict, write

Reader = Callable[..., RunSummary]


@pytest.fixture
def read(tmp_path: Path) -> Reader:
    def reader(*records: Record) -> RunSummary:
        return read_run(write(tmp_path / "journal.jsonl", [HEADER, *records, END]))

    return reader


WHOLE: list[Record] = [
    eval_record(),
    case(1),
    verdict(1, "amount", "pass"),
    verdict(1, "tone", "pass", **judged()),
    case(2),
    verdict(2, "amount", "fail", reported="missed"),
    verdict(2, "tone", "error", reported="errored", **judged(retries=1, calls=2)),
    case(3),
    verdict(3, "amount", "na", evaluated=False),
    verdict(3, "tone", "pass", evaluated=False),
]


def test_a_whole_run(read: Reader) -> None:
    run = read(*WHOLE)
    totals = run.evals[EVAL].totals
    assert totals.counts == Counts(passed=3, failed=1, na=1, error=1, missed=2, not_evaluated=2)
    assert (totals.counts.graded, totals.counts.ran, totals.counts.rate) == (4, 6, Fraction(3, 4))
    assert totals.criteria == {
        "amount": Counts(passed=1, failed=1, na=1, missed=1, not_evaluated=1),
        "tone": Counts(passed=2, error=1, missed=1, not_evaluated=1),
    }
    # 3 outputs at 0.01; 2 judgements at 0.002; 0.03 / 3 a case.
    money = [Decimal(text) for text in ("0.03", "0.004", "0.034", "0.01", "0")]
    assert totals.cost == Cost(*money)
    assert totals.tokens == Tokens(Usage(300, 60), Usage(100, 20))
    assert totals.calls == Calls(made=6, reused=0, retried=1)
    assert totals.latency == Latency(3, 0.2, 0.3, 0.3)
    assert (totals.outputs, totals.failed_outputs) == (3, 0)
    assert run.overall.counts == totals.counts and run.overall.cost == totals.cost
    assert run.end == END


def test_nothing_ran(read: Reader) -> None:
    totals = read(eval_record()).evals[EVAL].totals
    assert totals.counts == Counts()
    assert totals.counts.rate is None and totals.counts.interval is None
    assert totals.cost == Cost(Decimal(0), Decimal(0), Decimal(0), None, Decimal(0))
    assert totals.tokens == Tokens(Usage(0, 0, 0, 0, 0), Usage(0, 0, 0, 0, 0))
    assert totals.latency == Latency()
    assert list(totals.criteria) == ["amount", "tone"]


COSTS: list[tuple[list[Record], tuple[str | None, str | None, str | None, str | None, str | None], tuple[str, ...]]] = [
    # sampling, grading, total, net per case, avoided
    # No price for the judge: unknown, and the sum is what is known.
    ([case(1), verdict(1, "tone", "pass", **judged(None))], ("0.01", None, "0.01", "0.01", "0"), ("openai/new",)),
    # No price at all.
    (
        [case(1, cost=None, unpriced=("a/b",)), verdict(1, "tone", "pass", **judged(None))],
        (None, None, None, None, "0"),
        ("a/b", "openai/new"),
    ),
    # A deterministic check costs a known zero.
    ([case(1), verdict(1, "amount", "pass")], ("0.01", "0", "0.01", "0.01", "0"), ()),
    # One output has a price: the case costs what the priced one costs.
    ([case(1), case(2, cost=None, unpriced=("a/b",))], ("0.01", "0", "0.01", "0.01", "0"), ("a/b",)),
    # All reused: nothing was paid, and a case still costs what its output cost.
    (
        [case(1, **reused("0.04") | {"cost": "0"}), verdict(1, "tone", "pass", **reused())],
        ("0", "0", "0", "0.04", "0.042"),
        (),
    ),
    # Reused, and its price was never known.
    ([case(1, **reused(None) | {"cost": "0"})], ("0", "0", "0", None, None), ()),
    # One bought (0.02), one reused (0.04): 0.03 a case.
    ([case(1, cost="0.02"), case(2, **reused("0.04") | {"cost": "0"})], ("0.02", "0", "0.02", "0.03", "0.04"), ()),
    # A whole verdict of an earlier run: that run paid, as the verdict itself says.
    (
        [case(1), verdict(1, "tone", "pass", taken_from="20261101", **judged("0"))],
        ("0.01", "0", "0.01", "0.01", "0"),
        (),
    ),
    # No digit is lost.
    (
        [case(1, cost="0.1"), case(2, cost="0.2"), case(3, cost="0.0000000000000000000003")],
        ("0.3000000000000000000003", "0", "0.3000000000000000000003", "0.1000000000000000000001", "0"),
        (),
    ),
]


@pytest.mark.parametrize(("records", "amounts", "unpriced"), COSTS, ids=range(len(COSTS)))
def test_costs(read: Reader, records: list[Record], amounts: tuple[str | None, ...], unpriced: tuple[str, ...]) -> None:
    cost = read(eval_record(), *records).evals[EVAL].totals.cost
    assert cost == Cost(*(None if amount is None else Decimal(amount) for amount in amounts), unpriced)


TOKENS: list[tuple[list[Record], Tokens]] = [
    ([case(1, usage=None)], Tokens(Usage(), Usage(0, 0, 0, 0, 0), 1)),
    ([case(1, usage=None), case(2)], Tokens(Usage(100, 20), Usage(0, 0, 0, 0, 0), 1)),
    ([case(1, usage=Usage(7, None, 3, None))], Tokens(Usage(7, None, 3, None), Usage(0, 0, 0, 0, 0), 0)),
    ([case(1, usage=None, **reused() | {"cost": "0"})], Tokens(Usage(0, 0, 0, 0, 0), Usage(0, 0, 0, 0, 0), 0)),
]


@pytest.mark.parametrize(("records", "tokens"), TOKENS, ids=range(len(TOKENS)))
def test_tokens(read: Reader, records: list[Record], tokens: Tokens) -> None:
    assert read(eval_record(), *records).evals[EVAL].totals.tokens == tokens


def test_calls_that_were_reused(read: Reader) -> None:
    run = read(eval_record(), case(1, **reused() | {"cost": "0"}), verdict(1, "tone", "pass", **reused()))
    assert run.overall.calls == Calls(made=0, reused=2, retried=0)


def test_a_rerun_takes_the_place_and_what_both_cost_was_spent(read: Reader) -> None:
    totals = (
        read(
            eval_record(),
            case(1, cost="0.01"),
            verdict(1, "tone", "fail", **judged("0.002")),
            case(1, cost="0.03", latency_s=0.9),
            verdict(1, "tone", "pass", **judged("0.004")),
        )
        .evals[EVAL]
        .totals
    )
    assert totals.counts == Counts(passed=1)
    assert totals.outputs == 1
    assert totals.latency == Latency(1, 0.9, 0.9, 0.9)
    # 0.01 + 0.03 and 0.002 + 0.004 were paid; the output that stands cost 0.03.
    amounts = [Decimal(text) for text in ("0.04", "0.006", "0.046", "0.03", "0")]
    assert totals.cost == Cost(*amounts)
    assert totals.calls.made == 4


def test_a_line_that_came_twice_counts_once(read: Reader) -> None:
    once, twice = read(*WHOLE), read(*WHOLE, *WHOLE[1:], WHOLE[0])
    assert twice.overall == once.overall
    assert twice.evals[EVAL].totals == once.evals[EVAL].totals


def test_an_output_that_a_rerun_could_not_make(read: Reader) -> None:
    failed = CaseRecord(EVAL, "row-0001", "row-0001", 0, 0, {}, None, {"kind": "timeout", "message": "", "raw": None})
    totals = read(eval_record(), case(1), failed, verdict(1, "tone", "error")).evals[EVAL].totals
    assert (totals.outputs, totals.failed_outputs) == (0, 1)
    assert totals.latency == Latency()
    assert (totals.cost.sampling, totals.cost.per_case_net) == (Decimal("0.01"), None)


def test_repeats_are_worth_their_cases(read: Reader) -> None:
    """Two cases, each sampled five times: all passed, all failed. 5 of 10, worth two."""
    records: list[Record] = [eval_record(criteria=["tone"], repeat=5)]
    for sample in range(5):
        records += [verdict(1, "tone", "pass", sample=sample), verdict(2, "tone", "fail", sample=sample)]
    run = read(*records)
    counts = run.evals[EVAL].totals.counts
    assert (counts.passed, counts.failed) == (5, 5)
    # p = 1/2: between = 2 · (2 · 2.5²) = 25, binomial = 10/4; effect 10, 10 / 10 = 1.
    assert counts.effective_n == pytest.approx(1)
    assert run.evals[EVAL].totals.criteria["tone"].effective_n == pytest.approx(1)
    assert run.overall.counts.effective_n == pytest.approx(1)


def test_several_evals_add_up(read: Reader) -> None:
    other = "tests/test_bot.py::test_refund"
    run = read(
        *WHOLE,
        eval_record(other, ["tone"]),
        case(1, eval=other, cost="0.5", latency_s=9.0),
        verdict(1, "tone", "pass", eval=other, **judged("0.1")),
    )
    assert list(run.evals) == [EVAL, other]
    assert run.evals[other].totals.counts == Counts(passed=1)
    assert run.overall.counts == Counts(passed=4, failed=1, na=1, error=1, missed=2, not_evaluated=2)
    assert run.overall.cost.total == Decimal("0.634")
    assert run.overall.cost.per_case_net == Decimal("0.53") / 4
    assert run.overall.latency == Latency(4, 0.2, 9.0, 9.0)
    assert run.overall.outputs == 4


def test_a_criterion_that_was_not_declared(read: Reader) -> None:
    totals = read(eval_record(criteria=[]), case(1), verdict(1, "found later", "pass")).evals[EVAL].totals
    assert totals.criteria == {"found later": Counts(passed=1)}


def test_a_killed_run_is_read(tmp_path: Path) -> None:
    path = write(tmp_path / "journal.jsonl", [HEADER, *WHOLE])
    path.write_bytes(path.read_bytes()[:-30])
    run = read_run(path)
    assert run.end is None
    assert run.overall.counts.ran == 5


def test_journals_that_are_no_run(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="does not begin"):
        read_run(write(tmp_path / "empty.jsonl", []))
    with pytest.raises(StoreError, match="before the eval's own record"):
        read_run(write(tmp_path / "odd.jsonl", [HEADER, verdict(1, "tone", "pass")]))


# Nearest rank: the ⌈n·p⌉-th of the sorted values.
PERCENTILES: list[tuple[list[float], Latency]] = [
    ([], Latency()),
    ([0.5], Latency(1, 0.5, 0.5, 0.5)),
    ([2.0, 1.0], Latency(2, 1.0, 2.0, 2.0)),
    ([float(n) for n in range(10, 0, -1)], Latency(10, 5.0, 9.0, 10.0)),
    ([float(n) for n in range(1, 201)], Latency(200, 100.0, 180.0, 198.0)),
]


@pytest.mark.parametrize(("values", "latency"), PERCENTILES)
def test_percentiles(values: list[float], latency: Latency) -> None:
    assert Latency.of(values) == latency


@given(st.permutations(WHOLE[1:]))
def test_the_order_of_lines_does_not_matter(tmp_path_factory: Any, records: list[Record]) -> None:
    folder = tmp_path_factory.mktemp("run")
    straight = read_run(write(folder / "straight.jsonl", [HEADER, *WHOLE, END]))
    mixed = read_run(write(folder / "mixed.jsonl", [HEADER, WHOLE[0], *records, END]))
    assert mixed.overall == straight.overall
    assert mixed.evals[EVAL].totals == straight.evals[EVAL].totals
