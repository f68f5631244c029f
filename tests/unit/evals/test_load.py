"""Loading an eval file: every problem with file and line, all of them together."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pytest_verica.evals.load import criterion_id, eval_stem, is_eval_file
from pytest_verica.evals.target import ColumnTarget, HttpTarget, PythonTarget, RecordTarget
from tests.unit.evals.conftest import Load, Told

START = "golden_set: g.csv\ntarget: {column: a}\n"
ONE = "criteria: [{name: polite, type: text_check, contains: please}]\n"

WHOLE = """\
name: refunds
description: The bot states the refund.
golden_set: golden/refunds.csv
prompt:
  system: You are the support agent of {{ shop }}.
  user: "{{ question }}"
  tools: [{name: lookup_order, description: Finds it, parameters: {type: object, properties: {}}}]
model:
  provider: openai
  name: gpt-5-mini
  credential: OPENAI_API_KEY
  params: {temperature: 0, max_tokens: 400, seed: 7}
repeat: 2
criteria:
  - name: states_amount
    type: number_check
    comparison: equals
    expected: "{{ amount }}"
    only_if: {variable: "{{ kind }}", condition: equals, value: refund}
  - {name: polite, type: text_check, contains: please, negate: true}
gate: {pass_rate: 0.9, criteria: {states_amount: 1.0}}
"""


def test_a_whole_file(load: Load, tmp_path: Path) -> None:
    spec = load(WHOLE)
    config = spec.config
    assert (config.name, config.repeat, spec.base_dir) == ("refunds", 2, tmp_path)
    assert config.model is not None and config.model.params.as_mapping() == {
        "temperature": 0,
        "max_tokens": 400,
        "seed": 7,
    }
    assert [(c.name, c.type, c.negate) for c in config.criteria] == [
        ("states_amount", "number_check", False),
        ("polite", "text_check", True),
    ]
    assert config.gate is not None and config.gate.criteria == {"states_amount": 1.0}
    assert str(spec.place(("criteria", 1, "negate"))) == "shop.eval.yaml:20"


def test_json_is_another_spelling(load: Load) -> None:
    value = {"golden_set": "g.csv", "target": {"column": "a"}, "criteria": []}
    value["criteria"] = [{"name": "smiles", "type": "text_check", "contains": "\U0001f600"}]
    spec = load(json.dumps(value), "shop.eval.json")
    assert spec.config.name == "shop"
    assert spec.config.criteria[0].contains == "\U0001f600"  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("name", "stem"),
    [
        ("refunds.eval.yaml", "refunds"),
        ("refunds.eval.yml", "refunds"),
        ("a.b.eval.json", "a.b"),
        ("refunds.yaml", None),
        ("eval.yaml", None),
        ("refunds.eval.yaml.bak", None),
    ],
)
def test_eval_files_are_told_by_their_name(name: str, stem: str | None) -> None:
    assert is_eval_file(name) is (stem is not None)
    if stem is not None:
        assert eval_stem(name) == stem


@pytest.mark.parametrize(
    ("target", "kind"),
    [
        ("{column: a, tool_calls: b}", ColumnTarget),
        ("{record: a}", RecordTarget),
        ('{python: "shop.bot:answer"}', PythonTarget),
        (
            '{http: {url: "http://127.0.0.1/{{ a }}", headers: {Authorization: "Bearer ${TOKEN}"}, json: {q: 1}}}',
            HttpTarget,
        ),
    ],
)
def test_the_four_targets(load: Load, target: str, kind: type) -> None:
    assert isinstance(load(f"golden_set: g.csv\n{ONE}target: {target}").config.target, kind)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (START + ONE + "gat: 0.9", "4: unknown key `gat`; did you mean 'gate'? known keys: name, description"),
        (
            START + "criteria:\n  - name: a\n    type: text_check\n    contians: x",
            "6: unknown key `contians`; did you mean 'contains'?",
        ),
        (
            START + "criteria:\n  - name: a\n    type: text_chek",
            "5: unknown type 'text_chek'; did you mean 'text_check'? known types: ",
        ),
        (START + "criteria:\n  - name: a\n    contains: x", "4: no `type`; known types: text_check"),
        (START + "criteria:\n  - type: text_check\n    contains: x", "4: `name` is missing"),
        (START + "criteria: [please]", "3: a criterion is a mapping with `name` and `type`"),
        (START + "criteria: {a: b}", "3: `criteria`: input should be a valid list"),
        (START + "criteria: []", "3: `criteria`: list should have at least 1 item"),
        (START, "1: `criteria`"),
        (START + ONE + "repeat: 0", "4: `repeat`: input should be greater than or equal to 1"),
        (
            START + ONE + "gate: 90",
            "4: `gate.pass_rate`: expected a rate above 0 and up to 1, such as 0.9, found 90; for 90 % write 0.9",
        ),
        (START + ONE + "gate: {pass_rate: 0}", "4: `gate.pass_rate`: a pass rate of 0 cannot fail"),
        (
            START + ONE + "gate: {\n  baseline: {max_regressions: 0}}",
            "5: `gate.baseline`: `baseline` is not in this version yet",
        ),
        (START + ONE + "prompt: {user: x}", "1: write a `target`, or `prompt` with `model`, not both"),
        (
            "golden_set: g.csv\n" + ONE + "prompt: {user: x}",
            "1: `prompt` and `model` belong together; `model` is missing",
        ),
        (
            ONE + "golden_set: g.csv\ntarget: {colum: a}",
            "3: a target has exactly one of: column, record, python, http; did you mean 'column'? found colum",
        ),
        (
            ONE + "golden_set: g.csv\ntarget: {column: a, record: b}",
            "3: a target has exactly one of: column, record, python, http; found column, record",
        ),
        (ONE + "golden_set: g.csv\ntarget: {column: a, stat: b}", "3: unknown key `stat`; did you mean 'state'?"),
        (
            ONE + "target: {column: a}\ngolden_set:\n  pyton: m:rows",
            "4: unknown key `golden_set.pyton`; did you mean 'python'? known keys: python",
        ),
        (
            ONE + "target: {column: a}\ngolden_set: 7",
            "3: `golden_set`: input should be a valid string or a valid dictionary",
        ),
        (
            ONE + "target: {column: a}\ngolden_set: {python: nowhere}",
            "3: `golden_set.python`: write module:rows, such as shop.data:rows",
        ),
        ("- a", "1: an eval file is a mapping with `golden_set`, `criteria` and a target"),
        ("", "1: an eval file is a mapping with `golden_set`, `criteria` and a target"),
    ],
)
def test_a_problem_names_the_line_and_what_to_do(told: Told, text: str, problem: str) -> None:
    (first, *more) = [line for line in told(text) if "`golden_set.python` is missing" not in line]
    assert first.startswith(f"shop.eval.yaml:{problem}")
    assert not more


MODEL = "golden_set: g.csv\nprompt: {user: x}\n" + ONE


@pytest.mark.parametrize(
    ("model", "problem"),
    [
        ("{provider: openai}", "`model.name` is missing"),
        (
            "{provider: openai, name: m, params: {temprature: 0}}",
            "unknown key `model.params.temprature`; did you mean 'temperature'?",
        ),
        (
            "{provider: openai, name: m, params: {temperature: -1}}",
            "`model.params.temperature`: input should be greater than or equal to 0",
        ),
        (
            "{provider: openai, name: m, params: {stop: 7}}",
            "`model.params.stop`: input should be a valid string or a valid list",
        ),
        ("{provider: openai, name: m, params: {stop: [7]}}", "`model.params.stop.0`: input should be a valid string"),
        (
            "{provider: openai, name: m, credential: sk-abcdefghijklmnopqrstuvw}",
            "`model.credential`: looks like a key; write the NAME",
        ),
    ],
)
def test_a_wrong_model(told: Told, model: str, problem: str) -> None:
    (line,) = told(MODEL + f"model: {model}")
    assert line.startswith(f"shop.eval.yaml:4: {problem}")
    assert "abcdefghijklmnopqrstuvw" not in line


def test_a_key_in_a_header_is_refused_and_not_repeated(told: Told) -> None:
    text = ONE + "golden_set: g.csv\ntarget: {http: {url: u, headers: {X-Api-Key: abcdefghijklmnopqrst}}}"
    (line,) = told(text)
    assert "the header 'X-Api-Key' seems to hold a key" in line
    assert "abcdefghijklmnopqrst" not in line


def test_all_problems_are_told_together(told: Told) -> None:
    lines = told(
        """\
        golden_set: g.csv
        prompt: {user: x, tols: []}
        model: {provider: openai}
        criteria:
          - {name: a, type: text_check, contians: x}
          - {name: b, type: nothing}
          - {name: c, type: json_check, valid: true, requred_keys: [a]}
        gate: {pass_rate: 2}
        reapeat: 3
        """
    )
    assert [line.split(": ")[0] for line in sorted(lines)] == [f"shop.eval.yaml:{n}" for n in (2, 3, 5, 6, 7, 8, 9)]


@pytest.mark.parametrize(
    ("first", "second", "words"),
    [
        ("polite", "polite", "two criteria are named 'polite'; the other is at shop.eval.yaml:4"),
        (
            "a b",
            "a-b",
            "two criteria are named 'a-b' and 'a b', the same in node ids; the other is at shop.eval.yaml:4",
        ),
    ],
)
def test_names_of_criteria_are_unique(told: Told, first: str, second: str, words: str) -> None:
    criteria = "".join(f"  - {{name: {name}, type: text_check, contains: x}}\n" for name in (first, second))
    assert told(f"{START}criteria:\n{criteria}") == [f"shop.eval.yaml:5: {words}"]


def test_a_criterions_id_is_safe_in_node_ids() -> None:
    assert [criterion_id(name) for name in ("polite", "año 1", "a::b[c]")] == ["polite", "año_1", "a__b_c_"]


class TestExtends:
    BASE = """\
        golden_set: g.csv
        model: {provider: openai, name: m, credential: KEY, params: {temperature: 0, seed: 1}}
        prompt: {system: Be brief., user: "{{ question }}"}
        criteria: [{name: brief, type: text_check, length: {max: 9}}]
        gate: {pass_rate: 0.9}
        """

    def test_mappings_merge_and_criteria_are_appended(self, load: Load) -> None:
        spec = load(
            "extends: base.eval.yaml\nmodel: {params: {seed: 2}}\ngate: {min_graded: 3}\n" + ONE, base=self.BASE
        )
        config = spec.config
        assert config.model is not None and config.gate is not None
        assert config.name == "shop"
        assert (config.model.name, config.model.params.as_mapping()) == ("m", {"temperature": 0, "seed": 2})
        assert (config.gate.pass_rate, config.gate.min_graded) == (0.9, 3)
        assert [criterion.name for criterion in config.criteria] == ["brief", "polite"]
        assert str(spec.place(("criteria", 0))) == "base.eval.yaml:4"
        assert str(spec.place(("criteria", 1))) == "shop.eval.yaml:4"
        assert str(spec.place(("model", "params", "seed"))) == "shop.eval.yaml:2"
        assert str(spec.place(("prompt", "user"))) == "base.eval.yaml:3"

    def test_a_problem_stands_in_the_file_that_has_it(self, told: Told) -> None:
        base = self.BASE.replace("length", "lenght")
        first, second = sorted(told("extends: base.eval.yaml\ngat: 1\n" + ONE, base=base))
        assert first.startswith("base.eval.yaml:4: unknown key `lenght`")
        assert second.startswith("shop.eval.yaml:2: unknown key `gat`")

    def test_a_chain(self, load: Load) -> None:
        spec = load("extends: middle.eval.yaml\n", middle="extends: base.eval.yaml\nrepeat: 3\n", base=self.BASE)
        assert (spec.config.repeat, spec.config.criteria[0].name) == (3, "brief")

    @pytest.mark.parametrize(
        ("text", "others", "problem"),
        [
            (
                "extends: base.eval.yaml",
                {},
                "shop.eval.yaml:1: `extends`: base.eval.yaml does not exist beside this file",
            ),
            ("a: 1\nextends: 7", {}, "shop.eval.yaml:2: `extends` is the path of another eval file"),
            (
                "extends: base.eval.yaml",
                {"base": "[1]"},
                "shop.eval.yaml:1: `extends`: base.eval.yaml is not a mapping",
            ),
            ("extends: base.eval.yaml", {"base": "a: [1"}, "base.eval.yaml:1: not valid YAML"),
            (
                "extends: base.eval.yaml",
                {"base": "name: b\nextends: shop.eval.yaml"},
                "base.eval.yaml:2: `extends` goes round in a circle: shop.eval.yaml -> base.eval.yaml -> shop",
            ),
        ],
    )
    def test_what_cannot_be_extended(self, told: Told, text: str, others: dict[str, str], problem: str) -> None:
        (line,) = told(text, **others)
        assert line.startswith(problem)
