"""The label file beside a golden set: append-only JSON lines, each on the disk before it is confirmed."""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Iterable, Iterator
from pathlib import Path

from pytest_verica.calibration.label import Label
from pytest_verica.errors import Place, StoreError

SUFFIX = ".labels.jsonl"
_START = b'{"record":"label"'
_BLOCK = 1 << 16


def label_path(root: Path, eval_file: str, golden_set: str | None, eval_id: str) -> Path:
    """`golden/refunds.labels.jsonl` for `golden/refunds.csv`; beside the eval where its cases come from no file.

    eval_file: path under `root`; golden_set: as a run keeps it, relative to the eval's folder; eval_id: its node id.
    """
    folder = (root / eval_file).parent
    if golden_set is not None and ":" not in Path(golden_set).name:
        golden = Path(os.path.normpath(folder / golden_set))
        return golden.with_name(golden.stem + SUFFIX)
    _, _, function = eval_id.partition("::")
    parts = [Path(eval_file).name.partition(".")[0], *(part for part in function.split("::") if part)]
    return folder / (".".join(parts) + SUFFIX)


class LabelFile:
    """The acts of labelling, one a line. Several processes may write at once; nothing is ever taken out."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def append(self, *labels: Label) -> None:
        """Adds acts, all of them or none, and returns when they are on the disk.

        Raises:
            StoreError: they could not be written; nothing of them is in the file.
        """
        text = "".join(json.dumps(label.to_json(), separators=(",", ":"), allow_nan=False) + "\n" for label in labels)
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            fresh = not self.path.exists()
            with self._locked() as file:
                self._write(file, text.encode("ascii"))
            if fresh:
                _sync_folder(self.path.parent)
        except OSError as error:
            raise StoreError(
                f"the label was not saved: {self.path} cannot be written: {error.strerror or error}. Make it writable, "
                "free some space, and label the output again"
            ) from error

    def acts(self) -> list[Label]:
        """Every act, in the order of the file; none where there is no file. A last line that a killed process could
        not finish was never confirmed, and is passed over.

        Raises:
            StoreError: a line is no label: it says which.
        """
        try:
            data = self.path.read_bytes()
        except FileNotFoundError:
            return []
        except OSError as error:
            raise StoreError(f"the labels in {self.path} cannot be read: {error.strerror or error}") from error
        found = []
        lines = data.split(b"\n")
        for number, line in enumerate(lines, 1):
            if not line.strip():
                continue
            try:
                value = json.loads(line)
                if not isinstance(value, dict):
                    raise ValueError("expected a JSON object")
                if value.get("record", "label") == "label":
                    found.append(Label.from_json(value))
            except (ValueError, TypeError, RecursionError) as error:
                if number == len(lines) and _is_torn(line):
                    break
                place = Place(str(self.path), number)
                raise StoreError(
                    f"{place}: no label: {error}. The line was edited or merged wrongly; mend it (every line is one "
                    "JSON object, as `git log -p` of the file shows) and no label is lost"
                ) from None
        return found

    @contextlib.contextmanager
    def _locked(self) -> Iterator[int]:
        """The file, open and this process's alone."""
        file = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_APPEND | getattr(os, "O_BINARY", 0), 0o666)
        try:
            with _lock(file):
                yield file
        finally:
            os.close(file)

    def _write(self, file: int, data: bytes) -> None:
        size = self._mended(file)
        try:
            written = os.write(file, data)
            while written < len(data):
                written += os.write(file, data[written:])
            os.fsync(file)
        except OSError:
            with contextlib.suppress(OSError):
                os.ftruncate(file, size)  # half of it may be there
            raise

    def _mended(self, file: int) -> int:
        """The size of the file after its last line was ended, or taken back where a kill cut it short."""
        size = os.fstat(file).st_size
        tail, start = b"", size
        while start and b"\n" not in tail:
            begin = max(0, start - _BLOCK)
            os.lseek(file, begin, os.SEEK_SET)
            tail, start = os.read(file, start - begin) + tail, begin
        line = tail.rpartition(b"\n")[2]
        if not line:
            return size
        try:
            json.loads(line)
        except ValueError:
            if _is_torn(line):
                os.ftruncate(file, size - len(line))
                return size - len(line)
        os.write(file, b"\n")  # somebody's editor left the last line open
        return size + 1


def _is_torn(line: bytes) -> bool:
    """Whether an unfinished last line is what a killed process left, and not somebody's text."""
    return line.startswith(_START) or _START.startswith(line)


@contextlib.contextmanager
def _lock(file: int) -> Iterator[None]:
    """An exclusive lock on an open file; released by the system where the process dies."""
    try:
        import fcntl
    except ImportError:  # Windows: its own lock, of the first byte
        import msvcrt

        os.lseek(file, 0, os.SEEK_SET)
        msvcrt.locking(file, msvcrt.LK_LOCK, 1)  # type: ignore[attr-defined,unused-ignore]
        try:
            yield
        finally:
            os.lseek(file, 0, os.SEEK_SET)
            msvcrt.locking(file, msvcrt.LK_UNLCK, 1)  # type: ignore[attr-defined,unused-ignore]
        return
    fcntl.flock(file, fcntl.LOCK_EX)
    try:
        yield
    finally:
        fcntl.flock(file, fcntl.LOCK_UN)


def _sync_folder(folder: Path) -> None:
    """The name of a new file is on the disk too. Systems that cannot sync a folder keep it without."""
    with contextlib.suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def labels_of(acts: Iterable[Label], eval_id: str, criterion: str) -> list[Label]:
    """Those of one criterion of one eval."""
    return [act for act in acts if act.eval == eval_id and act.criterion == criterion]
