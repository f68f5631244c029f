"""What a trajectory_check may ask of an agent's steps: one sentence for each rule that is broken."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from pytest_verica.graders.calls import broken_arguments, name_of, show_call, show_names
from pytest_verica.graders.expected import difference, same_json, shown
from pytest_verica.tool_calls import ToolCall

Sequencing = Literal["exact", "in_order", "any_order"]


@dataclass(frozen=True)
class ReferenceStep:
    """A step of a reference list. arguments: what they must equal; None where the name is enough."""

    name: str
    arguments: Any = None

    def fits(self, call: ToolCall) -> bool:
        if call.name != self.name:
            return False
        return self.arguments is None or same_json(call.arguments, self.arguments)

    def unlike(self, call: ToolCall) -> str:
        """What tells a call of the same tool from this step."""
        if call.arguments is None:
            return broken_arguments(call) or "its arguments were not recorded"
        return difference(call.arguments, self.arguments) or ""

    def __str__(self) -> str:
        inside = "" if self.arguments is None else f"({shown(self.arguments, 100)})"
        return f"{name_of(self.name)}{inside}"


def missing(required: Sequence[str], calls: Sequence[ToolCall]) -> str | None:
    made = {call.name for call in calls}
    absent = [name for name in required if name not in made]
    return f"required and not called: {show_names(absent)}" if absent else None


def intruders(forbidden: Sequence[str], calls: Sequence[ToolCall]) -> str | None:
    found = [f"{show_call(call, 60)} as step {i}" for i, call in enumerate(calls, 1) if call.name in set(forbidden)]
    more = f" and {len(found) - 1} more" if len(found) > 1 else ""
    return f"forbidden and called: {found[0]}{more}" if found else None


def out_of_order(first: str, then: str, calls: Sequence[ToolCall]) -> str | None:
    """Broken where the first call of `then` is not preceded by one of `first`; satisfied where `then` never occurs."""
    names = [call.name for call in calls]
    if then not in names:
        return None
    at = names.index(then)
    if first in names[:at]:
        return None
    where = f"is step {names.index(first) + 1}" if first in names else "was never called"
    return f"`{name_of(first)}` must come before `{name_of(then)}`, which is step {at + 1}: it {where}"


def too_many_steps(most: int, calls: Sequence[ToolCall]) -> str | None:
    return f"{_counted(len(calls))}; at most {most} allowed" if len(calls) > most else None


def too_many_calls(most: Mapping[str, int], calls: Sequence[ToolCall]) -> list[str]:
    made = Counter(call.name for call in calls)
    return [
        f"`{name_of(name)}` was called {made[name]} times; at most {count} allowed"
        for name, count in most.items()
        if made[name] > count
    ]


def out_of_sequence(how: Sequencing, reference: Sequence[ReferenceStep], calls: Sequence[ToolCall]) -> str | None:
    if how == "exact":
        return _not_exact(reference, calls)
    if how == "in_order":
        return _not_in_order(reference, calls)
    return _not_in_any_order(reference, calls)


def _not_exact(reference: Sequence[ReferenceStep], calls: Sequence[ToolCall]) -> str | None:
    for place, (step, call) in enumerate(zip(reference, calls, strict=False), 1):
        if not step.fits(call):
            unlike = f": {step.unlike(call)}" if call.name == step.name else ""
            return f"step {place} is {show_call(call)}; wanted exactly {step}{unlike}"
    if len(calls) > len(reference):
        extra = calls[len(reference)]
        return f"{_counted(len(calls))}, wanted exactly {len(reference)}; the first beyond: {show_call(extra)}"
    if len(calls) < len(reference):
        return f"{_counted(len(calls))}, wanted exactly {len(reference)}; the first missing: {reference[len(calls)]}"
    return None


def _not_in_order(reference: Sequence[ReferenceStep], calls: Sequence[ToolCall]) -> str | None:
    """The reference as a part of the steps, in its order, with any steps between."""
    rest = iter(enumerate(calls, 1))
    last = 0
    for place, step in enumerate(reference, 1):
        at = next((at for at, call in rest if step.fits(call)), None)
        if at is None:
            after = f"after step {last}" if last else "among the steps"
            return f"number {place} of the reference, {step}, does not come {after}{_near(step, calls)}"
        last = at
    return None


def _not_in_any_order(reference: Sequence[ReferenceStep], calls: Sequence[ToolCall]) -> str | None:
    """Each step of the reference has a call of its own, whatever their order."""
    taken: dict[int, int] = {}  # call -> the step of the reference that it stands for

    def place(step: int, tried: set[int]) -> bool:
        """Finds a call for a step; a call that is taken may be had where its step finds another one (Kuhn's way)."""
        fitting = [call for call in range(len(calls)) if call not in tried and reference[step].fits(calls[call])]
        for call in sorted(fitting, key=taken.__contains__):
            tried.add(call)
            if call not in taken or place(taken[call], tried):
                taken[call] = step
                return True
        return False

    for step, wanted in enumerate(reference):
        if not place(step, set()):
            used = any(wanted.fits(call) for call in calls)
            often = " (not that often)" if used else _near(wanted, calls)
            return f"{wanted} of the reference is not among the steps{often}"
    return None


def _near(step: ReferenceStep, calls: Sequence[ToolCall]) -> str:
    """The call of the same tool, where there is one."""
    near = next((call for call in calls if call.name == step.name and not step.fits(call)), None)
    return f"; there is {show_call(near)}: {step.unlike(near)}" if near is not None else ""


def _counted(count: int) -> str:
    return f"{count} step" if count == 1 else f"{count} steps"


def unfinished(stop_reason: str) -> str | None:
    """Broken where a stop reason, in any provider's words, does not say that the turn ended by itself."""
    if stop_reason.strip().lower() in ("stop", "end_turn", "stop_sequence", "completed"):
        return None
    return f"it did not finish by itself: its stop reason is {shown(stop_reason, 40)}"
