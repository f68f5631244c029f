"""No log record with a key: whoever logs it, as text, argument or exception."""

from __future__ import annotations

import logging
from collections.abc import Iterator

import pytest

from pytest_verica.providers.log_guard import LogGuard

KEY = "sk-guarded-Zx8Qw7/Er6"


@pytest.fixture
def guard(monkeypatch: pytest.MonkeyPatch) -> Iterator[LogGuard]:
    monkeypatch.setenv("GUARDED_KEY", KEY)
    monkeypatch.setenv("SHORT", "1")
    made = LogGuard()
    made.hide(["GUARDED_KEY", "SHORT", "NOT_SET"])
    yield made
    made.remove()


@pytest.mark.parametrize(
    ("message", "args", "said"),
    [
        ("authorization: Bearer " + KEY, (), "authorization: Bearer ***"),
        (
            "headers %r",
            ([(b"authorization", b"Bearer " + KEY.encode())],),
            "headers [(b'authorization', b'Bearer ***')]",
        ),
        ("GET /x?token=%s", ("sk-guarded-Zx8Qw7%2FEr6",), "GET /x?token=***"),
        ("%d of %s", (1, "many"), "1 of many"),
    ],
)
def test_what_is_logged(
    guard: LogGuard, caplog: pytest.LogCaptureFixture, message: str, args: tuple[object, ...], said: str
) -> None:
    with caplog.at_level("DEBUG"):
        logging.getLogger("some.http.library").debug(message, *args)
    assert caplog.messages == [said]


def test_an_exception_that_holds_it(guard: LogGuard, caplog: pytest.LogCaptureFixture) -> None:
    try:
        raise ValueError(f"bad header {KEY}")
    except ValueError:
        logging.getLogger("library").exception("it failed")
    assert "bad header ***" in caplog.text and KEY not in caplog.text


def test_it_is_there_only_while_it_is_needed(guard: LogGuard) -> None:
    before = logging.LogRecord
    assert logging.getLogRecordFactory() == guard.record
    guard.remove()
    guard.remove()
    assert logging.getLogRecordFactory() is before
    LogGuard().hide(["NOT_SET"])
    assert logging.getLogRecordFactory() is before
