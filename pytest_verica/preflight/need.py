"""Which models a run will have to call: found by rehearsing it until each was needed once."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from pytest_verica.engine.plan import Eval, Job
from pytest_verica.errors import Place
from pytest_verica.graders.criterion import Criterion
from pytest_verica.preflight.rehearsal import SAMPLING, Known, Part, Rehearsal, cases_of
from pytest_verica.request import ModelSpec, Request, Structured


@dataclass(frozen=True)
class Use:
    """A model where an eval names it. criterion: None where it produces the outputs; structured: how its answers are
    forced into a shape, None where they are not; place: of its `model`, None where not known."""

    model: ModelSpec
    eval: str
    criterion: str | None = None
    structured: Structured | None = None
    place: Place | None = None


def uses_of(ready: Eval, criteria: Iterable[Criterion] | None = None) -> list[Use]:
    """The models of an eval, of these criteria only where they are given."""
    uses: list[Use] = []
    if ready.model is not None:
        uses.append(Use(ready.model, ready.id, place=_place(ready, ("model",))))
    chosen = ready.criteria if criteria is None else tuple(criteria)
    for criterion in chosen:
        model = getattr(criterion.grader, "model", None)
        if isinstance(model, ModelSpec) and criterion.kind.runs == "model":
            place = _place(ready, ("criteria", ready.criteria.index(criterion)))
            structured = getattr(criterion.config, "structured", None)
            uses.append(Use(model, ready.id, criterion.name, structured, place))
    return uses


def _place(ready: Eval, location: Any) -> Place | None:
    return None if ready.spec is None else ready.spec.place(location)


async def needed(jobs: Iterable[Job], known: Known, ever: Callable[[ModelSpec], bool]) -> list[Use]:
    """The uses for which a call will be made. ever: whether any answer of a model is stored: where an eval's own code
    makes the outputs, its judges' questions are not known here, and one that has answers may need no call."""
    found: list[Use] = []
    for ready, of_eval in cases_of(jobs):
        uses = {use.criterion: use for use in uses_of(ready, dict.fromkeys(c for job in of_eval for c in job.criteria))}
        missing = _Missing(uses)
        rehearsal = Rehearsal(known, missing)
        for job in of_eval:
            output = await rehearsal.output(job)
            if output is None:
                missing.found.update(name for name, use in uses.items() if name is not SAMPLING and not ever(use.model))
                break
            if missing.found and SAMPLING in missing.found:
                missing.found.update(uses)  # judges read outputs that are not there yet
            else:
                await rehearsal.grades(job, output)
            if missing.found.issuperset(uses):
                break
        found += [use for name, use in uses.items() if name in missing.found]
    return found


class _Missing:
    """Notes the parts for which a question has no stored answer."""

    def __init__(self, uses: dict[Part, Use]) -> None:
        self._uses = uses
        self.found: set[Part] = set()

    def answered(self, ready: Eval, part: Part, request: Request, answer: Any) -> None:
        return None

    def unanswered(self, ready: Eval, part: Part, request: Request) -> int:
        if part in self._uses:
            self.found.add(part)
        return 1
