"""What differs between an eval of two runs: prompt, model, parameters, criteria, golden set, and the rest of a run."""

from __future__ import annotations

import difflib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

_IDENTITIES = {"judge_hash": "judge", "code_hash": "code"}
"""What makes a criterion another check although it is written as before."""


@dataclass(frozen=True)
class Change:
    """what: in the words of people; a, b: what each run had, None where it had none; diff: lines of a unified diff,
    where the two are texts that are worth one."""

    what: str
    a: Any
    b: Any
    diff: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        return {"what": self.what, "a": self.a, "b": self.b, "diff": list(self.diff)}


def changes(of_a: Mapping[str, Any], of_b: Mapping[str, Any]) -> tuple[Change, ...]:
    """What an eval (its heads in both runs) had in one run and not in the other."""
    return tuple(_changes(of_a, of_b))


def run_changes(a: Mapping[str, Any], b: Mapping[str, Any]) -> tuple[Change, ...]:
    """What two runs (their heads) differ in, whatever they ran: commit, versions."""
    one, other = a["run"], b["run"]
    found = []
    if one["git"] != other["git"]:
        found.append(Change("commit", _commit(one["git"]), _commit(other["git"])))
    if one["prices"] != other["prices"]:
        found.append(Change("price table", _short(one["prices"]), _short(other["prices"])))
    for name in dict.fromkeys([*one["versions"], *other["versions"]]):
        versions = one["versions"].get(name), other["versions"].get(name)
        if versions[0] != versions[1]:
            found.append(Change(f"version of {name}", *versions))
    return tuple(found)


def same_criteria(of_a: Mapping[str, Any], of_b: Mapping[str, Any]) -> tuple[str, ...]:
    """Ids of the criteria that both have, with the same content: those whose verdicts mean the same."""
    before = _criteria(of_a)
    return tuple(name for name, told in _criteria(of_b).items() if name in before and _same(before[name], told))


def _changes(of_a: Mapping[str, Any], of_b: Mapping[str, Any]) -> Iterator[Change]:
    prompts = [None if found["prompt"] is None else found["prompt"]["content"] for found in (of_a, of_b)]
    if prompts[0] != prompts[1]:
        yield Change("prompt", prompts[0], prompts[1], _diff(*map(prompt_text, prompts)))
    if of_a["model"] != of_b["model"]:
        yield Change("model", _model(of_a["model"]), _model(of_b["model"]))
    for name in sorted(of_a["params"].keys() | of_b["params"].keys()):
        values = of_a["params"].get(name), of_b["params"].get(name)
        if values[0] != values[1]:
            yield Change(f"parameter {name}", *values)
    if of_a["repeat"] != of_b["repeat"]:
        yield Change("samples per case", of_a["repeat"], of_b["repeat"])
    if of_a["code_hash"] != of_b["code_hash"]:
        yield Change("code of the target", _short(of_a["code_hash"]), _short(of_b["code_hash"]))
    if of_a["golden_set"]["hash"] != of_b["golden_set"]["hash"]:
        yield Change("golden set", _golden(of_a["golden_set"]), _golden(of_b["golden_set"]))
    yield from _criteria_changes(of_a, of_b)
    gates = [None if found["gate"] is None else found["gate"]["config"] for found in (of_a, of_b)]
    if gates[0] != gates[1]:
        yield Change("gate", gates[0], gates[1], _diff(*map(_json, gates)))


def _criteria_changes(of_a: Mapping[str, Any], of_b: Mapping[str, Any]) -> Iterator[Change]:
    before, after = _criteria(of_a), _criteria(of_b)
    for name in dict.fromkeys([*before, *after]):
        one, other = before.get(name), after.get(name)
        if one is None or other is None:
            types = None if one is None else one["type"], None if other is None else other["type"]
            yield Change(f"criterion {name}", *types)
        elif not _same(one, other):
            yield _other_check(name, one, other)


def _other_check(name: str, one: Mapping[str, Any], other: Mapping[str, Any]) -> Change:
    for key, what in _IDENTITIES.items():
        if one["config"] == other["config"] and one[key] != other[key]:
            return Change(f"{what} of criterion {name}", _short(one[key]), _short(other[key]))
    configs = one["config"], other["config"]
    return Change(f"criterion {name}", *configs, _diff(*map(_json, configs)))


def _criteria(found: Mapping[str, Any]) -> dict[str, Mapping[str, Any]]:
    return {criterion["id"]: criterion for criterion in found["criteria"]}


def _same(one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    return all(one[key] == other[key] for key in ("hash", *_IDENTITIES))


def prompt_text(content: Any) -> str:
    """A prompt as lines to compare: each message under its role, tools as JSON."""
    if content is None:
        return ""
    parts = [f"[{role}]\n{content[role]}" for role in ("system", "user") if content.get(role) is not None]
    for message in content.get("messages") or ():
        parts.append(f"[{message.get('role')}]\n{message.get('content') or ''}")
        parts += [f"[calls] {_json(call)}" for call in message.get("tool_calls") or ()]
    parts += [f"[tool] {_json(tool)}" for tool in content.get("tools") or ()]
    return "\n".join(parts)


def _diff(a: str, b: str) -> tuple[str, ...]:
    lines = difflib.unified_diff(a.splitlines(), b.splitlines(), "A", "B", lineterm="", n=2)
    return tuple(lines)


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, indent=1, sort_keys=True)


def _model(model: Mapping[str, Any] | None) -> str | None:
    if model is None:
        return None
    at = f" at {model['base_url']}" if model["base_url"] else ""
    return f"{model['provider']}/{model['name']}{at}"


def _golden(golden: Mapping[str, Any]) -> str:
    return f"{golden['path'] or 'none'}, {golden['rows']} rows, {(golden['hash'] or 'no hash')[:12]}"


def _short(hash: str | None) -> str | None:
    return None if hash is None else hash[:12]


def _commit(git: Mapping[str, Any]) -> str | None:
    if git["commit"] is None:
        return None
    return f"{git['commit'][:12]}{' with changes' if git['dirty'] else ''}"
