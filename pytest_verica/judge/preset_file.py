"""The files that presets are written in: the prompt in full, readable, the default threshold."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from pytest_verica.evals.document import read_document

FOLDER = Path(__file__).resolve().parent / "presets"


@cache
def preset_text(name: str) -> str:
    """The file of a preset, as it stands."""
    return (FOLDER / f"{name}.yaml").read_text("utf-8")


@cache
def preset_keys(name: str) -> Mapping[str, Any]:
    """What the file of a preset says: `pass_at` and `prompt`."""
    keys: Mapping[str, Any] = read_document(FOLDER / f"{name}.yaml", f"{name}.yaml").value
    return keys


_MODEL = "    # model: {provider: openai, name: gpt-5-mini, credential: OPENAI_API_KEY}  (fill in the judge's)\n"


def preset_criterion(name: str) -> str:
    """The preset as a part of an eval file, with its prompt in it, to be edited there."""
    comments, _, keys = preset_text(name).partition("pass_at:")
    indented = "".join(f"    {line}" if line.strip() else line for line in f"pass_at:{keys}".splitlines(keepends=True))
    return f"{comments}criteria:\n  - preset: {name}\n    name: {name.rpartition('/')[2]}\n{_MODEL}{indented}"
