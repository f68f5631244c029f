"""json_check: the shape of an output that is JSON: valid, with its keys, after a schema, an array's length."""

from __future__ import annotations

from pathlib import Path as File
from typing import Any, Literal

from pydantic import ConfigDict, Field, field_validator, model_validator

from pytest_verica.canonical import content_hash
from pytest_verica.case import Case
from pytest_verica.errors import ConfigError, MissingOutput, MissingPath
from pytest_verica.evals.criterion import CriterionConfig
from pytest_verica.evals.fields import Strict
from pytest_verica.grade import Grade
from pytest_verica.graders.bounds import Bounds
from pytest_verica.graders.excerpt import excerpt
from pytest_verica.graders.protocol import BuildContext, Grader, GraderKind
from pytest_verica.graders.schema import Schema
from pytest_verica.graders.schema_names import SchemaStopped
from pytest_verica.graders.target import FENCE_NOTE, find, json_of
from pytest_verica.json_text import read_json
from pytest_verica.output import Output
from pytest_verica.path import Path, describe, parse_path
from pytest_verica.template import is_missing

Operation = Literal["valid", "schema", "array_length"]
OPERATIONS: tuple[str, ...] = Operation.__args__  # type: ignore[attr-defined]


class ArrayLength(Bounds):
    """How many elements an array has."""

    json_path: str | None = Field(None, description="The array; without it, the output itself.")
    all_non_empty: bool = Field(
        False, description="No element is null, white space, or an empty text, array or object."
    )

    @model_validator(mode="after")
    def _bounded(self) -> ArrayLength:
        if not (self.given or self.all_non_empty):
            raise ValueError("`array_length` needs `min`, `max`, `equals` or `all_non_empty: true`")
        return self


class FieldTarget(Strict):
    """The part of the JSON that is looked at."""

    json_path: str


class JsonCheckConfig(CriterionConfig):
    """Checks the shape of JSON: `operation` with its keys, or the operation itself as the key."""

    model_config = ConfigDict(defer_build=True)  # built for the kinds in use only: it takes 10 ms each

    type: Literal["json_check"]
    operation: Operation | None = None
    valid: Literal[True] | None = Field(None, description="The output is JSON.")
    required_keys: list[str] | None = Field(None, min_length=1, description="Paths that must exist, in every element.")
    shape: dict[str, Any] | bool | str | None = Field(
        None, alias="schema", description="A JSON Schema, or the path of a file that holds one."
    )
    array_length: ArrayLength | None = None
    target: FieldTarget | None = Field(None, description="With schema and array_length: one field of the JSON.")
    json_path: str | None = None
    min: int | None = Field(None, ge=0, strict=True)
    max: int | None = Field(None, ge=0, strict=True)
    equals: int | None = Field(None, ge=0, strict=True)
    all_non_empty: bool | None = None

    @field_validator("target", mode="before")
    @classmethod
    def _response(cls, value: Any) -> Any:
        return None if value == "response" else value

    @model_validator(mode="after")
    def _one_operation(self) -> JsonCheckConfig:
        chosen = self.chosen()
        loose = [
            key for key in ("json_path", "min", "max", "equals", "all_non_empty") if getattr(self, key) is not None
        ]
        if loose and not (self.operation == "array_length" and self.array_length is None):
            raise ValueError(f"`{loose[0]}` belongs inside `array_length`, or beside `operation: array_length`")
        if chosen == "array_length":
            self.length()
        elif chosen == "schema" and self.shape is None:
            raise ValueError("`operation: schema` needs `schema`")
        if chosen == "valid" and self.target is not None:
            raise ValueError("`valid` and `required_keys` look at the whole response, not at a `target`")
        return self

    def chosen(self) -> str:
        """The one operation.

        Raises:
            ValueError: there is none, or more than one.
        """
        found = [self.operation] if self.operation else []
        written = {
            "valid": self.valid is not None or self.required_keys is not None,
            "schema": self.shape is not None,
            "array_length": self.array_length is not None,
        }
        found += [name for name, there in written.items() if there and name != self.operation]  # type: ignore[misc]
        if len(found) != 1:
            shown = " and ".join(found) or "none"
            raise ValueError(
                f"write exactly one operation; found {shown}; known: valid (with required_keys), schema, array_length"
            )
        return found[0]

    def length(self) -> ArrayLength:
        """The rule of `array_length`, whichever way it was written."""
        rule = self.array_length
        if rule is None:
            rule = ArrayLength(
                json_path=self.json_path,
                min=self.min,
                max=self.max,
                equals=self.equals,
                all_non_empty=bool(self.all_non_empty),
            )
        if self.target is not None and rule.json_path is not None:
            raise ValueError("`target` and `json_path` both say which array; keep one")
        return rule


class ValidJson:
    """valid, with required keys."""

    def __init__(self, required: list[str]) -> None:
        self._required = [parse_path(text) for text in required]

    def grade(self, case: Case, output: Output) -> Grade:
        reading = output.json
        note = FENCE_NOTE if reading.fenced else ""
        if reading.problem is not None:
            if output.text is None:
                raise MissingOutput(f"the output is not valid JSON: {reading.problem}")
            return Grade.of(
                False, f"the output is not valid JSON: {reading.problem}; it begins {excerpt(output.text, 60)}{note}"
            )
        missing: list[str] = []
        empty: list[str] = []
        for path in self._required:
            try:
                found = path.find(reading.value)
            except MissingPath as error:
                missing.append(str(error))
                continue
            if found == [] and path.plural(reading.value):
                empty.append(f"`{path}`")
        if missing:
            count = f"{len(missing)} of {len(self._required)} required keys are missing: "
            return Grade.of(False, f"{count}{'; '.join(missing[:5])}{note}")
        if not self._required:
            return Grade.of(True, f"the output is valid JSON{note}")
        # An empty array has no element that lacks a key; the sentence says that none was looked at.
        said = f" (no element to look at for {', '.join(empty)})" if empty else ""
        return Grade.of(True, f"the output is valid JSON and has every required key{said}{note}")


class JsonSchemaCheck:
    """schema: the value satisfies a JSON Schema."""

    def __init__(self, schema: Schema, path: Path | None) -> None:
        self._schema = schema
        self._path = path
        self.version = content_hash(schema.written)

    def grade(self, case: Case, output: Output) -> Grade:
        value = json_of(output) if self._path is None else find(self._path, output)[0]
        where = "the output" if self._path is None else f"`{self._path}`"
        try:
            faults = self._schema.faults(value)
        except SchemaStopped as error:
            return Grade.failed_to_judge(error.kind, str(error))
        note = FENCE_NOTE if output.json.fenced else ""
        if not faults.count:
            return Grade.of(True, f"{where} satisfies the schema{note}")
        more = "" if faults.count == 1 else f"; {faults.shown_count} faults in all"
        return Grade.of(False, f"{where} breaks the schema at {faults.first}{more}{note}")


class ArrayLengthCheck:
    """array_length: how many elements, and whether each holds something."""

    def __init__(self, rule: ArrayLength, path: Path | None) -> None:
        self._rule = rule
        self._path = path

    def grade(self, case: Case, output: Output) -> Grade:
        where = "the output" if self._path is None else f"`{self._path}`"
        value, plural = (json_of(output), False) if self._path is None else find(self._path, output)
        arrays = value if plural else [value]
        if not arrays:
            raise MissingOutput(f"{where} leads through an empty array: there is nothing to count")
        note = FENCE_NOTE if output.json.fenced else ""
        for index, array in enumerate(arrays):
            name = f"{where} number {index + 1}" if plural else where
            fault = self._fault(array, name)
            if fault is not None:
                return Grade.of(False, f"{fault}{note}")
        counts = ", ".join(str(len(array)) for array in arrays[:5])
        rest = ", …" if len(arrays) > 5 else ""
        return Grade.of(True, f"{where} has {counts}{rest} element{'' if counts == '1' else 's'}{self._wanted()}{note}")

    def _wanted(self) -> str:
        parts = [str(self._rule)] if self._rule.given else []
        parts += ["none of them empty"] if self._rule.all_non_empty else []
        return f"; wanted {', '.join(parts)}"

    def _fault(self, array: Any, name: str) -> str | None:
        if not isinstance(array, list):
            raise MissingOutput(f"{name} is {describe(array)}, not an array")
        count = len(array)
        if self._rule.given and not self._rule.hold(count):
            return f"{name} has {count} element{'' if count == 1 else 's'}{self._wanted()}"
        if self._rule.all_non_empty:
            if not array and not self._rule.given:
                raise MissingOutput(
                    f"{name} has no elements: none could be looked at; `min: 1` or `max` says what is wanted"
                )
            empty = [index for index, item in enumerate(array) if is_empty(item)]
            if empty:
                more = "" if len(empty) == 1 else f", one of {len(empty)} empty ones"
                return f"element {empty[0]} of {name} is {describe(array[empty[0]])}{more}; wanted none empty"
        return None


def is_empty(value: Any) -> bool:
    """null, "", white space, [] and {}."""
    return is_missing(value) or (isinstance(value, (list, dict)) and not value)


def _schema_of(written: dict[str, Any] | bool | str, base_dir: File) -> Schema:
    if not isinstance(written, str):
        return Schema(written)
    file = base_dir / written
    try:
        text = file.read_text("utf-8-sig")
    except OSError as error:
        raise ConfigError(f"the schema file {written} cannot be read: {error.strerror}") from None
    except UnicodeDecodeError as error:
        raise ConfigError(f"the schema file {written} is not UTF-8: byte {error.start}") from None
    reading = read_json(text)
    if reading.problem is not None:
        raise ConfigError(f"the schema file {written} is not JSON: {reading.problem}")
    return Schema(reading.value)


def build(config: JsonCheckConfig, context: BuildContext) -> Grader:
    """Raises ConfigError where the schema cannot be read, is not one, or refers to a remote one."""
    target = None if config.target is None else config.target.json_path
    chosen = config.chosen()
    if chosen == "valid":
        return ValidJson(config.required_keys or [])
    if chosen == "schema":
        assert config.shape is not None
        return JsonSchemaCheck(
            _schema_of(config.shape, context.base_dir), None if target is None else parse_path(target)
        )
    rule = config.length()
    path = rule.json_path if target is None else target
    return ArrayLengthCheck(rule, None if path is None else parse_path(path))


KIND = GraderKind(
    "json_check", JsonCheckConfig, build, "inline", "Checks JSON: valid, required keys, a schema, an array's length."
)
