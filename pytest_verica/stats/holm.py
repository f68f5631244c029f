"""Holm's correction: several tests at one level together."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeVar

_Key = TypeVar("_Key")


def holm(p_values: Mapping[_Key, float]) -> dict[_Key, float]:
    """Adjusted p values, to be held against the level itself (Holm 1979, Scand J Statist 6:65-70)."""
    adjusted: dict[_Key, float] = {}
    most = 0.0
    for rank, (key, p) in enumerate(sorted(p_values.items(), key=lambda item: item[1])):
        most = max(most, min(1.0, (len(p_values) - rank) * p))
        adjusted[key] = most
    return {key: adjusted[key] for key in p_values}
