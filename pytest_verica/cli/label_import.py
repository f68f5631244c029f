"""`verica label import`: labels that were written elsewhere, from a CSV file into the label file."""

from __future__ import annotations

import secrets
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from pytest_verica.calibration.finding import file_of, find_judges
from pytest_verica.calibration.label import current_labels
from pytest_verica.calibration.recorded_labels import read_labels
from pytest_verica.cli.answers import root_of, root_option


@click.command("import")
@click.argument("path", metavar="CSV", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.argument("wanted", metavar="EVAL")
@click.option("--criterion", required=True, help="The judge's criterion.")
@click.option("--labeller", default="import", show_default=True, help="For lines without a `labeller`.")
@click.option(
    "--draw",
    type=click.Choice(["unknown", "random"]),
    default="unknown",
    show_default=True,
    help="How the outputs were chosen: at random, whatever the judge said, or not known.",
)
@root_option
def import_labels(path: Path, wanted: str, criterion: str, labeller: str, draw: Any, root: Path | None) -> None:
    """Puts the labels of CSV (columns `case` and `label`) beside EVAL's golden set.

    A label is yes/no, 1/0, true/false, good/bad or pass/fail, in any case. With a wrong line nothing is imported.
    """
    folder = root_of(root)
    run = find_judges(folder, wanted, criterion)[0]
    labels = read_labels(path, run, labeller, method=draw)
    file = file_of(folder, run)
    known = {label.key: label.verdict for label in current_labels(file.acts())}
    fresh = [replace(label, act=secrets.token_hex(8)) for label in labels if known.get(label.key) != label.verdict]
    if fresh:
        file.append(*fresh)
    same = len(labels) - len(fresh)
    click.echo(f"{len(fresh)} labels put into {file.path}" + (f", {same} were there already" if same else ""))
