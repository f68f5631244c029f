"""What stands inside a judge's verdicts, counted: the items of a rubric, and the pairs of a comparison."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

FIRST_SHOWN = "first"


@dataclass(frozen=True)
class ItemCounts:
    """One item of a rubric. judged: verdicts that speak of it; met: those that found it met."""

    met: int
    judged: int

    def to_json(self) -> dict[str, int]:
        return {"met": self.met, "judged": self.judged}


@dataclass(frozen=True)
class PairCounts:
    """Pairs asked in both orders. judged: all; changed_mind: those where the choice was another when the order was
    swapped; first: choices (two for each pair) of the answer shown first; ties: choices that called a tie."""

    judged: int
    changed_mind: int
    first: int
    ties: int

    @property
    def kept(self) -> int:
        """Pairs where the judge chose the same in both orders."""
        return self.judged - self.changed_mind

    def to_json(self) -> dict[str, int]:
        return {
            "judged": self.judged,
            "changed_mind": self.changed_mind,
            "first": self.first,
            "ties": self.ties,
        }

    def sentence(self) -> str:
        """What the pairs say about the judge. A coin for each order would choose the same in half of the pairs."""
        said = f"the judge chose the same in both orders in {self.kept} of {self.judged} pairs"
        if 2 * self.kept > self.judged:
            return said
        always = ""
        if not self.ties and self.first in (0, 2 * self.judged):
            always = f", always the answer shown {'first' if self.first else 'second'}"
        return f"{said}{always}: it cannot tell the two apart (a coin would choose the same in half of them)"


@dataclass(frozen=True)
class Parts:
    """The parts of one criterion's verdicts. rubric: by item, empty where it has none; pairs: None where it compares
    none."""

    rubric: Mapping[str, ItemCounts] = field(default_factory=dict)
    pairs: PairCounts | None = None

    def to_json(self) -> dict[str, Any]:
        rubric = {name: item.to_json() for name, item in self.rubric.items()}
        return {
            **({"rubric": rubric} if rubric else {}),
            **({} if self.pairs is None else {"pairs": self.pairs.to_json()}),
        }

    def sentences(self) -> list[str]:
        """A line each, for the summary."""
        lines = [f"{name}: met in {item.met} of {item.judged}" for name, item in self.rubric.items()]
        return lines if self.pairs is None else [*lines, self.pairs.sentence()]


class PartTally:
    """Counts of parts that can be taken back."""

    __slots__ = ("_pairs", "_rubric")

    def __init__(self) -> None:
        self._rubric: dict[str, list[int]] = {}
        self._pairs = dict.fromkeys(("judged", "changed_mind", "first", "ties"), 0)

    def add(self, details: Mapping[str, Any], by: int) -> None:
        """details: of a grade, which may be any grader's: only what has the judges' shape is counted."""
        rubric, pairs = details.get("rubric"), details.get("pairs")
        if isinstance(rubric, Mapping):
            for name, item in rubric.items():
                met = item.get("met") if isinstance(item, Mapping) else None
                if isinstance(met, bool):
                    counts = self._rubric.setdefault(name, [0, 0])
                    counts[0] += by * met
                    counts[1] += by
        if isinstance(pairs, list):
            for pair in pairs:
                if isinstance(pair, Mapping) and isinstance(pair.get("orders"), list):
                    self._add_pair(pair, by)

    def _add_pair(self, pair: Mapping[str, Any], by: int) -> None:
        self._pairs["judged"] += by
        self._pairs["changed_mind"] += by * (pair.get("changed_mind") is True)
        for order in pair["orders"]:
            self._pairs["first"] += by * (order.get("better") == order.get(FIRST_SHOWN))
            self._pairs["ties"] += by * (order.get("better") == "tie")

    def parts(self) -> Parts | None:
        """None where nothing was counted."""
        rubric = {name: ItemCounts(met, judged) for name, (met, judged) in self._rubric.items() if judged}
        pairs = PairCounts(**self._pairs) if self._pairs["judged"] else None
        return Parts(rubric, pairs) if rubric or pairs else None
