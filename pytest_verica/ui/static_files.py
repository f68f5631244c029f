"""The pages' own style and scripts: they come from the package, and from nowhere else."""

from __future__ import annotations

from functools import cache
from importlib import resources

from aiohttp import web

from pytest_verica.report.look import look_css

TYPES = {"css": "text/css", "js": "text/javascript"}


@cache
def _files() -> dict[str, bytes]:
    folder = resources.files("pytest_verica.ui") / "static"
    own = {file.name: file.read_bytes() for file in folder.iterdir() if file.name.rpartition(".")[2] in TYPES}
    return {"look.css": look_css().encode("utf-8"), **own}


async def static(request: web.Request) -> web.Response:
    name = request.match_info["name"]
    body = _files().get(name)  # a name of the list, never a path
    if body is None:
        raise web.HTTPNotFound
    return web.Response(body=body, content_type=TYPES[name.rpartition(".")[2]], charset="utf-8")
