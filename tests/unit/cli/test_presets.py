"""`verica presets`: what a preset tells its judge, whole; copied out, it is a criterion that an eval takes."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_verica.evals.load import load_eval
from pytest_verica.graders.configs import Configs
from pytest_verica.judge.aspect import ASPECTS
from pytest_verica.judge.preset_file import preset_keys
from pytest_verica.judge.registry import KINDS
from tests.unit.cli.conftest import Verica


def test_ls_says_what_each_needs_and_from_where_on_it_passes(run: Verica) -> None:
    lines = run("presets", "ls").output.splitlines()
    assert [line.split()[0] for line in lines] == list(ASPECTS)
    assert lines[0] == (
        "rag/faithfulness       pass_at 0.9  needs question, answer, contexts: "
        "does the answer say only what the contexts say?"
    )


@pytest.mark.parametrize("name", ASPECTS)
def test_show_prints_the_whole_prompt_and_the_formula(run: Verica, name: str) -> None:
    shown = run("presets", "show", name).output
    assert f"# {name}: " in shown and "# Score: " in shown and "pass_at: " in shown
    for line in (preset_keys(name)["prompt"]["system"] + preset_keys(name)["prompt"]["user"]).splitlines():
        assert line in shown


@pytest.mark.parametrize("name", ASPECTS)
def test_a_copy_is_the_same_judge_once_its_model_is_filled_in(run: Verica, tmp_path: Path, name: str) -> None:
    assert run("presets", "copy", name, "own.yaml").output == f"{name} written to own.yaml\n"
    copied = (tmp_path / "own.yaml").read_text("utf-8")
    model = "model: {provider: scripted, name: judge-1}"
    before, comment, after = copied.partition("# model: ")
    assert comment
    (tmp_path / "own.yaml").write_text(f"{before}{model}\n{after.partition(chr(10))[2]}", "utf-8")
    (tmp_path / "a.eval.yaml").write_text("extends: own.yaml\ngolden_set: g.csv\ntarget: {column: answer}\n")
    (tmp_path / "b.eval.yaml").write_text(
        f"golden_set: g.csv\ntarget: {{column: answer}}\ncriteria:\n- preset: {name}\n  {model}\n"
    )
    copy, original = (load_eval(tmp_path / f"{n}.eval.yaml", n, Configs(KINDS)).config.criteria for n in "ab")
    assert [c.model_dump() for c in copy] == [c.model_dump() for c in original]


def test_a_copy_writes_over_nothing_and_is_no_eval(run: Verica, tmp_path: Path) -> None:
    (tmp_path / "own.yaml").write_text("mine")
    result = run("presets", "copy", "rag/faithfulness", "own.yaml")
    assert result.exit_code == 1 and "own.yaml exists and is left as it is" in result.output
    assert (tmp_path / "own.yaml").read_text() == "mine"
    result = run("presets", "copy", "rag/faithfulness", "own.eval.yaml")
    assert result.exit_code == 1 and "name it own.yaml" in result.output
    result = run("presets", "copy", "rag/faithfulness", "no/own.yaml")
    assert result.exit_code == 1 and "cannot write no/own.yaml: No such file" in result.output


def test_an_unknown_preset(run: Verica) -> None:
    result = run("presets", "show", "rag/faith")
    assert result.exit_code == 2 and "rag/faithfulness" in result.output
