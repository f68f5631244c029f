"""The gates of a whole run, judged when it has ended or when its shards were merged: each eval's, and the run's own."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_verica.errors import StoreError, VericaError
from pytest_verica.evals.gate import GateConfig
from pytest_verica.report.gate import Ran, judge_gate, judge_run_gate
from pytest_verica.report.summary import EvalSummary, RunSummary
from pytest_verica.report.totals import Totals
from pytest_verica.run import RUN_GATE, GateResult

if TYPE_CHECKING:
    from pytest_verica.report.baseline import Baseline, Comparison
    from pytest_verica.report.calibrated import Corrected

NO_BASELINE = "none"
"""What `--verica-baseline` says where there is no earlier run yet."""


def named_baseline(root: Path, name: str | None) -> Baseline | str | None:
    """The run that `--verica-baseline` names; NO_BASELINE where it says so, None where it is not given.

    Raises:
        StoreError: there is no such run.
    """
    if name is None or name == NO_BASELINE:
        return name
    from pytest_verica.report.baseline import Baseline  # deferred: few runs name one

    return Baseline.find(root, name)


Correcting = Callable[[EvalSummary, GateConfig], "Mapping[str, Corrected]"]
"""What is known of the judges of an eval: made of human labels, by id of the criterion."""


def _no_reasons(eval_id: str, totals: Totals) -> Iterable[str]:
    return ()


@dataclass(frozen=True)
class Judging:
    """What gates are judged by, beside what the evals say.

    run_gate: the pass rate of a gate over the whole run, None for no such gate; partial: why no gate can be judged,
    whatever ran; note: what is said beside (that it is a sample, say); baseline: the run that `--verica-baseline`
    names, NO_BASELINE where it says that there is none, None where it is not given; skipped: evals all of whose
    verdicts their author skips; reasons: more reasons to fail, by eval; corrected: the judges' true rates of an eval
    with a `calibrated` gate, by id of the criterion; None where nobody can know them, then such a gate fails.
    """

    run_gate: float | None = None
    partial: str | None = None
    note: str | None = None
    baseline: Baseline | str | None = None
    skipped: Collection[str] = ()
    reasons: Callable[[str, Totals], Iterable[str]] = _no_reasons
    corrected: Correcting | None = None

    def gates(self, summary: RunSummary) -> dict[str, GateResult]:
        """Every gate's word: by eval id, the run's under RUN_GATE."""
        found: dict[str, GateResult] = {}
        for eval_id, of_eval in summary.evals.items():
            result = self._eval_gate(eval_id, of_eval, summary)
            if result is not None:
                found[eval_id] = result
        if self.run_gate is not None:
            found[RUN_GATE] = self._run_gate(self.run_gate, summary)
        return found

    def _eval_gate(self, eval_id: str, found: EvalSummary, summary: RunSummary) -> GateResult | None:
        record, totals = found.record, found.totals
        if eval_id in self.skipped:
            return None if record.gate is None else GateResult("skipped", ("the test skips every verdict",), {})
        if record.gate is None:
            return self._checked_something(found)
        config = GateConfig.model_validate(record.gate)
        ran = Ran(record.planned, record.selected, totals.counts.ran, self.partial, self.note, record.repeat)
        baseline: Comparison | str | None = None
        if config.baseline is not None and ran.why_not is None:
            try:
                baseline = self._compared(summary, eval_id, config)
            except StoreError as error:
                return judge_gate(config, totals, ran).failing((f"its `baseline` cannot be judged: {error}",))
        corrected: Mapping[str, Corrected] | None = None
        if config.calibrated and self.corrected is not None and ran.why_not is None:
            try:
                corrected = self.corrected(found, config)
            except VericaError as error:
                return judge_gate(config, totals, ran).failing((f"`calibrated` cannot be judged: {error}",))
        result = judge_gate(config, totals, ran, baseline=baseline, corrected=corrected)
        return result.failing(tuple(self.reasons(eval_id, totals)))

    def _compared(self, summary: RunSummary, eval_id: str, config: GateConfig) -> Comparison | str | None:
        if self.baseline is None:
            return None
        if isinstance(self.baseline, str):
            return f"held against no earlier run (`--verica-baseline {self.baseline}`)"
        least = None if config.repeat is None else config.repeat.min_passes
        return self.baseline.compare(summary, eval_id, min_passes=least)

    def _checked_something(self, found: EvalSummary) -> GateResult | None:
        """An eval without a gate would be green for nothing where all of it ran and every verdict is N/A."""
        record, counts = found.record, found.totals.counts
        whole = record.selected == record.planned == counts.ran and self.partial is None
        if not whole or counts.na < counts.ran:
            return None
        return GateResult("failed", (f"nothing was graded: {counts.na} not applicable, 0 errors",), {})

    def _run_gate(self, pass_rate: float, summary: RunSummary) -> GateResult:
        evals = summary.evals.values()
        ran = Ran(
            sum(found.record.planned for found in evals),
            sum(found.record.selected for found in evals),
            summary.overall.counts.ran,
            self.partial,
            self.note,
        )
        decided = sum(found.totals.counts.error for found in evals if _allows_errors(found))
        return judge_run_gate(pass_rate, summary.overall, ran, decided_errors=decided)


def _allows_errors(found: EvalSummary) -> bool:
    """Whether the eval's own gate has the word on its errors."""
    gate = found.record.gate
    return gate is not None and GateConfig.model_validate(gate).max_errors > 0
