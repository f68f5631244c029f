"""pairwise_model: a judge that says which of two answers is better, asked in both orders; a change of mind is a tie."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from pydantic import Field, model_validator

from pytest_verica.case import Case
from pytest_verica.completion import Completion
from pytest_verica.evals.fields import Strict, TemplateText
from pytest_verica.grade import Grade
from pytest_verica.graders.protocol import Ask, BuildContext, GraderKind, Judge
from pytest_verica.judge.inquiry import Ledger, NotJudged
from pytest_verica.judge.panel import verdicts_of
from pytest_verica.judge.question import VERDICT_SCHEMA, JudgeConfig, Question, shows
from pytest_verica.judge.recorded_run import RecordedRun
from pytest_verica.judge.verdict import read_object, verdict_schema
from pytest_verica.output import Output
from pytest_verica.template import Scope, compile_template, is_missing, text_of

FIRST, SECOND, TIE = "first", "second", "tie"
Label = Literal["a", "b", "tie"]


class OfRun(Strict):
    """The answers of an earlier run, also of another model: its JSON report."""

    report: str = Field(min_length=1, description="Path of the report, from the eval file.")
    eval: str | None = Field(None, description="Name of the eval in it; needed where it has several.")


class PairwiseModelConfig(JudgeConfig):
    """Asks a model which of two answers is better, in both orders."""

    prompt_names: ClassVar[frozenset[str]] = frozenset({VERDICT_SCHEMA, FIRST, SECOND})

    type: Literal["pairwise_model"]
    a: TemplateText | OfRun = Field("{{ output.text }}", description="One answer; default: this output.")
    b: TemplateText | OfRun = Field(description="The other: a template such as `{{ reference }}`, or an earlier run.")
    passing: list[Label] = Field(min_length=1, description="Which of a, b and tie pass.")
    ties: bool = Field(True, description="Whether the judge itself may call a tie.")

    @model_validator(mode="after")
    def _can_pass_and_fail(self) -> PairwiseModelConfig:
        if len({*self.passing}) == 3:
            raise ValueError("every label passes, so this judge cannot fail; leave one out of `passing`")
        if self.a == self.b:
            raise ValueError("`a` and `b` are the same, so every verdict would be a tie")
        for name in ("a", "b"):
            if isinstance(written := getattr(self, name), str) and not written.strip():
                raise ValueError(f"`{name}` is empty: there is nothing to compare")
        hidden = [name for name in (FIRST, SECOND) if not shows(self.prompt, name)]
        if hidden:
            raise ValueError(
                f"the prompt does not show the answer {{{{ {hidden[0]} }}}} to the judge: it needs {{{{ first }}}} and "
                "{{ second }}, the two answers in the order in which they are shown"
            )
        return self


@dataclass(frozen=True)
class Choice:
    """One answer of the judge. first: which answer was shown first; better: the one it chose, or tie."""

    first: Label
    better: Label
    reasoning: str

    def to_json(self) -> dict[str, str]:
        return {"first": self.first, "better": self.better, "reasoning": self.reasoning}


@dataclass(frozen=True)
class Pair:
    """The judge's choice in both orders."""

    choices: tuple[Choice, Choice]

    @property
    def changed_mind(self) -> bool:
        one, other = self.choices
        return one.better != other.better

    @property
    def label(self) -> Label:
        return "tie" if self.changed_mind else self.choices[0].better

    def to_json(self) -> dict[str, Any]:
        orders = [choice.to_json() for choice in self.choices]
        return {"label": self.label, "changed_mind": self.changed_mind, "orders": orders}

    def __str__(self) -> str:
        one, other = self.choices
        if self.changed_mind:
            return (
                "tie: the judge changed its mind when the order was swapped "
                f"({one.better} with {one.first} first, {other.better} with {other.first} first)"
            )
        return f"{self.label} in both orders"


class Side:
    """Where one of the two answers comes from."""

    def __init__(self, name: str, written: str | OfRun, context: BuildContext) -> None:
        self._name = name
        self._template = compile_template(written) if isinstance(written, str) else None
        self.run = None if isinstance(written, str) else RecordedRun(context.base_dir, written.report, written.eval)

    def text(self, scope: Scope) -> str | Grade:
        """The answer, or the verdict where there is none to compare.

        Raises:
            MissingOutput: the output has no such part.
        """
        if self.run is not None:
            text = self.run.text(scope.case)
            return Grade.na(f"`{self._name}`: {self.run.name} has no answer to this case") if text is None else text
        assert self._template is not None
        text = text_of(self._template.value(scope))
        if is_missing(text) and not self._template.needs_output:
            return Grade.na(f"`{self._name}`: {self._template.source.strip()} is empty for this case")
        return text


class PairwiseModel:
    """A pairwise_model that is ready. version: of the recorded answers that it compares with."""

    def __init__(self, config: PairwiseModelConfig, context: BuildContext) -> None:
        self._a, self._b = Side("a", config.a, context), Side("b", config.b, context)
        self._passing = frozenset(config.passing)
        self._wanted = " or ".join(config.passing)
        words = [FIRST, SECOND, TIE] if config.ties else [FIRST, SECOND]
        self._question = Question(config, verdict_schema("better", {"type": "string", "enum": words}))
        self.model = self._question.model
        self.judge_hash = self._question.identity
        self.version = "".join(side.run.hash for side in (self._a, self._b) if side.run is not None)

    async def judge(self, case: Case, output: Output, ask: Ask) -> Grade:
        scope = Scope(case, output)
        texts = self._a.text(scope), self._b.text(scope)
        a, b = texts
        if not isinstance(a, str) or not isinstance(b, str):
            return next(found for found in texts if isinstance(found, Grade))
        if a == b:
            return self._grade([], Ledger(self.model))
        ledger = Ledger(self.model)
        try:
            shown = [{FIRST: a, SECOND: b}, {FIRST: b, SECOND: a}]
            requests = [request for names in shown for request in self._question.requests(case, output, names)]
            answers = await verdicts_of(requests, self._read, ask, ledger)
        except NotJudged as failure:
            return ledger.error(failure)
        half = len(answers) // 2
        pairs = [
            Pair((_choice("a", *one), _choice("b", *other)))
            for one, other in zip(answers[:half], answers[half:], strict=True)
        ]
        return self._grade(pairs, ledger)

    def _read(self, completion: Completion) -> tuple[str, str]:
        fields, _ = read_object(completion, self._question.answer)
        return fields["better"], fields["reasoning"]

    def _grade(self, pairs: Sequence[Pair], ledger: Ledger) -> Grade:
        label, said = _decided(pairs)
        details = ledger.details(
            pairs=[pair.to_json() for pair in pairs], changed_mind=sum(pair.changed_mind for pair in pairs)
        )
        spoken = next((pair for pair in pairs if pair.label == label), pairs[0] if pairs else None)
        reasons = [] if spoken is None else [f"{c.first} shown first: {c.reasoning}" for c in spoken.choices]
        return Grade.of(
            label in self._passing,
            f"{said}; passing: {self._wanted}",
            label=label,
            reasoning="\n".join(reasons) or None,
            details=details,
            judge_hash=self.judge_hash,
            **ledger.on_grade(),
        )


def _choice(first: Label, word: str, reasoning: str) -> Choice:
    second: Label = "b" if first == "a" else "a"
    chosen: dict[str, Label] = {FIRST: first, SECOND: second, TIE: "tie"}
    return Choice(first, chosen[word], reasoning)


def _decided(pairs: Sequence[Pair]) -> tuple[Label, str]:
    """The most frequent label, a draw being a tie, and a sentence about it."""
    if not pairs:
        return "tie", "tie: the two answers are the same text; the judge was not asked"
    if len(pairs) == 1:
        return pairs[0].label, str(pairs[0])
    counts = Counter(pair.label for pair in pairs).most_common()
    spread = ", ".join(f"{label} {count}" for label, count in counts)
    changed = sum(pair.changed_mind for pair in pairs)
    said = f"{len(pairs)} pairs of answers: {spread}; the judge changed its mind in {changed}"
    if len(counts) > 1 and counts[0][1] == counts[1][1]:
        return "tie", f"tie: no label is the most frequent of {said}"
    return counts[0][0], f"{counts[0][0]}: the most frequent of {said}"


def build(config: PairwiseModelConfig, context: BuildContext) -> Judge:
    """Raises ConfigError where an earlier run's report cannot be read."""
    return PairwiseModel(config, context)


KIND = GraderKind(
    "pairwise_model",
    PairwiseModelConfig,
    build,
    "model",
    "Asks a model which of two answers is better, in both orders.",
)
