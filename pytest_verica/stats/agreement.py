"""Agreement between a person and a judge, and between several labellers. Exact where the counts are integers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction


@dataclass(frozen=True)
class Confusion:
    """Outputs that a person and a judge have both judged; positive is pass.

    tp: both pass; fn: person pass, judge fail (too strict); fp: person fail, judge pass (too lenient: the dangerous
    one); tn: both fail.
    """

    tp: int = 0
    fn: int = 0
    fp: int = 0
    tn: int = 0

    @classmethod
    def of(cls, pairs: Sequence[tuple[bool, bool]]) -> Confusion:
        """Counts (person passes, judge passes) pairs."""
        counts = Counter((bool(person), bool(judge)) for person, judge in pairs)
        return cls(counts[True, True], counts[True, False], counts[False, True], counts[False, False])

    @property
    def n(self) -> int:
        return self.tp + self.fn + self.fp + self.tn

    @property
    def person_passes(self) -> int:
        return self.tp + self.fn

    @property
    def person_fails(self) -> int:
        return self.fp + self.tn

    @property
    def judge_passes(self) -> int:
        return self.tp + self.fp

    @property
    def judge_fails(self) -> int:
        return self.fn + self.tn

    @property
    def agreement(self) -> Fraction | None:
        """The share on which both say the same; None where n is 0. With the two wings it adds up to exactly 1."""
        return _share(self.tp + self.tn, self.n)

    @property
    def too_strict(self) -> Fraction | None:
        """The share that a person passes and the judge fails."""
        return _share(self.fn, self.n)

    @property
    def too_lenient(self) -> Fraction | None:
        """The share that a person fails and the judge passes: the most dangerous number."""
        return _share(self.fp, self.n)

    @property
    def baseline(self) -> Fraction | None:
        """The agreement of a judge that always gives the person's commoner verdict."""
        return _share(max(self.person_passes, self.person_fails), self.n)

    @property
    def tpr(self) -> Fraction | None:
        """Right on the good ones: judge passes / person passes; None where the person passed none."""
        return _share(self.tp, self.person_passes)

    @property
    def tnr(self) -> Fraction | None:
        """Right on the bad ones: judge fails / person fails; None where the person failed none."""
        return _share(self.tn, self.person_fails)

    @property
    def balanced_accuracy(self) -> Fraction | None:
        """(TPR + TNR) / 2; None where the person passed none or failed none."""
        if self.tpr is None or self.tnr is None:
            return None
        return (self.tpr + self.tnr) / 2

    @property
    def kappa(self) -> Fraction | None:
        """Cohen's kappa (Cohen 1960); None where both give one and the same verdict only: then it is 0/0."""
        chance = self.person_passes * self.judge_passes + self.person_fails * self.judge_fails
        whole = self.n * self.n
        return Fraction(self.n * (self.tp + self.tn) - chance, whole - chance) if whole != chance else None


def cohen_kappa(first: Sequence[Hashable], second: Sequence[Hashable]) -> Fraction | None:
    """Cohen's kappa of two raters over any categories (Cohen 1960); None where it is 0/0.

    Raises:
        ValueError: they did not rate the same number of items.
    """
    if len(first) != len(second):
        raise ValueError(f"kappa needs the same items of both: {len(first)} and {len(second)} ratings")
    n = len(first)
    agreed = sum(a == b for a, b in zip(first, second, strict=True))
    ones, others = Counter(first), Counter(second)
    chance = sum(count * others[category] for category, count in ones.items())
    return Fraction(n * agreed - chance, n * n - chance) if n * n != chance else None


def fleiss_kappa(items: Sequence[Mapping[Hashable, int]]) -> Fraction | None:
    """Fleiss' kappa (Fleiss 1971); None where it is 0/0.

    items: of each item, how many raters chose which category.

    Raises:
        ValueError: the items were not all rated by the same number of raters, two at least.
    """
    sizes = {sum(item.values()) for item in items}
    if len(sizes) != 1 or min(sizes) < 2:
        raise ValueError(f"Fleiss' kappa needs one number of raters on every item, two at least; found {sorted(sizes)}")
    raters, n = sizes.pop(), len(items)
    within = sum(count * (count - 1) for item in items for count in item.values())
    observed = Fraction(within, n * raters * (raters - 1))
    totals: Counter[Hashable] = Counter()
    for item in items:
        totals.update(item)
    chance = sum((Fraction(count, n * raters) ** 2 for count in totals.values()), Fraction(0))
    return (observed - chance) / (1 - chance) if chance != 1 else None


def krippendorff_alpha(items: Sequence[Sequence[Hashable]]) -> Fraction | None:
    """Krippendorff's alpha for categories (Krippendorff 2011): raters may have left items out; None where it is 0/0.

    items: of each item, the categories that it was given, one per rater who rated it.
    """
    paired = [item for item in items if len(item) > 1]
    totals: Counter[Hashable] = Counter(category for item in paired for category in item)
    n = sum(totals.values())
    expected = n * n - sum(count * count for count in totals.values())
    if not expected:
        return None
    observed = Fraction(0)
    for item in paired:
        counts = Counter(item)
        unlike = len(item) ** 2 - sum(count * count for count in counts.values())
        observed += Fraction(unlike, len(item) - 1)
    return 1 - (n - 1) * observed / expected


def _share(part: int, whole: int) -> Fraction | None:
    return Fraction(part, whole) if whole else None
