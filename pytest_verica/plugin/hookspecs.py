"""The hooks that a conftest.py or a plugin may implement. Each docstring is a recipe to paste."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from pluggy import HookspecMarker

if TYPE_CHECKING:
    from pytest_verica.case import Case
    from pytest_verica.engine.plan import Eval
    from pytest_verica.grade import Grade
    from pytest_verica.graders.criterion import Criterion
    from pytest_verica.graders.protocol import GraderKind
    from pytest_verica.output import Output
    from pytest_verica.providers.protocol import ProviderKind

hookspec = HookspecMarker("pytest")


@hookspec
def pytest_verica_graders() -> Sequence[GraderKind]:  # type: ignore[empty-body]
    """Registers grader kinds of your own::

    def pytest_verica_graders():
        from my_graders import KIND
        return [KIND]
    """


@hookspec
def pytest_verica_providers() -> Sequence[ProviderKind]:  # type: ignore[empty-body]
    """Registers doors to models of your own::

    def pytest_verica_providers():
        from my_provider import KIND
        return [KIND]
    """


@hookspec
def pytest_verica_prices() -> Sequence[Mapping[str, Any]]:  # type: ignore[empty-body]
    """Adds prices, in USD per million tokens, after those of `verica_prices`::

    def pytest_verica_prices():
        return [{"model": "our-model", "input": "0.10", "output": "0.40"}]
    """


@hookspec(firstresult=True)
def pytest_verica_sample(eval: Eval, case: Case) -> Any:
    """Produces the output of a case in place of the eval's target where it returns something::

    def pytest_verica_sample(eval, case):
        if eval.config.name == "refunds":
            return f"You get {case['amount']} back."
    """


@hookspec(firstresult=True)
def pytest_verica_grade(criterion: Criterion, case: Case, output: Output) -> Grade | None:
    """Grades in place of the built-in graders where it returns a grade; every verdict passes through here::

    def pytest_verica_grade(criterion, case, output):
        if criterion.name == "house_style":
            from pytest_verica import Grade
            return Grade.of("we" in (output.text or ""), "looked for the word 'we'")
    """


@hookspec
def pytest_verica_graded(case_id: str, criterion_id: str, grade: Mapping[str, Any]) -> None:
    """Told of each verdict, in the process that reports::

    def pytest_verica_graded(case_id, criterion_id, grade):
        print(case_id, criterion_id, grade["outcome"])
    """


@hookspec
def pytest_verica_gate(eval_id: str, totals: Any) -> str | None:
    """May return a reason to fail an eval's gate, never one to pass::

    def pytest_verica_gate(eval_id, totals):
        if totals.counts.failed > 3:
            return "more than three failures"
    """


@hookspec
def pytest_verica_report(path: str) -> None:
    """Told where the JSON report was written, to make another of it::

    def pytest_verica_report(path):
        import json
        print(json.load(open(path))["run"]["id"])
    """
