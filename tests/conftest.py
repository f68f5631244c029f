"""What every test may use: the folder of real data, and pytester."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import settings

# What a property test tries is the same in every CI run, and new each time at a desk.
settings.register_profile("ci", derandomize=True, deadline=None)
settings.register_profile("desk", deadline=None)
settings.load_profile("ci" if os.environ.get("CI") else "desk")

pytest_plugins = ["pytester"]

ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """Other people's golden sets, outputs and labels, each with its licence: read in tests, never in the project."""
    folder = Path(os.environ.get("VERICA_SHARED_DATA") or ROOT.parent / "shared" / "data")
    if not folder.is_dir():
        if os.environ.get("VERICA_REQUIRE_SHARED_DATA"):
            pytest.fail(f"the real data is required here and {folder} is absent")
        pytest.skip(f"needs the real data in {folder} (set VERICA_SHARED_DATA to its place)")
    return folder
