"""Eval files as a test writes them."""

from __future__ import annotations

import textwrap
from collections.abc import Callable
from pathlib import Path

import pytest

from pytest_verica.errors import ConfigError
from pytest_verica.evals.config import EvalSpec
from pytest_verica.evals.load import load_eval
from pytest_verica.judge.registry import KINDS

CONFIGS = {name: kind.config for name, kind in KINDS.items()}

Load = Callable[..., EvalSpec]
Told = Callable[..., list[str]]


@pytest.fixture
def load(tmp_path: Path) -> Load:
    """Writes files, by name, and loads the first."""

    def write(text: str = "", name: str = "shop.eval.yaml", **others: str) -> EvalSpec:
        for other, content in others.items():
            (tmp_path / f"{other}.eval.yaml").write_text(textwrap.dedent(content))
        (tmp_path / name).write_text(textwrap.dedent(text))
        return load_eval(tmp_path / name, name, CONFIGS)

    return write


@pytest.fixture
def told(load: Load) -> Told:
    """The problems that loading tells of, a line each."""

    def problems(*args: str, **others: str) -> list[str]:
        with pytest.raises(ConfigError) as caught:
            load(*args, **others)
        return str(caught.value).splitlines()

    return problems
