"""A label: what a person said of an output, and how that output came to be asked about. Records only, no disk."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from pytest_verica.canonical import content_hash

LabelVerdict = Literal["pass", "fail", "skipped"]
VERDICTS: tuple[LabelVerdict, ...] = ("pass", "fail", "skipped")
DrawMethod = Literal["queue", "random", "unknown"]
DRAW_METHODS: tuple[DrawMethod, ...] = ("queue", "random", "unknown")

RATING, FEEDBACK = "output_rating", "output_feedback"
"""In place of a criterion: a rating (good: pass, bad: fail), and a remark (in `note`), about an output as a whole."""

_SEEN = ("text", "data", "tool_calls", "steps", "state")


@dataclass(frozen=True)
class Draw:
    """How an output was chosen to be labelled.

    method: `queue` (by the judge's verdict, random within each), `random` (whatever the verdict), `unknown`; stratum:
    the judge's verdict then, None where not known; seed, position: of the queue's order, 0-based, None where there was
    no queue; passes, judged: how many outputs the judge had passed, and judged, where it was drawn; run: its id.
    """

    method: DrawMethod = "unknown"
    stratum: Literal["pass", "fail"] | None = None
    seed: int | None = None
    position: int | None = None
    passes: int | None = None
    judged: int | None = None
    run: str | None = None


@dataclass(frozen=True)
class Label:
    """One act of labelling.

    eval, criterion, case: their ids (criterion: RATING or FEEDBACK for a word on the whole output); output_hash: of
    what was shown; verdict: the person's; labeller: their name as they gave it; time: ISO 8601 in UTC; judge_hash:
    identity of the judge in force, None where not known; note: the person's own words, None where there are none;
    act: unique id of the act, None in lines written by hand.
    """

    eval: str
    criterion: str
    case: str
    output_hash: str
    verdict: LabelVerdict
    labeller: str
    time: str
    judge_hash: str | None = None
    note: str | None = None
    draw: Draw = Draw()
    act: str | None = None

    @property
    def key(self) -> tuple[str, str, str, str, str]:
        """The last act of a key wins."""
        return (self.eval, self.criterion, self.case, self.output_hash, self.labeller)

    def to_json(self) -> dict[str, Any]:
        return {"record": "label", **vars(self), "draw": vars(self.draw)}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Label:
        """Reads a line's value; keys that are not known (of a newer version) are passed over.

        Raises:
            ValueError: a key is missing or has a value that it cannot have.
        """
        given = {name: data[name] for name in cls.__dataclass_fields__ if name in data}
        draw = given.pop("draw", None) or {}
        if not isinstance(draw, Mapping):
            raise ValueError(f"`draw` is a mapping, not {draw!r}")
        given["draw"] = Draw(**{name: draw[name] for name in Draw.__dataclass_fields__ if name in draw})
        for name in ("eval", "criterion", "case", "output_hash", "verdict", "labeller", "time"):
            if not isinstance(given.get(name), str):
                raise ValueError(f"`{name}` is a text, found {given.get(name)!r}")
        if given["verdict"] not in VERDICTS:
            raise ValueError(f"`verdict` is one of {', '.join(VERDICTS)}, found {given['verdict']!r}")
        if given["draw"].method not in DRAW_METHODS:
            raise ValueError(f"`draw.method` is one of {', '.join(DRAW_METHODS)}, found {given['draw'].method!r}")
        return cls(**given)


def output_hash(output: Mapping[str, Any]) -> str:
    """Hash of what a person sees of an output (`Output.to_json()`): never of its cost, latency or tokens."""
    return content_hash({name: output[name] for name in _SEEN if output.get(name)})


def current_labels(acts: Iterable[Label]) -> list[Label]:
    """The labels in force: the last act of each key, in the order of their keys. Skipped ones are among them."""
    last = {act.key: act for act in acts}
    return [last[key] for key in sorted(last)]
