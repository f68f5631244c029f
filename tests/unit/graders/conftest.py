"""Grading in one line: the keys of a criterion, an output, a case."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from pytest_verica.case import Case
from pytest_verica.grade import Grade
from pytest_verica.graders.criterion import Criterion, make_criterion
from pytest_verica.graders.protocol import BuildContext
from pytest_verica.judge.registry import KINDS
from pytest_verica.output import Output


@pytest.fixture(scope="session")
def build() -> Callable[..., Criterion]:
    def make(keys: Mapping[str, Any], base_dir: Path = Path(".")) -> Criterion:
        config = KINDS[keys["type"]].config.model_validate({"name": "checked", **keys})
        return make_criterion(config, KINDS, BuildContext(base_dir))

    return make


@pytest.fixture(scope="session")
def grade(build: Callable[..., Criterion]) -> Callable[..., Grade]:
    """`output` is a text, or an Output."""

    def run(keys: Mapping[str, Any], output: str | Output | None, columns: Mapping[str, Any] | None = None) -> Grade:
        made = output if isinstance(output, Output) else Output(output)
        return build(keys).grade(Case("row-0001", dict(columns or {})), made)

    return run
