"""The journal: appended line by line, readable after a kill at any byte."""

from __future__ import annotations

import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from pytest_verica.errors import StoreError
from pytest_verica.grade import Grade
from pytest_verica.run import CaseRecord, Record, RunEnd, RunHeader, VerdictRecord
from pytest_verica.store.journal import JournalWriter, scan_journal

RECORDS: list[Record] = [
    RunHeader("20261201-101530-4f2a", "2026-12-01T10:15:30Z"),
    CaseRecord("e", "row-0001", "row-0001", 0, 0, {"question": "¿\ud800? \u2028"}),
    VerdictRecord("e", "row-0001", "tone", 0, "e::row-0001::tone", Grade.of(True, "found").to_json(), "passed"),
    RunEnd("2026-12-01T10:16:30Z", 0),
]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "journal.jsonl"
    writer = JournalWriter(path)
    for record in RECORDS:
        writer.append(record.to_line())
    writer.close()
    writer.close()
    return path


def _records(path: Path) -> list[Record]:
    return [record for _, record in scan_journal(path)]


def test_offsets_lead_to_the_lines(path: Path) -> None:
    data = path.read_bytes()
    for (offset, record), expected in zip(scan_journal(path), RECORDS, strict=True):
        assert record == expected
        assert data[offset:].startswith(expected.to_line().encode())


def test_each_line_is_there_before_append_returns(tmp_path: Path) -> None:
    path = tmp_path / "journal.jsonl"
    writer = JournalWriter(path)
    for count, record in enumerate(RECORDS, 1):
        writer.append(record.to_line())
        assert _records(path) == RECORDS[:count]
    writer.close()


def test_cut_at_every_byte(path: Path) -> None:
    data = path.read_bytes()
    starts = [offset for offset, _ in scan_journal(path)]
    for size in range(len(data) + 1):
        path.write_bytes(data[:size])
        # A line is whole when all of it but its end is there.
        whole = sum(1 for number, start in enumerate(starts) if size >= start + len(RECORDS[number].to_line()))
        assert _records(path) == RECORDS[:whole], size


@pytest.mark.parametrize("cut", [1, 2, 40, 100_000])
def test_a_writer_that_follows_is_not_glued_to_half_a_line(path: Path, cut: int) -> None:
    long = RunEnd("x" * 20_000)  # longer than the block in which the end is looked for
    writer = JournalWriter(path)
    writer.append(long.to_line())
    writer.close()
    path.write_bytes(path.read_bytes()[:-cut])
    writer = JournalWriter(path)
    writer.append(RunEnd("later").to_line())
    writer.close()
    kept = [] if cut == 100_000 else RECORDS
    assert _records(path) == [*kept, RunEnd("later")]


def test_damage_before_the_end_is_an_error_with_its_place(path: Path) -> None:
    lines = path.read_bytes().split(b"\n")
    lines[1] = lines[1][:-9]
    path.write_bytes(b"\n".join(lines))
    with pytest.raises(StoreError, match=r"journal\.jsonl:2: .*cannot be counted on"):
        _records(path)


def test_a_journal_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="cannot read the journal"):
        _records(tmp_path / "journal.jsonl")
    with pytest.raises(StoreError, match="cannot write the journal"):
        JournalWriter(tmp_path / "nowhere" / "journal.jsonl")


def test_a_killed_writer_loses_no_line_that_it_appended(tmp_path: Path) -> None:
    path = tmp_path / "journal.jsonl"
    script = f"""
    import os, signal
    from pathlib import Path
    from pytest_verica.run import RunEnd
    from pytest_verica.store.journal import JournalWriter
    writer = JournalWriter(Path({str(path)!r}))
    for number in range(500):
        writer.append(RunEnd(str(number)).to_line())
    os.kill(os.getpid(), signal.SIGKILL)
    """
    assert subprocess.run([sys.executable, "-c", textwrap.dedent(script)], check=False).returncode != 0
    assert _records(path) == [RunEnd(str(number)) for number in range(500)]


@pytest.mark.skipif(sys.platform == "win32", reason="needs a limit on the size of files")
def test_no_room_is_an_error_and_leaves_whole_lines(tmp_path: Path) -> None:
    """A limit on file size stands for a full disk."""
    path = tmp_path / "journal.jsonl"
    script = f"""
    import resource, signal
    from pathlib import Path
    from pytest_verica.errors import StoreError
    from pytest_verica.run import RunEnd
    from pytest_verica.store.journal import JournalWriter
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
    writer = JournalWriter(Path({str(path)!r}))
    writer.append(RunEnd("a" * 700).to_line())
    try:
        writer.append(RunEnd("b" * 700).to_line())
    except StoreError as error:
        print(error)
    writer.append(RunEnd("c").to_line())
    """
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(script)], capture_output=True, text=True, check=False)
    assert "cannot write the journal" in done.stdout and "free some space" in done.stdout, done.stderr
    assert _records(path) == [RunEnd("a" * 700), RunEnd("c")]
