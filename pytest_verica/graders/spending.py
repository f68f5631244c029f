"""What the model calls behind one grade used and cost, as fields of the grade."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from typing import Any

from pytest_verica.completion import Answer
from pytest_verica.request import ModelSpec
from pytest_verica.usage import Usage


def spent(model: ModelSpec, answers: Sequence[Answer], failed_attempts: int = 0) -> dict[str, Any]:
    """The fields of a grade that say it. failed_attempts: calls that gave no answer."""
    bought = [answer for answer in answers if not answer.reused]
    calls = sum(answer.attempts for answer in bought)
    return {
        "usage": Usage.total([answer.completion.usage or Usage() for answer in bought]),
        "cost": _sum([answer.cost for answer in answers]),
        "cost_avoided": _sum([answer.cost_avoided for answer in answers]),
        "reused": bool(answers) and not bought and not failed_attempts,
        "calls": calls + failed_attempts,
        "retries": sum(max(answer.attempts - 1, 0) for answer in bought) + max(failed_attempts - 1, 0),
        "reused_calls": len(answers) - len(bought),
        "unpriced": (str(model),) if any(answer.cost is None for answer in answers) else (),
    }


def _sum(costs: Sequence[Decimal | None]) -> Decimal | None:
    """None where one of them is not known."""
    known = [cost for cost in costs if cost is not None]
    return sum(known, Decimal(0)) if len(known) == len(costs) else None
