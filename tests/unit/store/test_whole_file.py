"""A file that appears whole or not at all."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from pytest_verica.store.whole_file import write_whole


def test_a_file_and_its_folder_are_made(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "er" / "file.txt"
    write_whole(path, [b"one ", b"two"])
    assert path.read_bytes() == b"one two"
    assert list(path.parent.iterdir()) == [path]


def test_what_was_there_stays_where_the_new_one_is_not_finished(tmp_path: Path) -> None:
    path = tmp_path / "file.txt"
    path.write_text("before")

    def pieces() -> Iterator[bytes]:
        yield b"half"
        raise OSError("no space left")

    with pytest.raises(OSError, match="no space"):
        write_whole(path, pieces())
    assert path.read_text() == "before"
    assert list(tmp_path.iterdir()) == [path]
