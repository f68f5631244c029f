"""The published shape of the JSON report: JSON Schema, draft 2020-12. A change of meaning raises its version."""

from __future__ import annotations

import json
from importlib import resources
from typing import Any


def report_schema() -> dict[str, Any]:
    """The schema, as `report.schema.json` beside this module holds it."""
    text = resources.files("pytest_verica.report").joinpath("report.schema.json").read_text(encoding="utf-8")
    schema: dict[str, Any] = json.loads(text)
    return schema
