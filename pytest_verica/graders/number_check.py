"""number_check: compares a number found in the output with another one."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Collection
from decimal import Decimal
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, ConfigDict, Field, StrictFloat, StrictInt, model_validator

from pytest_verica.case import Case
from pytest_verica.errors import ConfigError, MissingOutput
from pytest_verica.evals.criterion import CriterionConfig
from pytest_verica.evals.fields import FormulaText, Strict, TemplateText
from pytest_verica.formula import Formula, FormulaError
from pytest_verica.grade import Grade
from pytest_verica.graders.excerpt import excerpt
from pytest_verica.graders.number import (
    ARITHMETIC,
    Aggregate,
    Extract,
    NotANumber,
    NumberFormat,
    aggregate,
    extract_number,
    read_number,
    same,
    show,
)
from pytest_verica.graders.protocol import BuildContext, Grader, GraderKind
from pytest_verica.graders.quantity import (
    BadQuantity,
    BlankQuantity,
    Constant,
    FieldOfOutput,
    Quantity,
    checked_formula,
    lacks_values,
    quantity_of,
)
from pytest_verica.graders.target import FENCE_NOTE, RESPONSE, Target, TargetConfig, find, response_or_keys
from pytest_verica.output import Output
from pytest_verica.path import Path, describe, parse_path
from pytest_verica.template import Scope

Comparison = Literal["equals", "not_equals", "greater", "greater_or_equal", "less", "less_or_equal", "between"]
COMPARISONS: tuple[str, ...] = Comparison.__args__  # type: ignore[attr-defined]
NO_VALUE = "no expected value: it is empty for this case"

_WORDS = {
    "equals": "equal to",
    "not_equals": "not equal to",
    "greater": "greater than",
    "greater_or_equal": "at least",
    "less": "less than",
    "less_or_equal": "at most",
}
_ORDER: dict[str, Callable[[Decimal, Decimal], bool]] = {
    "greater": operator.gt,
    "greater_or_equal": operator.ge,
    "less": operator.lt,
    "less_or_equal": operator.le,
}


class JsonPathExpected(Strict):
    """Another field of the same output."""

    json_path: str


def _expected(value: Any) -> Any:
    if isinstance(value, dict) and set(value) != {"json_path"}:
        raise ValueError("a number, a template, a formula or {json_path: …} was expected")
    if isinstance(value, bool):
        raise ValueError("true and false are not numbers")
    for part in value if isinstance(value, list) else [value]:
        if isinstance(part, float) and not math.isfinite(part):
            raise ValueError(f"{part} is not a finite number")
    if isinstance(value, list) and any(isinstance(part, (dict, list, bool)) or part is None for part in value):
        raise ValueError("two numbers, templates or formulas were expected: [low, high]")
    return value


Number = Annotated[StrictInt | StrictFloat | FormulaText, Field(union_mode="left_to_right")]
Expected = Annotated[JsonPathExpected | list[Number] | Number | None, BeforeValidator(_expected)]
Tolerance = Annotated[float, Field(strict=True, ge=0, allow_inf_nan=False)]


class NumberTargetConfig(TargetConfig):
    """Which number is looked at; without any key, the one that the response is."""

    aggregate: Aggregate | None = Field(default=None, description="With json_path: one number for an array.")
    formula: str | None = Field(default=None, description="An Excel-style formula, such as `=SUM(json.items.price)`.")

    @classmethod
    def ways(cls) -> tuple[str, ...]:
        return ("json_path", "json_items", "value", "formula")

    @model_validator(mode="after")
    def _aggregate_of_something(self) -> NumberTargetConfig:
        if self.aggregate is not None and self.json_path is None:
            raise ValueError("`aggregate` needs `json_path`: the array whose numbers it takes")
        return self


class NumberCheckConfig(CriterionConfig):
    """Compares a number: `comparison` with `expected`, or the comparison itself as the key."""

    model_config = ConfigDict(defer_build=True)  # built for the kinds in use only: it takes 10 ms each

    type: Literal["number_check"]
    target: Annotated[NumberTargetConfig, BeforeValidator(response_or_keys), RESPONSE] = Field(
        default_factory=NumberTargetConfig
    )
    value: TemplateText | None = Field(None, description="An expression that is looked at in place of the target.")
    comparison: Comparison | None = None
    expected: Expected = None
    equals: Expected = None
    not_equals: Expected = None
    greater: Expected = None
    greater_or_equal: Expected = None
    less: Expected = None
    less_or_equal: Expected = None
    between: Expected = None
    tolerance: Tolerance | None = Field(None, description="Absolute; with equals and not_equals only.")
    tolerance_percent: Tolerance | None = Field(None, description="Of the expected value.")
    extract: Extract | None = Field(None, description="Find the number inside a text.")
    number_format: NumberFormat | None = Field(
        None, description="How texts group digits; given, currency signs and % are left out. Default: en."
    )

    @model_validator(mode="after")
    def _one_comparison(self) -> NumberCheckConfig:
        comparison, expected = self.rule()
        if (comparison == "between") != isinstance(expected, list):
            raise ValueError("`between` takes two bounds, [low, high]; the other comparisons take one number")
        if isinstance(expected, list) and len(expected) != 2:
            raise ValueError(f"`between` takes two bounds, [low, high]; found {len(expected)}")
        tolerances = [key for key in ("tolerance", "tolerance_percent") if getattr(self, key) is not None]
        if tolerances and comparison not in ("equals", "not_equals"):
            raise ValueError(f"`{tolerances[0]}` goes with equals and not_equals, not with `{comparison}`")
        if len(tolerances) == 2:
            raise ValueError("write `tolerance` or `tolerance_percent`, not both")
        if self.value is not None and self.target.model_fields_set:
            raise ValueError("`value` and `target` both say what is looked at; keep one")
        return self

    def rule(self) -> tuple[str, Any]:
        """The comparison and what is expected, whichever way they were written.

        Raises:
            ValueError: there is none, or more than one.
        """
        keys = [name for name in COMPARISONS if getattr(self, name) is not None]
        if self.comparison is not None and not keys:
            if self.expected is None:
                raise ValueError(f"`comparison: {self.comparison}` needs `expected`")
            return self.comparison, self.expected
        found = keys if self.comparison is None else [self.comparison, *keys]
        if len(found) != 1:
            shown = " and ".join(found) or "none"
            raise ValueError(f"write exactly one comparison; found {shown}; known: {', '.join(COMPARISONS)}")
        if self.expected is not None:
            raise ValueError(f"`expected` and `{keys[0]}` both say what is expected; keep one")
        return keys[0], getattr(self, keys[0])


class Comparer:
    """One comparison with its tolerance: (number, expected numbers) -> passes, and the words for what was wanted."""

    def __init__(self, comparison: str, tolerance: float | None, percent: float | None) -> None:
        self._comparison = comparison
        self._tolerance = None if tolerance is None else Decimal(repr(tolerance))
        self._percent = None if percent is None else Decimal(repr(percent)) / 100
        self._order = _ORDER.get(comparison)
        self._inverted = comparison == "not_equals"

    def holds(self, number: Decimal, expected: list[Decimal]) -> bool:
        if self._order is not None:
            return self._order(number, expected[0])
        if self._comparison == "between":
            return expected[0] <= number <= expected[1]
        tolerance = self._tolerance
        if self._percent is not None:
            tolerance = ARITHMETIC.multiply(self._percent, ARITHMETIC.abs(expected[0]))
        return same(number, expected[0], tolerance) is not self._inverted

    def wanted(self, expected: list[Decimal]) -> str:
        if self._comparison == "between":
            return f"between {show(expected[0])} and {show(expected[1])}"
        words = f"{_WORDS[self._comparison]} {show(expected[0])}"
        if self._tolerance is not None:
            return f"{words} (± {show(self._tolerance)})"
        return words if self._percent is None else f"{words} (± {show(self._percent * 100)} %)"


class NumberCheck:
    """A number_check that is ready."""

    def __init__(self, config: NumberCheckConfig, columns: Collection[str] | None = None) -> None:
        """`columns`: the golden set's, None where it is not known."""
        comparison, expected = config.rule()
        self._columns = columns
        self._comparer = Comparer(comparison, config.tolerance, config.tolerance_percent)
        self._form = config.number_format
        self._extract = config.extract
        self._expected = [self._quantity(part) for part in (expected if isinstance(expected, list) else [expected])]
        self._fixed: tuple[list[Decimal], str] | None = None
        if all(isinstance(part, Constant) for part in self._expected):
            numbers = [part.number for part in self._expected if isinstance(part, Constant)]
            if len(numbers) == 2 and numbers[0] > numbers[1]:
                raise ConfigError(f"`between`: the lower bound {show(numbers[0])} is above {show(numbers[1])}")
            self._fixed = numbers, self._comparer.wanted(numbers)
        self._formula = None if config.target.formula is None else self._looked_at(config.target.formula)
        self._aggregate = config.target.aggregate
        self._path: Path | None = None
        if self._aggregate is not None:
            assert config.target.json_path is not None
            self._path = parse_path(config.target.json_path)
        self._target = Target(config.target, config.value)

    def _quantity(self, written: Any) -> Quantity:
        if isinstance(written, JsonPathExpected):
            return FieldOfOutput(written.json_path, self._form)
        return quantity_of(written, self._form, self._columns)

    def _looked_at(self, written: str) -> Formula:
        formula = checked_formula(written, self._columns)
        if not formula.names:
            raise ConfigError(f"the target {written!r} looks at nothing: name a part of the output, or a column")
        return formula

    def grade(self, case: Case, output: Output) -> Grade:
        if self._fixed is not None:
            expected, wanted = self._fixed
        else:
            try:
                expected = [part.read(case, output) for part in self._expected]
            except BlankQuantity:
                return Grade.na(NO_VALUE)
            except BadQuantity as error:
                return Grade.failed_to_judge("bad_expected", str(error))
            wanted = self._comparer.wanted(expected)
            if len(expected) == 2 and expected[0] > expected[1]:
                return Grade.failed_to_judge("bad_expected", f"the expected bounds are reversed: {wanted}")
        if self._aggregate is not None:
            passed, sentence = self._compare_aggregate(self._aggregate, output, expected, wanted)
            return Grade.of(passed, sentence)

        def check(value: Any, where: str) -> tuple[bool, str]:
            number = self._number(value, where)
            return self._comparer.holds(number, expected), f"{where} is {show(number)}; wanted {wanted}"

        if self._formula is not None:
            if lacks_values(self._formula, case):
                return Grade.na(f"no value to check: every column of {excerpt(self._formula.source, 60)} is empty here")
            return Grade.of(*check(*_result(self._formula, case, output)))
        return self._target.grade(case, output, check)

    def _number(self, value: Any, where: str) -> Decimal:
        try:
            if self._extract is not None and isinstance(value, str):
                return extract_number(value, self._extract, self._form)
            return read_number(value, self._form)
        except NotANumber as error:
            raise MissingOutput(f"{where} is {error}") from None

    def _compare_aggregate(
        self, which: Aggregate, output: Output, expected: list[Decimal], wanted: str
    ) -> tuple[bool, str]:
        assert self._path is not None
        values, _ = find(self._path, output)
        where = f"the {which} of `{self._path}`"
        if not isinstance(values, list):
            raise MissingOutput(f"{where} is not known: `{self._path}` is {describe(values)}, not an array")
        try:
            number = aggregate(which, values, self._path.source, self._form)
        except NotANumber as error:
            raise MissingOutput(f"{where} is {error}") from None
        note = FENCE_NOTE if output.json.fenced else ""
        return self._comparer.holds(number, expected), f"{where} is {show(number)}; wanted {wanted}{note}"


def _result(formula: Formula, case: Case, output: Output) -> tuple[Any, str]:
    """What a formula gives, and how messages name it.

    Raises:
        MissingOutput: it gives an error, or nothing.
    """
    where = excerpt(formula.source.strip(), 60)
    value = formula.value(Scope(case, output))
    if value is None or isinstance(value, FormulaError):
        raise MissingOutput(f"{where} is {'empty, not a number' if value is None else value}")
    return value, where


def build(config: NumberCheckConfig, context: BuildContext) -> Grader:
    """Raises ConfigError where what is expected is a text that is not a number, or a formula is wrong."""
    first = next(iter(context.cases), None)  # every case has all columns
    return NumberCheck(config, None if first is None else first.columns)


KIND = GraderKind(
    "number_check", NumberCheckConfig, build, "inline", "Compares a number, read as a number, with a tolerance."
)
