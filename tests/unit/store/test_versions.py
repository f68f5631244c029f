"""Versions by content, in order of first use."""

from __future__ import annotations

import multiprocessing
from pathlib import Path

import pytest

from pytest_verica.errors import StoreError
from pytest_verica.store.versions import Used, Versions


def _versions(root: Path, *hashes: str, part: str = "prompt") -> list[int]:
    """The version of each content, as one run after another asks for it."""
    return [Versions(root).of([Used("refunds", part, each)])[Used("refunds", part, each)] for each in hashes]


def test_in_order_of_first_use(tmp_path: Path) -> None:
    assert _versions(tmp_path, "a", "b", "a", "c", "b", "a") == [1, 2, 1, 3, 2, 1]


def test_each_part_counts_for_itself(tmp_path: Path) -> None:
    assert _versions(tmp_path, "a", "b") == [1, 2]
    assert _versions(tmp_path, "b", "a", part="criterion:tone") == [1, 2]
    other = Used("other", "prompt", "b")
    assert Versions(tmp_path).of([other]) == {other: 1}


def test_asking_twice_writes_once(tmp_path: Path) -> None:
    _versions(tmp_path, "a", "a", "a")
    assert len((tmp_path / ".verica" / "versions.jsonl").read_text().splitlines()) == 1


@pytest.mark.parametrize("damage", ['["refunds", "prompt"', "\x00\x00", "{}", "[1]", "null\n", '["a", "b", "c", "d"]'])
def test_a_damaged_line_costs_itself_only(tmp_path: Path, damage: str) -> None:
    _versions(tmp_path, "a", "b")
    file = tmp_path / ".verica" / "versions.jsonl"
    with file.open("a") as text:
        text.write(damage)
    assert _versions(tmp_path, "b", "c", "a", "c") == [2, 3, 1, 3]


def test_a_file_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    (tmp_path / ".verica" / "versions.jsonl").mkdir(parents=True)
    with pytest.raises(StoreError, match=r"versions cannot be kept in .*versions\.jsonl"):
        _versions(tmp_path, "a")


def _use(root: Path, hashes: list[str]) -> None:
    _versions(root, *hashes)


def test_processes_agree(tmp_path: Path) -> None:
    """Four at once over the same contents, each in another order: afterwards every content has one version."""
    names = [f"h{n}" for n in range(12)]
    context = multiprocessing.get_context("spawn")
    running = [context.Process(target=_use, args=(tmp_path, names[k:] + names[:k])) for k in (0, 3, 6, 9)]
    for process in running:
        process.start()
    for process in running:
        process.join(60)
        assert process.exitcode == 0
    assert sorted(_versions(tmp_path, *names)) == list(range(1, 13))
