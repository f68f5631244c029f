"""The held-out part of the labels, and the five folds: by a hash of the case id, so that neither ever moves."""

from __future__ import annotations

from pytest_verica.canonical import text_hash

FROM = 30
"""Labels from which on a part is held out."""
SHARE = 0.4
FOLDS = 5


def is_held_out(case: str) -> bool:
    """Whether the case is kept from tuning. It depends on its id alone: labels that are added, changed or taken back
    never move another case. Both classes are held out with the same chance."""
    return _uniform("holdout", case) < SHARE


def fold_of(case: str) -> int:
    """0 to FOLDS - 1, independent of the holdout."""
    return int(_uniform("fold", case) * FOLDS)


def _uniform(purpose: str, case: str) -> float:
    """At least 0, below 1."""
    return int(text_hash(f"{purpose}\0{case}")[:13], 16) / float(16**13)
