"""The loop: a judge's instructions edited in place, and all outputs judged again after the cost was shown."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from aiohttp import web

from pytest_verica.calibration.instructions import Location, read_instructions, write_instructions
from pytest_verica.calibration.judged import JudgedRun
from pytest_verica.calibration.rejudging import Plan, plan_rejudging
from pytest_verica.errors import ConfigError, StoreError, VericaError
from pytest_verica.report.figures import dollars, many
from pytest_verica.store.whole_file import write_whole
from pytest_verica.ui.answers import SERVICES, Gone, apart, asked, data, sent
from pytest_verica.ui.judges import judged_run, whole_judge
from pytest_verica.ui.work import Work


class Busy(VericaError):
    """The judge is being evaluated already."""


def instruction_parts(root: Path, run: JudgedRun) -> dict[str, Any]:
    """What the page shows of the instructions: their parts by name, or why they cannot be edited here."""
    try:
        found = read_instructions(root, run)
    except ConfigError as error:
        return {"file": run.eval.file, "parts": [], "problem": str(error)}
    parts = [{"name": _name(at), "words": _words(at), "text": text} for at, text in found.texts.items()]
    return {"file": run.eval.file, "parts": parts, "problem": None}


def plan_words(plan: Plan) -> str:
    """What judging again would do and cost, in a sentence."""
    outputs = many(plan.outputs, "output")
    if plan.same_judge:
        return f"{outputs}; the judge is the one of this run, so its stored answers are reused"
    if plan.cost is None:
        return f"{outputs}; what it costs is not known, for the judge's model has no price"
    return f"{outputs}, about {dollars(plan.cost)}, which is what judging them cost the last time"


def _name(at: Location) -> str:
    return ".".join(map(str, at))


def _words(at: Location) -> str:
    """A part as a person calls it."""
    if at[1:2] == ("messages",):
        return f"Message {int(at[2]) + 1}"
    return {"system": "System"}.get(str(at[-1]), "Instructions")


def _save(root: Path, run: JudgedRun, sent_texts: Any) -> str:
    if not isinstance(sent_texts, Mapping) or not all(isinstance(text, str) for text in sent_texts.values()):
        raise Gone("the instructions did not come as texts; load the page again")
    before = read_instructions(root, run)
    bytes_before = before.file.read_bytes()
    known = {_name(at): at for at in before.texts}
    if set(sent_texts) - set(known):
        raise Gone("the instructions have other parts now; load the page again")
    texts = {known[name]: text.replace("\r\n", "\n") for name, text in sent_texts.items()}
    try:
        file = write_instructions(root, run, texts)
        plan = plan_rejudging(root, run)
    except ConfigError:
        write_whole(before.file, [bytes_before])  # a file that no run could read is not left behind
        raise
    except OSError as error:
        raise StoreError(f"the instructions were not saved: {error}. Make the file writable") from error
    return f"Saved in {file.name} ✓ Judging again: {plan_words(plan)}."


def asked_judge(root: Path, eval_id: str, criterion: str) -> JudgedRun:
    """The judge whose instructions are edited, and which is asked again."""
    return whole_judge(root, judged_run(root, eval_id, criterion))


async def instructions(request: web.Request) -> web.Response:
    """Writes the instructions into the eval file."""
    said, services = await sent(request), request.app[SERVICES]
    async with services.writing:
        run = await apart(asked_judge, services.root, *_key(request))
        return data({"said": await apart(_save, services.root, run, said.get("texts"))})


async def plan(request: web.Request) -> web.Response:
    """What judging again would do and cost. Nothing is called."""
    root = request.app[SERVICES].root
    run = await apart(asked_judge, root, *_key(request))
    return data({"said": plan_words(await apart(plan_rejudging, root, run))})


def _key(request: web.Request) -> tuple[str, str]:
    return asked(request, "eval"), asked(request, "criterion")


async def evaluate(request: web.Request) -> web.Response:
    """Judges all outputs again. It is asked for only after the cost was shown and confirmed."""
    services, key = request.app[SERVICES], _key(request)
    if (await sent(request)).get("confirmed") is not True:
        raise Gone("calls cost money: confirm what is shown before they are made")
    async with services.writing:
        running = services.work.get(key)
        if running is not None and running.state == "running":
            raise Busy("this judge is being evaluated already; its progress is shown on its page")
        run = await apart(asked_judge, services.root, *key)
        planned = await apart(plan_rejudging, services.root, run)
        now = datetime.now(timezone.utc).isoformat(timespec="milliseconds")
        services.work[key] = Work(services.root, planned, now)
        services.work[key].start()
    return data(services.work[key].to_json())


async def progress(request: web.Request) -> web.Response:
    """How far it is; `state` is null where nothing was started."""
    found = request.app[SERVICES].work.get(_key(request))
    return data({"state": None} if found is None else found.to_json())


async def stop(request: web.Request) -> web.Response:
    await sent(request)
    found = request.app[SERVICES].work.get(_key(request))
    if found is not None:
        found.stop()
    return data({"said": "Stopping after the outputs that are in flight"})
