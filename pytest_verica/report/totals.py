"""What a run adds up to: counts with their rate and interval, cost, tokens, calls, latency. Frozen; unknown is None."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from typing import Any

from pytest_verica.report.parts import Parts
from pytest_verica.report.samples import Samples
from pytest_verica.stats.proportion import Interval, wilson
from pytest_verica.usage import Usage


@dataclass(frozen=True)
class Counts:
    """Verdicts by outcome.

    passed, failed, na, error: the four outcomes, which add up to `ran`; missed: failed or errored ones that a gate
    counts in place of a failed test; not_evaluated: those that a run condition decided; reused: whole verdicts taken
    from an earlier run; effective_n: what the graded ones are worth where cases were sampled several times, None
    where each stands for itself; parts: what stands inside the verdicts of one judge, None where nothing does.
    """

    passed: int = 0
    failed: int = 0
    na: int = 0
    error: int = 0
    missed: int = 0
    not_evaluated: int = 0
    reused: int = 0
    effective_n: float | None = None
    parts: Parts | None = None

    @property
    def graded(self) -> int:
        """The denominator of the rate: passed + failed."""
        return self.passed + self.failed

    @property
    def ran(self) -> int:
        return self.passed + self.failed + self.na + self.error

    @property
    def rate(self) -> Fraction | None:
        """Passed / graded, exactly; None where nothing was graded."""
        return Fraction(self.passed, self.graded) if self.graded else None

    @property
    def interval(self) -> Interval | None:
        """95 % Wilson score interval of the rate; None where nothing was graded."""
        return wilson(self.passed, self.graded, effective_n=self.effective_n)

    def to_json(self) -> dict[str, Any]:
        interval = self.interval
        return {
            "pass": self.passed,
            "fail": self.failed,
            "na": self.na,
            "error": self.error,
            "graded": self.graded,
            "ran": self.ran,
            "rate": None if self.rate is None else float(self.rate),
            "interval": None if interval is None else interval.to_json(),
            "missed": self.missed,
            "not_evaluated": self.not_evaluated,
            "reused": self.reused,
            **({} if self.parts is None else self.parts.to_json()),
        }


@dataclass(frozen=True)
class Cost:
    """USD. Each is the sum of what is known, and None where nothing but unknown prices is behind it.

    sampling: paid for outputs; grading: paid for judging; total: both; per_case_net: what producing the output of a
    case costs, whether it was paid now or is a stored answer's price of then, over the outputs whose cost is known;
    avoided: what the reused answers cost when bought; unpriced_models: those left out of every sum; embeddings: the
    part of grading that was paid for embeddings.
    """

    sampling: Decimal | None
    grading: Decimal | None
    total: Decimal | None
    per_case_net: Decimal | None
    avoided: Decimal | None
    unpriced_models: tuple[str, ...] = ()
    embeddings: Decimal | None = Decimal(0)

    def to_json(self) -> dict[str, Any]:
        """Numbers. A JSON number shows 15 digits of a decimal exactly; the journal keeps them all as text."""
        return {
            "sampling": dollars(self.sampling),
            "grading": dollars(self.grading),
            "embeddings": dollars(self.embeddings),
            "total": dollars(self.total),
            "per_case_net": dollars(self.per_case_net),
            "avoided": dollars(self.avoided),
            "unpriced_models": list(self.unpriced_models),
        }


@dataclass(frozen=True)
class Tokens:
    """Tokens of the calls made now. A field is the sum of what providers said, None where calls were made and none
    said; calls_without_usage: outputs and verdicts that asked a model and were told no usage."""

    sampling: Usage = field(default_factory=Usage)
    grading: Usage = field(default_factory=Usage)
    calls_without_usage: int = 0

    def to_json(self) -> dict[str, Any]:
        return {
            "sampling": self.sampling.to_json(),
            "grading": self.grading.to_json(),
            "calls_without_usage": self.calls_without_usage,
        }


@dataclass(frozen=True)
class Calls:
    """Model calls. made: now, repeated attempts included; reused: answers taken from the store; retried: the repeated
    attempts among those made."""

    made: int = 0
    reused: int = 0
    retried: int = 0

    def to_json(self) -> dict[str, Any]:
        return {"made": self.made, "reused": self.reused, "retried": self.retried}


@dataclass(frozen=True)
class Latency:
    """Seconds that the calls behind the outputs took when they were made: nearest-rank percentiles, so each is one that
    was measured. n: how many were; the others are None where n is 0."""

    n: int = 0
    p50: float | None = None
    p90: float | None = None
    p99: float | None = None

    @classmethod
    def of(cls, values: list[float]) -> Latency:
        if not values:
            return cls()
        ranked = sorted(values)
        n = len(ranked)
        p50, p90, p99 = (ranked[-(-n * percent // 100) - 1] for percent in (50, 90, 99))
        return cls(n, p50, p90, p99)

    def to_json(self) -> dict[str, Any]:
        return {"n": self.n, "p50": self.p50, "p90": self.p90, "p99": self.p99, "method": "nearest-rank"}


@dataclass(frozen=True)
class Totals:
    """What an eval, or a run, adds up to.

    criteria: by id of the criterion, empty for a whole run; outputs: (case, sample) pairs that have an output;
    failed_outputs: those whose target failed; samples: criterion → case → the outcomes of its samples, empty where
    each case was sampled once; priced_outputs: outputs whose cost is known; sampling_calls: model calls behind the
    outputs, made or reused.
    """

    counts: Counts
    cost: Cost
    tokens: Tokens = field(default_factory=Tokens)
    calls: Calls = Calls()
    latency: Latency = Latency()
    criteria: Mapping[str, Counts] = field(default_factory=dict)
    outputs: int = 0
    failed_outputs: int = 0
    samples: Mapping[str, Mapping[str, Samples]] = field(default_factory=dict)
    priced_outputs: int = 0
    sampling_calls: int = 0


def dollars(amount: Decimal | None) -> float | None:
    """The number that reports show for an amount."""
    return None if amount is None else float(amount)
