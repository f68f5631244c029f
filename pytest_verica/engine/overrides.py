"""What users may put in place of a target or a grader: asked first, for every output and every verdict."""

from __future__ import annotations

import traceback
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from pytest_verica.case import Case
from pytest_verica.engine.plan import Eval
from pytest_verica.grade import Grade
from pytest_verica.graders.criterion import Criterion
from pytest_verica.output import Output, output_of


@dataclass(frozen=True)
class Overrides:
    """sample: (eval, case) -> an output, or None to leave it to the target; grade: (criterion, case, output) -> a
    grade, or None to leave it to the grader. None where nobody overrides anything."""

    sample: Callable[[Eval, Case], Any] | None = None
    grade: Callable[[Criterion, Case, Output], Grade | None] | None = None

    def sampled(self, ready: Eval, case: Case) -> Output | None:
        """Raises what the override raises, and TargetError where it gives something that is no output."""
        value = None if self.sample is None else self.sample(ready, case)
        return None if value is None else output_of(value)

    def graded(self, criterion: Criterion, case: Case, output: Output) -> Grade | None:
        """A grade; an error where the override crashed or gave something else."""
        if self.grade is None:
            return None
        try:
            grade = self.grade(criterion, case, output)
        except Exception as error:  # noqa: BLE001 - a crash has said nothing about the output
            message = f"pytest_verica_grade raised {type(error).__name__}: {error}"
            return Grade.failed_to_judge("grader_error", message, traceback.format_exc())
        if grade is None or isinstance(grade, Grade):
            return grade
        message = f"pytest_verica_grade returned a {type(grade).__name__}; a Grade was expected"
        return Grade.failed_to_judge("grader_error", message, repr(grade)[:2000])
