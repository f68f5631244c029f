"""A damaged store: set aside with a warning, never a crash, never a wrong answer."""

from __future__ import annotations

import random
import sqlite3
import subprocess
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path

import pytest

from pytest_verica.store.responses import ResponseStore
from tests.unit.store.answers import answer, question

REQUESTS = [question(f"{number} {'x' * 500}") for number in range(60)]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "responses.sqlite"
    store = ResponseStore(path)
    store.put_many([(request, answer(request.key)) for request in REQUESTS])
    store.close()
    return path


def _cut(at: float) -> Callable[[bytes], bytes]:
    return lambda data: data[: int(len(data) * at)]


def _flip(marker: bytes) -> Callable[[bytes], bytes]:
    """Another letter in a stored text: SQLite itself sees nothing wrong."""
    return lambda data: data.replace(marker, marker[:-1] + bytes([marker[-1] ^ 1]))


def _scribble(start: int, length: int) -> Callable[[bytes], bytes]:
    return lambda data: data[:start] + b"\xa5" * length + data[start + length :]


NONE = range(1)
DAMAGE: dict[str, tuple[Callable[[bytes], bytes], range]] = {
    "no database at all": (lambda data: b"this is no database, but a note " * 40, NONE),
    "cut after 10 bytes": (lambda data: data[:10], NONE),
    "cut after the header": (lambda data: data[:100], NONE),
    "cut after a page": (lambda data: data[:4096], NONE),
    "cut in the middle": (_cut(0.5), range(20, 31)),
    "cut near the end": (_cut(0.97), range(50, 60)),
    "the last byte missing": (lambda data: data[:-1], range(55, 60)),
    "scribbled header": (_scribble(20, 60), NONE),
    "scribbled schema": (_scribble(100, 3000), NONE),
    "scribbled pages": (_scribble(8192, 30000), range(30, 55)),
    "a letter of an answer": (_flip(b'"text":"' + REQUESTS[7].key.encode()), range(59, 60)),
    "a byte that is no text": (
        lambda data: data.replace(b'"model":"m-1-2026"', b'"model":"\xff-1-2026"', 3),
        range(57, 58),
    ),
}
"""What happens to the file, and how many of its 60 answers are kept (where pages are lost, SQLite's layout decides)."""


@pytest.mark.parametrize("name", DAMAGE)
def test_damage_is_set_aside(path: Path, name: str) -> None:
    """What can still be read is kept: an answer was paid for."""
    damage, kept = DAMAGE[name]
    damaged = damage(path.read_bytes())
    path.write_bytes(damaged)
    store = ResponseStore(path)
    found = [store.get_many([request.key]) for request in REQUESTS]
    assert all(each in ({}, {request.key: answer(request.key)}) for request, each in zip(REQUESTS, found, strict=True))
    # An answer that was asked for before the damage was seen counts as kept too.
    count = store.count()
    assert count in kept
    assert len(store.warnings) == 1
    assert store.warnings[0].endswith(f"({count})" if count else "a new one begun")
    (aside,) = path.parent.glob("responses.damaged-*.sqlite")
    assert aside.name in store.warnings[0] and "damaged" in store.warnings[0]
    assert aside.read_bytes() == damaged
    store.put_many([(REQUESTS[0], answer("new"))])
    assert store.get_many([REQUESTS[0].key]) == {REQUESTS[0].key: answer("new")}
    store.close()


def test_cut_at_fifty_random_bytes(path: Path) -> None:
    """Set aside or sound: whatever is given back is what was stored, and what the database still held is kept."""
    whole = path.read_bytes()
    lengths = random.Random(50).sample(range(1, len(whole)), 50)
    kept = []
    for number, length in enumerate(lengths):
        cut = path.with_name(f"cut{number}") / path.name
        cut.parent.mkdir()
        cut.write_bytes(whole[:length])
        store = ResponseStore(cut)
        found = store.get_many([request.key for request in REQUESTS])
        assert found == {key: answer(key) for key in found}
        assert len(store.warnings) == 1
        store.put_many([(request, answer(request.key)) for request in REQUESTS])
        assert store.get_many([request.key for request in REQUESTS]) == {r.key: answer(r.key) for r in REQUESTS}
        kept.append((length, len(found)))
        store.close()
    assert max(found for _, found in kept) > 20, "most of a store that was cut at its end is kept"


@pytest.mark.parametrize("size", range(0, 8192, 397))
def test_cut_anywhere_in_the_first_pages(path: Path, size: int) -> None:
    path.write_bytes(path.read_bytes()[:size])
    store = ResponseStore(path)
    found = store.get_many([request.key for request in REQUESTS])
    assert found == {}
    store.put_many([(REQUESTS[1], answer("new"))])
    assert store.count() == 1
    assert len(store.warnings) == (1 if size else 0)  # an empty file is a new database
    store.close()


def test_found_while_writing(path: Path) -> None:
    path.write_bytes(DAMAGE["scribbled pages"][0](path.read_bytes()))
    store = ResponseStore(path)
    for request in REQUESTS:
        store.put_many([(request, answer(request.key))])
    assert store.count() == len(REQUESTS)
    assert len(store.warnings) == 1
    store.close()


def test_another_process_that_has_it_open_goes_on_with_the_new_one(path: Path) -> None:
    one, two = ResponseStore(path), ResponseStore(path)
    assert (one.count(), two.count()) == (60, 60)
    connection = sqlite3.connect(path)
    connection.execute("UPDATE answers SET cost = '9' WHERE key = ?", (REQUESTS[5].key,))
    connection.commit()
    connection.close()
    assert one.get_many([REQUESTS[5].key]) == {}
    assert len(one.warnings) == 1 and one.count() == 59
    one.put_many([(REQUESTS[5], answer("new"))])
    assert two.get_many([REQUESTS[5].key]) == {REQUESTS[5].key: answer("new")}
    assert two.warnings == []
    one.close()
    two.close()
    assert len(list(path.parent.glob("responses.damaged-*.sqlite"))) == 1


@pytest.mark.parametrize("cut", [1, 31, 32, 33, 500, 4096, 5000])
def test_a_log_cut_short_is_no_damage(tmp_path: Path, cut: int) -> None:
    """What SQLite has not moved into the database yet is lost from there on; what is left is sound."""
    path = tmp_path / "responses.sqlite"
    store = ResponseStore(path)
    for request in REQUESTS[:10]:
        store.put_many([(request, answer(request.key))])
    copy = tmp_path / "copy"
    copy.mkdir()
    (copy / path.name).write_bytes(path.read_bytes())
    log = Path(f"{path}-wal").read_bytes()
    (copy / f"{path.name}-wal").write_bytes(log[:-cut])
    store.close()
    again = ResponseStore(copy / path.name)
    found = again.get_many([request.key for request in REQUESTS[:10]])
    assert len(found) == 9
    assert all(stored == answer(key) for key, stored in found.items())
    assert again.warnings == []
    again.close()


@pytest.mark.skipif(sys.platform == "win32", reason="needs a limit on the size of files")
def test_no_room_is_an_error_with_advice(path: Path) -> None:
    """A limit on file size stands for a full disk."""
    script = f"""
    import resource, signal
    from pathlib import Path
    from pytest_verica.errors import StoreError
    from pytest_verica.store.responses import ResponseStore
    from tests.unit.store.answers import answer, question
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    store = ResponseStore(Path({str(path)!r}))
    assert store.count() == 60
    resource.setrlimit(resource.RLIMIT_FSIZE, (70_000, 70_000))
    try:
        for number in range(100):
            store.put_many([(question(f"{{number}} {{'y' * 2000}}"), answer())])
    except StoreError as error:
        print(error)
    print("stored before", number, "kept", store.count() - 60, store.warnings)
    """
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(script)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    said, counted = done.stdout.strip().splitlines()
    assert "cannot be used" in said and "free space" in said
    words = counted.split()
    assert words[2] == words[4] and int(words[2]) > 0
    assert counted.endswith("[]")
