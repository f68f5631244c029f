"""One run: the very page of the HTML report, with the way back to the others above it."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape
from pathlib import Path

from aiohttp import web

from pytest_verica.report.html_report import html_pieces
from pytest_verica.report.saved import find_run
from pytest_verica.ui.answers import SERVICES, apart, asked

_MAIN = b"<main>"
POLICY = "frame-ancestors 'none'; base-uri 'none'; form-action 'none'"
"""What a header must say. What may run on this page, its own policy says: one script, by its hash."""


async def one_run(request: web.Request) -> web.StreamResponse:
    services = request.app[SERVICES]
    pieces = await apart(_pieces, services.root, asked(request, "id"), services.prefix)
    first = await apart(next, pieces, b"")  # what cannot be read is found out before the answer begins
    answer = web.StreamResponse(headers={"Content-Type": "text/html; charset=utf-8", "Content-Security-Policy": POLICY})
    await answer.prepare(request)
    while first:
        await answer.write(first)
        first = await apart(next, pieces, b"")
    await answer.write_eof()
    return answer


def _pieces(root: Path, name: str, prefix: str) -> Iterator[bytes]:
    """The report of a run, with links to the other pages at the top of its first piece."""
    pieces = html_pieces(find_run(root, name))
    links = (
        f'<p class="no-print"><a href="{escape(prefix)}/">← Runs</a> · <a href="{escape(prefix)}/judges">Judges</a></p>'
    )
    first, *rest = next(pieces).split(_MAIN, 1)
    yield first + _MAIN + links.encode() + b"".join(rest)
    yield from pieces
