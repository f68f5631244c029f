"""`verica label`: a person says of outputs, blind, whether they meet a criterion; import and export of labels."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from pytest_verica.calibration.finding import find_judges
from pytest_verica.calibration.judged import JudgedRun
from pytest_verica.calibration.queue import MOST
from pytest_verica.cli.answers import root_of, root_option
from pytest_verica.cli.label_export import export_labels
from pytest_verica.cli.label_import import import_labels
from pytest_verica.cli.label_terminal import account_name, label_in_terminal
from pytest_verica.cli.ui import open_pages


class LabelCommand(click.Group):
    """A group of which an eval's name is a command too: `verica label refunds`."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and args[0] not in self.commands:
            return "label", label_eval, args
        return super().resolve_command(ctx, args)


@click.group(cls=LabelCommand, subcommand_metavar="EVAL | import | export [OPTIONS]")
def label() -> None:
    """Labels the outputs of EVAL's last run: `verica label EVAL [--criterion C] [--terminal]`.

    While labelling nothing of the judge is shown. Each answer is saved at once.
    """


@click.command("label")
@click.argument("wanted", metavar="EVAL")
@click.option("--criterion", help="The judge's criterion. Needed where the eval has several.")
@click.option("--terminal", is_flag=True, help="Label here, in place of the page in the browser.")
@click.option("--labeller", help="The name that labels are written under. Default: the account's.")
@click.option("--most", type=click.IntRange(1), default=MOST, show_default=True, help="Outputs in the queue.")
@click.option("--column", "columns", multiple=True, help="An input column to show; repeat. Default: the prompts'.")
@click.option("--run", "run_name", metavar="RUN", help="A saved run, as `verica runs` names it. Default: the last.")
@click.option("--no-browser", is_flag=True, help="Print the page's address and open nothing.")
@root_option
def label_eval(
    wanted: str,
    criterion: str | None,
    terminal: bool,
    labeller: str | None,
    most: int,
    columns: tuple[str, ...],
    run_name: str | None,
    no_browser: bool,
    root: Path | None,
) -> None:
    """Labels the outputs of EVAL: on a page in the browser, or here with --terminal."""
    folder = root_of(root)
    run = one_judge(folder, wanted, criterion, run_name)
    if not terminal:
        if run_name is not None or columns:
            raise click.UsageError(
                "--run and --column go with --terminal; the page shows the last run, columns chosen in it"
            )
        names = {"eval": run.eval.id, "criterion": run.criterion.id}
        if most != MOST:
            names["most"] = str(most)
        open_pages("label", folder, 0, labeller, no_browser=no_browser, **names)
        return
    label_in_terminal(folder, run, labeller or account_name(), most=most, columns=columns or None)


def one_judge(root: Path, wanted: str, criterion: str | None, run: str | None = None) -> JudgedRun:
    """The judge that is named; the only one of its eval where none is.

    Raises:
        click.UsageError: the eval has several.
    """
    found: list[Any] = find_judges(root, wanted, criterion, run)
    if len(found) > 1:
        names = ", ".join(f"{judge.criterion.id} of {judge.eval.name}" for judge in found)
        raise click.UsageError(f"name one judge with --criterion; there are: {names}")
    judge: JudgedRun = found[0]
    return judge


label.add_command(import_labels)
label.add_command(export_labels)
