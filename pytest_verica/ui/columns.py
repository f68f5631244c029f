"""Which columns a person chose to see while labelling an eval: remembered in `.verica/label-columns.json`."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from pytest_verica.errors import StoreError
from pytest_verica.store.folder import FOLDER, make_folder
from pytest_verica.store.whole_file import write_whole

NAME = "label-columns.json"


def _remembered(root: Path) -> dict[str, list[str]]:
    """What is remembered. A file that cannot be read holds nothing worth stopping for: it is written anew."""
    try:
        found = json.loads((root / FOLDER / NAME).read_text("utf-8"))
    except (OSError, ValueError, RecursionError):
        return {}
    chosen = found if isinstance(found, dict) else {}
    return {eval_id: list(map(str, names)) for eval_id, names in chosen.items() if isinstance(names, list)}


def chosen_columns(root: Path, eval_id: str) -> list[str] | None:
    """The columns chosen for an eval; None where nobody chose."""
    return _remembered(root).get(eval_id)


def choose_columns(root: Path, eval_id: str, columns: Sequence[str]) -> None:
    """Remembers them.

    Raises:
        StoreError: the file cannot be written.
    """
    chosen = {**_remembered(root), eval_id: list(columns)}
    try:
        make_folder(root)
        write_whole(root / FOLDER / NAME, [json.dumps(chosen, indent=1).encode("ascii")])
    except OSError as error:
        raise StoreError(f"cannot remember the columns in {root / FOLDER / NAME}: {error}") from error
