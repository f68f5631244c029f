"""Parameters that a model does not take: stopped where they were written for it, left out and noted elsewhere."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from pytest_verica.engine.parameters import fitted
from pytest_verica.engine.plan import Eval, load_golden, make_eval
from pytest_verica.errors import Problem
from pytest_verica.evals.load import load_eval
from pytest_verica.graders.configs import Configs
from pytest_verica.judge.registry import KINDS
from pytest_verica.providers.registry import PROVIDERS

CLAUDE = {"provider": "anthropic", "name": "claude-sonnet-5", "credential": "KEY"}
JUDGE = {
    "name": "tone",
    "type": "label_model",
    "prompt": "Polite? {{ output.text }}",
    "labels": ["a", "b"],
    "passing_labels": ["a"],
    "model": CLAUDE,
}
ALIKE = {
    "name": "alike",
    "type": "text_similarity",
    "metric": "cosine",
    "expected": "x",
    "pass_at": 0.5,
    "model": CLAUDE,
}
CHECK = {"name": "said", "type": "text_check", "contains": "x"}


def fit(folder: Path, *files: dict[str, Any], replaced: bool = False) -> tuple[Eval, list[Problem]]:
    """The last of these files, each of which extends the one before it."""
    (folder / "rows.csv").write_text("q\n1\n")
    for number, value in enumerate(files):
        extends = {"extends": f"{number - 1}.eval.yaml"} if number else {"golden_set": "rows.csv"}
        (folder / f"{number}.eval.yaml").write_text(json.dumps({**extends, **value}, indent=1))
    path = folder / f"{len(files) - 1}.eval.yaml"
    spec = load_eval(path, path.name, Configs(KINDS))
    ready = make_eval(spec, load_golden(spec), id="e", kinds=KINDS, providers=PROVIDERS)
    return fitted(spec, ready, PROVIDERS, replaced=replaced)


def said(problems: list[Problem]) -> list[str]:
    return [str(problem) for problem in problems]


def prompt(**model: Any) -> dict[str, Any]:
    return {"prompt": {"user": "{{ q }}"}, "model": {**CLAUDE, **model}, "criteria": [CHECK]}


def test_a_judges_default_temperature_is_left_out_and_noted(tmp_path: Path) -> None:
    ready, problems = fit(tmp_path, {"target": {"column": "q"}, "criteria": [CHECK, JUDGE]})
    assert not problems
    assert ready.left_out == (
        {
            "criterion": "tone",
            "model": "anthropic/claude-sonnet-5",
            "parameter": "temperature",
            "value": 0.0,
            "why": "it is asked through the Messages API, which has none",
        },
    )


def test_a_judge_whose_model_takes_it_is_noted_nowhere(tmp_path: Path) -> None:
    model = {"provider": "openai", "name": "gpt-4.1", "credential": "KEY"}
    ready, problems = fit(tmp_path, {"target": {"column": "q"}, "criteria": [{**JUDGE, "model": model}]})
    assert (ready.left_out, problems) == ((), [])


def test_null_says_that_it_is_not_wanted(tmp_path: Path) -> None:
    model = {**CLAUDE, "params": {"temperature": None}}
    ready, problems = fit(tmp_path, {"target": {"column": "q"}, "criteria": [{**JUDGE, "model": model}]})
    assert (ready.left_out, problems) == ((), [])


def test_what_is_written_for_the_model_is_an_error_with_its_line(tmp_path: Path) -> None:
    judge = {**JUDGE, "model": {**CLAUDE, "params": {"top_p": 0.5}}}
    value = {**prompt(params={"temperature": 0, "seed": 7, "max_tokens": 9}), "criteria": [judge]}
    _, problems = fit(tmp_path, value)
    lines = (tmp_path / "0.eval.yaml").read_text().splitlines()
    assert [(p.place.line, str(p).split("`")[1::2][:2]) for p in problems if p.place and p.place.line] == [
        (next(n for n, line in enumerate(lines, 1) if '"temperature"' in line), ["model", "temperature"]),
        (next(n for n, line in enumerate(lines, 1) if '"seed"' in line), ["model", "seed"]),
        (next(n for n, line in enumerate(lines, 1) if '"top_p"' in line), ["top_p", "extra"]),
    ]
    assert "criterion 'tone': anthropic/claude-sonnet-5 takes no `top_p`: it is asked through" in said(problems)[2]


def test_what_another_file_says_is_inherited(tmp_path: Path) -> None:
    base = prompt(provider="openai", name="gpt-4.1", params={"temperature": 0, "max_tokens": 9})
    ready, problems = fit(tmp_path, base, {"model": {"provider": "anthropic", "name": "claude-sonnet-5"}})
    assert not problems
    assert [(note["criterion"], note["parameter"]) for note in ready.left_out] == [(None, "temperature")]
    assert ready.model is not None and ready.model.params == {"max_tokens": 9}


def test_what_another_file_says_of_its_own_model_is_written_there(tmp_path: Path) -> None:
    _, problems = fit(tmp_path, prompt(params={"temperature": 0}), {"description": "the same"})
    assert len(problems) == 1 and said(problems)[0].startswith("0.eval.yaml:")


def test_with_another_model_in_its_place_all_is_inherited(tmp_path: Path) -> None:
    ready, problems = fit(tmp_path, prompt(params={"temperature": 0}, api="responses"), replaced=True)
    assert not problems
    assert [note["parameter"] for note in ready.left_out] == ["temperature"]
    assert ready.model is not None and ready.model.api is None


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (prompt(api="responses"), "`model`: the provider `anthropic` has no API `responses`"),
        (prompt(api="chat"), "`model`: the provider `anthropic` has no API `chat`"),
        (
            {"target": {"column": "q"}, "criteria": [{**JUDGE, "structured": "json_object"}]},
            "criterion 'tone': the provider `anthropic` has no `structured: json_object`; it has: json_schema, tool",
        ),
        (
            {"target": {"column": "q"}, "criteria": [ALIKE]},
            "criterion 'alike': the provider `anthropic` offers no embeddings; name another, or `{provider: local}`",
        ),
    ],
)
def test_what_a_provider_does_not_have_is_an_error(tmp_path: Path, value: dict[str, Any], words: str) -> None:
    _, problems = fit(tmp_path, value)
    assert len(problems) == 1 and words in said(problems)[0]


def test_openai_has_both_apis(tmp_path: Path) -> None:
    for api in ("chat", "responses"):
        value = prompt(provider="openai", name="gpt-4.1", api=api, params={"temperature": 0})
        assert fit(tmp_path, value)[1] == []
