"""What can be known to be wrong for a case before anything runs: expected values that cannot be checked."""

from __future__ import annotations

from collections.abc import Callable

from pytest_verica.case import Case
from pytest_verica.errors import ConfigError, MissingOutput, TemplateError
from pytest_verica.evals.criterion import CriterionConfig
from pytest_verica.graders.condition import Condition
from pytest_verica.graders.expected import BadExpected, BlankValue
from pytest_verica.graders.protocol import BuildContext
from pytest_verica.output import Output
from pytest_verica.template import compile_template

_LISTED = 3


def refuse_bad_cases(config: CriterionConfig, context: BuildContext, read: Callable[[Case], object]) -> None:
    """Reads what each case expects; cases that the criterion will not look at are passed over.

    Raises:
        ConfigError: `read` raised BadExpected for some of them.
    """
    looked_at = _looked_at(config)
    if looked_at is None:
        return
    faults: list[str] = []
    for case in context.cases:
        if not looked_at(case):
            continue
        try:
            read(case)
        except BadExpected as error:
            line = "" if case.line is None else f" (line {case.line})"
            faults.append(f"case {case.id!r}{line}: {error}")
        except (BlankValue, MissingOutput, TemplateError):
            pass  # not applicable there, or known only when there is an output
    if faults:
        more = f"; and {len(faults) - _LISTED} more cases" if len(faults) > _LISTED else ""
        raise ConfigError("; ".join(faults[:_LISTED]) + more)


def _looked_at(config: CriterionConfig) -> Callable[[Case], bool] | None:
    """Whether a case is looked at; None where only its output decides that."""
    only_if = config.only_if
    if only_if is None:
        return lambda case: True
    texts = [only_if.variable] if only_if.value is None else [only_if.variable, only_if.value]
    if any(compile_template(text).needs_output for text in texts):
        return None
    condition = Condition(only_if, config.otherwise)
    return lambda case: condition.decide(case, Output()) is None
