"""`verica schema`: the JSON Schema of an eval file, or of the report."""

from __future__ import annotations

import json

import click

from pytest_verica.evals.schema import eval_schema
from pytest_verica.graders.configs import Configs
from pytest_verica.judge.registry import KINDS
from pytest_verica.report.schema import report_schema


@click.command()
@click.option("--report", is_flag=True, help="The schema of the JSON report instead.")
def schema(report: bool) -> None:
    """Prints the JSON Schema of an eval file.

    An editor checks and completes eval files whose first line is
    `# yaml-language-server: $schema=PATH`. Types of criteria that a conftest.py adds are not in it.
    """
    found = report_schema() if report else eval_schema(Configs(KINDS))
    click.echo(json.dumps(found, indent=2, ensure_ascii=False, allow_nan=False))
