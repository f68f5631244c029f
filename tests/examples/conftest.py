"""An example of conftest_examples/, copied and run as its README says."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import ROOT
from tests.pytest_door.conftest import OTHER_PLUGINS

EXAMPLES = ROOT / "conftest_examples"
NOT_OURS = re.compile(
    r"VERICA|API_?KEY|TOKEN|SECRET|PROXY|^(CI$|GITHUB_|OPENAI|ANTHROPIC|SHOP_|PYTEST_)", re.IGNORECASE
)
"""Names of the environment variables that a run must do without."""
PLAIN = (*(f"-pno:{name}" for name in ("cacheprovider", *OTHER_PLUGINS)), "-W", "error")


class Example:
    """A folder of its own, and runs in it by another process."""

    def __init__(self, pytester: pytest.Pytester) -> None:
        self._pytester = pytester
        self.path: Path = pytester.path

    def copy(self, folder: str) -> None:
        """Copies an example as a clone has it, without what a run in the checkout has left there."""
        self._pytester.copy_example(folder)
        for left in (".verica", ".pytest_cache", "__pycache__"):
            shutil.rmtree(self.path / left, ignore_errors=True)

    def run(self, command: str, *, offline: bool = True) -> pytest.RunResult:
        """Runs `pytest …`. offline: whatever it does to reach a network, this machine's own servers too, fails it."""
        program, *arguments = shlex.split(command)
        assert program == "pytest"
        more = ("-p", "tests.examples.offline") if offline else ()
        return self._pytester.runpytest_subprocess(*arguments, *PLAIN, *more)

    def report(self) -> Mapping[str, Any]:
        """The JSON report of the last run."""
        last = max(self.path.glob(".verica/runs/*/report.json"), key=lambda path: path.stat().st_mtime_ns)
        report: Mapping[str, Any] = json.loads(last.read_text("utf-8"))
        return report


@pytest.fixture
def example(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> Example:
    """An example whose environment has no key, no proxy and no setting of ours."""
    for name in [name for name in os.environ if NOT_OURS.search(name)]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("PYTHONPATH", str(ROOT))  # for the plugin that refuses the network
    return Example(pytester)
