"""`verica store …`."""

from __future__ import annotations

import json
import time
from dataclasses import replace
from pathlib import Path

import pytest

from pytest_verica.store.folder import answers_path
from pytest_verica.store.responses import ResponseStore
from tests.unit.cli.conftest import Verica
from tests.unit.store.answers import question


def test_ls_tells_answers_and_cost_by_model(run: Verica, stored: Path) -> None:
    result = run("store", "ls", "--root", stored)
    assert result.exit_code == 0
    assert result.output.splitlines() == [
        f"{answers_path(stored)}: 3 answers",
        # 1700000000 s after the epoch is 2023-11-14 UTC, 100,000 s later the 16th; 1000.5 s is 1970-01-01.
        "  openai/m-1: 2 answers, $0.000123, price of 1 unknown, bought 2023-11-14 to 2023-11-16",
        "  openai/m-1 at http://127.0.0.1:1/v1: 1 answer, $0.01, bought 1970-01-01",
    ]


def test_a_store_comes_back_whole(run: Verica, stored: Path, tmp_path: Path) -> None:
    exported = tmp_path / "answers.jsonl"
    assert run("store", "export", exported, "--root", stored).output == f"3 answers written to {exported}\n"
    assert [json.loads(line)["completion"]["text"] for line in exported.read_text().splitlines()] != []
    other = tmp_path / "other"
    other.mkdir()
    result = run("store", "import", exported, "--root", other)
    assert (result.exit_code, result.output) == (0, f"3 answers put into {answers_path(other)}\n")
    assert (other / ".verica" / ".gitignore").read_text() == "*\n"
    assert run("store", "export", tmp_path / "again.jsonl", "--root", other).exit_code == 0
    assert (tmp_path / "again.jsonl").read_bytes() == exported.read_bytes()


def test_the_folder_is_found_from_below(
    run: Verica, stored: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    below = stored / "evals" / "golden"
    below.mkdir(parents=True)
    monkeypatch.chdir(below)
    assert f"{answers_path(stored)}: 3 answers" in run("store", "ls").output


@pytest.mark.parametrize("command", [("ls",), ("export", "answers.jsonl")])
def test_where_nothing_is_stored_nothing_is_made(run: Verica, tmp_path: Path, command: tuple[str, ...]) -> None:
    result = run("store", *command)
    assert result.exit_code == 1
    assert f"no answers are stored in {answers_path(tmp_path)}: run `pytest --verica` first" in result.output
    assert list(tmp_path.iterdir()) == []


def test_an_edited_line_is_refused(run: Verica, stored: Path, tmp_path: Path) -> None:
    exported = tmp_path / "answers.jsonl"
    run("store", "export", exported, "--root", stored)
    exported.write_text(exported.read_text().replace('"content": "two"', '"content": "2"'))
    result = run("store", "import", exported)
    assert result.exit_code == 1
    assert "it was edited or damaged" in result.output


def test_a_damaged_store_is_set_aside_and_said(run: Verica, stored: Path) -> None:
    answers_path(stored).write_bytes(b"not a database, " * 64)
    result = run("store", "ls", "--root", stored)
    assert "warning: " in result.output
    assert ": 0 answers" in result.output


def test_what_was_imported_is_found_by_a_run(run: Verica, stored: Path, tmp_path: Path) -> None:
    run("store", "export", tmp_path / "answers.jsonl", "--root", stored)
    run("store", "import", tmp_path / "answers.jsonl")
    store = ResponseStore(answers_path(tmp_path))
    key = question("two").key
    assert store.get_many([key])[key].completion.text == "2"
    store.close()


def test_prune_deletes_by_age(run: Verica, stored: Path) -> None:
    """Of the three answers one was bought in 1970, two in 2023."""
    store = ResponseStore(answers_path(stored))
    store.put_many([(question("today"), replace(next(store.saved()).answer, created=time.time()))])
    store.close()
    old = ("store", "prune", "--root", stored, "--older-than")
    assert run(*old, "1000w", "--dry-run").output == "1 answer would be deleted, 3 left\n"
    assert run(*old, "1000w").output == "1 answer deleted, 3 left\n"
    assert run(*old, "30d").output == "2 answers deleted, 1 left\n"
    assert run(*old, "12h").output == "0 answers deleted, 1 left\n"


def test_prune_gives_the_space_back(run: Verica, stored: Path) -> None:
    store = ResponseStore(answers_path(stored))
    kept = next(store.saved()).answer
    store.put_many([(question("x" * 5000 + str(n)), replace(kept, created=1.0)) for n in range(200)])
    store.close()
    before = answers_path(stored).stat().st_size
    assert run("store", "prune", "--root", stored, "--older-than", "2000w").exit_code == 0
    assert answers_path(stored).stat().st_size < before / 5


def test_prune_deletes_what_damage_left(run: Verica, stored: Path) -> None:
    aside = answers_path(stored).with_name("responses.damaged-20261201-101530.sqlite")
    aside.write_bytes(b"x")
    assert (
        run("store", "prune", "--damaged", "--dry-run", "--root", stored).output == f"{aside.name} would be deleted\n"
    )
    assert aside.exists()
    assert run("store", "prune", "--damaged", "--root", stored).output == f"{aside.name} deleted\n"
    assert not aside.exists() and answers_path(stored).exists()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((), "name an age (--older-than 90d)"),
        (("--older-than", "90"), "expected an age such as 90d, 12h or 4w, found '90'"),
    ],
)
def test_prune_deletes_nothing_by_chance(run: Verica, stored: Path, words: tuple[str, ...], said: str) -> None:
    result = run("store", "prune", *words, "--root", stored)
    assert result.exit_code == 2 and said in " ".join(result.output.split())
