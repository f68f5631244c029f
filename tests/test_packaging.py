"""What surrounds the package: its scripts, its matrix, and the promises of pyproject.toml."""

from __future__ import annotations

import configparser
import os
import re
import runpy
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).resolve().parent.parent
TEXT = (ROOT / "pyproject.toml").read_text("utf-8")
PROJECT: dict[str, Any] = tomllib.loads(TEXT)
SCRIPTS = [*sorted((ROOT / "run").glob("*.sh")), ROOT / ".ci" / "run"]


def _name(requirement: str) -> str:
    return re.split(r"[\[<>=!~; ]", requirement, maxsplit=1)[0]


def test_every_direct_dependency_has_an_oldest_version() -> None:
    lowest = runpy.run_path(str(ROOT / "run" / "lowest.py"))["lowest"](TEXT)
    assert [line.partition("==")[0] for line in lowest] == [_name(each) for each in PROJECT["project"]["dependencies"]]


@pytest.mark.parametrize("written", ["pytest", "pytest>=8.4,<9", "pytest==8.4"])
def test_a_dependency_without_an_oldest_version_is_refused(written: str) -> None:
    lowest = runpy.run_path(str(ROOT / "run" / "lowest.py"))["lowest"]
    with pytest.raises(ValueError, match="expected a dependency with one lower bound"):
        lowest(f'[project]\ndependencies = ["{written}"]\n')


def test_the_tests_have_what_the_extras_bring() -> None:
    extras = {_name(each) for group in PROJECT["project"]["optional-dependencies"].values() for each in group}
    assert extras <= {_name(each) for each in PROJECT["dependency-groups"]["test"]}


def test_the_matrix_runs_every_python_that_the_package_names() -> None:
    tox = configparser.ConfigParser(interpolation=None)
    tox.read(ROOT / "tox.ini")
    classifiers = " ".join(PROJECT["project"]["classifiers"])
    named = re.findall(r"Python :: 3\.(\d+)", classifiers)
    assert f"py3{{{','.join(named)}}}" in tox["tox"]["env_list"]
    assert PROJECT["project"]["requires-python"] == f">=3.{named[0]}"


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.name)
def test_a_script_is_sound_and_can_be_run(script: Path) -> None:
    shell = "bash" if "bash" in script.read_text().splitlines()[0] else "sh"
    if shutil.which(shell) is None:
        pytest.skip(f"no {shell} here")
    assert subprocess.run([shell, "-n", str(script)], check=False).returncode == 0
    assert os.access(script, os.X_OK)
