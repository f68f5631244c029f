"""The command `verica` itself: its version, its subcommands, and how an error of the product ends it."""

from __future__ import annotations

from typing import Any

import click

from pytest_verica.cli.formula import formula
from pytest_verica.cli.grade import grade
from pytest_verica.cli.graders import graders
from pytest_verica.cli.models import models
from pytest_verica.cli.presets import presets
from pytest_verica.cli.providers import providers
from pytest_verica.cli.schema import schema
from pytest_verica.cli.store import store
from pytest_verica.errors import VericaError


class Command(click.Group):
    """A group that ends with the sentence of an error, and exit code 1, where a traceback would say less."""

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except VericaError as error:
            raise click.ClickException(str(error)) from error


@click.group(cls=Command, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="pytest-verica", prog_name="verica")
def verica() -> None:
    """Works on evals and stored runs, beside `pytest --verica`."""


verica.add_command(formula)
verica.add_command(grade)
verica.add_command(graders)
verica.add_command(presets)
verica.add_command(models)
verica.add_command(providers)
verica.add_command(schema)
verica.add_command(store)
