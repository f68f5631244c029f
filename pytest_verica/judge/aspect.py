"""The aspects that presets look at: which inputs each needs, what its judge answers, and how that becomes a score."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from pytest_verica.judge.shape import object_of

NON_COMMITTAL = "non_committal"


@dataclass(frozen=True)
class Aspect:
    """One formula: the parts for which something holds / the parts.

    needs: inputs without which nothing is asked; parts, part, holds: keys of the judge's answer; told: what holds, in
    words; counted: whether the parts are the units that were shown, each once; non_committal: whether the judge also
    says that the answer commits itself to nothing; without_contexts: whether missing contexts make the score 0.
    """

    needs: tuple[str, ...]
    parts: str
    part: str
    holds: str
    told: str
    counted: bool = False
    non_committal: bool = False
    without_contexts: bool = False

    def schema(self) -> dict[str, Any]:
        part = {"type": "integer"} if self.counted else {"type": "string"}
        item = object_of({self.part: part, "reasoning": {"type": "string"}, self.holds: {"type": "boolean"}})
        parts = {self.parts: {"type": "array", "items": item}}
        if self.non_committal:
            return object_of({"reasoning": {"type": "string"}, NON_COMMITTAL: {"type": "boolean"}, **parts})
        return object_of(parts)

    def read(self, fields: Mapping[str, Any]) -> Finding:
        return Finding(self, tuple(fields[self.parts]), fields.get(NON_COMMITTAL, False), fields.get("reasoning"))

    def miscounted(self, fields: Mapping[str, Any], units: int) -> str | None:
        """What is wrong with the numbers of the units; None where each was judged once."""
        if not self.counted:
            return None
        numbers = [item[self.part] for item in fields[self.parts]]
        if sorted(numbers) == list(range(1, units + 1)):
            return None
        shown = ", ".join(map(str, numbers[:20])) or "none"
        return f"`{self.parts}` judges the units {shown}; each of 1 to {units} was asked for once"


@dataclass(frozen=True)
class Finding:
    """What a judge found in one answer. parts: as it wrote them; reasoning: its words on the whole, None where it was
    not asked for any."""

    aspect: Aspect
    parts: tuple[Mapping[str, Any], ...]
    non_committal: bool = False
    reasoning: str | None = None

    @property
    def held(self) -> int:
        return sum(part[self.aspect.holds] for part in self.parts)

    @property
    def kind(self) -> str:
        """`score`, `nothing` (0/0), or non_committal."""
        return NON_COMMITTAL if self.non_committal else "score" if self.parts else "nothing"

    @property
    def score(self) -> Fraction:
        """Exactly; 0 for an answer that commits itself to nothing. Not to be asked where there is nothing."""
        return Fraction(0) if self.non_committal else Fraction(self.held, len(self.parts))

    @property
    def failing(self) -> list[Any]:
        """The parts that do not hold, as texts or numbers."""
        return [part[self.aspect.part] for part in self.parts if not part[self.aspect.holds]]

    def words(self) -> str:
        """The judge's reasoning on each part, a line each."""
        said = [self.reasoning] if self.reasoning else []
        for part in self.parts:
            verdict = "yes" if part[self.aspect.holds] else "no"
            name = part[self.aspect.part]
            said.append(f"{f'unit {name}' if self.aspect.counted else name}: {verdict}: {part['reasoning']}")
        return "\n".join(said)


ASPECTS: Mapping[str, Aspect] = {
    "rag/faithfulness": Aspect(
        ("question", "answer", "contexts"), "claims", "claim", "entailed", "claims of the answer are entailed"
    ),
    "rag/answer_relevance": Aspect(
        ("question", "answer"),
        "statements",
        "statement",
        "addresses",
        "statements of the answer address the question",
        non_committal=True,
    ),
    "rag/context_relevance": Aspect(
        ("question", "contexts"), "units", "unit", "relevant", "units of the contexts are relevant", counted=True
    ),
    "rag/context_recall": Aspect(
        ("reference", "contexts"),
        "claims",
        "claim",
        "attributable",
        "claims of the reference answer are in the contexts",
        without_contexts=True,
    ),
}
"""By the name that `preset` has in an eval."""


def median(findings: Sequence[Finding]) -> Fraction:
    ranked = sorted(finding.score for finding in findings)
    low, high = ranked[(len(ranked) - 1) // 2], ranked[len(ranked) // 2]
    return (low + high) / 2
