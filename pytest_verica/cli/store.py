"""`verica store`: the group of commands about stored answers."""

from __future__ import annotations

import click

from pytest_verica.cli.store_export import export_command
from pytest_verica.cli.store_import import import_command
from pytest_verica.cli.store_ls import ls_command
from pytest_verica.cli.store_prune import prune_command


@click.group()
def store() -> None:
    """Answers that were bought, under `.verica/`."""


store.add_command(export_command)
store.add_command(import_command)
store.add_command(ls_command)
store.add_command(prune_command)
