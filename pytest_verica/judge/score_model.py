"""score_model: a judge that answers with a number."""

from __future__ import annotations

import statistics
from typing import Annotated, Literal

from pydantic import Field, model_validator

from pytest_verica.case import Case
from pytest_verica.completion import Completion
from pytest_verica.grade import Grade
from pytest_verica.graders.protocol import Ask, BuildContext, GraderKind, Judge
from pytest_verica.judge.inquiry import Ledger, NotJudged
from pytest_verica.judge.panel import verdicts_of
from pytest_verica.judge.question import JudgeConfig, Question
from pytest_verica.judge.verdict import Verdict, read_score, verdict_schema
from pytest_verica.output import Output

Finite = Annotated[float, Field(strict=True, allow_inf_nan=False)]


class ScoreModelConfig(JudgeConfig):
    """Asks a model for a score."""

    type: Literal["score_model"]
    min: Finite
    max: Finite
    pass_at: Finite = Field(description="The least score that passes.")

    @model_validator(mode="after")
    def _can_pass_and_fail(self) -> ScoreModelConfig:
        if self.min >= self.max:
            raise ValueError(f"`min` {self.min:g} is not below `max` {self.max:g}")
        if self.pass_at <= self.min:
            raise ValueError(f"`pass_at` {self.pass_at:g} is not above `min` {self.min:g}: this judge could not fail")
        if self.pass_at > self.max:
            raise ValueError(f"`pass_at` {self.pass_at:g} is above `max` {self.max:g}: this judge could not pass")
        return self


class ScoreModel:
    """A score_model that is ready."""

    def __init__(self, config: ScoreModelConfig) -> None:
        self._low = config.min
        self._high = config.max
        self._pass_at = config.pass_at
        schema = verdict_schema("score", {"type": "number", "minimum": config.min, "maximum": config.max})
        self._question = Question(config, schema)
        self.model = self._question.model
        self.judge_hash = self._question.identity

    async def judge(self, case: Case, output: Output, ask: Ask) -> Grade:
        ledger = Ledger(self.model)
        try:
            verdicts = await verdicts_of(self._question.requests(case, output), self._read, ask, ledger)
        except NotJudged as failure:
            return ledger.error(failure)
        return self._grade(verdicts, ledger)

    def _read(self, completion: Completion) -> Verdict:
        return read_score(completion, self._question.answer, self._low, self._high)

    def _grade(self, verdicts: list[Verdict], ledger: Ledger) -> Grade:
        scores = [verdict.score for verdict in verdicts if verdict.score is not None]
        score = statistics.median(scores)
        said = ""
        if len(scores) > 1:
            said = f" (the median of {len(scores)} answers from {min(scores):g} to {max(scores):g})"
        clipped = [verdict.clipped for verdict in verdicts if verdict.clipped is not None]
        if clipped:
            given = ", ".join(f"{value:g}" for value in clipped)
            said += f" ({given} was outside {self._low:g} to {self._high:g} and was clipped)"
        more = {} if len(scores) == 1 else {"samples": [{"score": v.score, "reasoning": v.reasoning} for v in verdicts]}
        nearest = min(verdicts, key=lambda verdict: abs((verdict.score or 0.0) - score))
        return Grade.of(
            score >= self._pass_at,
            f"the judge's score is {score:g}{said}; wanted at least {self._pass_at:g}, up to {self._high:g}",
            score=score,
            reasoning=nearest.reasoning,
            details=ledger.details(**more),
            judge_hash=self.judge_hash,
            **ledger.on_grade(),
        )


def build(config: ScoreModelConfig, context: BuildContext) -> Judge:
    return ScoreModel(config)


KIND = GraderKind("score_model", ScoreModelConfig, build, "model", "Asks a model for a score, with a threshold.")
