"""`verica presets`: the judges that we wrote, shown in full, and copied out to be edited."""

from __future__ import annotations

from pathlib import Path

import click

from pytest_verica.errors import StoreError
from pytest_verica.evals.load import eval_stem, is_eval_file
from pytest_verica.judge.aspect import ASPECTS
from pytest_verica.judge.preset_file import preset_criterion, preset_keys, preset_text

PRESET = click.argument("preset", type=click.Choice(list(ASPECTS)), metavar="PRESET")


@click.group()
def presets() -> None:
    """Shows the judges that come with the product, and copies them out."""


@presets.command("ls")
def ls() -> None:
    """Lists the presets: what each looks at, and from which score on it passes."""
    width = max(map(len, ASPECTS))
    for name, aspect in ASPECTS.items():
        needs = ", ".join(aspect.needs)
        about = preset_text(name).partition(": ")[2].partition("\n")[0]
        click.echo(f"{name:{width}}  pass_at {preset_keys(name)['pass_at']:g}  needs {needs}: {about}")


@presets.command("show")
@PRESET
def show(preset: str) -> None:
    """Prints a preset: its formula, its threshold, and its prompt in full.

    What stands in it is what the judge is told; nothing is added. In the prompt, `{{ fence }}` is a mark that no text
    the judge reads can hold, another one for each request.
    """
    click.echo(preset_text(preset), nl=False)


@presets.command("copy")
@PRESET
@click.argument("file", type=click.Path(path_type=Path, dir_okay=False))
def copy(preset: str, file: Path) -> None:
    """Writes a preset to FILE as a criterion with its prompt, to be edited: fill in its model.

    An eval takes it with `extends: FILE`; or paste it among its criteria. A file that exists is left alone.
    """
    if is_eval_file(file.name):
        raise StoreError(f"{file} would be collected as an eval, and is only a part of one: name it {_plain(file)}")
    try:
        with file.open("x", encoding="utf-8") as out:
            out.write(preset_criterion(preset))
    except FileExistsError:
        raise StoreError(f"{file} exists and is left as it is; give another name, or remove it") from None
    except OSError as error:
        raise StoreError(f"cannot write {file}: {error.strerror}") from error
    click.echo(f"{preset} written to {file}")


def _plain(file: Path) -> Path:
    return file.with_name(f"{eval_stem(file.name)}.yaml")
