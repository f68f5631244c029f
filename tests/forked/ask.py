"""Is a forked process to whoever waits for it: `python -IS tests/forked/ask.py SOCKET ARGUMENTS-OF-PYTHON`."""

from __future__ import annotations

import json
import os
import socket
import sys


def ask(address: str, order: dict[str, object], streams: tuple[int, int, int]) -> socket.socket:
    """Asks for a process that has these streams. What is answered: its id and, when it has ended, its status, a line
    each. It is killed where the connection ends before it does."""
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    connection.connect(address)
    socket.send_fds(connection, [b"."], streams)
    connection.sendall(json.dumps(order).encode() + b"\n")
    return connection


def main() -> None:
    address, *arguments = sys.argv[1:]
    order = {"arguments": arguments, "folder": os.getcwd(), "environment": dict(os.environ), "leader": False}
    with ask(address, order, (0, 1, 2)).makefile() as answers:
        _, status = answers.readline(), int(answers.readline())
    if os.WIFSIGNALED(status):
        os.kill(os.getpid(), os.WTERMSIG(status))
    os._exit(os.WEXITSTATUS(status))


if __name__ == "__main__":
    main()
