"""The answers of an earlier run, read from its JSON report, for a judge that compares this run's with them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from pytest_verica.canonical import content_hash
from pytest_verica.case import Case
from pytest_verica.errors import ConfigError


class RecordedRun:
    """The first answer to each case of one eval of a report. name: as messages show it; hash: of the answers."""

    def __init__(self, base_dir: Path, report: str, eval_name: str | None) -> None:
        """Raises ConfigError where the report cannot be read, or does not tell which of its evals is meant."""
        self.name = report
        found = _eval_of(_read(base_dir / report, report), report, eval_name)
        self._texts: dict[str, str | None] = {}
        for case in found.get("cases") or ():
            if case.get("sample", 0) == 0:
                self._texts[case["original_id"]] = (case.get("output") or {}).get("text")
        if not any(text is not None for text in self._texts.values()):
            raise ConfigError(f"the report {report} holds no answer to compare with")
        self.hash = content_hash(self._texts)

    def text(self, case: Case) -> str | None:
        """The answer to this case, found by the id that the golden set gives it; None where there is none."""
        return self._texts.get(case.original_id)


def _read(path: Path, shown: str) -> Any:
    try:
        data = json.loads(path.read_text("utf-8"))
    except OSError as error:
        raise ConfigError(f"cannot read the report {shown}: {error.strerror}. Its path is from the eval file") from None
    except ValueError as error:
        raise ConfigError(f"the report {shown} is not JSON: {error}") from None
    if not isinstance(data, dict) or not isinstance(data.get("evals"), list) or not data["evals"]:
        raise ConfigError(f"{shown} is no report of pytest --verica: it has no `evals` (see --verica-report)")
    return data


def _eval_of(data: Any, shown: str, name: str | None) -> Any:
    evals = data["evals"]
    named = [found for found in evals if name is None or found.get("name") == name]
    if len(named) == 1:
        return named[0]
    known = ", ".join(str(found.get("name")) for found in evals)
    if name is None:
        raise ConfigError(f"the report {shown} has several evals: name one of them in `eval`: {known}")
    raise ConfigError(f"the report {shown} has no eval {name!r}; it has: {known}")
