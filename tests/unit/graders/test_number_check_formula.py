"""number_check with formulas: as what is expected, and as the target."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from pytest_verica.case import Case
from pytest_verica.errors import ConfigError
from pytest_verica.evals.fields import templates_of
from pytest_verica.graders.criterion import make_criterion
from pytest_verica.graders.protocol import BuildContext
from pytest_verica.judge.registry import KINDS
from pytest_verica.output import Output

ORDER = (
    '{"subtotal": 100, "total": 121, "none": [], "n": null,'
    ' "items": [{"qty": 2, "price": 10.1}, {"qty": 1, "price": 0.3}]}'
)

ADDED = {"formula": "=SUM(json.items.qty*json.items.price)"}

VERDICTS: list[tuple[dict[str, Any], str | None, dict[str, Any], str, str]] = [
    ({"equals": "=ROUND({{ subtotal }}*1.21, 2)"}, "121", {"subtotal": "100"}, "pass", "wanted equal to 121"),
    ({"equals": "=ROUND(subtotal*1.21, 2)"}, "121.01", {"subtotal": 100}, "fail", "is 121.01; wanted equal to 121"),
    ({"equals": "= json.subtotal*1.21", "target": {"json_path": "total"}}, ORDER, {}, "pass", "equal to 121"),
    ({"between": ["=a-1", "=a+1"]}, "3", {"a": 3}, "pass", "between 2 and 4"),
    ({"between": ["=a+1", "=a-1"]}, "3", {"a": 3}, "error", "reversed"),
    ({"equals": "=0.1+0.2"}, "0.3", {}, "pass", "equal to 0.3"),
    ({"comparison": "less", "expected": "=2^3"}, "7", {}, "pass", "less than 8"),
    ({"equals": "=a/3", "tolerance": 0.01}, "0.33", {"a": 1}, "pass", "(± 0.01)"),
    # as the target
    ({"equals": 20.5, "target": ADDED}, ORDER, {}, "pass", "'=SUM(json.items.qty*json.items.price)' is 20.5; wanted"),
    ({"equals": 20.6, "target": ADDED}, ORDER, {}, "fail", "is 20.5; wanted equal to 20.6"),
    ({"equals": 0, "target": {"formula": "=json.total-a"}}, ORDER, {"a": "121"}, "pass", "is 0"),
    ({"equals": "=a", "target": {"formula": "=LEN(output.text)"}}, "four", {"a": 4}, "pass", "is 4"),
    ({"equals": 5, "target": {"formula": '=SUBSTITUTE(output.text,"x","")'}}, "x5", {}, "pass", "is 5"),
    (
        {"equals": 5, "target": {"formula": "=output.text&\"\""}, "extract": "last"},
        "it is 4 or 5",
        {},
        "pass",
        "is 5",
    ),
    # an error value fails, with its code, its sub-expression and the values there
    (
        {"equals": "=ROUND(1/(a-100),2)"},
        "1",
        {"a": "100"},
        "fail",
        "the expected value '=ROUND(1/(a-100),2)' is #DIV/0! in `1/(a-100)`: a number was divided by zero "
        "(with (a-100) = 0)",
    ),
    ({"equals": "=json.tax"}, ORDER, {}, "fail", "is #REF! in `json.tax`: the output's JSON has no `tax`"),
    ({"equals": 1, "target": {"formula": "=json.tax*2"}}, ORDER, {}, "fail", "'=json.tax*2' is #REF! in `json.tax`"),
    ({"equals": 1, "target": {"formula": "=json.total"}}, "no JSON", {}, "fail", "the output is not JSON"),
    ({"equals": 1, "target": {"formula": "=MAX(json.none)"}}, ORDER, {}, "fail", "#VALUE! in `MAX(json.none)`"),
    ({"not_equals": 1, "target": {"formula": "=json.tax"}}, ORDER, {}, "fail", "#REF!"),
    ({"not_equals": 1, "target": {"formula": "=json.tax"}, "negate": True}, ORDER, {}, "fail", "#REF!"),
    ({"equals": "=json.tax", "negate": True}, ORDER, {}, "fail", "#REF!"),
    # no number
    ({"equals": 1, "target": {"formula": "=json.total>1"}}, ORDER, {}, "fail", "is true, a boolean, not a number"),
    ({"equals": 1, "target": {"formula": "=json.items.qty*2"}}, ORDER, {}, "fail", "an array of 2 elements, not"),
    ({"equals": 1, "target": {"formula": "=json.n"}}, ORDER, {}, "fail", "is empty, not a number"),
    ({"equals": "=json.n"}, ORDER, {}, "fail", "null, not a number"),
    ({"equals": "=name&\"\""}, "1", {"name": "x"}, "error", "the expected value '=name&\"\"' is 'x', not a number"),
    ({"equals": '=json.total&" euros"'}, ORDER, {}, "fail", "'121 euros', not a number"),
    # empty cells
    ({"equals": "=subtotal*1.21"}, "0", {"subtotal": ""}, "na", "no expected value"),
    ({"equals": "=subtotal*rate"}, "0", {"subtotal": None, "rate": " "}, "na", "no expected value"),
    ({"less": 5, "target": {"formula": "=json.total*rate"}}, ORDER, {"rate": ""}, "na", "every column of"),
    ({"less": 5, "target": {"formula": '=IF(rate="",1,2)'}}, ORDER, {"rate": ""}, "pass", "is 1"),
    ({"equals": "=subtotal*(1-discount)"}, "100", {"subtotal": 100, "discount": ""}, "pass", "equal to 100"),
    ({"equals": '=IF(discount="",100,90)'}, "100", {"discount": ""}, "pass", "equal to 100"),
    ({"equals": "=IF(a>0,a,\"\")"}, "1", {"a": 0}, "error", "not a number"),
]  # fmt: skip


@pytest.mark.parametrize(("keys", "output", "columns", "outcome", "says"), VERDICTS)
def test_verdicts(grade, keys, output, columns, outcome, says):
    result = grade({"type": "number_check", **keys}, output, columns)
    assert (result.outcome, result.score, result.label) == (outcome, None, None)
    assert says in result.explanation
    assert len(result.explanation) < 450 and result.explanation.isprintable()


REFUSED = [
    ({"equals": "=ROUN(a)"}, "there is no function `ROUN`; did you mean `ROUND`?"),
    ({"equals": "=1+"}, "ends too early"),
    ({"between": [1, "=("]}, "ends too early"),
    ({"equals": "=subtotl*1.21"}, "`subtotl` is not a column of the golden set; did you mean `subtotal`?"),
    ({"equals": "={{ subtotl }}"}, "`subtotl` is not a column of the golden set"),
    ({"equals": 1, "target": {"formula": "=subtotl+json.x"}}, "`subtotl` is not a column"),
    ({"equals": 1, "target": {"formula": "=output.txt"}}, "did you mean `output.text`?"),
    ({"equals": 1, "target": {"formula": "=1+1"}}, "looks at nothing"),
    ({"equals": 1, "target": {"formula": "1+1"}}, "a formula begins with `=`"),
    ({"equals": "=1/0"}, "#DIV/0!"),
    ({"equals": '="x"'}, "'x', not a number"),
    ({"between": ["=2+2", 3]}, "the lower bound 4 is above 3"),
]


@pytest.mark.parametrize(("keys", "says"), REFUSED)
def test_refused_before_launch(keys, says):
    config = KINDS["number_check"].config.model_validate({"name": "checked", "type": "number_check", **keys})
    context = BuildContext(Path("."), cases=[Case("row-0001", {"subtotal": 100, "a": 1})])
    with pytest.raises(ConfigError) as caught:
        make_criterion(config, KINDS, context)
    assert says in str(caught.value)


def test_a_formula_is_no_template_to_the_checks_of_templates():
    keys = {"name": "n", "type": "number_check", "between": ['={{ a }}&"{%"', "{{ b }}"], "value": "{{ c }}"}
    config = KINDS["number_check"].config.model_validate(keys)
    assert list(templates_of(config)) == [(("value",), "{{ c }}"), (("between", 1), "{{ b }}")]


# The number behind the last "A: ", found by counting how often it is there.
FINAL_ANSWER = (
    '=VALUE(MID(output.text, FIND("§", SUBSTITUTE(output.text, "A: ", "§",'
    ' (LEN(output.text) - LEN(SUBSTITUTE(output.text, "A: ", ""))) / 3)) + 3, 99))'
)

GSM8K = [
    {"equals": "=VALUE(answer)", "target": {"formula": FINAL_ANSWER}},
    {"equals": "=VALUE(answer)", "target": {"formula": "=TRIM(output.text)"}, "extract": "last"},
    {"equals": 1, "target": {"formula": f"=IF({FINAL_ANSWER[1:]} = VALUE(answer), 1, 0)"}},
]


@pytest.mark.parametrize("model", ["6b_finetuning", "6b_verification", "175b_finetuning", "175b_verification"])
@pytest.mark.parametrize("keys", GSM8K)
def test_a_formula_reproduces_the_published_verdicts_of_gsm8k(build, shared_data, model, keys):
    """Published for each solution with openai/grade-school-math: is it correct? See SOURCES.md beside the data."""
    rows = _gsm8k(shared_data)
    criterion = build({"type": "number_check", **keys})
    found = [criterion.grade(Case(str(row["index"]), row), Output(row[model]["solution"])).passed for row in rows]
    assert found == [row[model]["is_correct"] for row in rows]
    assert len(found) == 200


def _gsm8k(shared_data: Path) -> list[dict[str, Any]]:
    lines = (shared_data / "gsm8k" / "model_solutions_200.jsonl").read_text("utf-8").splitlines()
    return [json.loads(line) for line in lines]
