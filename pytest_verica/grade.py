"""A grade: what one criterion found about one output. Four outcomes, never three."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any, Literal

from pytest_verica.usage import Usage

Outcome = Literal["pass", "fail", "na", "error"]
OUTCOMES: tuple[Outcome, ...] = ("pass", "fail", "na", "error")


@dataclass(frozen=True)
class GradeError:
    """Why a criterion could not be judged. kind: a stable word; raw: what was received, None where nothing was."""

    kind: str
    message: str
    raw: str | None = None


@dataclass(frozen=True)
class Grade:
    """One verdict.

    outcome: pass, fail, na or error; passed: True or False, None where not judged; score: finite, None where the grader
    gives none; label: None where the grader gives none; explanation: what was looked at, found and wanted; reasoning: a
    judge's own words; details: JSON of the grader's own; usage and cost (USD): of the model calls that this verdict
    made now, cost None where a price is unknown, Decimal(0) where nothing was paid; cost_avoided (USD): what reused
    answers cost when bought, None where unknown; duration_s: seconds of grading, waiting for a turn included; reused:
    every model answer behind it came from the store; evaluated: False where a run condition decided; judge_hash:
    identity of the judge, None for graders that ask no model; calls, retries and reused_calls: model calls made now,
    repeated attempts among them, and answers taken from the store; unpriced: models asked whose price is unknown.
    """

    outcome: Outcome
    passed: bool | None = None
    score: float | None = None
    label: str | None = None
    explanation: str = ""
    reasoning: str | None = None
    details: Mapping[str, Any] | None = None
    usage: Usage | None = None
    cost: Decimal | None = Decimal(0)
    cost_avoided: Decimal | None = Decimal(0)
    duration_s: float = 0.0
    reused: bool = False
    evaluated: bool = True
    judge_hash: str | None = None
    calls: int = 0
    retries: int = 0
    reused_calls: int = 0
    unpriced: tuple[str, ...] = ()
    error: GradeError | None = None

    def __post_init__(self) -> None:
        if self.score is not None and not math.isfinite(self.score):
            raise ValueError(f"a score is a finite number, not {self.score!r}")
        if (self.outcome == "error") != (self.error is not None):
            raise ValueError("a grade has an error exactly when its outcome is 'error'")
        if self.passed is not {"pass": True, "fail": False}.get(self.outcome):
            raise ValueError(f"outcome {self.outcome!r} and passed={self.passed!r} contradict each other")

    @classmethod
    def of(cls, passed: bool, explanation: str, **more: Any) -> Grade:
        """A judged verdict: pass or fail."""
        # Most grades are made here, by the ten thousand: what is not given stays the class's default.
        grade = object.__new__(cls)
        verdict = bool(passed)
        grade.__dict__.update(outcome="pass" if verdict else "fail", passed=verdict, explanation=explanation, **more)
        if more:
            grade.__post_init__()
        return grade

    @classmethod
    def na(cls, explanation: str, **more: Any) -> Grade:
        """Not applicable: the reason stands in the explanation."""
        return cls("na", explanation=explanation, **more)

    @classmethod
    def failed_to_judge(cls, kind: str, message: str, raw: str | None = None, **more: Any) -> Grade:
        """An error: nothing is known about the output."""
        return cls("error", explanation=message, error=GradeError(kind, message, raw), **more)

    def negated(self) -> Grade:
        """Pass and fail swapped; na and error as they are."""
        if self.passed is None:
            return self
        return replace(
            self,
            outcome="fail" if self.passed else "pass",
            passed=not self.passed,
            explanation=f"negated: {self.explanation}",
        )

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Grade:
        """Reads back what `to_json` wrote; further keys are passed over.

        Raises:
            KeyError, TypeError, ValueError: it is no grade.
        """
        given = {name: data[name] for name in cls.__dataclass_fields__ if name in data}
        given["unpriced"] = tuple(data["unpriced"])
        if data["usage"] is not None:
            given["usage"] = Usage.from_json(data["usage"])
        if data["error"] is not None:
            given["error"] = GradeError(**data["error"])
        for cost in ("cost", "cost_avoided"):
            given[cost] = None if data[cost] is None else Decimal(data[cost])
        return cls(**given)

    def to_json(self) -> dict[str, Any]:
        """A JSON-safe mapping; costs are decimal texts, so that no digit is lost."""
        error = self.error
        return {
            "outcome": self.outcome,
            "passed": self.passed,
            "score": self.score,
            "label": self.label,
            "explanation": self.explanation,
            "reasoning": self.reasoning,
            "details": None if self.details is None else dict(self.details),
            "usage": None if self.usage is None else self.usage.to_json(),
            "cost": None if self.cost is None else str(self.cost),
            "cost_avoided": None if self.cost_avoided is None else str(self.cost_avoided),
            "duration_s": round(self.duration_s, 6),
            "reused": self.reused,
            "evaluated": self.evaluated,
            "judge_hash": self.judge_hash,
            "calls": self.calls,
            "retries": self.retries,
            "reused_calls": self.reused_calls,
            "unpriced": list(self.unpriced),
            "error": None if error is None else {"kind": error.kind, "message": error.message, "raw": error.raw},
        }
