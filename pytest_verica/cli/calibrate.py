"""`verica calibrate`: whether a judge may be believed, and the success rate corrected for its errors."""

from __future__ import annotations

import datetime
import json
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import click

from pytest_verica.calibration.alignment import Alignment, align
from pytest_verica.calibration.finding import find_judges, labels_for
from pytest_verica.calibration.history import Point, remember
from pytest_verica.calibration.html import calibration_page
from pytest_verica.calibration.judged import JudgedRun
from pytest_verica.calibration.rejudging import plan_rejudging, rejudge
from pytest_verica.calibration.threshold import apply_threshold, undo_threshold
from pytest_verica.calibration.words import (
    agreement_lines,
    history_line,
    label_lines,
    light_lines,
    preview_words,
    rate_lines,
    sweep_lines,
)
from pytest_verica.cli.answers import root_of, root_option
from pytest_verica.cli.printing import say
from pytest_verica.report.figures import dollars
from pytest_verica.store.whole_file import write_whole

_out = click.Path(dir_okay=False, path_type=Path)


@click.command()
@click.argument("wanted", metavar="EVAL")
@click.option("--criterion", help="Only this judge. Default: every judge of the eval.")
@click.option("--run", "run_name", metavar="RUN", help="A saved run, as `verica runs` names it. Default: the last.")
@click.option("--method", type=click.Choice(["beta", "lang-reiczigel"]), default="beta", help="Of the interval.")
@click.option("--json", "json_path", type=_out, metavar="PATH", help="Write everything as JSON; - for the terminal.")
@click.option("--html", "html_path", type=_out, metavar="PATH", help="Write everything as one HTML file.")
@click.option("--preview", type=float, metavar="CUT", help="What another threshold would give.")
@click.option("--apply", "applied", type=float, metavar="CUT", help="Write a threshold into the eval file.")
@click.option("--undo", is_flag=True, help="Take the applied threshold back.")
@click.option("--rejudge", "again", is_flag=True, help="Judge all outputs again by the judge as it is written now.")
@click.option("--yes", is_flag=True, help="Do not ask before calls are made.")
@root_option
def calibrate(
    wanted: str,
    criterion: str | None,
    run_name: str | None,
    method: Any,
    json_path: Path | None,
    html_path: Path | None,
    preview: float | None,
    applied: float | None,
    undo: bool,
    again: bool,
    yes: bool,
    root: Path | None,
) -> None:
    """Measures the judges of EVAL (its name, id or file) against the human labels.

    Nothing is called, except with --rejudge, which shows the cost and asks before.
    """
    folder = root_of(root)
    judges = find_judges(folder, wanted, criterion, run_name)
    if applied is not None or undo or preview is not None or again:
        judges = [_acted(folder, _one(judges), preview, applied, undo=undo, again=again, yes=yes)]
    now = datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="milliseconds")
    found: list[tuple[Alignment, list[Point]]] = []
    for judge in judges:
        alignment = align(judge, labels_for(folder, judge), method=method)
        found.append((alignment, remember(folder, alignment, now)))
    if json_path is not None:
        document = {"judges": [{**a.to_json(), "history": [vars(p) for p in points]} for a, points in found]}
        _write(json_path, json.dumps(document, indent=1, allow_nan=False) + "\n")
    if html_path is not None:
        _write(html_path, calibration_page(found))
    if str(json_path) != "-":
        for alignment, points in found:
            for line in report_lines(alignment, points):
                say(line)


def report_lines(alignment: Alignment, points: Sequence[Point]) -> Iterator[str]:
    """What the terminal shows of one judge."""
    judge = alignment.run
    yield f"{judge.eval.name}, {judge.criterion.name} ({judge.criterion.type}), run {judge.run.id}"
    if alignment.never_labelled:
        yield f"  No labels yet: label 20, ten minutes: verica label {judge.eval.name} --criterion {judge.criterion.id}"
        return
    lines = [*light_lines(alignment), *rate_lines(alignment), *agreement_lines(alignment), *label_lines(alignment)]
    if alignment.sweep is not None:
        lines += sweep_lines(alignment.sweep)
    yield from (f"  {line}" for line in lines)
    if alignment.disagreements:
        names = ", ".join(f"{item.labelled.case} ({item.kind})" for item in alignment.disagreements[:10])
        more = len(alignment.disagreements) - 10
        yield f"  disagreements: {names}{f' and {more} more' if more > 0 else ''}"
    if len(points) > 1:
        yield f"  {history_line(points)}"


def _one(judges: Sequence[JudgedRun]) -> JudgedRun:
    if len(judges) != 1:
        names = ", ".join(f"{judge.criterion.id} of {judge.eval.name}" for judge in judges)
        raise click.UsageError(f"this is for one judge; name it with --criterion. There are: {names}")
    return judges[0]


def _acted(
    root: Path,
    judge: JudgedRun,
    preview: float | None,
    applied: float | None,
    *,
    undo: bool,
    again: bool,
    yes: bool,
) -> JudgedRun:
    """The judge after what was asked for."""
    names = (judge.eval.id, judge.criterion.id, judge.run.id)
    if undo:
        undo_threshold(root, judge)
        say("Threshold taken back: the eval file and the run are as before")
    if applied is not None:
        done = apply_threshold(root, judge, applied)
        say(f"{done}: {done.changed} verdicts of the saved run are another now; --undo takes it back")
    if preview is not None:
        found = align(judge, labels_for(root, judge)).sweep
        if found is None:
            raise click.UsageError("there is no threshold to preview: it needs a score judge and labels of both kinds")
        say(preview_words(found, preview))
    if again:
        return _again(root, judge, yes)
    return find_judges(root, *names)[0]


def _again(root: Path, judge: JudgedRun, yes: bool) -> JudgedRun:
    plan = plan_rejudging(root, judge)
    cost = (
        "nothing: the judge is the same and its answers are stored" if plan.same_judge else f"about {_cost(plan.cost)}"
    )
    say(f"Re-evaluate and measure: {plan.outputs} outputs, {cost}")
    if not yes:
        click.confirm("Judge them now?", abort=True, err=True)
    with click.progressbar(length=plan.outputs, label="Evaluated", show_pos=True, file=sys.stderr) as bar:

        def progress(done: int, total: int) -> None:
            bar.update(1)

        return rejudge(root, plan, progress=progress)


def _cost(amount: Any) -> str:
    return "an unknown sum (no price for its model)" if amount is None else dollars(amount)


def _write(path: Path, text: str) -> None:
    if str(path) == "-":
        click.echo(text, nl=False)
        return
    try:
        write_whole(path, [text.encode("utf-8", "surrogatepass")])
    except OSError as error:
        raise click.ClickException(f"cannot write {path}: {error.strerror or error}") from error
    click.echo(f"{path} written", err=True)
