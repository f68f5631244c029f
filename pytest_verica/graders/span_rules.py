"""What a span_check may ask of spans: which of them are looked at, by name, attribute and parent; and their order."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pytest_verica.case import Case
from pytest_verica.errors import MissingOutput
from pytest_verica.graders.excerpt import excerpt
from pytest_verica.graders.glob import Glob
from pytest_verica.output import Output
from pytest_verica.spans.span import ABSENT, Span, Trace
from pytest_verica.template import Scope, compile_template, is_missing, text_of


class NoValue(Exception):
    """A template of an attribute is empty for this case: a sentence that says which."""


class Wanted:
    """The value that an attribute must have: a pattern, a template that each case fills in, or a value of JSON."""

    def __init__(self, written: str | float | bool | None) -> None:
        self._template = compile_template(written) if isinstance(written, str) and "{{" in written else None
        self._glob = Glob(written) if isinstance(written, str) and self._template is None else None
        self._value = written

    def value(self, scope: Scope) -> Any:
        """What is compared, for one case.

        Raises:
            NoValue: the template is empty here, and an empty value would fit nothing or everything.
        """
        if self._template is None:
            return self._value
        value = self._template.value(scope)
        if is_missing(value):
            raise NoValue(f"no value to look for: {excerpt(self._template.source)} is empty for this case")
        return value

    def fits(self, found: Any, value: Any) -> bool:
        if found is ABSENT:
            return False
        if self._glob is not None:
            if isinstance(found, (list, tuple)):
                return any(self._glob.fits(text_of(item)) for item in found)
            return self._glob.fits(text_of(found))
        if self._template is not None:
            return text_of(found) == text_of(value)  # a cell may hold a number as text
        if isinstance(found, bool) or isinstance(value, bool):
            return found is value
        return bool(found == value)


class Selection:
    """Which spans are looked at."""

    def __init__(self, name: Glob, attributes: Mapping[str, Wanted], parent: Glob | None) -> None:
        self._name = name
        self._attributes = attributes
        self._parent = parent

    def of(self, trace: Trace, case: Case, output: Output) -> list[Span]:
        """Raises NoValue."""
        scope = Scope(case, output)
        wanted = {name: (value, value.value(scope)) for name, value in self._attributes.items()}
        return [
            span
            for span in trace.spans
            if self._name.fits(span.name)
            and self._child(span, trace)
            and all(want.fits(span.attribute(name), value) for name, (want, value) in wanted.items())
        ]

    def _child(self, span: Span, trace: Trace) -> bool:
        if self._parent is None:
            return True
        parent = trace.parents.get(span)
        return parent is not None and self._parent.fits(parent.name)

    def __str__(self) -> str:
        parts = [f"the pattern {excerpt(self._name.source)}" if self._name.source else "the empty pattern"]
        if self._attributes:
            parts.append(f"the attributes {', '.join(self._attributes)}")
        if self._parent is not None:
            parts.append(f"the parent {excerpt(self._parent.source)}")
        return " with ".join(parts)


def broken_order(trace: Trace, first: Glob, then: Glob) -> str | None:
    """Why the first span of one pattern does not start before that of the other; None where it does, or where there is
    no such other.

    Raises:
        MissingOutput: one of them has no start.
    """
    one, other = _first(trace, first), _first(trace, then)
    if other is None:
        return None
    wanted = f"wanted {excerpt(first.source)} to start before {excerpt(then.source)}"
    if one is None:
        return f"{excerpt(then.source)} starts and no span fits {excerpt(first.source)}; {wanted}"
    precedes = trace.precedes(one, other)
    if precedes is None:
        raise MissingOutput(
            f"whether {excerpt(first.source)} starts before {excerpt(then.source)} is not known: "
            "not every span has a start"
        )
    if precedes:
        return None
    if one is other:
        found = f"{excerpt(one.name, 60)} is the first of both"
    elif one.start is not None and one.start == other.start:
        found = f"{excerpt(one.name, 60)} and {excerpt(other.name, 60)} start at the same moment"
    else:
        found = f"{excerpt(other.name, 60)} starts before {excerpt(one.name, 60)}"
    return f"{found}; {wanted}"


def _first(trace: Trace, name: Glob) -> Span | None:
    """The first span that fits, by its start; one without a start comes first, so that it is not passed over."""
    fitting = [span for span in trace.spans if name.fits(span.name)]
    return next((span for span in fitting if span.start is None), fitting[0]) if fitting else None
