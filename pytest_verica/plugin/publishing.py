"""What a finished run writes beside its JSON report: the HTML report, and what GitHub Actions shows of it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from pytest_verica.errors import StoreError
from pytest_verica.report.saved import SavedRun

MOST_BYTES = 900_000
"""Of a step's summary: GitHub takes a megabyte, of all that a step writes."""


def write_html(run: SavedRun, path: Path) -> None:
    """Writes the HTML report.

    Raises:
        StoreError: it cannot be written.
    """
    from pytest_verica.report.formats import write_format  # deferred: most runs write none

    write_format(run, "html", path)


def write_step_summary(run: SavedRun) -> None:
    """Adds the Markdown summary to that of the step, where GitHub Actions runs it.

    Raises:
        StoreError: it cannot be written.
    """
    name = os.environ.get("GITHUB_STEP_SUMMARY")
    if not name:
        return
    from pytest_verica.report.markdown import markdown_pieces  # deferred: only there

    text = b"".join(markdown_pieces(run))
    if len(text) > MOST_BYTES:
        note = b"\n\n(cut here: the report has the rest)\n"
        text = text[: MOST_BYTES - len(note)].rpartition(b"\n")[0] + note
    try:
        with Path(name).open("ab") as file:
            file.write(text)
    except OSError as error:
        raise StoreError(f"cannot write the step's summary {name} (GITHUB_STEP_SUMMARY): {error}") from error


def workflow_commands(run: SavedRun, root: Path) -> Iterator[str]:
    """Lines that GitHub Actions turns into annotations; none elsewhere. root: the rootdir."""
    if os.environ.get("GITHUB_ACTIONS") != "true":
        return
    from pytest_verica.report.annotations import annotation_lines  # deferred: only there

    workspace = os.environ.get("GITHUB_WORKSPACE")
    folder = Path(os.path.relpath(root, workspace)) if workspace else Path()
    yield from annotation_lines(run, folder)
