"""What is saved of a run: frozen records, one JSON line each, the lines of its journal. Nothing here reads disk."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal, TypeAlias, TypeVar

from pytest_verica.grade import Grade
from pytest_verica.json_text import json_safe

JOURNAL_VERSION = 1

Reported = Literal["passed", "failed", "missed", "skipped", "error", "errored"]
GateStatus = Literal["passed", "failed", "skipped"]

_text = json.encoder.encode_basestring_ascii
_encode = json.JSONEncoder(ensure_ascii=True, allow_nan=False, separators=(",", ":")).encode
_decode = json.JSONDecoder().raw_decode  # a fifth faster than json.loads, which looks for white space twice
_R = TypeVar("_R", bound="_Saved")


@dataclass(frozen=True)
class _Saved:
    """One line of JSON: {"record": …, then the fields}. ASCII only, so that lone surrogates survive; never NaN."""

    def to_json(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in self.__dataclass_fields__}

    @classmethod
    def from_json(cls: type[_R], data: Mapping[str, Any]) -> _R:
        """Reads a line back. A key that is not known (of a newer version) is passed over.

        Raises:
            TypeError: a field is absent.
        """
        return cls(**{name: data[name] for name in cls.__dataclass_fields__ if name in data})

    def to_line(self) -> str:
        """The line, without its end. What JSON cannot hold (NaN, dates, sets, …) is written as its text: a run never
        stops because of what a model or a golden set contained."""
        data = {"record": _WORD_OF[type(self)], **self.to_json()}
        try:
            return _encode(data)
        except (ValueError, TypeError, RecursionError):
            return _encode(json_safe(data))


@dataclass(frozen=True)
class Origin:
    """Where a run was started. kind: local or ci; name: of the CI service, None where local; build_url: None where
    the service gives none."""

    kind: Literal["local", "ci"] = "local"
    name: str | None = None
    build_url: str | None = None


@dataclass(frozen=True)
class Git:
    """The checkout. commit: None outside a repository; dirty: whether files differ from it, None where not known."""

    commit: str | None = None
    dirty: bool | None = None


@dataclass(frozen=True)
class RunHeader(_Saved):
    """The first line of a journal.

    id: unique, sorts by time; started: ISO 8601 in UTC; command: the command line; versions: by package name;
    host: facts such as system, python, cpus; settings: option → (value, where it came from), those in force that are
    not the default; shard: "2/5", None where the run is whole; prices: hash of the price tables in force, None where
    it is not known.
    """

    id: str
    started: str
    origin: Origin = Origin()
    command: tuple[str, ...] = ()
    versions: Mapping[str, str] = field(default_factory=dict)
    host: Mapping[str, Any] = field(default_factory=dict)
    git: Git = Git()
    settings: Mapping[str, tuple[Any, str]] = field(default_factory=dict)
    shard: str | None = None
    prices: str | None = None
    journal: int = JOURNAL_VERSION

    def to_json(self) -> dict[str, Any]:
        return {**super().to_json(), "origin": vars(self.origin), "git": vars(self.git)}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> RunHeader:
        settings = {name: (value, source) for name, (value, source) in data["settings"].items()}
        git, origin = Git(**data["git"]), Origin(**data["origin"])
        command = tuple(data["command"])
        return replace(super().from_json(data), origin=origin, git=git, settings=settings, command=command)


@dataclass(frozen=True)
class CriterionRecord:
    """A criterion as it ran. id: unique in its eval, as node ids show it; config: whole, as written; hash: of its
    content; version: 1, 2, … in order of first use, None where versions are not kept; judge_hash: identity of the
    judge, None for graders that ask no model; code_hash: of the user's code behind it, None where it cannot be seen."""

    id: str
    name: str
    type: str
    config: Mapping[str, Any]
    hash: str
    version: int | None = None
    judge_hash: str | None = None
    code_hash: str | None = None


@dataclass(frozen=True)
class EvalRecord(_Saved):
    """An eval as it ran.

    id: node id of the eval; kind: an eval file or a marked function; golden_set: path under the root, None where the
    cases come from elsewhere; golden_set_hash: of its rows, in order; rows: how many, both None where a shard
    knows only its own part; prompt: whole, None where the
    target is no prompt; prompt_version: 1, 2, … in order of first use, None where not kept; model: {provider, name,
    base_url}, None where the target is no model; params: sent; left_out: not sent, {criterion (None: own model), model,
    parameter, value, why}; planned: verdicts of the whole eval; selected: of this run; partial: why that is less;
    code_hash: of the user's code that makes outputs, identity: over all that decides the verdicts, each None where it
    cannot be known; history: rates of earlier whole runs (`Earlier`); reused_from: {run, prices_changed}, the run whose
    verdicts were taken over, else None.
    """

    id: str
    name: str
    file: str
    kind: Literal["file", "function"]
    criteria: tuple[CriterionRecord, ...]
    planned: int
    selected: int
    golden_set: str | None = None
    golden_set_hash: str | None = None
    rows: int | None = None
    prompt: Any = None
    prompt_hash: str | None = None
    prompt_version: int | None = None
    model: Mapping[str, Any] | None = None
    params: Mapping[str, Any] = field(default_factory=dict)
    gate: Mapping[str, Any] | None = None
    repeat: int = 1
    partial: str | None = None
    code_hash: str | None = None
    identity: str | None = None
    history: Mapping[str, Any] | None = None
    reused_from: Mapping[str, Any] | None = None
    left_out: tuple[Mapping[str, Any], ...] = ()

    def to_json(self) -> dict[str, Any]:
        return {**super().to_json(), "criteria": [vars(criterion) for criterion in self.criteria]}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> EvalRecord:
        criteria = tuple(CriterionRecord(**item) for item in data["criteria"])
        return replace(super().from_json(data), criteria=criteria, left_out=tuple(data.get("left_out", ())))


def _numbers(costs: Mapping[str, Any]) -> tuple[dict[str, str | None], dict[str, float | None]]:
    """The two costs of an output or grade as exact decimal texts, and as the numbers that the report shows."""
    exact = {"cost": costs["cost"], "cost_avoided": costs["cost_avoided"]}
    return exact, {name: None if text is None else float(text) for name, text in exact.items()}


@dataclass(frozen=True)
class CaseRecord(_Saved):
    """A case and its output.

    eval: id of the eval; case: id of the case; original_id: as the golden set wrote it; position: 0-based place in
    the golden set; sample: 0-based index of the sample; columns: the row; output: `Output.to_json()`, None where the
    target produced none; error: {kind, message, raw, calls (made in vain)} of the target, None where there is none.

    Its line ends with `shown`, the very object that the report shows, whose costs are numbers; the exact decimals
    stand beside it in `exact`. So a report is joined from lines that need not be read again.
    """

    eval: str
    case: str
    original_id: str
    position: int
    sample: int
    columns: Mapping[str, Any]
    output: Mapping[str, Any] | None = None
    error: Mapping[str, Any] | None = None

    def to_json(self) -> dict[str, Any]:
        exact: Mapping[str, Any] | None = None
        output = self.output
        if output is not None:
            exact, numbers = _numbers(output)
            output = {**output, **numbers}
        shown = {
            "id": self.case,
            "original_id": self.original_id,
            "position": self.position,
            "sample": self.sample,
            "columns": dict(self.columns),
            "output": output,
            "error": self.error,
        }
        return {"eval": self.eval, "exact": exact, "shown": shown}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> CaseRecord:
        shown = data["shown"]
        output = shown["output"]
        if output is not None:
            output.update(data["exact"])
        return cls(
            data["eval"],
            shown["id"],
            shown["original_id"],
            shown["position"],
            shown["sample"],
            shown["columns"],
            output,
            shown["error"],
        )


@dataclass(frozen=True)
class VerdictRecord(_Saved):
    """A verdict.

    eval, case, sample: as on the case; criterion: id of the criterion; node_id: of the pytest item; grade:
    `Grade.to_json()`, costs as decimal texts; reported: how pytest told of it; reused: id of the run that a whole
    verdict was taken from, None where it was made now. Its line ends with `shown`, as a case's does.
    """

    eval: str
    case: str
    criterion: str
    sample: int
    node_id: str
    grade: Mapping[str, Any]
    reported: Reported
    reused: str | None = None

    def to_json(self) -> dict[str, Any]:
        exact, numbers = _numbers(self.grade)
        shown = {
            "criterion": self.criterion,
            "node_id": self.node_id,
            "reported": self.reported,
            "reused_from": self.reused,
            **self.grade,
            **numbers,
        }
        return {"eval": self.eval, "case": self.case, "sample": self.sample, "exact": exact, "shown": shown}

    def to_line(self) -> str:
        """The line, without its end."""
        grade = self.grade
        rest = {name: value for name, value in grade.items() if name not in _TOLD}
        if rest != _PLAIN or self.reused is not None:
            return super().to_line()
        # A plain check has told four things; the text of all the others is made once. It is the same text.
        return (
            f'{{"record":"verdict","eval":{_text(self.eval)},"case":{_text(self.case)},"sample":{self.sample},'
            f'"exact":{_PLAIN_EXACT},"shown":{{"criterion":{_text(self.criterion)},"node_id":{_text(self.node_id)},'
            f'"reported":"{self.reported}","reused_from":null,"outcome":"{grade["outcome"]}",'
            f'"passed":{_JSON_OF[grade["passed"]]},"score":null,"label":null,'
            f'"explanation":{_text(grade["explanation"])},{_PLAIN_MIDDLE},"duration_s":{grade["duration_s"]!r},'
            f"{_PLAIN_END}"
        )

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> VerdictRecord:
        grade = data["shown"]
        take = grade.pop
        criterion, node_id = take("criterion"), take("node_id")
        reported, reused = take("reported"), take("reused_from")
        grade.update(data["exact"])
        return cls(data["eval"], data["case"], criterion, data["sample"], node_id, grade, reported, reused)


_SHOWN = b',"shown":'


def shown_of(line: bytes) -> bytes:
    """The JSON object that the report shows of a case's or verdict's line (without its end)."""
    # Inside a JSON string the quotes would be escaped, and only ids stand before: the first one is the key.
    return line[line.index(_SHOWN) + len(_SHOWN) : -1]


@dataclass(frozen=True)
class GateResult:
    """What a gate said. reasons: sentences, in every status; numbers: what was compared, JSON."""

    status: GateStatus
    reasons: tuple[str, ...] = ()
    numbers: Mapping[str, Any] = field(default_factory=dict)

    def failing(self, reasons: tuple[str, ...]) -> GateResult:
        """The same with more reasons to fail; never a way to pass. A skipped gate stays skipped."""
        if not reasons or self.status == "skipped":
            return self
        kept = self.reasons if self.status == "failed" else ()
        return replace(self, status="failed", reasons=(*kept, *reasons))

    def to_json(self) -> dict[str, Any]:
        return {"status": self.status, "reasons": list(self.reasons), "numbers": dict(self.numbers)}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> GateResult:
        return cls(data["status"], tuple(data["reasons"]), data["numbers"])


@dataclass(frozen=True)
class GateRecord(_Saved):
    """The result of a gate. eval: id of the eval, RUN_GATE for the gate over the whole run. The last one counts."""

    eval: str
    result: GateResult

    def to_json(self) -> dict[str, Any]:
        return {"eval": self.eval, "result": self.result.to_json()}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> GateRecord:
        return cls(data["eval"], GateResult.from_json(data["result"]))


RUN_GATE = "verica"
"""Id that the gate over the whole run has in place of an eval's."""


@dataclass(frozen=True)
class RunEnd(_Saved):
    """The last line of a journal; a run without it was killed. finished: ISO 8601 in UTC; exit_code: of pytest;
    interrupted: why it stopped early, None where it did not."""

    finished: str
    exit_code: int | None = None
    interrupted: str | None = None


@dataclass(frozen=True)
class PreflightRecord(_Saved):
    """What was asked before launch. probes: `model`, and what asking it cost in a grade's keys; notes: for people."""

    probes: tuple[Mapping[str, Any], ...] = ()
    notes: tuple[str, ...] = ()


Record: TypeAlias = RunHeader | EvalRecord | CaseRecord | VerdictRecord | GateRecord | PreflightRecord | RunEnd
_KINDS: dict[str, type[Record]] = {
    "run": RunHeader,
    "eval": EvalRecord,
    "case": CaseRecord,
    "verdict": VerdictRecord,
    "gate": GateRecord,
    "preflight": PreflightRecord,
    "end": RunEnd,
}
_WORD_OF: dict[type[_Saved], str] = {kind: word for word, kind in _KINDS.items()}

_TOLD = frozenset({"outcome", "passed", "explanation", "duration_s"})
_PLAIN = {name: value for name, value in Grade.of(True, "").to_json().items() if name not in _TOLD}
"""What the grade of a check has in all the other fields where it asked no model and gave no score."""
_JSON_OF = {True: "true", False: "false", None: "null"}
_PLAIN_LINE = _Saved.to_line(VerdictRecord("", "", "", 0, "", {**Grade.of(True, "").to_json()}, "passed"))
_PLAIN_EXACT = _encode(_numbers(_PLAIN)[0])
_PLAIN_MIDDLE = _PLAIN_LINE.partition('"explanation":"",')[2].partition(',"duration_s":')[0]
_PLAIN_END = _PLAIN_LINE.partition('"duration_s":0.0,')[2]


def from_line(line: str) -> Record:
    """The record of a line.

    Raises:
        ValueError: the line is no record: cut short, damaged, or of a newer version.
    """
    try:
        data, end = _decode(line)
    except RecursionError:
        raise ValueError("it is nested too deeply to be read") from None
    if end < len(line) and line[end:].strip():
        raise ValueError(f"found more after the record: {line[end : end + 40]!r}")
    kind = _KINDS.get(str(data.get("record"))) if isinstance(data, dict) else None
    if kind is None:
        raise ValueError(f'expected a JSON object with "record" one of {", ".join(_KINDS)}; found {line[:60]!r}')
    try:
        return kind.from_json(data)
    except (TypeError, KeyError, AttributeError) as error:
        raise ValueError(f"the {data['record']} record is not whole: {error}") from None
