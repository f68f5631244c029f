"""text_check: compares a text with values, a regular expression or a length."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pytest_verica.case import Case
from pytest_verica.grade import Grade
from pytest_verica.graders.excerpt import LIMIT, excerpt
from pytest_verica.graders.pattern import BadPattern, Pattern
from pytest_verica.graders.protocol import BuildContext, Grader, GraderKind
from pytest_verica.graders.target import Target
from pytest_verica.graders.text import Preparation, measure
from pytest_verica.graders.text_rules import LengthRule, StringCheckConfig, TextCheckConfig, TextRule, TextRulesConfig
from pytest_verica.json_text import read_json
from pytest_verica.output import Output
from pytest_verica.template import Scope, compile_template, is_missing, text_of

NO_VALUE = "no expected value: it is empty for this case"

# operation -> whether the value is satisfied by the text, and the words where it is and where it is not
_COMPARISONS: dict[str, tuple[Callable[[str, str], bool], str, str]] = {
    "equals": (str.__eq__, "is", "is not"),
    "contains": (str.__contains__, "contains", "does not contain"),
    "starts_with": (str.startswith, "starts with", "does not start with"),
    "ends_with": (str.endswith, "ends with", "does not end with"),
}


def is_template(text: str) -> bool:
    return "{{" in text or "{%" in text or "{#" in text


class Operand:
    """What a text is compared with: literal texts, made ready once, or templates that each case fills in."""

    def __init__(self, written: str | list[str], prepare: Callable[[str], str], *, lists: bool, read: bool) -> None:
        """lists: a cell may hold a list; read: a cell's text may be a list written as JSON."""
        sources = written if isinstance(written, list) else [written]
        self._prepare = prepare
        self._lists = lists
        self._read = read
        self._templates = None
        self._values: tuple[str, ...] = ()
        if any(map(is_template, sources)):
            self._templates = tuple(compile_template(source) for source in sources)
        else:
            self._values = tuple(prepare(source) for source in sources)

    @property
    def literal(self) -> tuple[str, ...] | None:
        """The values, where they are the same for every case."""
        return self._values if self._templates is None else None

    def values(self, case: Case, output: Output) -> tuple[str, ...]:
        """The values for one case; those that are empty are left out."""
        if self._templates is None:
            return self._values
        scope = Scope(case, output)
        prepare = self._prepare
        found: list[str] = []
        for template in self._templates:
            if not self._lists:
                text = template.render(scope)
                if not is_missing(text):
                    found.append(prepare(text))
                continue
            value = template.value(scope)
            if value.__class__ is str:
                if not is_missing(value):
                    found += map(prepare, self._written_list(value) if self._read else (value,))
            else:
                parts = value if isinstance(value, (list, tuple)) else (value,)
                found += [prepare(text_of(part)) for part in parts if not is_missing(part)]
        return tuple(found)

    def _written_list(self, text: str) -> list[str]:
        if text.lstrip().startswith("["):
            value = read_json(text).value
            if isinstance(value, list):
                return [text_of(part) for part in value if not is_missing(part)]
        return [text]


class TextComparison:
    """equals, contains, starts_with, ends_with and one_of, and their opposites."""

    def __init__(self, config: TextRulesConfig, rule: TextRule) -> None:
        operation = rule.operation
        self._inverted = operation.startswith("not_")
        base = "equals" if operation == "one_of" else operation.removeprefix("not_")
        self._test, self._yes, self._no = _COMPARISONS[base]
        self._any = operation == "one_of" or config.match == "any"
        strip = base == "equals" if config.strip is None else config.strip
        self._prepare = Preparation(rule.ignore_case, strip, config.normalize, config.collapse_whitespace).step()
        assert rule.operand is not None
        several = operation in ("contains", "not_contains", "one_of")
        self._operand = Operand(rule.operand, self._prepare, lists=several, read=operation == "one_of")
        self._target = Target(config.target, rule.value)

    def grade(self, case: Case, output: Output) -> Grade:
        values = self._operand.values(case, output)
        if not values:
            return Grade.na(NO_VALUE)
        if len(values) == 1:
            value = values[0]
            return self._target.grade(case, output, lambda looked_at, where: self._one(looked_at, where, value))
        return self._target.grade(case, output, lambda looked_at, where: self._many(looked_at, where, values))

    def _one(self, looked_at: Any, where: str, value: str) -> tuple[bool, str]:
        written = looked_at if looked_at.__class__ is str else text_of(looked_at)
        text = self._prepare(written)
        met = self._test(text, value)
        passed = met is not self._inverted
        if passed:
            return True, f"{where} {self._yes if met else self._no} {excerpt(value)}"
        if met:
            around = excerpt(text, LIMIT, max(0, text.find(value))) if len(text) > LIMIT else excerpt(written)
            return False, f"{where} {self._yes} {excerpt(value)}, which it should not: {around}"
        if self._test is str.__eq__:
            at = first_difference(text, value)
            shown = excerpt(text, LIMIT, at) if at else excerpt(written)
            return False, f"{where} is {shown}; expected {excerpt(value, LIMIT, at)}"
        return False, f"{where} {self._no} {excerpt(value)}; it is {excerpt(written)}"

    def _many(self, looked_at: Any, where: str, values: tuple[str, ...]) -> tuple[bool, str]:
        written = looked_at if looked_at.__class__ is str else text_of(looked_at)
        text = self._prepare(written)
        met = [value for value in values if self._test(text, value) is not self._inverted]
        passed = bool(met) if self._any else len(met) == len(values)
        word = self._no if self._inverted else self._yes
        if passed and self._any:
            return True, f"{where} {word} {excerpt(met[0])}, one of {len(values)} values"
        if passed:
            return True, f"{where} {word} each of {len(values)} values: {_listed(values)}"
        if self._any:
            return False, f"{where} {word} none of {_listed(values)}; it is {excerpt(written)}"
        unmet = [value for value in values if value not in met]
        other = self._yes if self._inverted else self._no
        return False, f"{where} {other} {_listed(unmet)}; it is {excerpt(written)}"


class TextPattern:
    """matches and not_matches: a regular expression, found or not."""

    def __init__(self, config: TextRulesConfig, rule: TextRule) -> None:
        self._inverted = rule.operation == "not_matches"
        # Case is left to the expression: folding its text would turn \S into \s.
        prepare = Preparation(False, bool(config.strip), config.normalize, config.collapse_whitespace)
        self._prepare = prepare.step()
        assert isinstance(rule.operand, str)
        source = rule.operand
        flags = config.flags + ("i" if rule.ignore_case and "i" not in config.flags else "")
        self._flags = flags
        self._timeout_ms = config.timeout_ms
        self._template = compile_template(source) if is_template(source) else None
        self._pattern = None if self._template is not None else self._compiled(source)
        self._target = Target(config.target, rule.value)

    def _compiled(self, text: str) -> Pattern:
        return Pattern.compile(text, self._flags, self._timeout_ms)

    def grade(self, case: Case, output: Output) -> Grade:
        pattern = self._pattern
        if pattern is None:
            assert self._template is not None
            text = self._template.render(Scope(case, output))
            if is_missing(text):
                return Grade.na(NO_VALUE)
            try:
                pattern = self._compiled(text)
            except BadPattern as error:
                return Grade.failed_to_judge("bad_pattern", str(error), raw=text)
        try:
            return self._target.grade(case, output, lambda value, where: self._check(value, where, pattern))
        except TimeoutError:
            return Grade.failed_to_judge(
                "regex_timeout", f"{pattern.too_slow()}, or raise `timeout_ms`", raw=pattern.source
            )

    def _check(self, looked_at: Any, where: str, pattern: Pattern) -> tuple[bool, str]:
        text = self._prepare(looked_at if looked_at.__class__ is str else text_of(looked_at))
        found = pattern.find(text)
        shown = excerpt(pattern.source)
        if found is None:
            sentence = f"{where} does not match {shown}"
            return self._inverted, sentence if self._inverted else f"{sentence}; it is {excerpt(text)}"
        sentence = f"{where} matches {shown} with {excerpt(found[0], 60)} at character {found[1] + 1}"
        return not self._inverted, f"{sentence}, which it should not" if self._inverted else sentence


class TextLength:
    """length: how long a text is."""

    def __init__(self, config: TextRulesConfig, rule: TextRule, length: LengthRule) -> None:
        self._length = length
        prepare = Preparation(False, bool(config.strip), config.normalize, config.collapse_whitespace)
        self._prepare = prepare.step()
        self._target = Target(config.target, rule.value)

    def grade(self, case: Case, output: Output) -> Grade:
        return self._target.grade(case, output, self._check)

    def _check(self, looked_at: Any, where: str) -> tuple[bool, str]:
        text = self._prepare(looked_at if looked_at.__class__ is str else text_of(looked_at))
        unit = self._length.unit
        count = measure(text, unit)
        shown = unit[:-1] if count == 1 else unit
        passed = self._length.hold(count)
        end = "" if passed else f": {excerpt(text, 60)}"
        return passed, f"{where} has {count:,} {shown}; wanted {self._length}{end}"


def first_difference(one: str, other: str) -> int:
    """Where two texts first differ; 0 where they are short enough to be shown whole."""
    if len(one) <= LIMIT and len(other) <= LIMIT:
        return 0
    shorter = min(len(one), len(other))
    low, high = 0, shorter
    while low < high:  # slices compare at memory speed, so halving beats a loop over the characters
        middle = (low + high + 1) // 2
        if one[low:middle] == other[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def _listed(values: tuple[str, ...] | list[str]) -> str:
    shown = ", ".join(excerpt(value, 40) for value in values[:5])
    return shown if len(values) <= 5 else f"{shown} and {len(values) - 5} more"


def build(config: TextRulesConfig, context: BuildContext) -> Grader:
    """Raises ConfigError where a literal pattern is not a regular expression."""
    rule = config.rule()
    if rule.length is not None:
        return TextLength(config, rule, rule.length)
    if rule.operation in ("matches", "not_matches"):
        return TextPattern(config, rule)
    return TextComparison(config, rule)


KIND = GraderKind("text_check", TextCheckConfig, build, "inline", "Compares a text: contains, equals, matches, length.")
OLD_KIND = GraderKind("string_check", StringCheckConfig, build, "inline", "The old name of text_check.")
