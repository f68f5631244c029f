"""Secrets kept out of log records, whoever writes them: HTTP libraries log headers and urls at their DEBUG and INFO."""

from __future__ import annotations

import logging
import os
import traceback
from collections.abc import Iterable
from typing import Any

from pytest_verica.providers.door import hidden, secrets_in

_SHORTEST = 6
"""Characters of a value that is hidden: a shorter one is no key, and would be found in any text."""


class LogGuard:
    """Takes secrets out of every log record that this process makes, from the first `hide` until `remove`."""

    def __init__(self) -> None:
        self._secrets: tuple[str, ...] = ()
        self._make: Any = None

    def hide(self, names: Iterable[str]) -> None:
        """Hides the values of environment variables."""
        values = [os.environ.get(name, "").strip() for name in names]
        known = {value for value in values if len(value) >= _SHORTEST}
        if not known or known.issubset(self._secrets):
            return
        self._secrets = secrets_in([*self._secrets, *known])
        if self._make is None:
            self._make = logging.getLogRecordFactory()
            logging.setLogRecordFactory(self.record)

    def remove(self) -> None:
        """Puts back what made the records before. Safe to call twice."""
        self._secrets = ()
        if self._make is not None and logging.getLogRecordFactory() == self.record:
            logging.setLogRecordFactory(self._make)
            self._make = None

    def record(self, *args: Any, **more: Any) -> logging.LogRecord:
        """A log record without secrets."""
        record: logging.LogRecord = self._make(*args, **more)
        if not self._secrets:
            return record
        try:
            said = record.getMessage()
        except Exception:  # noqa: BLE001 - logging tells of a bad format string where the record is written
            return record
        clean = hidden(said, self._secrets)
        if clean != said:
            record.msg, record.args = clean, None
        if record.exc_info and record.exc_info[1] is not None:
            trace = "".join(traceback.format_exception(record.exc_info[1]))
            clean = hidden(trace, self._secrets)
            if clean != trace:
                record.exc_text, record.exc_info = clean, None
        return record
