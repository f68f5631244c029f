"""`verica merge`: the shards of one run as that run."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import click

from pytest_verica.calibration.gating import Correcting
from pytest_verica.cli.answers import root_of, root_option
from pytest_verica.cli.printing import say
from pytest_verica.report.figures import dollars, other_words, rate_words
from pytest_verica.report.formats import write_format
from pytest_verica.report.saved import find_run
from pytest_verica.report.shards import Merged, merge, shards_of

_FILE = click.Path(dir_okay=False, path_type=Path)


@click.command("merge")
@click.argument("names", metavar="RUN...", nargs=-1, required=True)
@click.option(
    "--gate", is_flag=True, help="End with the exit code that the whole run would have: 1 where a gate fails."
)
@click.option("--report", type=_FILE, help="Where the JSON report goes. Default: the folder of the merged run.")
@click.option("--junit", type=_FILE, help="Writes a junit file too.")
@click.option("--baseline", metavar="RUN", help="The run that gates with `baseline` are held against, or `none`.")
@root_option
@click.pass_context
def merge_command(
    context: click.Context,
    names: tuple[str, ...],
    gate: bool,
    report: Path | None,
    junit: Path | None,
    baseline: str | None,
    root: Path | None,
) -> None:
    """Joins the shards of one run (`pytest --verica --verica-shard I/N`) to that run.

    RUN: `#42`, an id or its beginning, a run's folder, or its journal. All shards have to be there. The merged run is
    kept as any other.
    """
    folder = root_of(root)
    shards = shards_of([find_run(folder, name) for name in names])
    merged = merge(shards, folder, report, baseline=baseline, correcting=lambda journal: Correcting(folder, journal))
    if junit is not None:
        write_format(merged.run, "junit", junit)
    for line in _told(merged):
        say(line)
    if gate:
        context.exit(merged.exit_code)


def _told(merged: Merged) -> Iterator[str]:
    head = merged.run.head
    for found in head["evals"]:
        yield f"{found['name']}: {rate_words(found['totals'])}, {other_words(found['totals'])}"
        if found["gate"] is not None:
            yield f"  gate {found['gate']['status']}: {'; '.join(found['gate']['reasons'])}"
    if head["gate"] is not None:
        yield f"gate of the run {head['gate']['status']}: {'; '.join(head['gate']['reasons'])}"
    yield f"cost: {dollars(head['totals']['cost']['total'])}"
    yield f"merged as {merged.run.id}: {merged.report}"
