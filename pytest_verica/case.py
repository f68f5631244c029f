"""A case: one row of a golden set, read-only."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping
from typing import Any

from pytest_verica.canonical import content_hash


class Case(Mapping[str, Any]):
    """One row of the golden set: a read-only mapping of its columns, with attribute access (`case.question`).

    id: unique in its eval and safe in a node id; original_id: as the golden set wrote it; position: 0-based place in
    the golden set; line: 1-based line of its first character in the file, None where the source has no lines.
    A column that shares a name with one of these is reached as `case["position"]`.
    """

    __slots__ = ("_columns", "id", "line", "original_id", "position")

    id: str
    original_id: str
    position: int
    line: int | None

    def __init__(
        self,
        id: str,
        columns: Mapping[str, Any],
        *,
        original_id: str | None = None,
        position: int = 0,
        line: int | None = None,
    ) -> None:
        write = object.__setattr__
        write(self, "id", id)
        write(self, "original_id", id if original_id is None else original_id)
        write(self, "position", position)
        write(self, "line", line)
        write(self, "_columns", columns)

    @property
    def columns(self) -> Mapping[str, Any]:
        """The row, by column name."""
        return self._columns  # type: ignore[no-any-return]

    def __getitem__(self, column: str) -> Any:
        return self._columns[column]

    def __iter__(self) -> Iterator[str]:
        return iter(self._columns)

    def __len__(self) -> int:
        return len(self._columns)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        try:
            return self._columns[name]
        except KeyError:
            raise AttributeError(f"case {self.id!r} has no column {name!r}; it has: {', '.join(self)}") from None

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"a case is read-only: {name!r} cannot be set")

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"a case is read-only: {name!r} cannot be deleted")

    def __repr__(self) -> str:
        return f"<Case {self.id!r} {dict(self._columns)!r}>"

    def __copy__(self) -> Case:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Case:
        columns = copy.deepcopy(dict(self._columns), memo)
        return Case(self.id, columns, original_id=self.original_id, position=self.position, line=self.line)

    def __reduce__(self) -> tuple[Any, ...]:
        return (_restore, (self.id, dict(self._columns), self.original_id, self.position, self.line))

    @property
    def content_hash(self) -> str:
        """Hash of the columns: the same row has the same hash in any golden set."""
        return content_hash(dict(self._columns))


def _restore(id: str, columns: dict[str, Any], original_id: str, position: int, line: int | None) -> Case:
    return Case(id, columns, original_id=original_id, position=position, line=line)
