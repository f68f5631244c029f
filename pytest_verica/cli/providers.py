"""`verica providers`: the group of commands about doors to models."""

from __future__ import annotations

import click

from pytest_verica.cli.providers_check import check


@click.group()
def providers() -> None:
    """Works on providers: the doors to models."""


providers.add_command(check)
