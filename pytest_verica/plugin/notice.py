"""Warnings for pytest's summary of warnings, from wherever they come; no filter turns them into errors."""

from __future__ import annotations

import warnings

import pytest


def warn(config: pytest.Config, text: str) -> None:
    """Tells a warning; from a worker, on its controller."""
    message = warnings.WarningMessage(pytest.PytestWarning(text), pytest.PytestWarning, "pytest-verica", 1)
    config.hook.pytest_warning_recorded.call_historic(
        kwargs={"warning_message": message, "when": "runtest", "nodeid": "", "location": None}
    )
