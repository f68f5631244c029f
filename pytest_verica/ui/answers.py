"""What every handler shares: the services of the application, pages and JSON as answers, and errors as pages."""

from __future__ import annotations

import asyncio
import json
import sys
import traceback
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

from aiohttp import web
from jinja2 import Environment, PackageLoader, StrictUndefined

from pytest_verica.errors import VericaError
from pytest_verica.ui import wording

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]
T = TypeVar("T")


@dataclass
class Services:
    """What the handlers work with. root: the rootdir; labeller: the name where the page was told none; prefix: what
    every path begins with; writing: held while a file is changed, so that two tabs take turns; work: long work that
    goes on, by what it works on."""

    root: Path
    labeller: str
    prefix: str
    writing: asyncio.Lock = field(default_factory=asyncio.Lock)
    work: dict[tuple[str, str], Any] = field(default_factory=dict)

    async def aclose(self) -> None:
        """Stops the work that goes on."""
        for each in self.work.values():
            await each.aclose()


SERVICES: web.AppKey[Services] = web.AppKey("services", Services)


class Gone(VericaError):
    """What was asked for is not there, or is no longer as the page showed it."""


@cache
def _templates() -> Environment:
    templates = Environment(
        loader=PackageLoader("pytest_verica.ui"),
        autoescape=True,  # whatever a model, a case or a file wrote is text
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    templates.filters.update(wording.FILTERS)
    templates.globals.update(fixed=wording.fixed, percent=wording.percent)
    return templates


def _bytes(text: str) -> bytes:
    """UTF-8. A lone surrogate of a model's text has no bytes: it is shown as the sign for what cannot be shown."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace").encode("utf-8")


def page(request: web.Request, template: str, /, *, status: int = 200, **values: Any) -> web.Response:
    """A page from a template. Everything in `values` is escaped."""
    services = request.app[SERVICES]
    shown = _templates().get_template(template).render(prefix=services.prefix, **values)
    return web.Response(body=_bytes(shown), status=status, content_type="text/html", charset="utf-8")


def data(value: Any, *, status: int = 200) -> web.Response:
    """JSON for a script of ours."""
    text = json.dumps(value, allow_nan=False)  # ASCII: lone surrogates come through as they are
    return web.Response(text=text, status=status, content_type="application/json")


async def sent(request: web.Request) -> Mapping[str, Any]:
    """The JSON object of a change.

    Raises:
        Gone: it is none.
    """
    try:
        found = await request.json()
    except ValueError:
        found = None
    if not isinstance(found, dict):
        raise Gone("the change is no JSON object; load the page again")
    return found


def asked(request: web.Request, name: str) -> str:
    """A value of the address.

    Raises:
        Gone: it is not there.
    """
    value = request.query.get(name)
    if not value:
        raise Gone(f"the address names no {name}; start from the list of runs")
    return value


async def apart(work: Callable[..., T], *args: Any) -> T:
    """The same work away from the loop: files are read and written there."""
    return await asyncio.to_thread(work, *args)


@web.middleware
async def failures(request: web.Request, handler: Handler) -> web.StreamResponse:
    """What went wrong, as a page or as JSON: what happened and what to do, never a traceback."""
    try:
        return await handler(request)
    except Gone as error:
        return _failed(request, 404, str(error))
    except VericaError as error:
        return _failed(request, 409, str(error))
    except web.HTTPNotFound:
        return _failed(request, 404, "there is no such page; start from the list of runs")
    except web.HTTPException:
        raise
    except Exception:  # noqa: BLE001 - whatever a handler did wrong, the server goes on and says so
        traceback.print_exc(file=sys.stderr)
        return _failed(request, 500, "this page could not be made; the terminal that runs `verica` says why")


def _failed(request: web.Request, status: int, message: str) -> web.Response:
    if request.method == "POST" or request.headers.get("Accept") == "application/json":
        return data({"error": message}, status=status)
    return page(request, "error.html", status=status, title="Something is missing", message=message)
