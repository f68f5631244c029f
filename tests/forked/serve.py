"""The process that forks: `python -m tests.forked.serve SOCKET`, until its stdin is closed.

What is loaded here is loaded in every process that is asked of it; only pytest's and the product's own state is new.
"""

from __future__ import annotations

import atexit
import json
import os
import runpy
import selectors
import signal
import socket
import sys
import threading
import traceback
from contextlib import suppress
from typing import Any, NoReturn

import aiohttp  # noqa: F401
import filelock  # noqa: F401
import genai_prices  # noqa: F401
import jsonschema  # noqa: F401
import pytest  # noqa: F401
import ruamel.yaml  # noqa: F401
import xdist.dsession
import xdist.remote  # noqa: F401
from _pytest.assertion.rewrite import AssertionRewritingHook

import pytest_verica.cli.command
import pytest_verica.plugin.active
import pytest_verica.providers.chat_completions  # noqa: F401


class Server:
    """The processes that live, each with the connection of whoever asked for it."""

    def __init__(self, address: str) -> None:
        self._listening = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._listening.bind(address)
        self._listening.listen()
        self._woken, self._wakes = socket.socketpair()
        self._wakes.setblocking(False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.set_wakeup_fd(self._wakes.fileno(), warn_on_full_buffer=False)
        self._living: dict[int, socket.socket] = {}
        self._selector = selectors.DefaultSelector()
        for waited in (sys.stdin, self._listening, self._woken):
            self._selector.register(waited, selectors.EVENT_READ)

    def serve(self) -> None:
        while True:
            for key, _ in self._selector.select():
                if key.fileobj is sys.stdin:
                    return
                if key.fileobj is self._listening:
                    self._fork(self._listening.accept()[0])
                elif key.fileobj is self._woken:
                    self._woken.recv(4096)
                    self._tell_of_the_dead()
                else:
                    self._kill(key.fileobj)

    def _fork(self, connection: socket.socket) -> None:
        _, streams, _, _ = socket.recv_fds(connection, 1, 3)
        with connection.makefile("rb") as sent:
            order = json.loads(sent.readline())
        pid = os.fork()
        if pid == 0:
            signal.set_wakeup_fd(-1)
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            for other in (self._listening, self._woken, self._wakes, connection, *self._living.values()):
                other.close()
            self._selector.close()
            become(order, streams)
        if order["leader"]:
            with suppress(OSError):  # it may have done so itself, or have ended
                os.setpgid(pid, pid)
        for stream in streams:
            os.close(stream)
        connection.sendall(f"{pid}\n".encode())
        self._living[pid] = connection
        self._selector.register(connection, selectors.EVENT_READ)

    def _tell_of_the_dead(self) -> None:
        with suppress(ChildProcessError):
            while (ended := os.waitpid(-1, os.WNOHANG))[0]:
                pid, status = ended
                connection = self._living.pop(pid)
                with suppress(KeyError):
                    self._selector.unregister(connection)
                with suppress(OSError):
                    connection.sendall(f"{status}\n".encode())
                connection.close()

    def _kill(self, connection: Any) -> None:
        self._selector.unregister(connection)
        for pid, its in self._living.items():
            if its is connection:
                os.kill(pid, signal.SIGKILL)


def become(order: dict[str, Any], streams: list[int]) -> NoReturn:
    """Is the process that was asked for, to its end."""
    if order["leader"]:
        os.setpgid(0, 0)
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
        os.close(stream)
    os.environ.clear()
    os.environ.update(order["environment"])
    os.chdir(order["folder"])
    sys.dont_write_bytecode = bool(os.environ.get("PYTHONDONTWRITEBYTECODE"))
    code: Any = 1
    try:
        run(order["arguments"])
        code = 0
    except SystemExit as end:
        code = end.code
        if not isinstance(code, int):
            code = 0 if code is None else print(code, file=sys.stderr) or 1
    except BaseException:
        traceback.print_exc()
    finally:
        threading._shutdown()  # type: ignore[attr-defined]
        atexit._run_exitfuncs()
        for written in (sys.stdout, sys.stderr):
            with suppress(OSError, ValueError):
                written.flush()
        os._exit(code)


def run(arguments: list[str]) -> None:
    """What `python` does with these: `-c CODE …` or `-m MODULE …`."""
    kind, what, *rest = arguments
    sys.argv = [kind, *rest]
    paths = os.environ.get("PYTHONPATH", "").split(os.pathsep)
    sys.path[:0] = [os.getcwd() if kind == "-m" else "", *filter(None, paths)]
    if kind == "-m":
        runpy.run_module(what, run_name="__main__", alter_sys=True)
    else:
        exec(compile(what, "<string>", "exec"), {"__name__": "__main__"})


if __name__ == "__main__":
    del sys.path[0]  # the folder that this was started in
    # Whose modules are all loaded has none to rewrite.
    AssertionRewritingHook._warn_already_imported = lambda *_: None  # type: ignore[method-assign]
    server = Server(sys.argv[1])
    print("ready", flush=True)
    server.serve()
