"""What an eval asks of its models and they do not take: an error where written for that very model, else left out.

A parameter is inherited where the eval did not write it (a judge's temperature of 0), where it comes from another file
than the model's name (`extends`), or where `--verica-model` put another model in its place.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from pytest_verica.engine.plan import Eval
from pytest_verica.errors import Problem
from pytest_verica.evals.config import EvalSpec
from pytest_verica.evals.fields import Location
from pytest_verica.evals.model import ModelConfig
from pytest_verica.providers.protocol import ProviderKind
from pytest_verica.request import ModelSpec


@dataclass(frozen=True)
class _Use:
    """A model where an eval uses it. at: where the model is written; criterion: its name, None for the eval's own;
    structured: how its answers are forced, None where they are not; replaced: by `--verica-model`; embeds: whether
    embeddings are asked for."""

    at: Location
    config: ModelConfig
    spec: ModelSpec
    criterion: str | None
    structured: str | None = None
    replaced: bool = False
    embeds: bool = False

    def __str__(self) -> str:
        return "`model`" if self.criterion is None else f"criterion {self.criterion!r}"


def fitted(
    spec: EvalSpec, ready: Eval, providers: Mapping[str, ProviderKind], *, replaced: bool = False
) -> tuple[Eval, list[Problem]]:
    """The eval with what its models do not take left out and noted, and what is wrong with it. replaced: whether its
    model is not the one that it wrote."""
    problems: list[Problem] = []
    notes: list[dict[str, Any]] = []
    for use in _uses(spec, ready, replaced):
        kind = providers[use.spec.provider]
        problems += _other_problems(spec, use, kind)
        for parameter, why in kind.left_out(use.spec).items():
            if _written(spec, use, parameter):
                message = (
                    f"{use}: {use.spec} takes no `{parameter}`: it {why}. Remove it; `extra` passes it all the same"
                )
                problems.append(Problem(message, spec.place((*use.at, "params", parameter))))
            else:
                value = use.spec.params[parameter]
                about = {"criterion": use.criterion, "model": str(use.spec), "parameter": parameter, "value": value}
                notes.append({**about, "why": f"it {why}"})
    model = ready.model
    if model is not None:
        out = {note["parameter"] for note in notes if note["criterion"] is None}
        sent = {name: value for name, value in model.params.items() if name not in out}
        apis = providers[model.provider].apis
        model = replace(model, params=sent, api=model.api if model.api in apis else None)
    return replace(ready, model=model, left_out=tuple(notes)), problems


def _uses(spec: EvalSpec, ready: Eval, replaced: bool) -> Iterator[_Use]:
    config = spec.config
    if config.model is not None and ready.model is not None:
        yield _Use(("model",), config.model, ready.model, None, replaced=replaced)
    for index, criterion in enumerate(ready.criteria):
        written = getattr(criterion.config, "model", None)
        asked = getattr(criterion.grader, "model", None)
        if isinstance(written, ModelConfig) and isinstance(asked, ModelSpec):
            structured = getattr(criterion.config, "structured", None)
            embeds = bool(getattr(criterion.grader, "embeds", False))
            yield _Use(("criteria", index, "model"), written, asked, criterion.name, structured, embeds=embeds)


def _written(spec: EvalSpec, use: _Use, parameter: str) -> bool:
    """Whether the eval wrote a parameter for that very model."""
    if use.replaced or parameter not in use.config.params.model_fields_set:
        return False
    place, named = spec.place((*use.at, "params", parameter)), spec.place((*use.at, "name"))
    return place.file == named.file


def _other_problems(spec: EvalSpec, use: _Use, kind: ProviderKind) -> Iterator[Problem]:
    api = use.config.api
    known_apis = ("chat", *kind.apis) if kind.apis else ()
    if api is not None and api not in known_apis and not use.replaced:
        message = f"{use}: the provider `{kind.name}` has no API `{api}`. Remove `api`"
        yield Problem(message, spec.place((*use.at, "api")))
    if use.embeds and not kind.embeds:
        message = f"{use}: the provider `{kind.name}` offers no embeddings; name another, or `{{provider: local}}`"
        yield Problem(message, spec.place((*use.at, "provider")))
    if use.structured is not None and use.structured not in kind.structured:
        known = ", ".join(kind.structured)
        message = f"{use}: the provider `{kind.name}` has no `structured: {use.structured}`; it has: {known}"
        yield Problem(message, spec.place((*use.at[:-1], "structured")))
