"""`verica graders`: every built-in type of criterion, what it costs, and what it does."""

from __future__ import annotations

import click

from pytest_verica.graders.registry import OLD_NAMES
from pytest_verica.judge.registry import KINDS


@click.command()
def graders() -> None:
    """Lists the types of criteria, those that ask no model first.

    Types that a conftest.py adds are not in it.
    """
    kinds = [kind for name, kind in KINDS.items() if name not in OLD_NAMES]
    names, costs = max(len(kind.name) for kind in kinds), max(len(kind.costs) for kind in kinds)
    for kind in kinds:
        click.echo(f"{kind.name:{names}}  {kind.costs:{costs}}  {kind.about}")
