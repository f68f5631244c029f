"""A hundred kills and two full disks: no stored answer is lost, none is bought twice, what is left is readable.

Calls made in all = distinct requests + those under way when a process was killed.
"""

from __future__ import annotations

import json
import os
import random
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import jsonschema
import psutil
import pytest

from pytest_verica.report.schema import report_schema
from pytest_verica.report.summary import read_run
from pytest_verica.store.folder import answers_path
from pytest_verica.store.journal import scan_journal
from pytest_verica.store.responses import ResponseStore
from tests.fake_provider import FakeProvider
from tests.forked import ForkedPython, Started
from tests.pytest_door.reference_eval import CALLS_PER_CASE, CRITERIA, environment, write_sums

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform == "win32", reason="forks, and kills process groups"),
]
CASES = 100
CALLS = CASES * CALLS_PER_CASE
AT_ONCE = 4
"""Calls under way, of a whole run."""


PLAIN = """
import sys, pytest

sys.exit(pytest.main(sys.argv[1:]))
"""
KILLED_IN_ITS_REPORT = """
import os, signal
from pytest_verica.report import json_report

pieces = json_report._document


def cut(*args):
    for number, piece in enumerate(pieces(*args)):
        yield piece
        if number == PIECE:
            os.kill(os.getpid(), signal.SIGKILL)


json_report._document = cut
"""
NO_FILE_MAY_GROW = """
import resource, signal

signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (150_000, 150_000))
"""


@dataclass(frozen=True)
class Runs:
    """Starts runs of the evals of a folder, each the leader of a process group."""

    python: ForkedPython

    def start(self, folder: Path, *args: str, out: str = os.devnull, before: str = "") -> Started:
        """before: what it does first."""
        given = ["-pverica", "-pxdist", "-pno:cacheprovider", "--verica", "-q", *args]
        plugins = {**environment(), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
        return self.python.start("-c", before + PLAIN, *given, folder=folder, environment=plugins, out=folder / out)


@pytest.fixture
def runs(forked_python: ForkedPython) -> Runs:
    return Runs(forked_python)


class Bookkeeper:
    """A folder with the eval, its provider, and what was lost so far."""

    def __init__(self, folder: Path, fake: FakeProvider, runs: Runs) -> None:
        self.folder, self.fake, self.runs = folder, fake, runs
        self.kills = self.lost = 0
        self._received = self._stored = 0
        write_sums(folder, fake.url, CASES)

    def start(self, *args: str, before: str = "") -> Started:
        return self.runs.start(self.folder, f"--verica-concurrency={AT_ONCE}", *args, before=before)

    def until(self, run: Started, calls: int) -> None:
        """Waits until the run has made so many calls, or has ended."""
        target = self.fake.stats()["requests"] + calls
        limit = time.monotonic() + 60
        while self.fake.stats()["requests"] < target and lives(psutil.Process(run.pid)):
            assert time.monotonic() < limit, "the run makes no calls"
            time.sleep(0.002)

    def entered(self, kills: int) -> None:
        """After so many kills: what was under way is lost, no more; what is left can be read."""
        while self.fake.stats()["in_flight"]:
            time.sleep(0.005)
        received, stored = self.fake.stats()["requests"], self.answers()
        lost = (received - self._received) - (stored - self._stored)
        assert 0 <= lost <= AT_ONCE * kills, "only what was under way is lost"
        self.kills, self.lost = self.kills + kills, self.lost + lost
        self._received, self._stored = received, stored
        newest = max((self.folder / ".verica" / "runs").glob("*/journal.jsonl"), default=None)
        if newest is not None:
            list(scan_journal(newest))

    def answers(self) -> int:
        store = ResponseStore(answers_path(self.folder))
        try:
            assert not store.warnings
            return store.count()
        finally:
            store.close()

    def finish(self) -> None:
        """The run that completes: everything that was stored is reused, and the books balance."""
        before = self.fake.stats()["requests"]
        report = self.folder / "report.json"
        run = self.runs.start(self.folder, f"--verica-report={report}", out="out.txt")
        assert run.wait() == 0, (self.folder / "out.txt").read_text()
        found = json.loads(report.read_text())
        jsonschema.Draft202012Validator(report_schema()).validate(found)
        assert found["totals"]["ran"] == found["totals"]["graded"] == CASES * CRITERIA
        made = self.fake.stats()["requests"] - before
        assert found["totals"]["calls"] == {"made": made, "reused": CALLS - made, "retried": 0}
        assert self.fake.stats()["requests"] == CALLS + self.lost
        assert self.fake.stats()["unique"] == self.answers() == CALLS


def workers_of(pid: int) -> list[psutil.Process]:
    with suppress(psutil.NoSuchProcess):
        return psutil.Process(pid).children()
    return []


def at_work(pid: int) -> psutil.Process:
    """The oldest worker. The death of one that is only being started is too much for xdist itself."""
    return min(filter(lives, workers_of(pid)), key=psutil.Process.create_time)


def gone(workers: list[psutil.Process]) -> None:
    """Workers end by themselves when their controller is gone. Who inherits them may let a dead one lie for a while."""
    limit = time.monotonic() + 30
    while any(map(lives, workers)):
        assert time.monotonic() < limit, "a worker outlives its controller"
        time.sleep(0.005)


def lives(process: psutil.Process) -> bool:
    try:
        return process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def test_a_hundred_kills(tmp_path: Path, runs: Runs) -> None:
    dice = random.Random(100)
    with FakeProvider(latency_ms=80) as fake:
        books = Bookkeeper(tmp_path, fake, runs)
        for _ in range(64):  # the only process, at its samples and its judges
            run = books.start()
            books.until(run, dice.randrange(1, 2 * AT_ONCE))
            os.killpg(run.pid, signal.SIGKILL)
            assert run.wait() == -signal.SIGKILL
            books.entered(1)
        for number in range(4):  # the controller alone, or it and its workers
            run = books.start("-n2")
            books.until(run, 3)
            workers = workers_of(run.pid)
            (os.killpg if number % 2 else os.kill)(run.pid, signal.SIGKILL)
            assert run.wait() == -signal.SIGKILL
            gone(workers)
            books.entered(1)
        for _ in range(3):  # workers, whose places are taken by new ones; then all that is left
            run = books.start("-n2", "--max-worker-restart=8")
            for _ in range(5):
                books.until(run, 2)
                at_work(run.pid).kill()
            workers = workers_of(run.pid)
            os.killpg(run.pid, signal.SIGKILL)
            assert run.wait() == -signal.SIGKILL
            gone(workers)
            books.entered(6)
        assert books.answers() < CALLS, "every kill hit a run that was at work"
        fake.options.update({"latency_ms": 1.0})
        for piece in dice.choices(range(2, CASES + 5), k=100 - books.kills):  # while the report is written
            run = books.start(before=KILLED_IN_ITS_REPORT.replace("PIECE", str(piece)))
            assert run.wait() == -signal.SIGKILL
            books.entered(1)
            newest = max((tmp_path / ".verica" / "runs").glob("*/journal.jsonl"))
            assert read_run(newest).overall.counts.ran == CASES * CRITERIA
            assert not newest.with_name("report.json").exists(), "it appears whole or not at all"
        assert books.kills == 100 and books.lost > 0
        books.finish()


def small_disk(folder: Path) -> Callable[[], None] | None:
    """A disk of 300 kB for the folder; what makes it large, and what takes it away. None where none can be had."""
    if not (sys.platform == "linux" and os.geteuid() == 0):
        return None
    done = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=300k", "none", str(folder)], capture_output=True, check=False
    )
    if done.returncode:
        return None
    return lambda: subprocess.run(["mount", "-o", "remount,size=64m", str(folder)], check=True) and None


@pytest.mark.parametrize("args", [(), ("-n2",)], ids=["alone", "n2"])
def test_a_full_disk(tmp_path: Path, runs: Runs, args: tuple[str, ...]) -> None:
    kept = tmp_path / ".verica"
    kept.mkdir()
    enlarge = small_disk(kept)
    if enlarge is None:
        pytest.skip("a small disk needs Linux, root and tmpfs")
    try:
        with FakeProvider(latency_ms=5) as fake:
            books = Bookkeeper(tmp_path, fake, runs)
            run = runs.start(tmp_path, f"--verica-concurrency={AT_ONCE}", *args, out="full.txt")
            assert run.wait() != 0
            said = (tmp_path / "full.txt").read_text()
            assert re.search("free (some )?space", said), said
            assert "INTERNALERROR" not in said, said
            assert 0 < books.answers() < CALLS
            books.entered(2)  # under way, or answered in the very turn in which the disk was found full
            enlarge()
            books.finish()
    finally:
        subprocess.run(["umount", "-l", str(kept)], check=False)


def test_a_file_that_may_not_grow(tmp_path: Path, runs: Runs) -> None:
    """The same without root: the limit of a file's length stands for the disk's."""
    with FakeProvider(latency_ms=5) as fake:
        books = Bookkeeper(tmp_path, fake, runs)
        run = runs.start(tmp_path, f"--verica-concurrency={AT_ONCE}", out="full.txt", before=NO_FILE_MAY_GROW)
        assert run.wait() != 0
        said = (tmp_path / "full.txt").read_text()
        assert re.search("free (some )?space", said) and "INTERNALERROR" not in said, said
        assert 0 < books.answers() < CALLS
        books.entered(2)
        books.finish()
