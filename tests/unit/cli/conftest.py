"""The command, called in this process, in a folder of its own."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from pytest_verica.cli.command import verica
from pytest_verica.store.folder import answers_path
from pytest_verica.store.responses import ResponseStore
from tests.unit.store.answers import answer, question

Verica = Callable[..., Result]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Verica:
    monkeypatch.chdir(tmp_path)
    return lambda *args: CliRunner().invoke(verica, [str(arg) for arg in args])


@pytest.fixture
def stored(tmp_path: Path) -> Path:
    """A folder in which three answers are stored."""
    folder = tmp_path / "project"
    folder.mkdir()
    store = ResponseStore(answers_path(folder))
    store.put_many(
        [
            (question("one"), answer("1", created=1_700_000_000.0)),
            (question("two"), answer("2", cost=None, created=1_700_100_000.0)),
            (question("three", base_url="http://127.0.0.1:1/v1"), answer("3", cost="0.0100")),
        ]
    )
    store.close()
    return folder
