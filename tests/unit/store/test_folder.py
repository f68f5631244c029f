"""The folder of runs."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from pytest_verica.errors import StoreError
from pytest_verica.store.folder import RunFolder, answers_path, new_run_id, run_ids, run_numbers


def test_ids_sort_by_time_and_differ() -> None:
    # 1796120130 s after the epoch is 2026-12-01 10:15:30 UTC (date -u -d @1796120130).
    assert re.fullmatch(r"20261201-101530-[0-9a-f]{4}", new_run_id(1796120130.0))
    assert new_run_id(1796120130.9) < new_run_id(1796120131.0)
    assert len({new_run_id(0.0) for _ in range(20)}) > 1


def test_a_run_has_its_folder_out_of_version_control(tmp_path: Path) -> None:
    folder = RunFolder.create(tmp_path, "20261201-101530-4f2a")
    assert folder.path == tmp_path / ".verica" / "runs" / "20261201-101530-4f2a"
    assert folder.path.is_dir()
    assert (folder.journal.parent, folder.report.parent) == (folder.path, folder.path)
    assert [entry.name for entry in sorted((tmp_path / ".verica").iterdir())] == [".gitignore", "numbers", "runs"]
    assert (tmp_path / ".verica" / ".gitignore").read_text() == "*\n"
    assert answers_path(tmp_path).parent == tmp_path / ".verica"


def test_what_somebody_wrote_stays(tmp_path: Path) -> None:
    (tmp_path / ".verica").mkdir()
    (tmp_path / ".verica" / ".gitignore").write_text("*.sqlite\n")
    RunFolder.create(tmp_path)
    assert (tmp_path / ".verica" / ".gitignore").read_text() == "*.sqlite\n"


def test_runs_are_listed_oldest_first(tmp_path: Path) -> None:
    assert run_ids(tmp_path) == []
    for name in ("20261201-101530-4f2a", "20251201-101530-ffff", "20261201-101529-9999"):
        RunFolder.create(tmp_path, name)
    assert run_ids(tmp_path) == ["20251201-101530-ffff", "20261201-101529-9999", "20261201-101530-4f2a"]


def test_two_runs_never_share_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    RunFolder.create(tmp_path, "20261201-101530-4f2a")
    with pytest.raises(StoreError, match="exists already"):
        RunFolder.create(tmp_path, "20261201-101530-4f2a")
    drawn = iter(["20261201-101530-4f2a", "20261201-101530-4f2b"])
    monkeypatch.setattr("pytest_verica.store.folder.new_run_id", lambda: next(drawn))
    assert RunFolder.create(tmp_path).id == "20261201-101530-4f2b"


@pytest.mark.parametrize("block", [".verica", ".verica/runs"])
def test_a_folder_that_cannot_be_made(tmp_path: Path, block: str) -> None:
    (tmp_path / block).parent.mkdir(exist_ok=True)
    (tmp_path / block).write_text("in the way")
    with pytest.raises(StoreError, match="the run"):
        RunFolder.create(tmp_path)


def test_numbers_are_in_order_of_launch_and_never_given_twice(tmp_path: Path) -> None:
    assert run_numbers(tmp_path) == {}
    first, second = (RunFolder.create(tmp_path) for _ in range(2))
    first.path.rmdir()
    third = RunFolder.create(tmp_path, "20261201-101530-4f2a")
    assert {second.id: 2, third.id: 3}.items() <= run_numbers(tmp_path).items()


def test_two_processes_do_not_get_one_number(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    one = RunFolder.create(tmp_path)
    monkeypatch.setattr("pytest_verica.store.folder._numbers", lambda root: [])  # as seen before the other took it
    two = RunFolder.create(tmp_path)
    monkeypatch.undo()
    assert run_numbers(tmp_path) == {one.id: 1, two.id: 2}


def test_a_run_whose_number_cannot_be_written_is_a_run(tmp_path: Path) -> None:
    (tmp_path / ".verica").mkdir()
    (tmp_path / ".verica" / "numbers").write_text("in the way")
    assert RunFolder.create(tmp_path).path.is_dir()
    assert run_numbers(tmp_path) == {}
