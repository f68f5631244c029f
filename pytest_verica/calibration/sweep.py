"""The threshold of a score judge against the labels: every cut, without a call. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from pytest_verica.calibration.holdout import FOLDS, FROM, fold_of, is_held_out
from pytest_verica.calibration.sample import Labelled
from pytest_verica.stats.agreement import Confusion
from pytest_verica.stats.threshold import Cut, best_cut, cut_at, cuts


@dataclass(frozen=True)
class Sweep:
    """cuts: ascending, "never" last; best: the optimum; current: the cut in force; used: labels that were looked at;
    held_out: those kept out of it."""

    cuts: tuple[Cut, ...]
    best: Cut
    current: Cut
    used: tuple[tuple[float, bool], ...]
    held_out: int

    @property
    def at_optimum(self) -> bool:
        return self.current.balanced_accuracy == self.best.balanced_accuracy

    def preview(self, at: float) -> Cut:
        """What a threshold would give, whatever its value."""
        return cut_at(self.used, at)

    def to_json(self) -> dict[str, Any]:
        return {
            "current": _cut_json(self.current),
            "best": _cut_json(self.best),
            "at_optimum": self.at_optimum,
            "cuts": [_cut_json(cut) for cut in self.cuts],
            "used": len(self.used),
            "held_out": self.held_out,
        }


def sweep(labelled: Sequence[Labelled], current: float) -> Sweep | None:
    """All cuts against the labels that may be tuned on; None where no label has a score, or all are of one class."""
    kept = tunable(labelled)
    used = _scored(kept)
    found = cuts(used)
    if not found:
        return None
    return Sweep(tuple(found), best_cut(found, current), cut_at(used, current), tuple(used), len(labelled) - len(kept))


def tunable(labelled: Sequence[Labelled]) -> list[Labelled]:
    """The labels that may be looked at while tuning: all below FROM, else those not held out."""
    if len(labelled) < FROM:
        return list(labelled)
    return [item for item in labelled if not is_held_out(item.case)]


def cross_fit(labelled: Sequence[Labelled], current: float) -> Confusion | None:
    """Each fold judged at the threshold that is best on the others; None where a threshold cannot be chosen.

    As free of tuning as a holdout, and less noisy: every label is measured once.
    """
    scored = [(fold_of(item.case), item.score, item.person) for item in labelled if item.score is not None]
    pairs: list[tuple[bool, bool]] = []
    for fold in range(FOLDS):
        inside = [(score, person) for its, score, person in scored if its == fold]
        found = cuts([(score, person) for its, score, person in scored if its != fold])
        if inside and not found:
            return None
        if inside:
            at = best_cut(found, current).at
            pairs += [(person, at is not None and score >= at) for score, person in inside]
    return Confusion.of(pairs) if pairs else None


def _scored(labelled: Sequence[Labelled]) -> list[tuple[float, bool]]:
    return sorted((item.score, item.person) for item in labelled if item.score is not None)


def _cut_json(cut: Cut) -> dict[str, Any]:
    confusion = vars(cut.confusion)
    return {"at": cut.at, "balanced_accuracy": float(cut.balanced_accuracy), **confusion}
