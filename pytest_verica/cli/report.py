"""`verica report`: a saved run, made again in any format."""

from __future__ import annotations

from pathlib import Path

import click

from pytest_verica.cli.answers import root_of, root_option
from pytest_verica.report.formats import FORMATS, write_format
from pytest_verica.report.saved import find_run


@click.command()
@click.argument("name", metavar="RUN", default="last")
@click.option("--format", "kind", type=click.Choice(list(FORMATS)), required=True, help="What to make.")
@click.option("--output", "path", type=click.Path(dir_okay=False, path_type=Path), help="A file; default: stdout.")
@root_option
def report(name: str, kind: str, path: Path | None, root: Path | None) -> None:
    """Writes RUN (`last`, `#42`, an id or its beginning, a folder, a report.json) as a report."""
    run = find_run(root_of(root), name)
    if path is not None:
        write_format(run, kind, path)
        click.echo(f"{run.name} written to {path}", err=True)
        return
    with click.open_file("-", "wb") as out:
        for piece in FORMATS[kind](run):
            out.write(piece)
