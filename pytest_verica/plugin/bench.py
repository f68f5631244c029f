"""The `verica` fixture: grades outputs inside a test that declares no criteria; recorded under the test's own eval."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from pytest_verica.declare import Declared
from pytest_verica.engine.grading import CaseResult
from pytest_verica.engine.plan import Job
from pytest_verica.errors import VericaError
from pytest_verica.evals.marker import eval_from_marker
from pytest_verica.golden import golden_set_from_rows
from pytest_verica.grade import Grade
from pytest_verica.graders.configs import Configs
from pytest_verica.output import Output, output_of
from pytest_verica.plugin.evals import Evals, place_of
from pytest_verica.plugin.functions import columns_of
from pytest_verica.plugin.recording import BENCH, Recording
from pytest_verica.plugin.running import Running
from pytest_verica.plugin.ticket import Ticket
from pytest_verica.run import Record, Reported

_TOLD: dict[str, Reported] = {"pass": "passed", "fail": "failed", "na": "skipped", "error": "error"}


class Bench:
    """What a test gets as `verica`."""

    def __init__(self, item: pytest.Function, evals: Evals, running: Running, recording: Recording) -> None:
        self._item = item
        self._evals = evals
        self._running = running
        self._recording = recording
        self._graded: list[tuple[Ticket, Grade, CaseResult]] = []
        item.stash[BENCH] = self.records

    def grade(self, output: str | Output | Mapping[str, Any], criterion: Declared | Mapping[str, Any]) -> Grade:
        """The grade of an output by a criterion such as `text_check(name="polite", contains="please")`.

        Raises:
            ConfigError: the criterion is wrong.
        """
        item = self._item
        number = len(self._graded) + 1
        callspec = getattr(item, "callspec", None)
        columns = {} if callspec is None else columns_of(callspec.params)
        spec = eval_from_marker(
            (),
            {"criteria": [criterion]},
            test=item.nodeid,
            place=place_of(item),
            base_dir=item.path.parent,
            kinds=Configs(self._evals.kinds),
        )
        rows = golden_set_from_rows([{**columns, "id": f"check-{number}"}], item.nodeid)
        ready = self._evals.ready(spec, rows, item.nodeid, function=True)
        case = rows[0]
        result = self._running.engine.grade(Job(ready, case, 0, ready.criteria), output_of(output))
        checked = ready.criteria[0]
        grade = result.grades[checked.id]
        self._graded.append((Ticket.of(ready, case, checked), grade, result))
        return grade

    def records(self) -> list[Record | str]:
        """The records of the test: one eval with every criterion that was used."""
        if not self._graded:
            return []
        used = {ticket.criterion.id: ticket.criterion for ticket, _, _ in self._graded}
        first = self._graded[0][0].eval
        # Each criterion was checked as an eval of its own; those of the same name are noted once.
        notes = {(n["criterion"], n["parameter"]): n for ticket, _, _ in self._graded for n in ticket.eval.left_out}
        whole = replace(first, criteria=tuple(used.values()), left_out=tuple(notes.values()))
        self._recording.expect(whole.id, len(self._graded))
        records: list[Record | str] = []
        for ticket, grade, result in self._graded:
            of_whole = ticket._replace(eval=whole)
            records += self._recording.records(self._item.nodeid, of_whole, grade, _TOLD[grade.outcome], result)
        return records

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
