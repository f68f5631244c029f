"""`verica store prune`: old answers and what damage left behind, deleted."""

from __future__ import annotations

import re
import time
from pathlib import Path

import click

from pytest_verica.cli.answers import root_option, stored_answers
from pytest_verica.report.figures import many

_AGE = re.compile(r"(\d+)([dhw])")
_SECONDS = {"h": 3600, "d": 86_400, "w": 7 * 86_400}


class Age(click.ParamType):  # type: ignore[type-arg] # generic in the newest click only
    """`90d`, `12h`, `4w`, as seconds."""

    name = "AGE"

    def convert(self, value: str | int, param: click.Parameter | None, ctx: click.Context | None) -> int:
        found = _AGE.fullmatch(value) if isinstance(value, str) else None
        if found is None:
            self.fail(f"expected an age such as 90d, 12h or 4w, found {value!r}", param, ctx)
        return int(found[1]) * _SECONDS[found[2]]


@click.command("prune")
@click.option("--older-than", "age", type=Age(), metavar="AGE", help="Deletes the answers bought before, such as 90d.")
@click.option("--damaged", is_flag=True, help="Deletes the files of damaged stores that were set aside.")
@click.option("--dry-run", is_flag=True, help="Only says what would be deleted.")
@root_option
def prune_command(age: int | None, damaged: bool, dry_run: bool, root: Path | None) -> None:
    """Deletes stored answers by age, and gives their space back to the disk.

    A deleted answer is bought again where a run needs it: export what has to stay (`verica store export`).
    """
    if age is None and not damaged:
        raise click.UsageError("nothing to delete: name an age (--older-than 90d), or --damaged")
    would = "would be " if dry_run else ""
    with stored_answers(root) as store:
        if age is not None:
            before = time.time() - age
            count = store.count(before) if dry_run else store.prune(before)
            left = store.count() - (count if dry_run else 0)
            click.echo(f"{many(count, 'answer')} {would}deleted, {left:,} left")
        aside = sorted(store.path.parent.glob(f"{store.path.stem}.damaged-*")) if damaged else []
    for path in aside:
        if not dry_run:
            path.unlink(missing_ok=True)
        click.echo(f"{path.name} {would}deleted")
