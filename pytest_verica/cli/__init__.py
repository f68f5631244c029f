"""The `verica` command, a door beside pytest's: one file per command, and the only room that imports click."""

from __future__ import annotations


def main() -> None:
    """The console script."""
    from pytest_verica.cli.command import verica  # deferred: click is loaded for the command only

    verica()
