"""From what an eval calls its golden set to the golden set: finds the file and its reader."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from pytest_verica.golden.findings import Findings
from pytest_verica.golden.golden_set import GoldenSet
from pytest_verica.kinds import Kinds

_READERS: Kinds[Callable[[Path, Findings], GoldenSet]] = Kinds(
    {
        ".csv": "pytest_verica.golden.delimited:read_csv",
        ".tsv": "pytest_verica.golden.delimited:read_tsv",
        ".jsonl": "pytest_verica.golden.json_rows:read_jsonl",
        ".ndjson": "pytest_verica.golden.json_rows:read_jsonl",
        ".json": "pytest_verica.golden.json_rows:read_json_array",
        ".yaml": "pytest_verica.golden.yaml_rows:read_yaml",
        ".yml": "pytest_verica.golden.yaml_rows:read_yaml",
        ".parquet": "pytest_verica.golden.parquet:read_parquet",
    }
)
_BOOKS = (".xlsx", ".xlsm")


def load_golden_set(source: str | Mapping[str, Any], base_dir: Path) -> GoldenSet:
    """Reads a golden set: `golden/cases.csv`, `book.xlsx#Sheet` or `{"python": "module:rows"}`.

    Paths are relative to `base_dir`.

    Raises:
        GoldenSetError: everything found wrong, each with file and line.
    """
    if isinstance(source, Mapping):
        reference = source.get("python")
        if set(source) != {"python"} or not isinstance(reference, str):
            Findings("golden_set").stop('a golden set is the path of a file, or {python: "module:rows"}')
        from pytest_verica.golden.python_rows import read_python  # deferred, as the others are

        return read_python(reference, base_dir, Findings(reference))
    path, sheet = _path_and_sheet(source, base_dir)
    findings = Findings(source)
    kind = path.suffix.lower()
    if not path.is_file():
        _tell_absent(path, findings)
    if kind not in _READERS and kind not in _BOOKS:
        known = ", ".join([*_READERS, *_BOOKS])
        findings.stop(f"a golden set cannot be read from a {kind or 'nameless'} file; known formats: {known}")
    try:
        if path.stat().st_size == 0:
            findings.stop("the file is empty (0 bytes): a golden set needs at least one case")
        if kind not in _BOOKS:
            return _READERS[kind](path, findings)
        from pytest_verica.golden.xlsx import read_xlsx

        return read_xlsx(path, findings, sheet)
    except OSError as error:
        findings.stop(f"the file cannot be read: {error.strerror or error}")


def _path_and_sheet(source: str, base_dir: Path) -> tuple[Path, str | None]:
    whole = base_dir / source
    name, hash_sign, sheet = source.rpartition("#")
    if hash_sign and name.lower().endswith(_BOOKS) and not whole.is_file():
        return base_dir / name, sheet
    return whole, None


def _tell_absent(path: Path, findings: Findings) -> None:
    if path.is_dir():
        findings.stop("this is a folder: name the file of cases in it")
    if not path.parent.is_dir():
        findings.stop("there is no such file, and its folder does not exist; paths are relative to the eval's file")
    names = sorted(entry.name for entry in path.parent.iterdir() if entry.is_file())
    folded = {name.casefold(): name for name in names}
    near = difflib.get_close_matches(path.name.casefold(), list(folded), n=1, cutoff=0.5)
    hint = f"; did you mean `{folded[near[0]]}`?" if near else "; paths are relative to the eval's file"
    findings.stop(f"there is no such file{hint}")
