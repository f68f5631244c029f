"""pytest-verica: evaluations of LLM applications as pytest tests.

What is exported here is loaded when it is first used: importing the package costs nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pytest_verica.case import Case as Case
    from pytest_verica.completion import Completion as Completion
    from pytest_verica.declare import (
        criterion as criterion,
    )
    from pytest_verica.declare import (
        json_check as json_check,
    )
    from pytest_verica.declare import (
        label_model as label_model,
    )
    from pytest_verica.declare import (
        number_check as number_check,
    )
    from pytest_verica.declare import (
        pairwise_model as pairwise_model,
    )
    from pytest_verica.declare import (
        preset as preset,
    )
    from pytest_verica.declare import (
        python_check as python_check,
    )
    from pytest_verica.declare import (
        rubric_model as rubric_model,
    )
    from pytest_verica.declare import (
        score_model as score_model,
    )
    from pytest_verica.declare import (
        span_check as span_check,
    )
    from pytest_verica.declare import (
        state_check as state_check,
    )
    from pytest_verica.declare import (
        text_check as text_check,
    )
    from pytest_verica.declare import (
        text_similarity as text_similarity,
    )
    from pytest_verica.declare import (
        tool_check as tool_check,
    )
    from pytest_verica.declare import (
        trajectory_check as trajectory_check,
    )
    from pytest_verica.grade import Grade as Grade
    from pytest_verica.output import Output as Output
    from pytest_verica.request import Request as Request
    from pytest_verica.tool_calls import ToolCall as ToolCall
    from pytest_verica.usage import Usage as Usage

__version__ = "0.1.0"

_HOMES = {
    "Case": "case",
    "Completion": "completion",
    "Grade": "grade",
    "Output": "output",
    "Request": "request",
    "ToolCall": "tool_calls",
    "Usage": "usage",
    "criterion": "declare",
    "json_check": "declare",
    "label_model": "declare",
    "number_check": "declare",
    "pairwise_model": "declare",
    "preset": "declare",
    "python_check": "declare",
    "rubric_model": "declare",
    "score_model": "declare",
    "span_check": "declare",
    "state_check": "declare",
    "text_check": "declare",
    "text_similarity": "declare",
    "tool_check": "declare",
    "trajectory_check": "declare",
}
__all__ = sorted(_HOMES)


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'pytest_verica' has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f"pytest_verica.{_HOMES[name]}"), name)
