"""label_model: a judge that answers with one of your labels."""

from __future__ import annotations

from collections import Counter
from typing import Literal

from pydantic import Field, model_validator

from pytest_verica.case import Case
from pytest_verica.completion import Completion
from pytest_verica.grade import Grade
from pytest_verica.graders.protocol import Ask, BuildContext, GraderKind, Judge
from pytest_verica.judge.inquiry import Ledger, NotJudged
from pytest_verica.judge.panel import verdicts_of
from pytest_verica.judge.question import JudgeConfig, Question
from pytest_verica.judge.verdict import NO_MAJORITY, Verdict, read_label, verdict_schema
from pytest_verica.output import Output


class LabelModelConfig(JudgeConfig):
    """Asks a model which label fits."""

    type: Literal["label_model"]
    labels: list[str] = Field(min_length=2, description="What the judge may answer.")
    passing_labels: list[str] = Field(min_length=1, description="Those of the labels that pass.")

    @model_validator(mode="after")
    def _can_pass_and_fail(self) -> LabelModelConfig:
        blank = [label for label in self.labels if not label.strip()]
        twice = [label for label, count in Counter(self.labels).items() if count > 1]
        unknown = [label for label in self.passing_labels if label not in self.labels]
        if blank:
            raise ValueError("`labels` has an empty label")
        if twice:
            raise ValueError(f"`labels` has {twice[0]!r} more than once")
        if unknown:
            known = ", ".join(self.labels)
            raise ValueError(f"the passing label {unknown[0]!r} is not one of `labels`: {known}; it could never pass")
        if set(self.passing_labels) == set(self.labels):
            raise ValueError("every label passes, so this judge cannot fail; leave a label out of `passing_labels`")
        return self


class LabelModel:
    """A label_model that is ready."""

    def __init__(self, config: LabelModelConfig) -> None:
        self._passing = frozenset(config.passing_labels)
        self._wanted = ", ".join(config.passing_labels)
        schema = verdict_schema("label", {"type": "string", "enum": list(config.labels)})
        self._question = Question(config, schema)
        self.model = self._question.model
        self.judge_hash = self._question.identity

    async def judge(self, case: Case, output: Output, ask: Ask) -> Grade:
        ledger = Ledger(self.model)
        try:
            verdicts = await verdicts_of(self._question.requests(case, output), self._read, ask, ledger)
            return self._grade(verdicts, ledger)
        except NotJudged as failure:
            return ledger.error(failure)

    def _read(self, completion: Completion) -> Verdict:
        return read_label(completion, self._question.answer)

    def _grade(self, verdicts: list[Verdict], ledger: Ledger) -> Grade:
        counts = Counter(verdict.label or "" for verdict in verdicts)
        (label, most), *others = counts.most_common()
        spread = ", ".join(f"{name} {count}" for name, count in counts.most_common())
        if others and others[0][1] == most:
            raise NotJudged(NO_MAJORITY, f"no label is the most frequent of {len(verdicts)} answers: {spread}", spread)
        asked = "" if len(verdicts) == 1 else f" (the most frequent of {len(verdicts)} answers: {spread})"
        more = (
            {} if len(verdicts) == 1 else {"samples": [{"label": v.label, "reasoning": v.reasoning} for v in verdicts]}
        )
        return Grade.of(
            label in self._passing,
            f"the judge answered {label!r}{asked}; passing: {self._wanted}",
            label=label,
            reasoning=next(verdict.reasoning for verdict in verdicts if verdict.label == label),
            details=ledger.details(**more),
            judge_hash=self.judge_hash,
            **ledger.on_grade(),
        )


def build(config: LabelModelConfig, context: BuildContext) -> Judge:
    return LabelModel(config)


KIND = GraderKind("label_model", LabelModelConfig, build, "model", "Asks a model which of your labels fits.")
