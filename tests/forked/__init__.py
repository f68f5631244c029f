"""A Python that starts at once: a process that has loaded everything forks for each.

What a user's process loads, and when, is shown by tests whose processes start as a user's do.
"""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

from tests.forked import ask

ROOT = Path(__file__).resolve().parents[2]


class ForkedPython:
    """The process that forks, as the suite has it; it is started when it is first used.

    address: the path of its socket, which is made.
    """

    def __init__(self, address: Path) -> None:
        self._socket = str(address)
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def command(self) -> list[str]:
        """Stands for `[sys.executable]` before `-c` or `-m`."""
        return [sys.executable, "-IS", ask.__file__, self._address()]

    def start(self, *arguments: str, folder: Path, environment: Mapping[str, str], out: Path) -> Started:
        """A process that leads a group of its own (its id is the group's) and writes to a file."""
        order = {"arguments": arguments, "folder": str(folder), "environment": dict(environment), "leader": True}
        with open(os.devnull) as nothing, out.open("w") as written:
            return Started(ask.ask(self._address(), order, (nothing.fileno(), written.fileno(), written.fileno())))

    def close(self) -> None:
        if self._process is not None:
            self._process.communicate()

    def _address(self) -> str:
        if self._process is None:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "tests.forked.serve", self._socket],
                cwd=ROOT,
                env={name: value for name, value in os.environ.items() if name != "PYTHONPATH"},
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
            )
            assert self._process.stdout is not None
            assert self._process.stdout.readline() == b"ready\n"
        return self._socket


class Started:
    """A process that was forked."""

    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection
        self._answers = connection.makefile()
        self.pid = int(self._answers.readline())

    def wait(self) -> int:
        """Its exit code; minus the signal that ended it."""
        status = int(self._answers.readline())
        self._answers.close()
        self._connection.close()
        return os.waitstatus_to_exitcode(status)
