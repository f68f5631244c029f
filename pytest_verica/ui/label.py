"""The page on which a person labels. Nothing of the judge is read here but which outputs to ask about."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import urlencode

from aiohttp import web

from pytest_verica.calibration.judged import JudgedRun
from pytest_verica.ui.answers import SERVICES, apart, asked, data, page, sent
from pytest_verica.ui.judges import judged_run
from pytest_verica.ui.labelling import Deck, Screen, deck, name_of


def labeller_of(request: web.Request) -> str:
    return name_of(request.query.get("as") or request.app[SERVICES].labeller)


def _query(request: web.Request, **more: str) -> str:
    """What a link of the page carries: two tabs may label as two people."""
    named = {"eval": asked(request, "eval"), "criterion": asked(request, "criterion"), "as": labeller_of(request)}
    return urlencode({**named, **more})


def _number(request: web.Request, name: str) -> int | None:
    text = request.query.get(name, "")
    return int(text) if text.isascii() and text.isdecimal() and len(text) < 7 else None


async def _deck(request: web.Request) -> Deck:
    root, most = request.app[SERVICES].root, _number(request, "most")
    return await apart(deck, root, asked(request, "eval"), asked(request, "criterion"), labeller_of(request), most)


async def label_page(request: web.Request) -> web.Response:
    found = await _deck(request)
    return page(
        request,
        "label.html",
        title="Label",
        query=_query(request, most=str(found.most)),
        more=_query(request, most=str(found.longer().most)),
        anyone=_query(request),
        labeller=found.labeller,
        criterion=found.run.criterion.name,
        about=_about(found.run),
        asks=_instruction(found.run.criterion.config.get("prompt")),
    )


def _about(run: JudgedRun) -> str:
    """What meets it, in the author's words for people: the criterion's description, or an item's own meaning."""
    config = run.criterion.config
    items = config.get("rubric")
    for name, meaning in items.items() if isinstance(items, Mapping) else ():
        if run.criterion.id.endswith(f".{name}"):
            return str(meaning)
    return str(config.get("description") or "")


def _instruction(prompt: Any) -> str:
    """What the criterion asks, as its author wrote it: the question, never an answer to it."""
    if isinstance(prompt, str):
        return prompt
    prompt = prompt or {}
    turns = [turn.get("content") for turn in prompt.get("messages") or ()]
    return "\n\n".join(text for text in (prompt.get("system"), prompt.get("user"), *turns) if text)


async def who_page(request: web.Request) -> web.Response:
    await apart(judged_run, request.app[SERVICES].root, asked(request, "eval"), asked(request, "criterion"))
    return page(request, "who.html", title="Your name", query=_query(request), labeller=labeller_of(request))


async def card(request: web.Request) -> web.Response:
    """The output to label: at a place of the queue, or where this person goes on."""
    found = await _deck(request)
    return data(await apart(found.screen, _number(request, "at")))


async def act(request: web.Request) -> web.Response:
    """An answer. It is on the disk before this is answered."""
    said, found = await sent(request), await _deck(request)

    def write() -> Screen:
        return found.act(said)

    async with request.app[SERVICES].writing:
        return data(await apart(write))


async def columns(request: web.Request) -> web.Response:
    chosen, found = await sent(request), await _deck(request)
    async with request.app[SERVICES].writing:
        return data(await apart(found.choose, chosen))
