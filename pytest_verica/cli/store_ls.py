"""`verica store ls`: what is stored, by model."""

from __future__ import annotations

import time
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path

import click

from pytest_verica.cli.answers import root_option, stored_answers
from pytest_verica.store.responses import ResponseStore


@dataclass
class Shelf:
    """The answers of one model behind one door. answers: how many; cost: USD paid for those whose price was known;
    unpriced: how many have none; first, last: when they were bought, seconds since the epoch."""

    answers: int = 0
    cost: Decimal = Decimal(0)
    unpriced: int = 0
    first: float = float("inf")
    last: float = 0.0


@click.command("ls")
@root_option
def ls_command(root: Path | None) -> None:
    """Lists the stored answers by model: how many, what they cost, when they were bought."""
    with stored_answers(root) as store:
        shelves = shelves_of(store)
        click.echo(f"{store.path}: {_counted(sum(shelf.answers for shelf in shelves.values()))}")
    for name, shelf in sorted(shelves.items()):
        click.echo(f"  {name}: {_line(shelf)}")


def shelves_of(store: ResponseStore) -> dict[str, Shelf]:
    """By `provider/model`, with the address of the door where the provider has none of its own."""
    shelves: dict[str, Shelf] = {}
    for saved in store.saved():
        door = "" if saved.base_url is None else f" at {saved.base_url}"
        shelf = shelves.setdefault(f"{saved.provider}/{saved.model}{door}", Shelf())
        shelf.answers += 1
        if saved.answer.cost is None:
            shelf.unpriced += 1
        else:
            shelf.cost += saved.answer.cost
        shelf.first = min(shelf.first, saved.answer.created)
        shelf.last = max(shelf.last, saved.answer.created)
    return shelves


def _line(shelf: Shelf) -> str:
    first, last = (time.strftime("%Y-%m-%d", time.gmtime(moment)) for moment in (shelf.first, shelf.last))
    when = first if first == last else f"{first} to {last}"
    parts = [_counted(shelf.answers)]
    if shelf.unpriced < shelf.answers:
        parts.append(f"${shelf.cost.normalize():f}")
    if shelf.unpriced:
        parts.append(f"price of {shelf.unpriced} unknown")
    return ", ".join([*parts, f"bought {when}"])


def _counted(answers: int) -> str:
    return f"{answers} answer{'' if answers == 1 else 's'}"
