"""The eval file's own keys, and the specification that loading it gives."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from pydantic import Field, SerializeAsAny, model_validator

from pytest_verica.errors import Place
from pytest_verica.evals.criterion import CriterionConfig
from pytest_verica.evals.document import Document
from pytest_verica.evals.fields import Location, Strict
from pytest_verica.evals.gate import GateConfig
from pytest_verica.evals.model import ModelConfig
from pytest_verica.evals.prompt import PromptConfig
from pytest_verica.evals.target import TargetConfig


class PythonRows(Strict):
    """A golden set made by Python: an iterable of mappings, or a callable that returns one."""

    python: str = Field(pattern=r"^[\w.]+:[\w.]+$", description="module:rows, such as shop.data:rows")


class EvalConfig(Strict):
    """What an eval file says, beside its criteria's own keys."""

    name: str = Field(min_length=1, max_length=200)
    description: str = ""
    golden_set: str | PythonRows | None = None
    prompt: PromptConfig | None = None
    model: ModelConfig | None = None
    target: TargetConfig | None = None
    repeat: int = Field(1, ge=1, le=1000, description="Samples of each case.")
    timeout: float = Field(600, gt=0, description="Seconds for one case, sampling and judging.")
    criteria: list[SerializeAsAny[CriterionConfig]] = Field(min_length=1)
    gate: GateConfig | None = None

    @model_validator(mode="after")
    def _one_target(self) -> EvalConfig:
        if self.target is not None and (self.prompt is not None or self.model is not None):
            raise ValueError("write a `target`, or `prompt` with `model`, not both")
        if (self.prompt is None) != (self.model is None):
            missing = "model" if self.model is None else "prompt"
            raise ValueError(f"`prompt` and `model` belong together; `{missing}` is missing")
        return self


@dataclass(frozen=True)
class EvalSpec:
    """An eval as it was written, validated. base_dir: paths in it are relative to this folder; document: where each
    part was written."""

    config: EvalConfig
    base_dir: Path
    document: Document

    def place(self, location: Location) -> Place:
        return self.document.place(location)
