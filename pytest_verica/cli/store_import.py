"""`verica store import`: an exported file back into the store."""

from __future__ import annotations

from pathlib import Path

import click

from pytest_verica.cli.answers import opened, root_of, root_option
from pytest_verica.errors import StoreError
from pytest_verica.store.export import RecordedAnswers, import_answers
from pytest_verica.store.folder import FOLDER, answers_path, make_folder


@click.command("import")
@click.argument("path", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@root_option
def import_command(path: Path, root: Path | None) -> None:
    """Puts the answers of PATH, a file that `verica store export` wrote, into the store."""
    recorded = RecordedAnswers(path)
    folder = root_of(root)
    try:
        make_folder(folder)
    except OSError as error:
        raise StoreError(f"cannot make {folder / FOLDER}: {error}. Make {folder} writable, or use --root") from error
    with opened(answers_path(folder)) as store:
        count = import_answers(store, recorded)
    click.echo(f"{count} answers put into {answers_path(folder)}")
