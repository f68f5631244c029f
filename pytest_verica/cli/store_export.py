"""`verica store export`: the stored answers as a file that can be committed."""

from __future__ import annotations

from pathlib import Path

import click

from pytest_verica.cli.answers import root_option, stored_answers
from pytest_verica.store.export import export_answers


@click.command("export")
@click.argument("path", type=click.Path(dir_okay=False, path_type=Path))
@root_option
def export_command(path: Path, root: Path | None) -> None:
    """Writes every stored answer to PATH, one a line, sorted.

    The file can be committed; name it in the ini key `verica_recorded`, and a run looks there before it buys.
    """
    with stored_answers(root) as store:
        count = export_answers(store, path)
    click.echo(f"{count} answers written to {path}")
