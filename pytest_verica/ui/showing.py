"""What a person is shown of a case: columns and the parts of its output, as texts. Never anything of a grade."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, TypedDict

from pytest_verica.template.reference import is_manual_column
from pytest_verica.ui import wording


class Part(TypedDict):
    """A text with the name above it; "" where it needs none."""

    name: str
    text: str


def showable(columns: Iterable[str]) -> list[str]:
    """The columns that may be shown while labelling: those that people fill in hold other people's answers."""
    return [name for name in columns if not is_manual_column(name)]


def inputs_of(columns: Mapping[str, Any], names: Iterable[str]) -> list[Part]:
    """The columns of these names, in the case's order; a column without a value stands empty."""
    wanted = set(names)
    return [Part(name=name, text=_text(found)) for name, found in columns.items() if name in wanted]


def output_of(output: Mapping[str, Any] | None) -> list[Part]:
    """The parts of an output that say something: text or data, tool calls, final state."""
    if output is None:
        return [Part(name="", text="(no output)")]
    said = output["text"] if output.get("text") is not None else output.get("data")
    parts = [] if said is None else [Part(name="", text=_text(said))]
    if output.get("tool_calls"):
        parts.append(Part(name="Tool calls", text=_text(output["tool_calls"])))
    if output.get("state") is not None:
        parts.append(Part(name="State", text=_text(output["state"])))
    return parts or [Part(name="", text="(an empty output)")]


def _text(found: Any) -> str:
    return "" if found is None else wording.value(found)
