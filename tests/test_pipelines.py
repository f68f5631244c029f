"""The pipelines of docs/how-to/ci.md, executed: the commands that they give, in order, in a folder with an eval."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import xml.etree.ElementTree as ET
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML

from tests.test_docs import DOCS, fences_of

EVAL = """
golden_set: rows.csv
target: {column: answer}
criteria: [{name: polite, type: text_check, contains: please}]
gate: GATE
"""
ROWS = "id,answer\n" + "".join(f"row-{n},{'yes please' if n % 4 else 'no'}\n" for n in range(12))
"""Nine of twelve pass."""

FILES = {fence.title: fence.text for fence in fences_of(DOCS / "how-to" / "ci.md") if fence.title}


def loaded(name: str) -> Mapping[str, Any]:
    found: Mapping[str, Any] = YAML(typ="safe").load(FILES[name])
    return found


def steps(job: Mapping[str, Any], **matrix: int) -> Iterator[str]:
    """The commands of a job but for the installation, its expressions filled in."""
    for step in job["steps"]:
        if "run" in step and not step["run"].startswith("pip "):
            yield re.sub(r"\$\{\{ matrix\.(\w+) \}\}", lambda match: str(matrix[match[1]]), step["run"])


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "rows.csv").write_text(ROWS)
    (tmp_path / "polite.eval.yaml").write_text(EVAL.replace("GATE", "0.5"))
    return tmp_path


def run(folder: Path, command: str) -> int:
    kept = {k: v for k, v in os.environ.items() if k != "CI" and not k.startswith(("PYTEST_", "VERICA_", "GITHUB_"))}
    path = os.pathsep.join([str(Path(sys.executable).parent), kept.get("PATH", "")])
    off = " ".join(f"-p no:{name}" for name in ("randomly", "rerunfailures", "asyncio", "anyio", "hypothesispytest"))
    summary = folder / "summary.md"
    environment = {**kept, "PATH": path, "PYTEST_ADDOPTS": off, "GITHUB_STEP_SUMMARY": str(summary)}
    done = subprocess.run(
        ["sh", "-c", command], cwd=folder, env=environment, capture_output=True, text=True, timeout=90
    )
    print(done.stdout, done.stderr)
    return done.returncode


def jenkins() -> list[str]:
    commands = re.findall(r"sh '([^']*)'", FILES["Jenkinsfile"])
    assert commands[0].startswith("pip ")
    return commands[1:]


PIPELINES = {
    "github": lambda: list(steps(loaded(".github/workflows/evals.yml")["jobs"]["evals"])),
    "gitlab": lambda: loaded(".gitlab-ci.yml")["evals"]["script"][1:],
    "jenkins": jenkins,
}


@pytest.mark.slow
@pytest.mark.parametrize("name", PIPELINES)
def test_a_passing_gate_leaves_no_failure_and_every_file(folder: Path, name: str) -> None:
    (command,) = PIPELINES[name]()
    assert run(folder, command) == 0
    junit = ET.parse(folder / "junit.xml").getroot()
    assert len(junit.findall(".//testcase")) == 13
    assert not junit.findall(".//failure") and not junit.findall(".//error")
    assert (folder / "report.html").is_file() and (folder / "report.json").is_file()
    assert "Evals passed" in (folder / "summary.md").read_text("utf-8")


@pytest.mark.slow
def test_a_failing_gate_fails_the_command_and_junit(folder: Path) -> None:
    (folder / "polite.eval.yaml").write_text(EVAL.replace("GATE", "0.9"))
    (command,) = PIPELINES["jenkins"]()
    assert run(folder, command) == 1
    failures = ET.parse(folder / "junit.xml").getroot().findall(".//failure")
    assert ["9 of 12 passed (75 %), 90 % wanted" in (failure.text or "") for failure in failures] == [True]
    assert "Evals failed" in (folder / "summary.md").read_text("utf-8")


@pytest.mark.slow
def test_shards_are_joined_and_judged(folder: Path) -> None:
    pytest.importorskip("pytest_verica.cli.merge")
    jobs = loaded(".github/workflows/evals-sharded.yml")["jobs"]
    for shard in jobs["shard"]["strategy"]["matrix"]["shard"]:
        (command,) = steps(jobs["shard"], shard=shard)
        assert run(folder, command) == 0
        target = folder / "shards" / f"shard-{shard}"
        target.parent.mkdir(exist_ok=True)
        (folder / ".verica" / "runs").rename(target)
    merge, *reports = steps(jobs["gate"])
    assert run(folder, merge) == 0
    assert [run(folder, command) for command in reports] == [0, 0]
    assert len(ET.parse(folder / "junit.xml").getroot().findall(".//testcase")) == 13
    assert "9 / 12" in (folder / "summary.md").read_text("utf-8")
    assert (folder / "report.html").is_file()
