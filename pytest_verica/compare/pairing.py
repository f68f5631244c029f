"""Which cases of two runs are the same, and the outcomes of each under every criterion. Outputs are not kept."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from pytest_verica.canonical import content_hash
from pytest_verica.report.samples import Samples
from pytest_verica.report.saved import SavedRun
from pytest_verica.template import text_of


@dataclass(frozen=True)
class Case:
    """What is kept of a case. content: hash of the columns that are compared; samples: by id of the criterion."""

    content: str
    samples: Mapping[str, Samples] = field(default_factory=dict)


@dataclass(frozen=True)
class Paired:
    """The cases of an eval in two runs.

    common: ids that both have with the same content, in the order of B; changed: ids that both have, with other
    content; only_a, only_b: ids that one has.
    """

    a: Mapping[str, Case]
    b: Mapping[str, Case]
    common: tuple[str, ...]
    changed: tuple[str, ...]
    only_a: tuple[str, ...]
    only_b: tuple[str, ...]


def paired_cases(
    a: SavedRun, b: SavedRun, of_a: Mapping[str, Any], of_b: Mapping[str, Any], on: Collection[str] = ()
) -> Paired:
    """The cases of an eval (its heads in both runs) by id. on: the columns that must be the same; all where empty, but
    for those that hold the output itself, as a recorded answer's column does.

    Raises:
        StoreError: one of the runs cannot be read.
    """
    first, second = (_cases(run, found["id"], on) for run, found in ((a, of_a), (b, of_b)))
    both = [name for name in second if name in first]
    common = tuple(name for name in both if first[name].content == second[name].content)
    same = frozenset(common)
    return Paired(
        first,
        second,
        common,
        tuple(name for name in both if name not in same),
        tuple(name for name in first if name not in second),
        tuple(name for name in second if name not in first),
    )


def _cases(run: SavedRun, eval_id: str, on: Collection[str]) -> dict[str, Case]:
    found: dict[str, Case] = {}
    for case in run.cases(eval_id):
        known = found.get(case["id"])
        samples = dict(known.samples) if known is not None else {}
        for grade in case["grades"]:
            criterion = grade["criterion"]
            samples[criterion] = samples.get(criterion, Samples()).adding(grade["outcome"])
        content = known.content if known is not None else content_hash(dict(_compared(case, on)))
        found[case["id"]] = Case(content, samples)
    return found


def _compared(case: Mapping[str, Any], on: Collection[str]) -> Iterator[tuple[str, Any]]:
    output = case["output"]
    text = None if output is None else output["text"]
    for name, value in case["columns"].items():
        if name in on or (not on and (text is None or text_of(value) != text)):
            yield name, value
