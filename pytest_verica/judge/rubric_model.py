"""rubric_model: a judge that looks at several named points in one call, each with its own reasoning and verdict."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Literal

from pydantic import ConfigDict, Field, model_validator

from pytest_verica.case import Case
from pytest_verica.completion import Completion
from pytest_verica.evals.fields import Strict, TemplateText
from pytest_verica.grade import Grade
from pytest_verica.graders.protocol import Ask, BuildContext, GraderKind, Judge
from pytest_verica.judge.inquiry import Ledger, NotJudged
from pytest_verica.judge.panel import verdicts_of
from pytest_verica.judge.question import VERDICT_SCHEMA, JudgeConfig, Question, shows
from pytest_verica.judge.shape import object_of
from pytest_verica.judge.verdict import NO_MAJORITY, read_object
from pytest_verica.output import Output
from pytest_verica.template import Scope, compile_template, is_missing

RUBRIC = "rubric"
_KEY = re.compile(r"[A-Za-z0-9_.-]{1,64}")  # what every provider takes as a key of an answer


class AtLeast(Strict):
    """How many items must be met."""

    min: int = Field(ge=1)


class RubricModelConfig(JudgeConfig):
    """Asks a model about several named points in one call."""

    prompt_names: ClassVar[frozenset[str]] = frozenset({VERDICT_SCHEMA, RUBRIC})

    model_config = ConfigDict(defer_build=True, populate_by_name=True)  # `pass` is no name in Python: `pass_` is

    type: Literal["rubric_model"]
    rubric: dict[str, TemplateText] = Field(min_length=1, description="Name of each item: what meeting it means.")
    scale: Literal["binary"] | Annotated[list[str], Field(min_length=3, max_length=3)] = Field(
        "binary", description="`binary` (met or not), or the names of three levels, the worst first."
    )
    met_from: str | None = Field(None, description="The least level that counts as met; default: the best one.")
    pass_: Literal["all", "any"] | AtLeast = Field("all", alias="pass", description="Which items must be met.")

    @model_validator(mode="after")
    def _can_pass_and_fail(self) -> RubricModelConfig:
        for name, meaning in self.rubric.items():
            if not _KEY.fullmatch(name):
                raise ValueError(
                    f"the name {name!r} of a rubric item becomes a key of the judge's answer: 1 to 64 of the letters "
                    "a to z and A to Z, digits, `_`, `.` and `-`"
                )
            if not meaning.strip():
                raise ValueError(f"`rubric.{name}` is empty: say what meeting it means")
        if isinstance(self.pass_, AtLeast) and self.pass_.min > len(self.rubric):
            raise ValueError(
                f"`pass` wants {self.pass_.min} items met and the rubric has {len(self.rubric)}: this judge could not "
                "pass"
            )
        if not shows(self.prompt, RUBRIC):
            raise ValueError("the prompt does not show the rubric to the judge: write {{ rubric }} where it belongs")
        return self

    @model_validator(mode="after")
    def _levels_tell_apart(self) -> RubricModelConfig:
        if self.scale == "binary":
            if self.met_from is not None:
                raise ValueError("`met_from` is one of the levels of `scale`, and a binary scale has none")
            return self
        levels = self.scale
        if len({*levels}) < len(levels) or not all(level.strip() for level in levels):
            raise ValueError("`scale` is `binary`, or the names of three levels that differ, the worst first")
        if self.met_from is not None and self.met_from not in levels[1:]:
            last = " or ".join(map(repr, levels[1:]))
            raise ValueError(f"`met_from` is {self.met_from!r}; {last} was expected: at the worst level nothing fails")
        return self


@dataclass(frozen=True)
class Point:
    """What was decided about one rubric item. level: its place on the scale, 0 the worst."""

    reasoning: str
    level: int


class Scale:
    """What an item may be found to be, the worst first, and from where on it is met."""

    def __init__(self, config: RubricModelConfig) -> None:
        self._levels = None if config.scale == "binary" else list(config.scale)
        self._met_from = 1 if self._levels is None else self._levels.index(config.met_from or self._levels[-1])

    def schema(self) -> dict[str, Any]:
        """Of one item's verdict."""
        reasoning = {"reasoning": {"type": "string"}}
        if self._levels is None:
            return object_of({**reasoning, "met": {"type": "boolean"}})
        return object_of({**reasoning, "level": {"type": "string", "enum": self._levels}})

    def read(self, verdict: Mapping[str, Any]) -> Point:
        level = int(verdict["met"]) if self._levels is None else self._levels.index(verdict["level"])
        return Point(verdict["reasoning"], level)

    def met(self, level: int) -> bool:
        return level >= self._met_from

    def word(self, level: int) -> str | None:
        """The level's name; None on a binary scale."""
        return None if self._levels is None else self._levels[level]

    def shown(self, level: int) -> str:
        return ("met" if self.met(level) else "not met") if self._levels is None else self._levels[level]

    def to_json(self, point: Point) -> dict[str, Any]:
        level = {} if self._levels is None else {"level": self._levels[point.level]}
        return {"reasoning": point.reasoning, "met": self.met(point.level), **level}

    def agreed(self, name: str, points: Sequence[Point]) -> Point:
        """The median of several verdicts on one item, with a reasoning that led to it.

        Raises:
            NotJudged: half of them found it met and half did not.
        """
        ranked = sorted(points, key=lambda point: point.level)
        low, high = ranked[(len(ranked) - 1) // 2], ranked[len(ranked) // 2]
        if self.met(low.level) != self.met(high.level):
            spread = self.spread(points)
            raise NotJudged(NO_MAJORITY, f"{name!r} has no majority among {len(points)} answers: {spread}", spread)
        return low

    def spread(self, points: Sequence[Point]) -> str:
        """How often each level was found, such as `met 2, not met 1`."""
        counts = Counter(point.level for point in points)
        return ", ".join(f"{self.shown(level)} {count}" for level, count in sorted(counts.items(), reverse=True))


class RubricModel:
    """A rubric_model that is ready."""

    def __init__(self, config: RubricModelConfig) -> None:
        self._items = {name: compile_template(meaning) for name, meaning in config.rubric.items()}
        self._scale = Scale(config)
        self._rule = config.pass_
        schema = object_of({name: self._scale.schema() for name in config.rubric})
        self._question = Question(config, schema, {"rubric": list(config.rubric.items()), "met_from": config.met_from})
        self.model = self._question.model
        self.judge_hash = self._question.identity

    async def judge(self, case: Case, output: Output, ask: Ask) -> Grade:
        scope = Scope(case, output)
        meanings = {name: template.render(scope) for name, template in self._items.items()}
        blank = [name for name, meaning in meanings.items() if is_missing(meaning)]
        if blank:
            return Grade.na(f"the rubric item {blank[0]!r} is empty for this case", judge_hash=self.judge_hash)
        rubric = "\n".join(f"- {name}: {meaning}" for name, meaning in meanings.items())
        ledger = Ledger(self.model)
        try:
            requests = self._question.requests(case, output, {RUBRIC: rubric})
            return self._grade(await verdicts_of(requests, self._read, ask, ledger), ledger)
        except NotJudged as failure:
            return ledger.error(failure)

    def _read(self, completion: Completion) -> dict[str, Point]:
        fields, _ = read_object(completion, self._question.answer)
        return {name: self._scale.read(fields[name]) for name in self._items}

    def _grade(self, answers: list[dict[str, Point]], ledger: Ledger) -> Grade:
        scale = self._scale
        found = {name: scale.agreed(name, [answer[name] for answer in answers]) for name in self._items}
        met = [name for name, point in found.items() if scale.met(point.level)]
        items = {name: scale.to_json(point) for name, point in found.items()}
        more: dict[str, Any] = {}
        if len(answers) > 1:
            more["samples"] = [{name: scale.to_json(point) for name, point in a.items()} for a in answers]
            for name, item in items.items():
                item["spread"] = scale.spread([answer[name] for answer in answers])
        lines = [f"{name}: {scale.shown(point.level)}: {point.reasoning}" for name, point in found.items()]
        return Grade.of(
            self._passes(len(met)),
            self._explained(found, met, items),
            reasoning="\n".join(lines),
            details=ledger.details(rubric=items, met=len(met), items=len(items), **more),
            judge_hash=self.judge_hash,
            **ledger.on_grade(),
        )

    def _passes(self, met: int) -> bool:
        if isinstance(self._rule, AtLeast):
            return met >= self._rule.min
        return met == len(self._items) if self._rule == "all" else met > 0

    def _explained(self, found: Mapping[str, Point], met: list[str], items: Mapping[str, Mapping[str, Any]]) -> str:
        def named(name: str) -> str:
            beside = [self._scale.word(found[name].level), items[name].get("spread")]
            said = "; ".join(part for part in beside if part)
            return f"{name} ({said})" if said else name

        parts = [f"{len(met)} of {len(found)} rubric items are met"]
        parts += [f"met: {', '.join(map(named, met))}"] if met else []
        rest = [name for name in found if name not in met]
        parts += [f"not met: {', '.join(map(named, rest))}"] if rest else []
        wanted = f"at least {self._rule.min}" if isinstance(self._rule, AtLeast) else self._rule
        return "; ".join([*parts, f"wanted: {wanted}"])


def build(config: RubricModelConfig, context: BuildContext) -> Judge:
    return RubricModel(config)


KIND = GraderKind(
    "rubric_model", RubricModelConfig, build, "model", "Asks a model about several named points, each its own verdict."
)
