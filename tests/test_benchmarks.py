"""The benchmarks still run: small, once, whatever their ratios are here. `benchmarks/README.md` has the limits."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

RUN = Path(__file__).resolve().parent.parent / "benchmarks" / "run.py"


def _run(*args: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, str(RUN), *args], capture_output=True, text=True, timeout=300, check=False)


@pytest.mark.slow
@pytest.mark.parametrize("job", ["reference", "deterministic", "start"])
def test_a_job_is_measured(job: str) -> None:
    done = _run(job, "--rounds", "1", "--cases", "10")
    assert done.returncode in (0, 1), done.stdout + done.stderr  # 1: over a limit, which is not asked here
    assert f"\n{job}" in done.stdout.partition("figure")[2]
    (kept,) = [
        Path(line.removeprefix("every run: ")) for line in done.stdout.splitlines() if line.startswith("every run")
    ]
    kept.unlink()


def test_an_unknown_job_is_told() -> None:
    done = _run("nothing")
    assert done.returncode == 2
    assert "no job 'nothing'; the jobs are reference, deterministic, idle, start, growth, all" in done.stderr


@pytest.mark.slow
def test_memory_does_not_grow_with_the_outputs() -> None:
    """Ten times as many outputs of 100 kB are 180 MB more on disk, and less than a doubling in memory."""
    script = RUN.with_name("memory.py")
    done = subprocess.run(
        [sys.executable, str(script), "200", "100000"], capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "2,000 cases: " in done.stdout and "MB" in done.stdout
