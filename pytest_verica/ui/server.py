"""The server of the pages: on 127.0.0.1 only, a new token each start, until it is stopped."""

from __future__ import annotations

import asyncio
import secrets
import socket
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from aiohttp import web

from pytest_verica.errors import ConfigError
from pytest_verica.ui.answers import SERVICES, Services, failures
from pytest_verica.ui.guard import LOOPBACK, Guard, add_headers, guarding
from pytest_verica.ui.routes import ROUTES

MOST_BODY = 4 << 20  # bytes; a judge's instruction or a note, never a file


@dataclass(frozen=True)
class Settings:
    """How the pages are served. root: the rootdir whose `.verica/` is shown; port: 0 for any free one; labeller: name
    that labels are written under where the page was not told another; token: the secret part of the address."""

    root: Path
    port: int = 0
    labeller: str = "me"
    token: str = field(default_factory=lambda: secrets.token_urlsafe(24))


def listening_socket(port: int) -> socket.socket:
    """A socket at 127.0.0.1, bound before anything is said, so that the address printed is the one that answers.

    Raises:
        ConfigError: the port is taken or not allowed.
    """
    sock = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    # A server that was just stopped leaves its port in TIME_WAIT; on Windows the option would share a port in use.
    if hasattr(socket, "SO_EXCLUSIVEADDRUSE"):
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_EXCLUSIVEADDRUSE, 1)
    else:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        sock.bind((LOOPBACK, port))
    except (OSError, OverflowError) as error:
        sock.close()
        message = f"port {port} of {LOOPBACK} cannot be used: {error}; name another with --port, or leave it out"
        raise ConfigError(message) from error
    return sock


def make_app(settings: Settings, port: int) -> web.Application:
    """The pages as an application. port: that they are reached at, which requests must name."""
    guard = guarding(Guard(settings.token, port))
    app = web.Application(middlewares=[guard, failures], client_max_size=MOST_BODY)
    app[SERVICES] = Services(settings.root, settings.labeller, f"/{settings.token}")
    for method, path, handler in ROUTES:
        app.router.add_route(method, f"/{settings.token}{path}", handler)
    app.on_response_prepare.append(add_headers)
    app.on_shutdown.append(_stop_work)
    return app


async def _stop_work(app: web.Application) -> None:
    await app[SERVICES].aclose()


@asynccontextmanager
async def serving(settings: Settings) -> AsyncIterator[str]:
    """The pages while the block runs. Yields their address, which ends in `/`.

    Raises:
        ConfigError: the port cannot be used.
    """
    sock = listening_socket(settings.port)
    port = sock.getsockname()[1]
    runner = web.AppRunner(make_app(settings, port), access_log=None, shutdown_timeout=2)
    try:
        await runner.setup()
        await web.SockSite(runner, sock).start()
        yield f"http://{LOOPBACK}:{port}/{settings.token}/"
    finally:
        await runner.cleanup()
        sock.close()


def serve(settings: Settings, started: Callable[[str], None]) -> None:
    """Serves the pages until Ctrl-C. started: told the address once they answer.

    Raises:
        ConfigError: the port cannot be used.
    """

    async def main() -> None:
        async with serving(settings) as address:
            started(address)
            await asyncio.Event().wait()

    with suppress(KeyboardInterrupt):
        asyncio.run(main())
