"""Versions of prompts and criteria: 1, 2, … in order of first use, by content. Editing and undoing makes none.

They stand in `.verica/versions.jsonl`, one line for each content when it was first used. Lines are only ever appended,
so two runs at once need no lock: their order is the order of the versions, and of two equal ones the first counts.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from pytest_verica.errors import StoreError
from pytest_verica.store.folder import FOLDER, make_folder


class Used(NamedTuple):
    """A content in use. eval: the eval's name; part: `prompt`, or the id of a criterion behind `criterion:`; hash: of
    the content."""

    eval: str
    part: str
    hash: str


class Versions:
    """The versions that a rootdir knows."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._path = root / FOLDER / "versions.jsonl"

    def of(self, used: Iterable[Used]) -> dict[Used, int]:
        """The version of each content; one that is new gets the next.

        Raises:
            StoreError: the file cannot be read or written.
        """
        wanted = list(dict.fromkeys(used))
        try:
            known = self._read()
            new = [each for each in wanted if each not in known]
            if new:
                self._append(new)
                known = self._read()
        except OSError as error:
            raise StoreError(f"versions cannot be kept in {self._path}: {error}. Make it writable") from error
        return {each: known[each] for each in wanted if each in known}

    def _read(self) -> dict[Used, int]:
        try:
            lines = self._path.read_bytes().split(b"\n")
        except FileNotFoundError:
            return {}
        known: dict[Used, int] = {}
        counted: dict[tuple[str, str], int] = {}
        for line in lines:
            try:
                used = Used(*json.loads(line))
            except (ValueError, TypeError):
                continue  # cut short by a kill, or edited: the others still count
            if used not in known:
                counted[used[:2]] = known[used] = counted.get(used[:2], 0) + 1
        return known

    def _append(self, used: Iterable[Used]) -> None:
        make_folder(self._root)
        lines = "".join(json.dumps(list(each)) + "\n" for each in used)
        # A line of its own, also after one that was cut short; one write, which other processes do not tear apart.
        file = os.open(self._path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
        try:
            os.write(file, b"\n" * bool(os.fstat(file).st_size) + lines.encode("ascii"))
        finally:
            os.close(file)
