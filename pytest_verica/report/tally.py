"""Adding up while a journal is read. A rerun's verdict takes the place of the earlier one; what both cost was spent."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from decimal import Decimal
from typing import Any

from pytest_verica.report.parts import PartTally
from pytest_verica.report.totals import Calls, Cost, Counts, Tokens
from pytest_verica.run import CaseRecord, VerdictRecord
from pytest_verica.usage import Usage

_FIELDS = ("input_tokens", "output_tokens", "cached_input_tokens", "reasoning_tokens", "cache_write_tokens")
_ZERO = Decimal(0)


class Tally:
    """Counts of verdicts that can be taken back."""

    __slots__ = ("missed", "not_evaluated", "outcomes", "parts", "reused")

    def __init__(self) -> None:
        self.outcomes = {"pass": 0, "fail": 0, "na": 0, "error": 0}
        self.missed = self.not_evaluated = self.reused = 0
        self.parts: PartTally | None = None

    def add(self, record: VerdictRecord, by: int = 1) -> None:
        """by: 1, or -1 to take it back."""
        grade = record.grade
        self.outcomes[grade["outcome"]] += by
        if record.reported in ("missed", "errored"):
            self.missed += by
        if not grade["evaluated"]:
            self.not_evaluated += by
        if record.reused is not None:
            self.reused += by
        if grade["details"]:
            self.parts = self.parts or PartTally()
            self.parts.add(grade["details"], by)

    def counts(self, effective_n: float | None = None) -> Counts:
        o = self.outcomes
        parts = None if self.parts is None else self.parts.parts()
        return Counts(
            o["pass"], o["fail"], o["na"], o["error"], self.missed, self.not_evaluated, self.reused, effective_n, parts
        )


def summed(counts: Iterable[Counts]) -> Counts:
    """The counts together. Effective numbers add up as the verdicts of unlike cases do."""
    parts = list(counts)

    clustered = any(part.effective_n is not None for part in parts)
    worth = sum(part.graded if part.effective_n is None else part.effective_n for part in parts)
    return Counts(
        passed=sum(part.passed for part in parts),
        failed=sum(part.failed for part in parts),
        na=sum(part.na for part in parts),
        error=sum(part.error for part in parts),
        missed=sum(part.missed for part in parts),
        not_evaluated=sum(part.not_evaluated for part in parts),
        reused=sum(part.reused for part in parts),
        effective_n=float(worth) if clustered else None,
    )


class Money:
    """A sum of decimal texts, some of which may be unknown."""

    __slots__ = ("known", "unknown")

    def __init__(self) -> None:
        self.known = _ZERO
        self.unknown = 0

    def add(self, text: str | None) -> None:
        if text is None:
            self.unknown += 1
        elif text != "0":
            self.known += Decimal(text)

    def merge(self, other: Money) -> None:
        self.known += other.known
        self.unknown += other.unknown

    @property
    def value(self) -> Decimal | None:
        """None where unknown is all there is."""
        return None if self.unknown and not self.known else self.known


class TokenSum:
    """Tokens, field by field, of what was told."""

    __slots__ = ("calls_without_usage", "sums", "told")

    def __init__(self) -> None:
        self.sums = dict.fromkeys(_FIELDS, 0)
        self.told = dict.fromkeys(_FIELDS, False)
        self.calls_without_usage = 0

    def add(self, usage: Mapping[str, Any] | None, calls: int) -> None:
        if usage is None:
            self.calls_without_usage += calls > 0
            return
        for name in _FIELDS:
            value = usage.get(name)
            if value is not None:
                self.sums[name] += value
                self.told[name] = True

    def merge(self, other: TokenSum) -> None:
        for name in _FIELDS:
            self.sums[name] += other.sums[name]
            self.told[name] |= other.told[name]
        self.calls_without_usage += other.calls_without_usage

    def usage(self, asked: bool) -> Usage:
        """asked: whether any model was: then what nobody told is unknown, else it is zero."""
        return Usage(**{name: self.sums[name] if self.told[name] or not asked else None for name in _FIELDS})


class Side:
    """One of the two sides of spending: sampling or grading."""

    __slots__ = ("avoided", "calls", "cost", "retries", "reused_calls", "tokens", "unpriced")

    def __init__(self) -> None:
        self.cost, self.avoided, self.tokens = Money(), Money(), TokenSum()
        self.calls = self.retries = self.reused_calls = 0
        self.unpriced: set[str] = set()

    def add(self, spent: Mapping[str, Any]) -> None:
        """spent: an output or a grade."""
        self.cost.add(spent["cost"])
        self.avoided.add(spent["cost_avoided"])
        calls = spent["calls"]
        if calls or spent["reused_calls"]:
            self.calls += calls
            self.retries += spent["retries"]
            self.reused_calls += spent["reused_calls"]
        usage = spent["usage"]
        if usage is not None or calls:
            self.tokens.add(usage, calls)
        if spent["unpriced"]:
            self.unpriced.update(spent["unpriced"])

    def merge(self, other: Side) -> None:
        self.cost.merge(other.cost)
        self.avoided.merge(other.avoided)
        self.tokens.merge(other.tokens)
        self.calls += other.calls
        self.retries += other.retries
        self.reused_calls += other.reused_calls
        self.unpriced |= other.unpriced


EMBEDDING_TYPES = frozenset({"text_similarity"})
"""The types of criteria whose model calls are embeddings."""


class Spending:
    """What outputs and verdicts cost, and the outputs themselves."""

    __slots__ = ("embeddings", "failed_outputs", "grading", "net", "outputs", "priced_outputs", "sampling")

    def __init__(self) -> None:
        self.sampling, self.grading = Side(), Side()
        self.embeddings = Money()  # a part of the grading
        self.net = _ZERO
        self.priced_outputs = self.outputs = self.failed_outputs = 0

    def add_case(self, record: CaseRecord) -> None:
        if record.output is not None:
            self.sampling.add(record.output)
        elif record.error is not None and record.error.get("calls"):
            # Asked in vain: every attempt is counted, though none of them gave an output.
            self.sampling.calls += record.error["calls"]
            self.sampling.retries += record.error["calls"] - 1
        self.count_case(record)

    def count_case(self, record: CaseRecord, by: int = 1) -> None:
        """by: 1, or -1 to take back an output that a rerun replaces (not what it cost)."""
        output = record.output
        if output is None:
            self.failed_outputs += by
            return
        self.outputs += by
        paid, avoided = output["cost"], output["cost_avoided"]
        if paid is not None and avoided is not None:
            self.priced_outputs += by
            if paid != "0" or avoided != "0":
                self.net += by * (Decimal(paid) + Decimal(avoided))

    def add_grade(self, grade: Mapping[str, Any], type: str | None) -> None:
        """type: of the criterion, None where it is not known."""
        self.grading.add(grade)
        if type in EMBEDDING_TYPES:
            self.embeddings.add(grade["cost"])

    def merge(self, other: Spending) -> None:
        self.sampling.merge(other.sampling)
        self.grading.merge(other.grading)
        self.embeddings.merge(other.embeddings)
        self.net += other.net
        self.priced_outputs += other.priced_outputs
        self.outputs += other.outputs
        self.failed_outputs += other.failed_outputs

    @property
    def cost(self) -> Cost:
        both, avoided = Money(), Money()
        for side in (self.sampling, self.grading):
            both.merge(side.cost)
            avoided.merge(side.avoided)
        return Cost(
            self.sampling.cost.value,
            self.grading.cost.value,
            both.value,
            self.net / self.priced_outputs if self.priced_outputs else None,
            avoided.value,
            tuple(sorted(self.sampling.unpriced | self.grading.unpriced)),
            self.embeddings.value,
        )

    @property
    def tokens(self) -> Tokens:
        sampling, grading = self.sampling, self.grading
        return Tokens(
            sampling.tokens.usage(sampling.calls > 0),
            grading.tokens.usage(grading.calls > 0),
            sampling.tokens.calls_without_usage + grading.tokens.calls_without_usage,
        )

    @property
    def calls(self) -> Calls:
        sides = (self.sampling, self.grading)
        return Calls(
            sum(side.calls for side in sides),
            sum(side.reused_calls for side in sides),
            sum(side.retries for side in sides),
        )
