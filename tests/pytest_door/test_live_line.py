"""The live line, on a real pseudo-terminal; and nothing of it anywhere else."""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path

import pytest

from tests.fake_provider import FakeProvider
from tests.pytest_door.reference_eval import command, environment, run, write_sums

pty = pytest.importorskip("pty", reason="pseudo-terminals are POSIX")


def on_a_terminal(folder: Path, *args: str) -> str:
    """Everything that a run writes when its output is a terminal."""
    words = command(*args)
    child, terminal = pty.fork()
    if child == 0:  # pragma: no cover - another process
        os.chdir(folder)
        os.execve(sys.executable, words, {**environment(), "TERM": "xterm", "COLUMNS": "100"})
    text = b""
    while True:
        try:
            piece = os.read(terminal, 65536)
        except OSError:  # the other end is closed
            break
        if not piece:
            break
        text += piece
    os.waitpid(child, 0)
    os.close(terminal)
    return text.decode()


@pytest.mark.slow
def test_live_line_on_a_terminal_only(tmp_path: Path) -> None:
    with FakeProvider(latency_ms=150) as fake:
        write_sums(tmp_path, fake.url, 6)
        shown = on_a_terminal(tmp_path, "-v", "--verica-concurrency=2")  # -v takes back the -q of `command`
        plain = run(tmp_path, "-v").text
        quiet = on_a_terminal(tmp_path)
    lines = re.findall(
        r"\d+ cases · \d+ verdicts · [\d.]+% passed · \d+ calls in flight · \$[\d.e-]+ · about \d+ s left", shown
    )
    assert lines, shown
    assert shown.count("\x1b[1A") >= 2 * len(lines), "each is taken away again"
    assert "calls in flight" not in plain and "\x1b" not in plain
    assert "calls in flight" not in quiet
