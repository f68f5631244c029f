"""Which response store a command works on."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click

from pytest_verica.store.folder import FOLDER, answers_path
from pytest_verica.store.responses import ResponseStore

root_option: Callable[[Any], Any] = click.option(
    "--root",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help=f"The folder that holds {FOLDER}/ (pytest's rootdir). Default: the nearest one from here upwards.",
)


def root_of(given: Path | None) -> Path:
    """The folder that was named, else the nearest one upwards with a `.verica/` in it, else this one."""
    if given is not None:
        return given
    here = Path.cwd()
    return next((folder for folder in (here, *here.parents) if (folder / FOLDER).is_dir()), here)


@contextmanager
def stored_answers(given: Path | None) -> Iterator[ResponseStore]:
    """The store of a folder, which must hold one.

    Raises:
        click.ClickException: there is none.
    """
    path = answers_path(root_of(given))
    if not path.is_file():
        raise click.ClickException(
            f"no answers are stored in {path}: run `pytest --verica` first, or name the folder with --root"
        )
    with opened(path) as store:
        yield store


@contextmanager
def opened(path: Path) -> Iterator[ResponseStore]:
    """A store that is closed afterwards; what it warns of goes to the error stream."""
    store = ResponseStore(path)
    try:
        yield store
    finally:
        store.close()
        for warning in store.warnings:
            click.echo(f"warning: {warning}", err=True)
