"""What makes an item a verdict: which eval, case, criterion and sample it stands for."""

from __future__ import annotations

from typing import NamedTuple

import pytest

from pytest_verica.case import Case
from pytest_verica.engine.plan import Eval
from pytest_verica.graders.criterion import Criterion


class Ticket(NamedTuple):
    """The verdict that an item reports. key: the sample of the case that it belongs to."""

    eval: Eval
    case: Case
    criterion: Criterion
    sample: int
    key: tuple[str, str, int]

    @classmethod
    def of(cls, ready: Eval, case: Case, criterion: Criterion) -> Ticket:
        """The ticket of a case that is sampled once."""
        return cls(ready, case, criterion, 0, (ready.id, case.id, 0))


TICKET = pytest.StashKey[Ticket]()


def ticket_of(item: pytest.Item) -> Ticket | None:
    """The ticket of a verdict item, None for any other item."""
    ticket: Ticket | None = getattr(item, "ticket", None)
    return item.stash.get(TICKET, None) if ticket is None else ticket
