"""`verica runs`: the runs that are kept, newest first."""

from __future__ import annotations

import datetime
from itertools import islice
from pathlib import Path

import click

from pytest_verica.cli.answers import root_of, root_option
from pytest_verica.cli.printing import say, table
from pytest_verica.report.figures import ago
from pytest_verica.report.run_lines import run_line
from pytest_verica.report.saved import list_runs, saved_runs
from pytest_verica.store.folder import FOLDER

HEADING = ("run", "origin", "status", "model", "pass rate", "cost (sampling + judges)", "launched", "id")


@click.command()
@click.option("--eval", "eval_name", metavar="NAME", help="Only runs of this eval, with its figures.")
@click.option("--limit", default=20, show_default=True, type=click.IntRange(1), help="How many.")
@root_option
def runs(eval_name: str | None, limit: int, root: Path | None) -> None:
    """Lists the runs under `.verica/`, newest first."""
    folder = root_of(root)
    kept = saved_runs(folder)
    if not kept:
        say(f"no runs are kept under {folder / FOLDER}: `pytest --verica` makes the first")
        return
    names = {run.id: run.name for run in kept}
    lines = (run_line(listed, names, eval_name) for listed in list_runs(folder))
    shown = list(islice((line for line in lines if line is not None), limit))
    if not shown:
        raise click.ClickException(f"no run has an eval {eval_name!r}; `verica show last` tells the evals of the last")
    now = datetime.datetime.now(datetime.timezone.utc)
    rows = [
        (
            line.run,
            line.origin,
            f"{line.sign} {line.status}",
            line.model,
            line.rate,
            line.cost,
            "?" if line.launched is None else ago(line.launched, now),
            line.id,
        )
        for line in shown
    ]
    for text in table([HEADING, *rows]):
        say(text)
    for line in shown:
        if line.problem:
            click.echo(f"warning: {line.run}: {line.problem}", err=True)
    if len(shown) == limit and len(kept) > limit:
        say(f"({len(kept)} are kept; --limit shows more)")
