"""`verica grade`: one case of an eval file by one criterion that asks no model, to try it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import click

from pytest_verica.case import Case
from pytest_verica.engine.plan import load_golden
from pytest_verica.engine.sampling import recorded_output
from pytest_verica.errors import ConfigError, Problem, TargetError, VericaError
from pytest_verica.evals.config import EvalSpec
from pytest_verica.evals.fields import templates_of
from pytest_verica.evals.load import criterion_id, load_eval
from pytest_verica.evals.problems import nearest
from pytest_verica.evals.prompt import Prompt
from pytest_verica.evals.target import ColumnTarget, RecordTarget
from pytest_verica.golden import GoldenSet
from pytest_verica.grade import Grade, Outcome
from pytest_verica.graders.configs import Configs
from pytest_verica.graders.criterion import Criterion, make_criterion
from pytest_verica.graders.excerpt import excerpt
from pytest_verica.graders.protocol import BuildContext
from pytest_verica.judge.registry import KINDS
from pytest_verica.output import Output
from pytest_verica.template import compile_template

EXIT_CODES: dict[Outcome, int] = {"pass": 0, "fail": 1, "error": 2, "na": 3}


class CannotGrade(click.ClickException):
    """The file, or what was asked of it, is wrong. Ends as an error verdict does."""

    exit_code = EXIT_CODES["error"]


@click.command()
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--criterion", "wanted", required=True, metavar="NAME", help="The criterion's name.")
@click.option("--case", "case_id", metavar="ID", help="The case; default: the first one.")
@click.option("--output", "given", metavar="TEXT|@FILE", help="The text to grade, in place of the recorded one.")
@click.pass_context
def grade(context: click.Context, file: Path, wanted: str, case_id: str | None, given: str | None) -> None:
    """Grades one case of FILE by one criterion, and says why.

    Nothing is called and nothing is kept. The exit code is 0 for pass, 1 for fail, 2 for an error (also in the file or
    in the command), 3 for N/A. What a conftest.py registers is not known here.
    """
    try:
        spec = load_eval(file, str(file), Configs(KINDS))
        golden = load_golden(spec)
        criterion = criterion_of(spec, golden, wanted)
        case = case_of(golden, case_id)
        result = criterion.grade(case, output_for(spec, case, given))
    except VericaError as error:
        raise CannotGrade(str(error)) from error
    for line in lines_of(criterion, case, result):
        click.echo(line.encode("utf-8", "backslashreplace"))  # a terminal takes no lone surrogate
    context.exit(EXIT_CODES[result.outcome])


def criterion_of(spec: EvalSpec, golden: GoldenSet, name: str) -> Criterion:
    """The criterion of that name, ready; the others of the file are not built.

    Raises:
        ConfigError: there is none, it asks a model, or it is wrong.
    """
    configs = spec.config.criteria
    index = next((i for i, c in enumerate(configs) if name in (c.name, criterion_id(c.name))), None)
    if index is None:
        names = [config.name for config in configs]
        message = f"no criterion is named {name!r}; {nearest(name, names)}there are: {', '.join(names)}"
        raise ConfigError(message, spec.place(("criteria",)))
    config, place = configs[index], spec.place(("criteria", index))
    problems = [
        Problem(message, spec.place(("criteria", index, *at)))
        for at, text in templates_of(config)
        for message in compile_template(text).problems(golden.columns, output=True)
    ]
    if problems:
        raise ConfigError(problems)
    target, prompt = spec.config.target, spec.config.prompt
    context = BuildContext(
        spec.base_dir,
        () if prompt is None else Prompt(prompt).tools,
        golden,
        frozenset(target.columns()) if isinstance(target, ColumnTarget) else None,
    )
    try:
        criterion = make_criterion(config, KINDS, context)
    except ConfigError as error:
        raise ConfigError([Problem(problem.message, problem.place or place) for problem in error.problems]) from None
    if criterion.kind.runs == "model":
        advice = f'`pytest --verica "{spec.document.file}" -k {criterion.id}` asks it'
        raise ConfigError(f"{config.name!r} is a {config.type}, which asks a model; {advice}", place)
    return criterion


def case_of(golden: GoldenSet, id: str | None) -> Case:
    """The case of that id, as it stands in node ids or in the golden set; without an id the first one.

    Raises:
        ConfigError: there is none.
    """
    if id is None:
        return golden[0]
    case = next((case for case in golden if id in (case.id, case.original_id)), None)
    if case is None:
        ids = [case.id for case in golden]
        shown = ", ".join(ids[:10]) + (f" and {len(ids) - 10} more" if len(ids) > 10 else "")
        raise ConfigError(f"the golden set has no case {id!r}; {nearest(id, ids)}there are: {shown}")
    return case


def output_for(spec: EvalSpec, case: Case, given: str | None) -> Output:
    """The output to grade: the recorded one, with the given text in place of its own.

    Raises:
        ConfigError: the golden set holds none and none is given, or the given file cannot be read.
    """
    text = None if given is None else text_of_option(given)
    target = spec.config.target
    if not isinstance(target, (ColumnTarget, RecordTarget)):
        if text is None:
            raise ConfigError(
                "this eval's outputs are produced by a run; give one with --output TEXT or --output @FILE"
            )
        return Output(text)
    try:
        recorded = recorded_output(target, case)
    except TargetError as error:
        if text is None:
            raise ConfigError(f"case {case.id!r} has no output: {error}; give one with --output") from error
        return Output(text)
    return recorded if text is None else replace(recorded, text=text, data=None)


def text_of_option(given: str) -> str:
    """The text itself, or that of the file named after `@`.

    Raises:
        ConfigError: the file cannot be read.
    """
    if not given.startswith("@"):
        return given
    try:
        return Path(given[1:]).read_text("utf-8")
    except OSError as error:
        advice = "a text that begins with @ can be put into a file"
        raise ConfigError(f"--output: {given[1:]} cannot be read: {error.strerror}; {advice}") from error
    except UnicodeDecodeError as error:
        raise ConfigError(f"--output: {given[1:]} is not UTF-8: byte {error.start}") from error


def lines_of(criterion: Criterion, case: Case, result: Grade) -> Iterator[str]:
    """What is printed: the verdict, why, and what else the grade holds."""
    yield f"{criterion.name} ({criterion.config.type}), case {case.id}: {result.outcome}"
    yield f"  {result.explanation}"
    if result.score is not None:
        yield f"  score: {result.score:g}"
    if result.label is not None:
        yield f"  label: {result.label}"
    if result.error is not None and result.error.raw:
        yield f"  {result.error.kind}:"
        yield from (f"    {excerpt(line, 200)[1:-1]}" for line in result.error.raw.splitlines()[-20:])
