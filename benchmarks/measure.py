"""One command measured as a whole process: wall, CPU and peak memory of it and of every process that it waited for."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

MOST_SECONDS = 600
# Bytecode is cached on both sides; nothing of a CI service or of the caller's own pytest changes what is measured.
_LEFT_OUT = ("PYTHONDONTWRITEBYTECODE", "PYTHONPROFILEIMPORTTIME", "CI")
_LEFT_OUT_PREFIXES = ("PYTEST_", "VERICA_", "GITHUB_", "COV_")


@dataclass(frozen=True)
class Side:
    """A command to compare. before: called before each run, outside the measurement; codes: exit codes that are right;
    check: called after each run with what it printed, raises where the run was not the job that was meant."""

    name: str
    command: Sequence[str]
    cwd: Path
    environment: Mapping[str, str] = field(default_factory=dict)
    before: Callable[[], object] = lambda: None
    codes: frozenset[int] = frozenset({0})
    check: Callable[[str], object] = lambda printed: None


@dataclass(frozen=True)
class Figures:
    """One run. wall_s, cpu_s: seconds, CPU of all its processes; peak_mb: the largest resident set of any of them."""

    side: str
    wall_s: float
    cpu_s: float
    peak_mb: float


class Failed(Exception):
    """A command did not end as it should."""


def measure(side: Side) -> Figures:
    """Runs a command once.

    Raises:
        Failed: it took too long, ended with another exit code, or did not do what was meant.
    """
    side.before()
    log = side.cwd / f"{side.name}.log"
    with log.open("w+b") as output:
        started = time.perf_counter()
        process = subprocess.Popen(
            [*side.command],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            cwd=side.cwd,
            env={**environment(), **side.environment},
            start_new_session=True,
        )
        limit = threading.Timer(MOST_SECONDS, os.killpg, (process.pid, signal.SIGKILL))
        limit.start()
        try:
            _, status, usage = os.wait4(process.pid, 0)
        except BaseException:  # Ctrl-C leaves nothing behind
            os.killpg(process.pid, signal.SIGKILL)
            raise
        finally:
            limit.cancel()
        wall = time.perf_counter() - started
    process.returncode = os.waitstatus_to_exitcode(status)  # it was waited for here, not by Popen
    printed = log.read_text("utf-8", errors="replace")
    if process.returncode not in side.codes:
        raise Failed(f"{side.name} ended with {process.returncode}:\n{printed[-3000:]}")
    side.check(printed)
    scale = 1024 * 1024 if sys.platform == "darwin" else 1024
    return Figures(side.name, wall, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / scale)


def environment() -> dict[str, str]:
    """The environment of every measured process."""
    return {
        name: value
        for name, value in os.environ.items()
        if name not in _LEFT_OUT and not name.startswith(_LEFT_OUT_PREFIXES)
    }


def in_rounds(sides: Sequence[Side], rounds: int, told: Callable[[str], object]) -> list[dict[str, Figures]]:
    """Runs A B A B …: what drifts on a machine that others use too hits all sides of a round alike. A first round, in
    which bytecode is written and files are read from the disk, is not counted."""
    for side in sides:
        measure(side)
    found = []
    for number in range(1, rounds + 1):
        one = {side.name: measure(side) for side in sides}
        shown = ", ".join(f"{f.side} {f.wall_s:.2f} s, CPU {f.cpu_s:.2f} s, {f.peak_mb:.0f} MB" for f in one.values())
        told(f"  round {number} of {rounds}: {shown}")
        found.append(one)
    return found
