"""A compiled template.

Jinja2 is the reference. A template of literal text and simple references becomes segments of our own, because
rendering those is many times cheaper and jinja2 need not be imported; anything richer goes through jinja2.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from functools import lru_cache
from typing import Any

from pytest_verica.template.jinja import RichTemplate, compile_rich
from pytest_verica.template.reference import Reference, Scope, simple_reference

_SYNTAX = re.compile(r"\{\{|\{%|\{#")
_PRINTED = re.compile(r"\{\{(.*?)\}\}", re.DOTALL)


class Template:
    """A compiled template.

    source: as written; references: every name in it; columns: columns of the case that it refers to; needs_output:
    whether it refers to the output.
    """

    __slots__ = ("_rich", "_segments", "columns", "needs_output", "references", "source")

    def __init__(self, source: str, segments: tuple[str | Reference, ...], rich: RichTemplate | None = None) -> None:
        self.source = source
        self._segments = segments
        self._rich = rich
        found = rich.references if rich is not None else [part for part in segments if isinstance(part, Reference)]
        self.references: tuple[Reference, ...] = tuple(found)
        self.columns: frozenset[str] = frozenset(r.name for r in self.references if r.root == "column" and r.name)
        self.needs_output: bool = any(reference.root == "output" for reference in self.references)

    def __repr__(self) -> str:
        return f"<Template {self.source!r}>"

    def render(self, scope: Scope) -> str:
        """The text for one case.

        Raises:
            MissingOutput: it needs a part of the output that is not there.
            TemplateError: it cannot be computed for this case; says why.
        """
        if self._rich is not None:
            return self._rich.render(scope)
        return "".join([part if isinstance(part, str) else part.text(scope) for part in self._segments])

    def value(self, scope: Scope) -> Any:
        """Where the source is one `{{ expression }}` and nothing else: its value with its JSON type, None where it is
        missing. Else the rendered text.

        Raises:
            MissingOutput, TemplateError: as `render`.
        """
        if self._rich is not None:
            return self._rich.value(scope)
        spoken = [part for part in self._segments if not isinstance(part, str) or not part.isspace()]
        if len(spoken) == 1 and isinstance(spoken[0], Reference):
            return spoken[0].value(scope)
        return self.render(scope)

    def problems(self, columns: Collection[str], *, output: bool) -> list[str]:
        """What is wrong with its names, before anything is rendered: one sentence each.

        `columns` are the golden set's; `output` says whether there is an output where the template stands.
        """
        found = (reference.problem(columns, output=output) for reference in self.references)
        return list(dict.fromkeys(problem for problem in found if problem is not None))


@lru_cache(maxsize=4096)
def compile_template(text: str) -> Template:
    """Compiles a template.

    Raises:
        TemplateError: a syntax error; the message has its line in the text.
    """
    segments = _simple_segments(text)
    return Template(text, (), compile_rich(text)) if segments is None else Template(text, segments)


def _simple_segments(text: str) -> tuple[str | Reference, ...] | None:
    """Literal texts and references in turn; None where the template is anything richer."""
    segments: list[str | Reference] = []
    end = 0
    for printed in _PRINTED.finditer(text):
        reference = simple_reference(printed[1])
        if reference is None:
            return None
        segments += [text[end : printed.start()], reference]
        end = printed.end()
    segments.append(text[end:])
    if any(isinstance(part, str) and _SYNTAX.search(part) for part in segments):
        return None
    return tuple(part for part in segments if part != "")
