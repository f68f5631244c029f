"""`verica formula`: a formula worked out for a case and an output, with the value of each sub-expression."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import click

from pytest_verica.case import Case
from pytest_verica.errors import ConfigError
from pytest_verica.formula import Formula, FormulaError, Line, compile_formula, shown
from pytest_verica.golden import GoldenSet, load_golden_set
from pytest_verica.output import Output
from pytest_verica.template import Scope

WIDEST = 60


@click.command()
@click.argument("written", metavar="FORMULA")
@click.option("--case", "place", metavar="FILE:LINE", help="A case of a golden set, by its line or by its id.")
@click.option(
    "--output",
    "file",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="A file that holds an output.",
)
@click.pass_context
def formula(context: click.Context, written: str, place: str | None, file: Path | None) -> None:
    """Works out FORMULA, such as '=ROUND(1.21*subtotal, 2)', and shows the value of each sub-expression.

    The exit code is 1 where the result is an error value.
    """
    compiled = compile_formula(written)
    case = Case("none", {})
    if place is not None:
        golden, case = case_at(place)
        problems = compiled.problems(golden.columns)
        if problems:
            raise ConfigError("\n".join(problems))
    output = None if file is None else Output(output_text(file))
    lines = compiled.trace(Scope(case, output))
    for line in listing(compiled, lines):
        click.echo(line.encode("utf-8", "backslashreplace"))  # a terminal takes no lone surrogate
    if isinstance(lines[-1].value, FormulaError):
        context.exit(1)


def case_at(place: str) -> tuple[GoldenSet, Case]:
    """The golden set and the case of `golden.csv:3`: by line, where its source has lines, else by number; else by id.

    Raises:
        ConfigError: there is none.
    """
    file, colon, wanted = place.rpartition(":")
    if not colon:
        raise ConfigError(f"--case {place}: write the file and the line of the case, for instance `{place}:2`")
    golden = load_golden_set(file, Path())
    found = (case_on_line(golden, int(wanted)) if wanted.isdecimal() else None) or next(
        (case for case in golden if wanted in (case.id, case.original_id)), None
    )
    if found is None:
        first, last = (case_line(golden[index]) for index in (0, -1))
        what = "rows" if golden[0].line is None else "lines"
        raise ConfigError(f"--case {place}: no case stands there; the cases begin in the {what} {first} to {last}")
    return golden, found


def case_on_line(golden: GoldenSet, line: int) -> Case | None:
    """The case that goes over a line: the one that began last. Of the last one only its first line is known."""
    following = next((index for index, case in enumerate(golden) if case_line(case) > line), None)
    if following is None:
        return golden[-1] if case_line(golden[-1]) == line else None
    return golden[following - 1] if following else None


def case_line(case: Case) -> int:
    """Where its source has no lines, its number."""
    return case.position + 1 if case.line is None else case.line


def output_text(file: Path) -> str:
    """Raises ConfigError where the file cannot be read."""
    try:
        return file.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"--output {file}: it cannot be read: {error}") from error


def listing(compiled: Formula, lines: list[Line]) -> Iterator[str]:
    """What is printed: each sub-expression once beside its value, and the result."""
    yield compiled.source
    steps = list(dict.fromkeys((" ".join(line.source.split()), shown(line.value, WIDEST)) for line in lines))
    width = min(max((len(source) for source, _ in steps[:-1]), default=0), WIDEST)
    yield from (f"  {source:<{width}}  {value}" for source, value in steps[:-1])
    result = lines[-1].value
    yield f"= {result if isinstance(result, FormulaError) else shown(result, WIDEST)}"
