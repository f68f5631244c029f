"""A plugin for runs that must not reach any network: every attempt is refused, and one alone fails the run."""

from __future__ import annotations

import socket
from typing import Any

import pytest

ATTEMPTS: list[str] = []


def _refused(name: str) -> Any:
    def refuse(*args: Any, **kwargs: Any) -> Any:
        ATTEMPTS.append(f"{name}{args[-1:]!r}")
        raise OSError(f"{name}: this run has no network")

    return refuse


@pytest.hookimpl(tryfirst=True)
def pytest_configure() -> None:
    for name in ("connect", "connect_ex", "sendto"):
        setattr(socket.socket, name, _refused(name))
    for name in ("getaddrinfo", "gethostbyname", "create_connection"):
        setattr(socket, name, _refused(name))


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    if ATTEMPTS:
        session.exitstatus = pytest.ExitCode.INTERNAL_ERROR


def pytest_terminal_summary(terminalreporter: Any) -> None:
    for attempt in ATTEMPTS:
        terminalreporter.write_line(f"network: {attempt}")
