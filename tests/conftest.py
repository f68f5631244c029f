"""What every test may use: the folder of real data, and pytester."""

from __future__ import annotations

import os
import signal
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest
from _pytest import pytester as pytester_plugin
from hypothesis import HealthCheck, settings

from tests.forked import ForkedPython

# What a property test tries is the same in every CI run, and new each time at a desk. No machine is too slow for it.
UNTIMED = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("ci", UNTIMED, derandomize=True)
settings.register_profile("desk", UNTIMED)
settings.load_profile("ci" if os.environ.get("CI") else "desk")

# A shell starts what runs in its background with interrupts ignored, and so would be every process that a test starts.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

pytest_plugins = ["pytester"]

ROOT = Path(__file__).resolve().parent.parent


class InstalledModulesStay(pytester_plugin.SysModulesSnapshot):
    """pytester forgets every module that a run inside this process imports. Of an installed package that is imported
    again there would be two of every class, and some refuse to be: only the suite's own modules are forgotten."""

    def restore(self) -> None:
        installed = {name: module for name, module in sys.modules.items() if _is_installed(module)}
        super().restore()
        sys.modules.update({name: module for name, module in installed.items() if name not in sys.modules})


def _is_installed(module: ModuleType) -> bool:
    file = getattr(module, "__file__", None)
    return file is None or file.startswith((sys.prefix, sys.base_prefix, str(ROOT)))


@pytest.fixture(scope="session", autouse=True)
def installed_modules_stay() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pytester_plugin, "SysModulesSnapshot", InstalledModulesStay)
        yield


@pytest.fixture(scope="session")
def forked_python() -> Iterator[ForkedPython]:
    if sys.platform == "win32":
        pytest.skip("forks")
    with tempfile.TemporaryDirectory(dir="/tmp") as folder:  # not in a deep one: a socket's path is a short one
        python = ForkedPython(Path(folder) / "forks")
        yield python
        python.close()


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """Other people's golden sets, outputs and labels, each with its licence: read in tests, never in the project."""
    folder = Path(os.environ.get("VERICA_SHARED_DATA") or ROOT.parent / "shared" / "data")
    if not folder.is_dir():
        if os.environ.get("VERICA_REQUIRE_SHARED_DATA"):
            pytest.fail(f"the real data is required here and {folder} is absent")
        pytest.skip(f"needs the real data in {folder} (set VERICA_SHARED_DATA to its place)")
    return folder
