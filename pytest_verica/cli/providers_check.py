"""`verica providers check`: whether the models of an eval can be asked, before a run finds out."""

from __future__ import annotations

import os
from pathlib import Path

import click

from pytest_verica.engine.parameters import fitted
from pytest_verica.engine.plan import load_golden, make_eval, missing_credentials
from pytest_verica.evals.load import load_eval
from pytest_verica.graders.configs import Configs
from pytest_verica.judge.registry import KINDS
from pytest_verica.preflight.check import check as look_at
from pytest_verica.preflight.look import Seen
from pytest_verica.preflight.need import Use, uses_of
from pytest_verica.providers.registry import PROVIDERS


@click.command()
@click.argument("file", metavar="EVAL", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--timeout", type=click.FloatRange(min=0, min_open=True), default=30.0, help="Seconds for one request.")
@click.pass_context
def check(context: click.Context, file: Path, timeout: float) -> None:
    """Looks at the models of EVAL: is each credential set, each model served, does each judge answer in JSON?

    Each judge is asked one short question, which its provider charges for; nothing is stored. The exit code is 1 where
    something is wrong. What a conftest.py registers is not known here.
    """
    import asyncio  # deferred: 30 ms that no other command needs

    spec = load_eval(file, str(file), Configs(KINDS))
    made = make_eval(spec, load_golden(spec), id=str(file), kinds=KINDS, providers=PROVIDERS)
    ready, unfit = fitted(spec, made, PROVIDERS)
    uses = uses_of(ready)
    usable = [use for use in uses if use.model.credential is None or os.environ.get(use.model.credential)]
    seen = asyncio.run(look_at(usable, PROVIDERS, timeout))
    wrong = [*unfit, *missing_credentials(spec), *seen.problems]
    for line in (*(f"wrong: {problem}" for problem in wrong), *_told(usable, seen)):
        click.echo(line)
    if not uses:
        click.echo("this eval asks no model")
    context.exit(1 if wrong else 0)


def _told(usable: list[Use], seen: Seen) -> list[str]:
    """What is well, and what is not known."""
    names = dict.fromkeys(use.model.credential for use in usable if use.model.credential)
    doors = [(use.model, PROVIDERS[use.model.provider]) for use in usable]
    return [
        *(f"ok: the environment variable {name} is set" for name in names),
        *(f"ok: {text}" for text in (*seen.served, *seen.shaped)),
        *dict.fromkeys(f"ok: {model} calls nobody" for model, kind in doors if not (kind.calls and kind.stored)),
        *(f"not known: {text}" for text in seen.notes),
    ]
