"""The seam of graders: what a kind of check must offer, and what it is given."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, Protocol, runtime_checkable

from pytest_verica.case import Case
from pytest_verica.completion import Answer
from pytest_verica.evals.criterion import CriterionConfig
from pytest_verica.grade import Grade
from pytest_verica.output import Output
from pytest_verica.request import ModelSpec, Request, Tool

Ask = Callable[[Request], Awaitable[Answer]]
"""How a judge asks a model: stored, limited, retried and counted by the engine.

Raises ProviderError where no answer could be had."""


@runtime_checkable
class Grader(Protocol):
    """A configured check that asks no model. Pure unless its kind says `runs="thread"`."""

    def grade(self, case: Case, output: Output) -> Grade:
        """The verdict. What it raises becomes an error verdict with its traceback kept."""
        ...


@runtime_checkable
class Judge(Protocol):
    """A configured check that asks a model."""

    model: ModelSpec

    async def judge(self, case: Case, output: Output, ask: Ask) -> Grade:
        """The verdict, with the usage and cost of the answers behind it."""
        ...


@runtime_checkable
class CallsCode(Protocol):
    """A grader that calls functions of the user's: what they do is a part of what it does."""

    code: tuple[Callable[..., Any], ...]


@dataclass(frozen=True)
class BuildContext:
    """What a grader may need of the eval around it.

    base_dir: folder of the eval file or test module, paths are relative to it; tools: those that the prompt offers;
    cases: of the golden set, so that what a column holds can be checked before launch; recorded: the parts of an output
    for which a column target names a column, None where the parts are known only when there is an output.
    """

    base_dir: Path
    tools: tuple[Tool, ...] = ()
    cases: Iterable[Case] = ()
    recorded: frozenset[str] | None = None


@dataclass(frozen=True)
class GraderKind:
    """One registry line. runs: `inline` where it is fast and pure, `thread` where it calls the user's code, `model`
    where it asks one; about: a sentence for lists; free: whether it costs nothing."""

    name: str
    config: type[CriterionConfig]
    build: Callable[[Any, BuildContext], Grader | Judge]
    runs: Literal["inline", "thread", "model"]
    about: str

    @property
    def free(self) -> bool:
        return self.runs != "model"

    @property
    def costs(self) -> str:
        """What a verdict costs, in a few words for lists."""
        if not self.free:
            return "model calls"
        return "free, or model calls" if "model" in self.config.model_fields else "free"
