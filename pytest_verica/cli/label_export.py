"""`verica label export`: the labels that may be tuned on, as CSV."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import click

from pytest_verica.calibration.finding import find_judges, labels_for
from pytest_verica.calibration.holdout import FROM, is_held_out
from pytest_verica.calibration.label import current_labels
from pytest_verica.cli.answers import root_of, root_option
from pytest_verica.store.whole_file import write_whole


@click.command("export")
@click.argument("wanted", metavar="EVAL")
@click.argument("path", metavar="CSV", type=click.Path(dir_okay=False, path_type=Path))
@click.option("--criterion", required=True, help="The judge's criterion.")
@root_option
def export_labels(wanted: str, path: Path, criterion: str, root: Path | None) -> None:
    """Writes the labels of one judge of EVAL to CSV.

    Held-out cases are left out, so that nobody tunes on them by mistake.
    """
    folder = root_of(root)
    run = find_judges(folder, wanted, criterion)[0]
    labels = [label for label in current_labels(labels_for(folder, run)) if label.verdict != "skipped"]
    outputs = {(label.case, label.output_hash) for label in labels}
    kept = [label for label in labels if len(outputs) < FROM or not is_held_out(label.case)]
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["case", "label", "labeller", "note", "output_hash", "time"])
    for label in kept:
        writer.writerow([label.case, label.verdict, label.labeller, label.note or "", label.output_hash, label.time])
    try:
        write_whole(path, [text.getvalue().encode("utf-8", "surrogatepass")])
    except OSError as error:
        raise click.ClickException(f"cannot write {path}: {error.strerror or error}") from error
    held = len(labels) - len(kept)
    click.echo(f"{len(kept)} labels written to {path}" + (f"; {held} of held-out cases left out" if held else ""))
