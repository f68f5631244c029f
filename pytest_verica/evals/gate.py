"""The gate as a user writes it: what an eval's verdicts must reach. It is judged in `report/gate.py`, never here."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BeforeValidator, Field, GetJsonSchemaHandler, model_validator

from pytest_verica.evals.fields import Strict


def _number(value: Any) -> float | int:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise ValueError(f"expected a number, found {value!r}")
    return value


def _rate(value: Any) -> float:
    number = _number(value)
    if number == 0:
        raise ValueError("a pass rate of 0 cannot fail; write the rate that must be reached, such as 0.9")
    if not 0 < number <= 1:
        hint = f"; for {number} % write {number / 100:g}" if 1 < number <= 100 else ""
        raise ValueError(f"expected a rate above 0 and up to 1, such as 0.9, found {number!r}{hint}")
    return float(number)


def _count_or_fraction(value: Any) -> int | float:
    number = _number(value)
    if isinstance(number, int) and number >= 0:
        return number
    if isinstance(number, float) and 0 < number < 1:
        return number
    raise ValueError(f"expected a count (0, 1, 2, …) or a fraction above 0 and below 1, such as 0.02, found {number!r}")


def _fraction(value: Any) -> float:
    number = _number(value)
    if number == 1:
        raise ValueError("a fraction of 1 allows everything and cannot fail; write less, such as 0.2, or take it out")
    if not 0 <= number < 1:
        raise ValueError(f"expected a fraction from 0 on and below 1, such as 0.2, found {number!r}")
    return float(number)


def _level(value: Any) -> float:
    number = _number(value)
    if not 0 < number < 0.5:
        raise ValueError(f"expected a level above 0 and below 0.5, such as 0.05, found {number!r}")
    return float(number)


def _confidence(value: Any) -> float:
    number = _number(value)
    if not 0.5 < number < 1:
        raise ValueError(f"expected a confidence above 0.5 and below 1, such as 0.95, found {number!r}")
    return float(number)


Rate = Annotated[float, Field(gt=0, le=1), BeforeValidator(_rate)]
CountOrFraction = Annotated[int | float, BeforeValidator(_count_or_fraction)]
Fraction = Annotated[float, Field(ge=0, lt=1), BeforeValidator(_fraction)]
Confidence = Annotated[float, Field(gt=0.5, lt=1), BeforeValidator(_confidence)]
Level = Annotated[float, Field(gt=0, lt=0.5), BeforeValidator(_level)]
Dollars = Annotated[float, Field(gt=0, allow_inf_nan=False), BeforeValidator(_number)]


class RepeatGate(Strict):
    """Where each case is sampled several times: how often a criterion has to pass for the case to count as passed."""

    min_passes: int = Field(ge=1, strict=True, description="Of `repeat` samples per case and criterion, at least.")


class BaselineGate(Strict):
    """What may become worse against the run that `--verica-baseline` names. One of the two is written."""

    max_regressions: int | None = Field(
        None, ge=0, strict=True, description="Pairs that passed then and fail now, at most."
    )
    alpha: Level | None = Field(
        None,
        description="Such as 0.05: no criterion may have become worse at this level, by an exact McNemar test, with "
        "Holm's correction over the criteria.",
    )

    @model_validator(mode="after")
    def _one_rule(self) -> BaselineGate:
        if (self.max_regressions is None) == (self.alpha is None):
            raise ValueError("write `max_regressions` (a count) or `alpha` (a level such as 0.05): one of the two")
        return self


class GateConfig(Strict):
    """What an eval must reach. `gate: 0.9` is short for `gate: {pass_rate: 0.9}`."""

    pass_rate: Rate = Field(1.0, description="Passed / graded, over all criteria of the eval. 1.0 where not written.")
    criteria: dict[str, Rate] = Field({}, description="Passed / graded that single criteria must reach, by name.")
    max_errors: CountOrFraction = Field(0, description="Errors allowed: a count, or a fraction of all verdicts.")
    min_graded: int = Field(1, ge=1, strict=True, description="Verdicts that must have passed or failed.")
    max_na: Fraction | None = Field(None, description="Not applicable / all verdicts, at most.")
    confidence: Confidence | None = Field(
        None, description="Such as 0.95: the one-sided Wilson lower bound of the rate must reach pass_rate."
    )
    max_cost_per_case: Dollars | None = Field(None, description="USD: the net sampling cost per case, at most.")
    calibrated: bool = Field(
        False,
        description="The rates of judges enter corrected by human labels (their lower bound with `confidence`); only "
        "with a green or amber light of this very judge, else the gate fails.",
    )
    max_label_age_days: int | None = Field(
        None, ge=1, strict=True, description="With `calibrated`: days since the last label, at most."
    )
    repeat: RepeatGate | None = Field(
        None, description="A case passes a criterion where at least so many of its samples do; rates count these."
    )
    baseline: BaselineGate | None = Field(None, description="Against the run that `--verica-baseline` names.")

    @model_validator(mode="before")
    @classmethod
    def _short_form(cls, value: Any) -> Any:
        is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
        return {"pass_rate": value} if is_number else value

    @model_validator(mode="after")
    def _of_calibrated(self) -> GateConfig:
        if self.max_label_age_days is not None and not self.calibrated:
            raise ValueError("`max_label_age_days` needs `calibrated: true`: without it no label is looked at")
        if self.calibrated and self.repeat is not None:
            raise ValueError(
                "`calibrated` corrects the rate of outputs, and `repeat.min_passes` counts cases: write one of the two"
            )
        return self

    @classmethod
    def __get_pydantic_json_schema__(cls, core_schema: Any, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        # Editors must know the short form too.
        whole = handler.resolve_ref_schema(handler(core_schema))  # pydantic 2.10 refers to it by the name of this one
        return {"anyOf": [{"type": "number", "exclusiveMinimum": 0, "maximum": 1}, {**whole}]}
