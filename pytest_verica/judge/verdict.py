"""Verdicts: reading what a judge answered, strictly. What is not exactly a verdict is an error with its own kind.

Never a guess from prose, never a default: a judge that did not answer has not passed anything.
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from typing import Any

from pytest_verica.completion import Completion
from pytest_verica.errors import VericaError
from pytest_verica.graders.excerpt import excerpt
from pytest_verica.json_text import JsonReading, read_json, strip_fence
from pytest_verica.judge.shape import flaw_in, object_of
from pytest_verica.path import describe
from pytest_verica.request import AnswerSchema

REFUSAL = "judge_refusal"
TRUNCATED = "judge_truncated"
EMPTY = "judge_empty"
NOT_JSON = "judge_not_json"
SCHEMA = "judge_schema"
UNKNOWN_LABEL = "judge_unknown_label"
BAD_SCORE = "judge_bad_score"
NO_MAJORITY = "judge_no_majority"
ASK_AGAIN = frozenset({NOT_JSON, SCHEMA, UNKNOWN_LABEL, BAD_SCORE})
"""Kinds that say the endpoint ignored the schema: it may be asked once more."""


class NoVerdict(VericaError):
    """An answer that is no verdict. kind: a stable word; raw: what was answered."""

    def __init__(self, kind: str, message: str, raw: str | None) -> None:
        self.kind = kind
        self.message = message
        self.raw = raw
        super().__init__(message)


@dataclass(frozen=True)
class Verdict:
    """What a judge decided. reasoning: its own words; label, score: what its kind asked for, None else; clipped: the
    score as it was given, where it was outside the range, None where it was inside."""

    reasoning: str
    label: str | None = None
    score: float | None = None
    clipped: float | None = None


def verdict_schema(field: str, shape: dict[str, Any]) -> dict[str, Any]:
    """The JSON Schema of a verdict: the reasoning first, so that the model writes it before it decides."""
    return object_of({"reasoning": {"type": "string"}, field: shape})


def read_label(completion: Completion, answer: AnswerSchema) -> Verdict:
    """A label and the reasoning before it.

    Raises:
        NoVerdict: the answer is anything else.
    """
    fields, _ = read_object(completion, answer)
    return Verdict(fields["reasoning"], label=fields["label"])


def read_score(completion: Completion, answer: AnswerSchema, low: float, high: float) -> Verdict:
    """A score, clipped to its range, and the reasoning before it.

    Raises:
        NoVerdict: the answer is anything else.
    """
    fields, raw = read_object(completion, answer)
    score = fields["score"]
    try:
        number = float(score)
    except OverflowError:  # a whole number beyond any float
        number = math.inf
    if not math.isfinite(number):
        raise NoVerdict(BAD_SCORE, f"the score {describe(score)} is not a finite number", raw)
    inside = min(max(number, low), high)
    return Verdict(fields["reasoning"], score=inside, clipped=None if inside == number else number)


def read_object(completion: Completion, answer: AnswerSchema) -> tuple[dict[str, Any], str]:
    """The object that was answered, in exactly the shape that was asked for, and the raw answer.

    Raises:
        NoVerdict: the answer is anything else.
    """
    raw = _answered(completion, answer)
    reading = read_json(raw)
    if reading.problem is not None:
        raise _not_json(raw, reading)
    flaw = flaw_in(reading.value, answer.schema)
    if flaw is not None:
        raise NoVerdict(UNKNOWN_LABEL if flaw.unknown_word else SCHEMA, flaw.message, raw)
    return reading.value, raw


def _answered(completion: Completion, answer: AnswerSchema) -> str:
    """The text that should be a verdict."""
    if completion.refusal is not None or completion.stop_reason in ("refusal", "content_filter"):
        raw = completion.refusal or completion.text
        said = f": {excerpt(raw)}" if raw else ""
        filtered = completion.stop_reason == "content_filter" and completion.refusal is None
        raise NoVerdict(REFUSAL, f"{'a content filter cut the answer' if filtered else 'the judge refused'}{said}", raw)
    text = completion.text
    if not text and answer.structured == "tool":
        calls = [call for call in completion.tool_calls if call.name == answer.name]
        if len(calls) > 1:
            raise NoVerdict(SCHEMA, f"the judge gave {len(calls)} verdicts; one was asked for", repr(calls))
        if calls:
            text = calls[0].raw_arguments
            if text is None and calls[0].arguments is not None:
                text = json.dumps(calls[0].arguments, ensure_ascii=False)
    if completion.stop_reason == "length":
        raise NoVerdict(TRUNCATED, "the answer was cut off at its greatest length; raise `max_tokens`", text)
    if text is None or not text.strip():
        raise NoVerdict(EMPTY, "the judge answered nothing", text)
    return text


def _not_json(raw: str, reading: JsonReading) -> NoVerdict:
    """Python's own reader lets NaN pass, which tells a score that is none from an answer that is not JSON."""
    try:
        loose = json.loads(strip_fence(raw)[0])
    except (ValueError, RecursionError):
        loose = None
    value = loose.get("score") if isinstance(loose, dict) else None
    if isinstance(value, float) and not math.isfinite(value):
        return NoVerdict(BAD_SCORE, f"the score {value} is not a finite number", raw)
    return NoVerdict(NOT_JSON, f"the answer is not JSON: {reading.problem}; it begins {excerpt(raw, 60)}", raw)
