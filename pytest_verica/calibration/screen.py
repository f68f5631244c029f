"""What a person sees of an output while labelling: the inputs that the prompts speak of, and the output. Nothing of
the judge is ever in it: no verdict, score, label or reasoning, and not how the output was drawn."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from pytest_verica.calibration.judged import JudgedOutput, JudgedRun
from pytest_verica.calibration.recorded_labels import COLUMN
from pytest_verica.errors import TemplateError
from pytest_verica.template import compile_template, text_of

MANUAL = ("output_rating", "output_feedback")


def spoken_columns(run: JudgedRun) -> list[str]:
    """The columns that the eval's prompt and the judge's refer to; where neither refers to any, all."""
    spoken = {
        column
        for prompt in (run.eval.prompt, run.criterion.config.get("prompt"))
        for text in _texts(prompt)
        for column in _columns(text)
    }
    known = [name for name in _first_row(run) if name not in MANUAL and not name.startswith(COLUMN)]
    return [name for name in known if name in spoken] or known


def screen_lines(run: JudgedRun, output: JudgedOutput, columns: Sequence[str] | None = None) -> Iterator[str]:
    """The inputs and the output, as lines."""
    case = run.case(output)
    for name in spoken_columns(run) if columns is None else columns:
        if name in case.columns:
            yield f"{name}: {text_of(case.columns[name])}"
    yield "output:"
    yield from output_text(case.output or {}).splitlines()


def output_text(output: Mapping[str, Any]) -> str:
    """The text of an output, with the tool calls and the state that stand beside it."""
    parts = [output["text"]] if output.get("text") else []
    for name in ("tool_calls", "state"):
        if output.get(name):
            parts.append(f"{name}: {json.dumps(output[name], ensure_ascii=False, indent=1)}")
    return "\n".join(parts) or "(no text)"


def _first_row(run: JudgedRun) -> Mapping[str, Any]:
    return run.case(run.outputs[0]).columns if run.outputs else {}


def _texts(found: Any) -> Iterator[str]:
    if isinstance(found, str):
        yield found
    elif isinstance(found, Mapping):
        for inner in found.values():
            yield from _texts(inner)
    elif isinstance(found, (list, tuple)):
        for inner in found:
            yield from _texts(inner)


def _columns(text: str) -> frozenset[str]:
    try:
        return compile_template(text).columns
    except TemplateError:
        return frozenset()  # of another version, or no template at all
