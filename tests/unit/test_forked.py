"""The Python that starts at once is to whoever starts it as good as one that does not."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

from tests.forked import ForkedPython

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="forks")

ECHO = "import os, sys; print(sys.stdin.read(), sys.argv, os.environ['ONE'], os.getcwd()); sys.exit(3)"


def test_streams_arguments_environment_folder_and_exit_code(forked_python: ForkedPython, tmp_path: Path) -> None:
    told = [
        subprocess.run(
            [*python, "-c", ECHO, "a b", "c"],
            input="given",
            capture_output=True,
            text=True,
            cwd=tmp_path,
            env={**os.environ, "ONE": "1"},
            check=False,
        )
        for python in ([sys.executable], forked_python.command)
    ]
    assert told[0].returncode == told[1].returncode == 3
    assert told[0].stdout == told[1].stdout == f"given ['-c', 'a b', 'c'] 1 {tmp_path}\n"


@pytest.mark.parametrize("code", ["raise ValueError('why')", "import sys; sys.exit('why')"])
def test_an_error_is_told(forked_python: ForkedPython, code: str) -> None:
    done = subprocess.run([*forked_python.command, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr.rstrip().endswith("why")


def test_a_module_is_run(forked_python: ForkedPython, tmp_path: Path) -> None:
    (tmp_path / "shop.py").write_text("print(__name__)")
    done = subprocess.run([*forked_python.command, "-m", "shop"], capture_output=True, text=True, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (0, "__main__\n")


def test_a_signal_that_ends_it_is_told(forked_python: ForkedPython, tmp_path: Path) -> None:
    code = "import os, signal; os.kill(os.getpid(), signal.SIGKILL)"
    assert subprocess.run([*forked_python.command, "-c", code], check=False).returncode == -signal.SIGKILL
    started = forked_python.start("-c", code, folder=tmp_path, environment=os.environ, out=tmp_path / "out")
    assert started.wait() == -signal.SIGKILL


def test_it_ends_with_whoever_asked_for_it(forked_python: ForkedPython, tmp_path: Path) -> None:
    code = "import os, time; print(os.getpid(), flush=True); time.sleep(60)"
    with subprocess.Popen([*forked_python.command, "-c", code], stdout=subprocess.PIPE, text=True) as asked:
        assert asked.stdout is not None
        found = psutil.Process(int(asked.stdout.readline()))
        assert found.pid != asked.pid
        asked.kill()
    limit = time.monotonic() + 10
    while found.is_running() and found.status() != psutil.STATUS_ZOMBIE:
        assert time.monotonic() < limit
        time.sleep(0.01)
