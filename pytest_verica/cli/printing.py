"""Printing lines that hold texts of models and golden sets: no control character reaches the terminal."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import click

from pytest_verica.report.failure import printable


def say(line: str = "") -> None:
    """One line, whatever encoding the terminal has."""
    click.echo(printable(line).encode("utf-8", "backslashreplace"))


def table(rows: Sequence[Sequence[str]], right: Iterable[int] = ()) -> list[str]:
    """Lines with columns side by side. right: indexes of the columns that are set to the right."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    to_right = frozenset(right)
    return [
        "  ".join(
            cell.rjust(width) if index in to_right else cell.ljust(width)
            for index, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    ]
