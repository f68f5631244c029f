"""The `verica` fixture: grades outputs inside a test that declares no criteria; recorded under the test's own eval."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from pytest_verica.declare import Declared
from pytest_verica.engine.plan import Job
from pytest_verica.errors import VericaError
from pytest_verica.evals.marker import eval_from_marker
from pytest_verica.golden import golden_set_from_rows
from pytest_verica.grade import Grade
from pytest_verica.output import Output, output_of
from pytest_verica.plugin.evals import Evals, place_of
from pytest_verica.plugin.functions import columns_of
from pytest_verica.plugin.recording import LINES_OF_TEST, Recording
from pytest_verica.plugin.running import Running
from pytest_verica.plugin.ticket import Ticket


class Bench:
    """What a test gets as `verica`."""

    def __init__(self, item: pytest.Function, evals: Evals, running: Running, recording: Recording) -> None:
        self._item = item
        self._evals = evals
        self._running = running
        self._recording = recording
        self._graded = 0

    def grade(self, output: str | Output | Mapping[str, Any], criterion: Declared | Mapping[str, Any]) -> Grade:
        """The grade of an output by a criterion such as `text_check(name="polite", contains="please")`.

        Raises:
            ConfigError: the criterion is wrong.
        """
        item = self._item
        self._graded += 1
        callspec = getattr(item, "callspec", None)
        columns = {} if callspec is None else columns_of(callspec.params)
        spec = eval_from_marker(
            (),
            {"criteria": [criterion]},
            test=item.nodeid,
            place=place_of(item),
            base_dir=item.path.parent,
            kinds={name: kind.config for name, kind in self._evals.kinds.items()},
        )
        rows = golden_set_from_rows([{**columns, "id": f"check-{self._graded}"}], item.nodeid)
        ready = self._evals.ready(spec, rows, item.nodeid, function=True)
        case = rows[0]
        result = self._running.engine.grade(Job(ready, case, 0, ready.criteria), output_of(output))
        checked = ready.criteria[0]
        grade = result.grades[checked.id]
        told = {"pass": "passed", "fail": "failed", "na": "skipped", "error": "error"}[grade.outcome]
        lines = self._recording.lines(item.nodeid, Ticket.of(ready, case, checked), grade, told, result)  # type: ignore[arg-type]
        item.stash.setdefault(LINES_OF_TEST, []).extend(lines)
        return grade

    def check(self, output: str | Output | Mapping[str, Any], criterion: Declared | Mapping[str, Any]) -> Grade:
        """The same, asserted: a fail fails the test, N/A skips it.

        Raises:
            AssertionError: the verdict is fail.
            VericaError: the output could not be judged.
        """
        __tracebackhide__ = True
        grade = self.grade(output, criterion)
        if grade.outcome == "na":
            pytest.skip(f"N/A: {grade.explanation}")
        if grade.outcome == "error":
            raise VericaError(f"could not be judged: {grade.explanation}")
        assert grade.passed, grade.explanation
        return grade


def bench_for(request: pytest.FixtureRequest) -> Bench:
    manager = request.config.pluginmanager
    active: Any = manager.get_plugin("verica-active")
    made: Bench = active.bench(request.node)
    return made
