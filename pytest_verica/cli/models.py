"""`verica models`: the models that a provider serves."""

from __future__ import annotations

from fnmatch import fnmatchcase

import click

from pytest_verica.errors import VericaError
from pytest_verica.preflight.check import models_of
from pytest_verica.providers.registry import PROVIDERS
from pytest_verica.request import ModelSpec


@click.command()
@click.argument("provider", type=click.Choice(sorted(PROVIDERS)))
@click.option("--credential", metavar="NAME", help="The environment variable that holds the key.")
@click.option("--base-url", metavar="URL", help="The address of the server, where the provider has none of its own.")
@click.option("--match", "pattern", metavar="GLOB", default="*", help="Only names that match, such as 'gpt-5*'.")
@click.option("--timeout", type=click.FloatRange(min=0, min_open=True), default=30.0, help="Seconds for one request.")
def models(provider: str, credential: str | None, base_url: str | None, pattern: str, timeout: float) -> None:
    """Lists the models that PROVIDER serves, one name a line, as `name` of an eval's model."""
    import asyncio  # deferred: 30 ms that no other command needs

    spec = ModelSpec(provider, "models", credential, base_url)
    names = asyncio.run(models_of(spec, PROVIDERS, timeout))
    if names is None:
        raise VericaError(f"{provider} has no list of models")
    shown = [name for name in sorted(names) if fnmatchcase(name, pattern)]
    if not shown:
        raise VericaError(f"none of the {len(names)} models of {provider} matches {pattern!r}")
    for name in shown:
        click.echo(name)
