"""Cuts of a score: balanced accuracy at each, and the best one. Exact: compared in integers, so no rounding decides."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction

from pytest_verica.stats.agreement import Confusion


@dataclass(frozen=True)
class Cut:
    """Passing what scores at least `at`; at None: passing nothing. confusion: with the person's verdicts."""

    at: float | None
    confusion: Confusion

    @property
    def balanced_accuracy(self) -> Fraction:
        found = self.confusion.balanced_accuracy
        assert found is not None  # both classes are there: `cuts` saw to it
        return found


def cut_at(scored: Iterable[tuple[float, bool]], at: float | None) -> Cut:
    """One cut. scored: (score, the person passes it)."""
    return Cut(at, Confusion.of([(person, at is not None and score >= at) for score, person in scored]))


def cuts(scored: Sequence[tuple[float, bool]]) -> list[Cut]:
    """Every cut that makes a difference: at each score that occurs, ascending, then "never"; none where the person's
    verdicts are all alike, for then balanced accuracy is not defined."""
    persons = {person for _, person in scored}
    if len(persons) < 2:
        return []
    good = sum(person for _, person in scored)
    bad = len(scored) - good
    found = []
    tp, fp = good, bad
    for at in sorted({score for score, _ in scored}):
        found.append(Cut(at, Confusion(tp, good - tp, fp, bad - fp)))
        tp -= sum(person for score, person in scored if score == at)
        fp -= sum(not person for score, person in scored if score == at)
    return [*found, Cut(None, Confusion(0, good, 0, bad))]


def best_cut(found: Sequence[Cut], current: float | None) -> Cut:
    """The cut of highest balanced accuracy; of several, the one nearest to `current`, then the middle one.

    Raises:
        ValueError: there are no cuts.
    """
    if not found:
        raise ValueError("no cut is best of none: labels of both classes are needed")

    def gain(cut: Cut) -> int:
        """Balanced accuracy times 2·m₁·m₀: the same order, in integers."""
        c = cut.confusion
        return c.tp * c.person_fails + c.tn * c.person_passes

    most = max(map(gain, found))
    tied = [cut for cut in found if gain(cut) == most]
    scores = [cut for cut in tied if cut.at is not None]
    if not scores:
        return tied[0]
    if current is None:
        return scores[(len(scores) - 1) // 2]
    nearest = min(abs(cut.at - current) for cut in scores if cut.at is not None)
    close = [cut for cut in scores if cut.at is not None and abs(cut.at - current) == nearest]
    if len(close) == 1:
        return close[0]
    middle = (len(scores) - 1) / 2
    return min(close, key=lambda cut: abs(scores.index(cut) - middle))
