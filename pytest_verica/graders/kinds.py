"""Kinds of checks by name, each loaded when it is first asked for: an eval uses two or three of many."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib import import_module

from pytest_verica.evals.criterion import CriterionConfig
from pytest_verica.graders.protocol import GraderKind


class Kinds(Mapping[str, GraderKind]):
    """places: name → the kind itself, or where it is (`module:ATTRIBUTE`)."""

    def __init__(self, places: Mapping[str, str | GraderKind]) -> None:
        self._places = dict(places)

    def __getitem__(self, name: str) -> GraderKind:
        place = self._places[name]
        if isinstance(place, str):
            module, _, attribute = place.partition(":")
            kind: GraderKind = getattr(import_module(module), attribute)
            self._places[name] = kind
            return kind
        return place

    def __iter__(self) -> Iterator[str]:
        return iter(self._places)

    def __len__(self) -> int:
        return len(self._places)

    def extended(self, more: Mapping[str, GraderKind]) -> Kinds:
        """These and others; one of the same name takes the place of a built-in one."""
        return Kinds({**self._places, **more})


class Configs(Mapping[str, type[CriterionConfig]]):
    """The configurations of kinds, by the name that `type` has in an eval."""

    def __init__(self, kinds: Mapping[str, GraderKind]) -> None:
        self._kinds = kinds

    def __getitem__(self, name: str) -> type[CriterionConfig]:
        return self._kinds[name].config

    def __iter__(self) -> Iterator[str]:
        return iter(self._kinds)

    def __len__(self) -> int:
        return len(self._kinds)
