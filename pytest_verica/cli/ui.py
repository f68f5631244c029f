"""`verica ui`: the pages in a browser, on this machine only, until Ctrl-C."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import urlencode

import click

from pytest_verica.cli.answers import root_of, root_option
from pytest_verica.cli.label_terminal import account_name


@click.command()
@root_option
@click.option("--port", type=click.IntRange(0, 65535), default=0, help="Default: any free one.")
@click.option("--labeller", help="The name that labels are written under; default: the name of the account.")
@click.option("--no-browser", is_flag=True, help="Print the address and open nothing.")
def ui(root: Path | None, port: int, labeller: str | None, no_browser: bool) -> None:
    """Shows runs, compares them, and measures judges, as pages at 127.0.0.1."""
    open_pages("", root, port, labeller, no_browser=no_browser)


def open_pages(
    page: str, root: Path | None, port: int, labeller: str | None, *, no_browser: bool, **query: str
) -> None:
    """Serves the pages until Ctrl-C, opened at one of them.

    Raises:
        ConfigError: the port cannot be used.
    """
    from pytest_verica.ui.server import Settings, serve  # deferred: a server is loaded where one is wanted

    settings = Settings(root_of(root), port, labeller or account_name())

    def started(address: str) -> None:
        at = address + page + (f"?{urlencode(query)}" if query else "")
        click.echo(f"{at}\nOnly this machine can open it, and only by this address. Ctrl-C stops it.")
        if not no_browser:
            click.launch(at)

    serve(settings, started)
