"""Who may ask: a browser on this machine, at the page's own address, with its token. All others are refused."""

from __future__ import annotations

import hmac
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from aiohttp import web
from aiohttp.typedefs import Middleware

LOOPBACK = "127.0.0.1"
Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]

HEADERS = {
    # What a model wrote is shown as text. Should some of it ever get out of its place, it still cannot run, load, send
    # or frame anything.
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
        "form-action 'none'; base-uri 'none'; frame-ancestors 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",  # the address holds the token
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cache-Control": "no-store",  # the files are the state: going back shows what is, not what was
}


@dataclass(frozen=True)
class Guard:
    """What a request must bring. token: the first part of every path; port: that the server listens on."""

    token: str
    port: int

    @property
    def hosts(self) -> tuple[str, ...]:
        """The values of `Host` that are this page. A name of someone else's that was made to point here (DNS
        rebinding) is not among them."""
        return (f"{LOOPBACK}:{self.port}", f"localhost:{self.port}")

    def refusal(self, request: web.Request) -> str | None:
        """Why a request is refused, None where it is let in."""
        host = request.headers.get("Host", "")
        if host not in self.hosts:
            return "This page answers at 127.0.0.1 only; open the address that `verica` printed."
        given = request.path.split("/")[1]
        if not hmac.compare_digest(given.encode("utf-8", "replace"), self.token.encode()):
            return "The address has no valid token: open the whole address that `verica` printed, a new one each start."
        if request.method not in {"GET", "HEAD"}:
            return self._of_change(request, host)
        return None

    def _of_change(self, request: web.Request, host: str) -> str | None:
        """A change must come from a page of ours: browsers name the origin of every post, and a form of another site
        cannot send JSON."""
        if request.method != "POST":
            return "This page knows GET and POST only."
        if request.headers.get("Origin") != f"http://{host}":
            return "This change was not sent by the page itself, so it was not made."
        if request.headers.get("Sec-Fetch-Site", "same-origin") != "same-origin":
            return "This change was sent by another site, so it was not made."
        if request.content_type != "application/json":
            return "A change is sent as JSON."
        return None


def guarding(guard: Guard) -> Middleware:
    """The middleware that asks the guard first."""

    @web.middleware
    async def guarded(request: web.Request, handler: Handler) -> web.StreamResponse:
        why = guard.refusal(request)
        if why is not None:
            raise web.HTTPForbidden(text=f"{why}\n")
        return await handler(request)

    return guarded


async def add_headers(request: web.Request, response: web.StreamResponse) -> None:
    """Puts the headers on an answer that is about to be sent, whatever made it; its own stay."""
    for name, value in HEADERS.items():
        response.headers.setdefault(name, value)
