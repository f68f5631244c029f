"""Every built-in kind of check, graders and judges, in the order in which they are listed everywhere."""

from __future__ import annotations

from pytest_verica.graders.protocol import GraderKind
from pytest_verica.graders.registry import GRADERS, OLD_NAMES
from pytest_verica.kinds import Kinds

JUDGES: dict[str, str] = {
    "label_model": "pytest_verica.judge.label_model:KIND",
    "score_model": "pytest_verica.judge.score_model:KIND",
    "rubric_model": "pytest_verica.judge.rubric_model:KIND",
    "pairwise_model": "pytest_verica.judge.pairwise_model:KIND",
    "preset": "pytest_verica.judge.preset:KIND",
}

KINDS: Kinds[GraderKind] = Kinds({**GRADERS, **JUDGES, **OLD_NAMES})
"""By the name that `type` has in an eval."""
