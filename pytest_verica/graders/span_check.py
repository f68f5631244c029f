"""span_check: looks at the spans of a trace: how many, how long, without errors, in which order."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Literal

from pydantic import ConfigDict, Field, StrictBool, StrictFloat, StrictInt, model_validator

from pytest_verica.case import Case
from pytest_verica.errors import ConfigError, MissingOutput
from pytest_verica.evals.criterion import CriterionConfig
from pytest_verica.evals.fields import Strict, TemplateText
from pytest_verica.grade import Grade
from pytest_verica.graders.bounds import Bounds
from pytest_verica.graders.excerpt import excerpt
from pytest_verica.graders.glob import Glob
from pytest_verica.graders.protocol import BuildContext, Grader, GraderKind
from pytest_verica.graders.span_rules import NoValue, Selection, Wanted, broken_order
from pytest_verica.output import Output
from pytest_verica.spans import BadTrace, Span, Trace, read_trace

NO_TRACE = (
    "the output has no span tree: name the column that holds it in `target.spans`, or trace a Python target with "
    "OpenTelemetry (its tracer provider set when its module is imported)"
)
_MILLISECOND = 1_000_000
_LISTED = 5

Which = Literal["any", "all", "total"]
AttributeValue = Annotated[
    StrictBool | StrictInt | StrictFloat | TemplateText | None, Field(union_mode="left_to_right")
]


class DurationRule(Strict):
    """How long the spans may take."""

    model_config = ConfigDict(defer_build=True)  # as for every kind

    max_ms: float = Field(gt=0, allow_inf_nan=False, description="Milliseconds, this many included.")
    which: Which = Field("all", description="Each of them, any of them, or the sum of their durations.")


class SpanCheckConfig(CriterionConfig):
    """Looks at the spans of a trace: `count`, `duration` or `no_errors`."""

    model_config = ConfigDict(defer_build=True)  # built for the kinds in use only: it takes 10 ms each

    type: Literal["span_check"]
    pattern: str = Field("", description="Names of spans: `*` is anything, case does not count; empty: all spans.")
    attributes: dict[str, AttributeValue] = Field(
        default_factory=dict, description="Only spans with these attributes; in texts `*` is anything."
    )
    parent: str | None = Field(None, description="Only spans whose parent's name fits this pattern.")
    count: Bounds | None = None
    duration: DurationRule | None = None
    no_errors: Literal[True] | None = None
    order: list[tuple[str, str]] = Field(
        default_factory=list, description="Pairs of patterns: the first span of one starts before that of the other."
    )
    allow_empty: bool = Field(False, description="Whether `duration` and `no_errors` pass where no span fits.")

    @model_validator(mode="after")
    def _one_check(self) -> SpanCheckConfig:
        chosen = [key for key in ("count", "duration", "no_errors") if getattr(self, key) is not None]
        if len(chosen) != 1:
            found = " and ".join(chosen) or "none"
            raise ValueError(f"write exactly one of `count`, `duration`, `no_errors: true`; found {found}")
        if self.count is not None:
            self._can_fail(self.count)
        if "{{" in self.pattern or "{{" in (self.parent or ""):
            raise ValueError("`pattern` and `parent` are the same for every case; `attributes` may hold templates")
        if any(not name or set(name) == {"*"} for pair in self.order for name in pair):
            raise ValueError("`order` names two spans in each pair, such as [[search, answer]]; one fits every span")
        return self

    def _can_fail(self, count: Bounds) -> None:
        if not count.given:
            raise ValueError("`count` needs `min`, `max` or `equals`")
        if self.allow_empty:
            raise ValueError("`allow_empty` goes with duration and no_errors; with count write `min: 0` and a `max`")
        all_spans = not (self.pattern.strip("*") or self.attributes or self.parent or self.order)
        if all_spans and count.max is None and count.min == 1:
            raise ValueError("every trace has a span, so this is always met; write a `pattern`, or another bound")


class SpanCheck:
    """A span_check that is ready."""

    def __init__(self, config: SpanCheckConfig) -> None:
        attributes = {name: Wanted(value) for name, value in config.attributes.items()}
        parent = None if config.parent is None else Glob(config.parent)
        self._selection = Selection(Glob(config.pattern), attributes, parent)
        self._count = config.count
        self._duration = config.duration
        self._order = [(Glob(first), Glob(then)) for first, then in config.order]
        self._allow_empty = config.allow_empty

    def grade(self, case: Case, output: Output) -> Grade:
        if output.spans is None or output.spans in ([], {}, ""):
            return Grade.failed_to_judge("no_trace", NO_TRACE)
        try:
            trace = read_trace(output.spans)
        except BadTrace as error:
            raw = str(output.spans)[:2000]
            return Grade.failed_to_judge("bad_trace", f"the trace cannot be read: {error}", raw=raw)
        try:
            chosen = self._selection.of(trace, case, output)
        except NoValue as error:
            return Grade.na(str(error))
        passed, sentence = self._check(chosen, trace)
        for first, then in self._order:
            broken = broken_order(trace, first, then)
            if broken is not None:
                sentence = broken if passed else f"{sentence}; {broken}"
                passed = False
        details = {"spans": len(trace.spans), "matched": len(chosen), "orphans": len(trace.orphans)}
        return Grade.of(passed, sentence + _orphans(trace), details=details)

    def _check(self, chosen: Sequence[Span], trace: Trace) -> tuple[bool, str]:
        found = f"{len(chosen)} of {len(trace.spans)} spans {'fits' if len(chosen) == 1 else 'fit'} {self._selection}"
        if self._count is not None:
            passed = self._count.hold(len(chosen))
            names = "" if passed or chosen else f"; the trace has {_names(trace.spans)}"
            return passed, f"{found}; wanted {self._count}{names}"
        if not chosen:
            if self._allow_empty:
                return True, f"{found}, which `allow_empty` accepts"
            raise MissingOutput(
                f"{found}: nothing was checked (`allow_empty: true` accepts that); the trace has {_names(trace.spans)}"
            )
        return self._errors(chosen, found) if self._duration is None else self._times(chosen, found, self._duration)

    def _errors(self, chosen: Sequence[Span], found: str) -> tuple[bool, str]:
        failed = [span for span in chosen if span.status == "error"]
        if failed:
            said = "" if failed[0].status_text is None else f": {excerpt(failed[0].status_text)}"
            return False, f"{found}; {len(failed)} with an error, the first {_name(failed[0])}{said}; wanted none"
        unclear = next((span for span in chosen if span.status == "unknown"), None)
        if unclear is not None:
            status = excerpt(unclear.status_text or "")
            raise MissingOutput(f"{found}; whether {_name(unclear)} failed is not known: its status is {status}")
        return True, f"{found}, none of them with an error"

    def _times(self, chosen: Sequence[Span], found: str, rule: DurationRule) -> tuple[bool, str]:
        limit = rule.max_ms * _MILLISECOND
        known = {span: span.duration for span in chosen if span.duration is not None}
        unknown = [span for span in chosen if span not in known]
        within = [span for span, taken in known.items() if taken <= limit]
        wanted = f"wanted {_milliseconds(limit)} ms at most"
        if rule.which == "any" and within:
            return True, f"{found}; {_took(within[0], known)}; {wanted} for any of them"
        if rule.which == "all" and len(within) < len(known):
            slowest = max(known, key=lambda span: known[span])
            slow = len(known) - len(within)
            return False, f"{found}; {slow} took too long, most of all {_took(slowest, known)}; {wanted} for each"
        total = sum(known.values())
        if rule.which == "total" and total > limit:
            return False, f"{found}; together they took {_milliseconds(total)} ms; {wanted}"
        if unknown:
            raise MissingOutput(f"{found}; how long {_name(unknown[0])} took is not known: {_missing(unknown[0])}")
        if rule.which == "total":
            return True, f"{found}; together they took {_milliseconds(total)} ms; {wanted}"
        extreme = (max if rule.which == "all" else min)(known, key=lambda span: known[span])
        return rule.which == "all", f"{found}; {_took(extreme, known)}; {wanted} for {rule.which} of them"


def _took(span: Span, known: Mapping[Span, int]) -> str:
    return f"{_name(span)} took {_milliseconds(known[span])} ms"


def _milliseconds(nanoseconds: float) -> str:
    return f"{nanoseconds / _MILLISECOND:,.3f}".rstrip("0").rstrip(".")


def _missing(span: Span) -> str:
    if span.start is not None and span.end is not None:
        return "it ends before it starts"
    return "it has no start" if span.start is None else "it has no end"


def _name(span: Span) -> str:
    return excerpt(span.name, 60)


def _names(spans: Sequence[Span]) -> str:
    names = list(dict.fromkeys(span.name for span in spans))
    shown = ", ".join(excerpt(name, 40) for name in names[:_LISTED])
    return shown if len(names) <= _LISTED else f"{shown} and {len(names) - _LISTED} other names"


def _orphans(trace: Trace) -> str:
    count = len(trace.orphans)
    if not count:
        return ""
    one = count == 1
    return f" ({count} {'span names' if one else 'spans name'} a parent that is not in the trace: kept as roots)"


def build(config: SpanCheckConfig, context: BuildContext) -> Grader:
    """Raises ConfigError where a column target names no column of spans."""
    if context.recorded is not None and "spans" not in context.recorded:
        raise ConfigError(NO_TRACE)
    return SpanCheck(config)


KIND = GraderKind(
    "span_check", SpanCheckConfig, build, "inline", "Looks at a trace's spans: how many, how long, errors, order."
)
