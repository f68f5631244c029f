"""Kinds of things by name, each loaded when it is first asked for: a run uses two or three of many."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib import import_module
from typing import TypeVar, cast

K = TypeVar("K")


class Kinds(Mapping[str, K]):
    """places: name → the kind itself, or where it is (`module:ATTRIBUTE`)."""

    def __init__(self, places: Mapping[str, str | K]) -> None:
        self._places = dict(places)

    def __getitem__(self, name: str) -> K:
        place = self._places[name]
        if isinstance(place, str):
            module, _, attribute = place.partition(":")
            kind = cast(K, getattr(import_module(module), attribute))
            self._places[name] = kind
            return kind
        return place

    def __contains__(self, name: object) -> bool:
        return name in self._places  # without loading it

    def __iter__(self) -> Iterator[str]:
        return iter(self._places)

    def __len__(self) -> int:
        return len(self._places)

    def extended(self, more: Mapping[str, K]) -> Kinds[K]:
        """These and others; one of the same name takes the place of a built-in one."""
        return Kinds({**self._places, **more})
