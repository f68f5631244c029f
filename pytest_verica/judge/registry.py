"""Every built-in kind of check, graders and judges, in the order in which they are listed everywhere."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from pytest_verica.graders.protocol import GraderKind
from pytest_verica.graders.registry import GRADERS, OLD_NAMES
from pytest_verica.judge import label_model, score_model

JUDGES: tuple[GraderKind, ...] = (
    label_model.KIND,
    score_model.KIND,
)

KINDS: Mapping[str, GraderKind] = MappingProxyType({kind.name: kind for kind in (*GRADERS, *JUDGES, *OLD_NAMES)})
"""By the name that `type` has in an eval."""
