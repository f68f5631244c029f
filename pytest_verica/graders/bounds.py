"""Bounds of a count: exactly, at least, at most."""

from __future__ import annotations

from pydantic import ConfigDict, Field, model_validator

from pytest_verica.evals.fields import Strict


class Bounds(Strict):
    """How many there may be: `equals`, or `min` and `max` (both count)."""

    model_config = ConfigDict(defer_build=True)  # as for every kind

    min: int | None = Field(None, ge=0, strict=True)
    max: int | None = Field(None, ge=0, strict=True)
    equals: int | None = Field(None, ge=0, strict=True)

    @model_validator(mode="after")
    def _can_fail(self) -> Bounds:
        if self.equals is not None and (self.min is not None or self.max is not None):
            raise ValueError("write `equals`, or `min` and `max`, not both")
        if self.min is not None and self.max is not None and self.min > self.max:
            raise ValueError(f"`min` {self.min} is above `max` {self.max}")
        if self.min == 0 and self.max is None:
            raise ValueError("`min: 0` alone is always met; write `min: 1`, or a `max`")
        return self

    @property
    def given(self) -> bool:
        return not (self.min is None and self.max is None and self.equals is None)

    def hold(self, count: int) -> bool:
        if self.equals is not None:
            return count == self.equals
        return (self.min is None or count >= self.min) and (self.max is None or count <= self.max)

    def __str__(self) -> str:
        if self.equals is not None:
            return f"exactly {self.equals}"
        if self.min is None:
            return f"at most {self.max}"
        return f"at least {self.min}" if self.max is None else f"{self.min} to {self.max}"
