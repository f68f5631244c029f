"""A name in a template: what it stands for in a case and its output, and what is wrong with it."""

from __future__ import annotations

import difflib
import re
import unicodedata
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from pytest_verica.case import Case
from pytest_verica.errors import ConfigError, MissingOutput, MissingPath, TemplateError
from pytest_verica.output import Output
from pytest_verica.path import Path, Step, parse_path, path_text
from pytest_verica.template.text import is_missing, text_of
from pytest_verica.tool_calls import ToolCall

OUTPUT_PARTS = {
    part: part for part in ("text", "json", "tool_calls", "steps", "state", "spans", "stop_reason")
}  # as written -> part
# The names of OpenAI's evals, and the part each stands for.
SAMPLE_PARTS = {"output_text": "text", "output_json": "json", "output_tools": "openai_tool_calls"}
OUTPUT_ROOTS = frozenset({"output", "sample", "trajectory"})
CASE_ROOTS = frozenset({"case", "item"})
MANUAL_COLUMNS = frozenset({"output_rating", "output_feedback"})
LABEL_PREFIX = "verica_label_"

# Words of Jinja's expressions, which are no names there.
_WORDS = frozenset({"not", "and", "or", "in", "is", "if", "else", "true", "false", "none", "True", "False", "None"})
_SIMPLE = re.compile(
    r"""[^\W\d][^\s.\[\](){}|+*/%~<>=!,:;"'-]*"""  # a name
    r"""(?:\.[^\W\d][^\s.\[\](){}|+*/%~<>=!,:;"'-]*"""  # .name
    r"""|\[\s*-?[0-9]{1,9}\s*\]|\[\s*"[^"\\{}]*"\s*\]|\[\s*'[^'\\{}]*'\s*\])*"""  # [0], ["a key"], ['a key']
)


def is_manual_column(name: str) -> bool:
    """Columns that people fill in (rating, feedback, labels): kept and shown, never part of a prompt or a check."""
    return name in MANUAL_COLUMNS or name.startswith(LABEL_PREFIX)


@dataclass(frozen=True, slots=True)
class Scope:
    """What a template may speak of: a case, and its output where there is one already."""

    case: Case
    output: Output | None = None


@dataclass(frozen=True, slots=True)
class Reference:
    """A name and what follows it.

    root: a column of the case, a part of the output, or neither; name: of the column ("" is the whole row) or of the
    part; path: what follows, None where nothing does; source: as it was written.
    """

    root: Literal["column", "output", "unknown"]
    name: str
    path: Path | None
    source: str

    def value(self, scope: Scope) -> Any:
        """What it stands for, with its JSON type; None where it is missing.

        Raises:
            MissingOutput: the output has no such part.
            TemplateError: the case has the column, and its value has no such path; or no such name exists.
        """
        if self.root == "column":
            return self._in_case(scope.case)
        if self.root == "output":
            return self._in_output(scope.output)
        raise TemplateError(f"`{self.source}` is not a name that a template knows")

    def text(self, scope: Scope) -> str:
        """How it renders. Raises as `value`."""
        if self.path is None and self.root == "column":  # the common one, kept short: it runs once per cell
            value = scope.case.columns.get(self.name)
            if value.__class__ is str:
                return "" if value.isspace() else value
        return text_of(self.value(scope))

    def problem(self, columns: Collection[str], *, output: bool) -> str | None:
        """What is wrong with the name where the golden set has these columns; None where nothing is."""
        if _first_name(self.source) in OUTPUT_ROOTS:
            return self._output_problem(columns, output)
        if self.root == "column" and (self.name == "" or (self.name in columns and not is_manual_column(self.name))):
            return None
        if self.name in columns:
            return f"`{self.name}` is a column that people fill in: it is kept and shown, never part of a template"
        usable = [column for column in columns if not is_manual_column(column)]
        known = ", ".join([*usable, *(f"output.{part}" for part in OUTPUT_PARTS if output)]) or "none"
        near = nearest(self.name, [*usable, *CASE_ROOTS, *(OUTPUT_ROOTS if output else ())])
        return f"`{self.name}` is not a column of the golden set{near}; known names: {known}"

    def _output_problem(self, columns: Collection[str], output: bool) -> str | None:
        first = _first_name(self.source)
        if not output:
            column = f"; the column is `{{{{ case.{first} }}}}`" if first in columns else ""
            return f"`{self.source}` can stand in criteria only: here there is no output yet{column}"
        if self.root == "output":
            return None
        parts = list(SAMPLE_PARTS) if first == "sample" else list(OUTPUT_PARTS)
        known = ", ".join(f"{first}.{part}" for part in parts)
        near = nearest(self.name, parts, f"{first}.")
        return f"`{self.source}` is not a part of the output{near}; known parts: {known}"

    def _in_case(self, case: Case) -> Any:
        value = case.columns.get(self.name) if self.name else dict(case.columns)
        if is_missing(value):
            return None
        if self.path is None:
            return value
        try:
            return self.path.find(value)
        except MissingPath as error:
            where = f"`{{{{ {self.source} }}}}` cannot be rendered for the case {case.id!r}"
            raise TemplateError(f"{where}: its column {self.name!r} has {error}") from None

    def _in_output(self, output: Output | None) -> Any:
        value = output_part(output, self.name, self.source)
        if self.path is None:
            return value
        try:
            return self.path.find(value)
        except MissingPath as error:
            raise MissingOutput(f"the output's {_part_words(self.name)} has {error}") from None


def nearest(name: str, known: Sequence[str], prefix: str = "") -> str:
    """The words "; did you mean `question`?", or none where no known name is near."""
    near = difflib.get_close_matches(name, known, n=1, cutoff=0.6)
    return f"; did you mean `{prefix}{near[0]}`?" if near else ""


def _first_name(source: str) -> str:
    return re.split(r"[.\[\s]", source, maxsplit=1)[0]


def _part_words(part: str) -> str:
    return {"json": "JSON", "openai_tool_calls": "tool_calls"}.get(part, part)


def simple_reference(expression: str) -> Reference | None:
    """The reference that an expression is, None where it is anything richer."""
    expression = expression.strip()
    if _SIMPLE.fullmatch(expression) is None:
        return None
    try:
        steps = parse_path(expression).steps
    except ConfigError:
        return None
    dotted = re.sub(r"\[[^\]]*\]", "", expression).split(".")
    if dotted[0] in _WORDS or not all(name.isidentifier() for name in dotted):
        return None
    return reference_of(steps, expression)


def reference_of(steps: Sequence[Step], source: str | None = None) -> Reference:
    """What a chain of names and indexes refers to; its first step is a name."""
    source = path_text(steps) if source is None else source
    root, *rest = steps
    if root == "trajectory":
        return Reference("output", "spans", _path(rest), source)
    if root in OUTPUT_ROOTS and not rest:
        return Reference("output" if root == "output" else "unknown", "text", None, source)
    if root in OUTPUT_ROOTS:
        parts = SAMPLE_PARTS if root == "sample" else OUTPUT_PARTS
        part = parts.get(str(rest[0]))
        known: Literal["output", "unknown"] = "unknown" if part is None else "output"
        return Reference(known, str(rest[0]) if part is None else part, _path(rest[1:]), source)
    if root in CASE_ROOTS:
        if not rest:
            return Reference("column", "", None, source)
        root, *rest = rest
    return Reference("column", unicodedata.normalize("NFC", str(root)), _path(rest), source)


def output_part(output: Output | None, part: str, source: str) -> Any:
    """A part of an output as JSON; None where it was not recorded.

    Raises:
        MissingOutput: there is no output, or it is not JSON and its JSON is asked for.
    """
    if output is None:
        raise MissingOutput(f"there is no output, and `{{{{ {source} }}}}` needs one")
    if part == "json":
        reading = output.json
        if reading.problem is not None:
            raise MissingOutput(f"the output is not JSON: {reading.problem}")
        return reading.value
    if part == "text":
        return output.text if output.text is not None or output.data is None else text_of(output.data)
    if part == "tool_calls":
        return [_call_json(call) for call in output.tool_calls]
    if part == "openai_tool_calls":
        return [_openai_call_json(call) for call in output.tool_calls]
    return getattr(output, part)


def _path(steps: Sequence[Step]) -> Path | None:
    return Path(path_text(steps), tuple(steps)) if steps else None


def _call_json(call: ToolCall) -> dict[str, Any]:
    arguments = call.raw_arguments if call.arguments is None and call.raw_arguments is not None else call.arguments
    return {"name": call.name, "arguments": arguments}


def _openai_call_json(call: ToolCall) -> dict[str, Any]:
    """The shape of `choices[0].message.tool_calls`, which `sample.output_tools` is said to have."""
    arguments = text_of(call.arguments) if call.raw_arguments is None else call.raw_arguments
    return {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": arguments}}
