"""The graders that ask no model, in the order in which they are listed everywhere: one line each."""

from __future__ import annotations

GRADERS: dict[str, str] = {
    "text_check": "pytest_verica.graders.text_check:KIND",
    "number_check": "pytest_verica.graders.number_check:KIND",
    "json_check": "pytest_verica.graders.json_check:KIND",
    "tool_check": "pytest_verica.graders.tool_check:KIND",
    "trajectory_check": "pytest_verica.graders.trajectory_check:KIND",
    "state_check": "pytest_verica.graders.state_check:KIND",
    "span_check": "pytest_verica.graders.span_check:KIND",
    "python_check": "pytest_verica.graders.python_check:KIND",
    "text_similarity": "pytest_verica.graders.text_similarity:KIND",
}
"""Name → where its kind is. Loaded when first used, so that starting does not cost more with each kind there is."""

OLD_NAMES: dict[str, str] = {"string_check": "pytest_verica.graders.text_check:OLD_KIND"}
"""Kinds that stay accepted and are listed last."""
