"""The graders that ask no model, in the order in which they are listed everywhere."""

from __future__ import annotations

from pytest_verica.graders import json_check, number_check, python_check, text_check
from pytest_verica.graders.protocol import GraderKind

GRADERS: tuple[GraderKind, ...] = (
    text_check.KIND,
    number_check.KIND,
    json_check.KIND,
    python_check.KIND,
)

OLD_NAMES: tuple[GraderKind, ...] = (text_check.OLD_KIND,)
"""Kinds that stay accepted and are listed last."""
