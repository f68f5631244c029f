"""Runs of `pytest --verica` as processes that start at once: a process that has loaded everything forks for each.

Of the modules only pytest's and the product's own state is new in each; what a user's process loads first, others show.
"""

from __future__ import annotations

import contextlib
import json
import os
import resource
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

from tests.pytest_door.reference_eval import environment

ROOT = Path(__file__).resolve().parents[2]


class Nursery:
    """The process that forks. A run is the leader of a process group of its own: its id is the group's."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", __name__],
            cwd=ROOT,
            env={**environment(), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def start(self, folder: Path, *args: str, out: Path | None = None, **orders: Any) -> int:
        """The process id of a new run. orders: see `_obey`."""
        given = ["-pverica", "-pxdist", "-pno:cacheprovider", "--verica", "-q", *args]
        return int(self._ask(start=given, folder=str(folder), out=None if out is None else str(out), **orders))

    def wait(self, pid: int) -> int:
        """The exit code of a run; minus the signal that ended it."""
        return os.waitstatus_to_exitcode(int(self._ask(wait=pid)))

    def close(self) -> None:
        assert self._process.stdin is not None and self._process.stdout is not None
        self._process.stdin.close()
        self._process.stdout.close()
        self._process.wait()

    def _ask(self, **order: Any) -> str:
        assert self._process.stdin is not None and self._process.stdout is not None
        self._process.stdin.write(json.dumps(order) + "\n")
        self._process.stdin.flush()
        return self._process.stdout.readline()


def _obey(orders: dict[str, Any]) -> None:
    """kill_at_piece: the run kills itself when it has written so many pieces of its report; most_bytes: no file may
    grow longer."""
    piece = orders.get("kill_at_piece")
    if piece is not None:
        from pytest_verica.report import json_report

        whole = json_report._document

        def cut(*args: Any) -> Any:
            for number, text in enumerate(whole(*args)):
                yield text
                if number == piece:
                    os.kill(os.getpid(), signal.SIGKILL)

        json_report._document = cut
    most = orders.get("most_bytes")
    if most is not None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))


def _run(order: dict[str, Any]) -> None:
    os.setsid()
    os.chdir(order["folder"])
    sys.path.insert(0, order["folder"])
    out = os.open(order["out"] or os.devnull, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    for stream in (1, 2):
        os.dup2(out, stream)
    code = 99
    try:
        _obey(order)
        sys.argv = ["pytest", *order["start"]]
        code = int(pytest.main(order["start"]))
    finally:
        with contextlib.suppress(OSError, ValueError):
            sys.stdout.flush()
        os._exit(code)


if __name__ == "__main__":
    import aiohttp  # noqa: F401
    import filelock  # noqa: F401
    import genai_prices  # noqa: F401
    import jsonschema  # noqa: F401
    import pytest
    import xdist.dsession  # noqa: F401

    import pytest_verica.plugin.active
    import pytest_verica.providers.chat_completions  # noqa: F401

    for line in sys.stdin:
        given = json.loads(line)
        if "wait" in given:
            print(os.waitpid(given["wait"], 0)[1], flush=True)
        else:
            pid = os.fork()
            if pid == 0:
                _run(given)
            print(pid, flush=True)
