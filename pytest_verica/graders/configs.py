"""The configurations of kinds of checks, by the name that `type` has in an eval."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from pytest_verica.evals.criterion import CriterionConfig
from pytest_verica.graders.protocol import GraderKind


class Configs(Mapping[str, type[CriterionConfig]]):
    """kinds: the kinds of checks; each is loaded when its configuration is first asked for."""

    def __init__(self, kinds: Mapping[str, GraderKind]) -> None:
        self._kinds = kinds

    def __getitem__(self, name: str) -> type[CriterionConfig]:
        return self._kinds[name].config

    def __iter__(self) -> Iterator[str]:
        return iter(self._kinds)

    def __len__(self) -> int:
        return len(self._kinds)
