"""Which sampling parameters a model takes: a table per API. What is not in a table is sent, and its model has the word.

A parameter that is not taken is never sent. Whether that is an error or a note is for the engine to say.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from pytest_verica.request import ModelSpec

LeftOut = Mapping[str, str]
"""Parameters that a model does not take, and why: a clause that goes on from “it”."""

_SAMPLING = ("temperature", "top_p")
_EFFORT = "reasoning_effort"


@dataclass(frozen=True)
class Rule:
    """models: of which names, the whole of them; names: the parameters not taken; why: a clause; holds: under which
    parameters, None for any."""

    models: str
    names: tuple[str, ...]
    why: str
    holds: Callable[[Mapping[str, Any]], bool] | None = None


def _efforts(*taken: str) -> Callable[[Mapping[str, Any]], bool]:
    return lambda params: params.get(_EFFORT) not in taken


def _reasons(params: Mapping[str, Any]) -> bool:
    return params.get(_EFFORT) not in (None, "none")


def _not_told_not_to(params: Mapping[str, Any]) -> bool:
    return params.get(_EFFORT) != "none"


_CHAT = r"(gpt-3|gpt-4|chatgpt)(?!.*realtime).*|gpt-.*-chat(-.*)?"
_FIRST_REASONERS = r"o\d.*|gpt-5(-(?!chat).*)?|gpt-5\.\d+-(pro|codex).*|codex-.*"
_REASON_IF_ASKED = r"gpt-5\.[1-4](-(?!chat|pro|codex).*)?"
_REASON_UNLESS_TOLD = r"gpt-(5\.([5-9]|\d\d)|[6-9]|\d\d)(?!.*(-chat|-pro)).*"

OPENAI_CHAT = (
    Rule(_FIRST_REASONERS, _SAMPLING, "reasons, and takes none"),
    Rule(_REASON_IF_ASKED, _SAMPLING, "takes none while it reasons: only with `reasoning_effort: none`", _reasons),
    Rule(
        _REASON_UNLESS_TOLD,
        _SAMPLING,
        "takes none while it reasons: only with `reasoning_effort: none`",
        _not_told_not_to,
    ),
    Rule(r"o3.*|o4-mini.*", ("stop",), "takes none"),
    Rule(_CHAT, (_EFFORT,), "does not reason"),
    Rule(rf"o\d.*|{_CHAT}", ("verbosity",), "takes none"),
)
RESPONSES = (Rule(".*", ("seed", "stop"), "is asked through the Responses API, which has none"),)
ANTHROPIC = (
    Rule(".*", (*_SAMPLING, "seed", "verbosity"), "is asked through the Messages API, which has none"),
    Rule(".*", (_EFFORT,), "takes low, medium, high, xhigh or max", _efforts("low", "medium", "high", "xhigh", "max")),
)
_GEMINI_2_5 = r"gemini-2\.5-.*"
_BEFORE_THINKING = r"gemini-(1|2\.0).*|gemma-.*"
GOOGLE = (
    Rule(".*", ("verbosity",), "is asked through the Gemini API, which has none"),
    Rule(_BEFORE_THINKING, (_EFFORT,), "does not reason"),
    Rule(
        _GEMINI_2_5,
        (_EFFORT,),
        "takes none, minimal, low, medium or high",
        _efforts("none", "minimal", "low", "medium", "high"),
    ),
    Rule(
        rf"(?!{_GEMINI_2_5}|{_BEFORE_THINKING}).*",
        (_EFFORT,),
        "takes minimal, low, medium, high or xhigh",
        _efforts("minimal", "low", "medium", "high", "xhigh"),
    ),
)


def left_out(spec: ModelSpec, *tables: tuple[Rule, ...]) -> LeftOut:
    """The parameters of a model that it does not take."""
    found = dict(_found(spec, tables))
    return {name: found[name] for name in spec.params if name in found}  # in the order in which they were written


def taken(spec: ModelSpec, *tables: tuple[Rule, ...]) -> dict[str, Any]:
    """The parameters that are sent, without `extra`."""
    out = left_out(spec, *tables)
    return {
        name: value for name, value in spec.params.items() if value is not None and name != "extra" and name not in out
    }


def extra(spec: ModelSpec) -> Mapping[str, Any]:
    """What is passed through as it stands."""
    return spec.params.get("extra") or {}


def merged(body: dict[str, Any], more: Mapping[str, Any]) -> dict[str, Any]:
    """The body with what is passed through: an object inside it keeps the keys that `more` does not name."""
    for name, value in more.items():
        known = body.get(name)
        body[name] = {**known, **value} if isinstance(known, dict) and isinstance(value, Mapping) else value
    return body


def _found(spec: ModelSpec, tables: tuple[tuple[Rule, ...], ...]) -> Iterator[tuple[str, str]]:
    given = {name for name, value in spec.params.items() if value is not None}
    model = spec.name.removeprefix("ft:").removeprefix("models/")
    for table in tables:
        for rule in table:
            names = given.intersection(rule.names)
            if names and (rule.holds is None or rule.holds(spec.params)) and re.fullmatch(rule.models, model):
                yield from ((name, rule.why) for name in sorted(names))
