"""The labelled sample: human labels met with the judge's verdicts on the same outputs. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from pytest_verica.calibration.judged import JudgedOutput
from pytest_verica.calibration.label import Label, current_labels
from pytest_verica.stats.agreement import Confusion, cohen_kappa, fleiss_kappa, krippendorff_alpha
from pytest_verica.stats.correction import Share

MOST_STALE = 0.2
"""Above this share of labels whose output is gone, they count as labels of an earlier run."""

Scope = Literal["this_run", "earlier_run"]
Design = Literal["strata", "random", "unknown"]


@dataclass(frozen=True)
class Labelled:
    """An output that both have judged. person: the majority of the labellers; judge: its verdict; score: the judge's,
    None where it gives none or is not known; weight: outputs of the run that it was drawn for and stands for, 1 where
    not known; first, last: when it was labelled first and last (ISO 8601 in UTC)."""

    case: str
    output_hash: str
    person: bool
    judge: bool
    score: float | None = None
    weight: float = 1.0
    first: str = ""
    last: str = ""


@dataclass(frozen=True)
class Labellers:
    """Agreement between people, on the outputs that two or more labelled. names; outputs: how many those are; measure:
    the name of `value`, None where it is not defined."""

    names: tuple[str, ...]
    outputs: int
    measure: str
    value: float | None


@dataclass(frozen=True)
class Sample:
    """What the labels of one criterion are worth for one run of its judge.

    scope: whether the judge's verdicts are this run's, or those that it had given when the labels were written;
    design: how the outputs were drawn; drawn_from: (judge's passes, all it judged) where they were drawn, None where
    not known; ties, skipped: outputs without a reference; stale: labels whose output this run does not have; foreign:
    those of them that are left out because they tell of another judge.
    """

    labelled: tuple[Labelled, ...]
    scope: Scope
    design: Design
    drawn_from: tuple[int, int] | None = None
    ties: int = 0
    skipped: int = 0
    stale: int = 0
    foreign: int = 0
    labellers: Labellers | None = None

    @property
    def confusion(self) -> Confusion:
        """Counts, as they were labelled: not weighted."""
        return Confusion.of([(item.person, item.judge) for item in self.labelled])

    def share(self, judge: bool) -> Share:
        """The person's passes among the labelled ones with this verdict of the judge. Where they were drawn with
        unequal chances (by the verdict of an earlier version of the judge), weighted, with Kish's effective number."""
        items = [item for item in self.labelled if item.judge is judge]
        total = sum(item.weight for item in items)
        if not items:
            return Share(0.0, 0.0)
        if len({item.weight for item in items}) == 1:
            return Share(float(sum(item.person for item in items)), float(len(items)))
        worth = total * total / sum(item.weight**2 for item in items)
        rate = sum(item.weight for item in items if item.person) / total
        return Share(rate * worth, worth)

    def only(self, cases: Iterable[str]) -> Sample:
        """The same with the labels of these cases alone."""
        kept = frozenset(cases)
        labelled = tuple(item for item in self.labelled if item.case in kept)
        return Sample(labelled, self.scope, self.design, self.drawn_from, labellers=self.labellers)


@dataclass(frozen=True)
class _Reference:
    """An output's labels in force."""

    key: tuple[str, str]
    labels: tuple[Label, ...]

    @property
    def verdict(self) -> bool | None:
        """The majority, None at a tie."""
        passes = sum(label.verdict == "pass" for label in self.labels)
        fails = len(self.labels) - passes
        return None if passes == fails else passes > fails

    @property
    def stratum(self) -> str | None:
        return next((label.draw.stratum for label in self.labels if label.draw.stratum is not None), None)

    def told_by(self, judge_hash: str | None) -> bool:
        """Whether the verdict of this very judge stands on a label."""
        return any(
            label.draw.stratum and label.judge_hash is not None and label.judge_hash == judge_hash
            for label in self.labels
        )


def match_labels(outputs: Sequence[JudgedOutput], judge_hash: str | None, acts: Iterable[Label]) -> Sample:
    """The sample that the labels of one criterion make with one run's verdicts.

    Labels whose outputs are nearly all in this run are compared with this run's verdicts. Otherwise each is compared
    with the verdict that it was drawn by, and counts only where that verdict was this judge's.
    """
    references, skipped = _references(acts)
    judged = {output.key: output for output in outputs}
    here = [reference for reference in references if reference.key in judged]
    gone = [reference for reference in references if reference.key not in judged]
    own = [reference for reference in gone if reference.told_by(judge_hash)]
    ties = sum(reference.verdict is None for reference in references)
    people = _labellers(references)
    if here and (len(gone) <= MOST_STALE * len(references) or not own):
        design, sizes = _design(here)
        return Sample(tuple(_this_run(here, judged)), "this_run", design, sizes, ties, skipped, len(gone), 0, people)
    used = [*here, *own]
    design, sizes = _design(used)
    labelled = tuple(_earlier(used, judged))
    return Sample(labelled, "earlier_run", design, sizes, ties, skipped, len(gone), len(gone) - len(own), people)


def _references(acts: Iterable[Label]) -> tuple[list[_Reference], int]:
    by_output: dict[tuple[str, str], list[Label]] = {}
    skipped = set()
    for label in current_labels(acts):
        key = (label.case, label.output_hash)
        if label.verdict == "skipped":
            skipped.add(key)
        else:
            by_output.setdefault(key, []).append(label)
    references = [_Reference(key, tuple(labels)) for key, labels in sorted(by_output.items())]
    return references, len(skipped - by_output.keys())


def _this_run(references: Sequence[_Reference], judged: Mapping[tuple[str, str], JudgedOutput]) -> list[Labelled]:
    settled = [reference for reference in references if reference.verdict is not None]
    moved = any(r.stratum not in (None, _word(judged[r.key].passed)) for r in settled)
    weights = _weights(settled) if moved else {}
    return [
        Labelled(
            *reference.key,
            bool(reference.verdict),
            judged[reference.key].passed,
            judged[reference.key].score,
            weights.get(reference.stratum, 1.0),
            *_times(reference),
        )
        for reference in settled
    ]


def _weights(references: Sequence[_Reference]) -> dict[str | None, float]:
    """What an output stands for, by the verdict that it was drawn by. Needed only where the judge has changed its mind
    since: otherwise all of one verdict weigh the same, and the counts say everything."""
    _, sizes = _design(references)
    if sizes is None:
        return {}
    counts = Counter(reference.stratum for reference in references)
    passes, judged = sizes
    drawn = {"pass": passes, "fail": judged - passes}
    weights: dict[str | None, float] = {side: drawn[side] / counts[side] for side in ("pass", "fail") if counts[side]}
    known = sum(counts[side] for side in ("pass", "fail"))
    weights[None] = judged / known if known else 1.0
    return weights


def _earlier(references: Sequence[_Reference], judged: Mapping[tuple[str, str], JudgedOutput]) -> list[Labelled]:
    found = []
    for reference in references:
        if reference.verdict is None:
            continue
        now = judged.get(reference.key)
        judge = now.passed if now is not None else reference.stratum == "pass"
        score = None if now is None else now.score
        found.append(Labelled(*reference.key, reference.verdict, judge, score, 1.0, *_times(reference)))
    return found


def _design(references: Sequence[_Reference]) -> tuple[Design, tuple[int, int] | None]:
    """How they were drawn, and from how many: as the last draw says, for a queue goes on over several sittings."""
    draws = [label.draw for r in references for label in sorted(r.labels, key=lambda label: label.time)]
    times = [label.time for r in references for label in sorted(r.labels, key=lambda label: label.time)]
    sized = [
        (time, draw)
        for time, draw in zip(times, draws, strict=True)
        if draw.method == "queue" and draw.passes is not None and draw.judged
    ]
    if sized:
        _, last = max(sized, key=lambda pair: (pair[0], pair[1].judged or 0, pair[1].passes or 0))
        return "strata", (last.passes or 0, last.judged or 0)
    if draws and all(draw.method == "random" for draw in draws):
        return "random", None
    return "unknown", None


def _labellers(references: Sequence[_Reference]) -> Labellers | None:
    """None where no output has labels of two people."""
    shared = [reference for reference in references if len(reference.labels) > 1]
    if not shared:
        return None
    names = tuple(sorted({label.labeller for reference in shared for label in reference.labels}))
    rows = [[label.verdict for label in reference.labels] for reference in shared]
    if len(names) == 2:
        measure, value = "Cohen's kappa", cohen_kappa([row[0] for row in rows], [row[1] for row in rows])
    elif all(len(row) == len(names) for row in rows):
        measure, value = "Fleiss' kappa", fleiss_kappa([Counter(row) for row in rows])
    else:
        measure, value = "Krippendorff's alpha", krippendorff_alpha(rows)
    return Labellers(names, len(shared), measure, None if value is None else float(value))


def _times(reference: _Reference) -> tuple[str, str]:
    times = [label.time for label in reference.labels]
    return min(times), max(times)


def _word(passed: bool) -> str:
    return "pass" if passed else "fail"
