"""The traffic light of a judge: what may be said of its corrected rate, and what to do next. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from pytest_verica.calibration.rate import FEWEST, CorrectedRate
from pytest_verica.calibration.sample import Sample

Colour = Literal["red", "amber", "green"]

FEW_OF_A_CLASS = 5
WIDE = 0.20
GOOD = 0.80

UNRELIABLE = "The correction is not reliable. Improve the judge's instructions."
NEEDS_BOTH = "Label at least one case that meets it and one that does not"
GUIDE = "Take it as a guide."
CHANGED = "The judge changed since it was calibrated."
FIRM = "The measurement is firm."


@dataclass(frozen=True)
class Light:
    """says: one sentence; reasons: what led to it; advice: what to do next, in order."""

    colour: Colour
    says: str
    reasons: tuple[str, ...] = ()
    advice: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        return {
            "colour": self.colour,
            "says": self.says,
            "reasons": list(self.reasons),
            "advice": list(self.advice),
        }


def traffic_light(sample: Sample, rate: CorrectedRate, unlabelled: int) -> Light:
    """The first row of the table that holds. unlabelled: outputs with a verdict of the judge and no label."""
    red = _red(rate)
    if red:
        return Light(
            "red", UNRELIABLE, tuple(red), ("Improve the judge's instructions, then judge the outputs again.",)
        )
    if sample.foreign and not sample.labelled:
        advice = "Label outputs of the present judge, or judge the labelled outputs again."
        return Light("amber", CHANGED, (f"{sample.foreign} labels tell of another judge.",), (advice,))
    missing = _missing(sample)
    if missing:
        return Light("amber", f"{NEEDS_BOTH}: {' and '.join(missing)}.", tuple(_counted(sample)), (_lever(unlabelled),))
    if sample.foreign:
        reason = f"{sample.foreign} labels tell of another judge and were left out."
        return Light("amber", CHANGED, (reason,), ("Label outputs of the present judge.",))
    weak = _weak(rate)
    if weak or rate.estimate is None:
        reasons = weak or ([rate.refusal] if rate.refusal else [])
        return Light("amber", GUIDE, tuple(reasons), (_lever(unlabelled),))
    return Light("green", FIRM)


def _red(rate: CorrectedRate) -> list[str]:
    found = []
    if rate.j is not None and rate.j <= 0:
        found.append(f"TPR + TNR - 1 is {rate.j:.3f}: the judge is no better than chance.")
    elif rate.j_low is not None and rate.j_low <= 0:
        found.append(f"TPR + TNR - 1 may be 0 (95 % interval {rate.j_low:.2f} to {rate.j_high:.2f}).")
    for name, precision in (("TPR", rate.tpr), ("TNR", rate.tnr)):
        if precision.interval is not None and precision.interval.high < GOOD:
            found.append(f"{name} is surely under {GOOD:.2f} (at most {precision.interval.high:.2f}).")
    return found


def _missing(sample: Sample) -> list[str]:
    """How many more of which class, where a class has too few or all are too few."""
    confusion = sample.confusion
    found = [
        f"{FEW_OF_A_CLASS - have} more that {what}"
        for have, what in ((confusion.person_passes, "meet it"), (confusion.person_fails, "do not"))
        if have < FEW_OF_A_CLASS
    ]
    if not found and confusion.n < FEWEST:
        return [f"{FEWEST - confusion.n} more of either"]
    return found


def _counted(sample: Sample) -> list[str]:
    confusion = sample.confusion
    return [f"{confusion.person_passes} labelled outputs meet it, {confusion.person_fails} do not."]


def _weak(rate: CorrectedRate) -> list[str]:
    found = []
    if rate.width is not None and rate.width > WIDE:
        found.append(f"The interval is {rate.width * 100:.0f} points wide.")
    for name, precision, of in (
        ("TPR", rate.tpr, "meet the criterion"),
        ("TNR", rate.tnr, "do not meet it"),
    ):
        if precision.interval is not None and precision.interval.low < GOOD:
            found.append(
                f"{name} may be under {GOOD:.2f} (at least {precision.interval.low:.2f}): it is measured on "
                f"{precision.n} outputs that {of}."
            )
    return found


def _lever(unlabelled: int) -> str:
    if unlabelled > 0:
        return f"Label more: {unlabelled} outputs with a verdict are not labelled."
    return "Every output is labelled: generate and evaluate more cases, then label those."
