"""Templates: how names render, how they are found before launch, and that data is never a template."""

from __future__ import annotations

import json
import subprocess
import sys
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_verica.case import Case
from pytest_verica.errors import MissingOutput, TemplateError
from pytest_verica.output import Output, ToolCall
from pytest_verica.template import Scope, compile_template, is_missing, text_of

CASE = Case(
    "order-17",
    {
        "question": "Where is {{ it }}? {% raw %}",
        "price": 3.0,
        "blank": " \t",
        "nothing": None,
        "order": {"items": [{"sku": "a", "n": 1}, {"sku": "b", "n": 2.5}], "note": None, "odd key": "o"},
        "flag": True,
        "año": "2024",
    },
)
OUTPUT = Output(
    text='```json\n{"kind": "refund", "lines": [{"n": 1}, {"n": 2}], "none": null}\n```',
    tool_calls=(ToolCall("lookup", {"id": 7}, '{"id": 7}', "c1"), ToolCall("broken", None, "{", "c2")),
    steps=[{"tool": "lookup"}],
    state={"refunds": {"17": "done"}},
    spans={"name": "root", "children": []},
    stop_reason="stop",
)
SCOPE = Scope(CASE, OUTPUT)
OPENAI_CALLS = [
    {"id": "c1", "type": "function", "function": {"name": "lookup", "arguments": '{"id": 7}'}},
    {"id": "c2", "type": "function", "function": {"name": "broken", "arguments": "{"}},
]
CALLS = [{"name": "lookup", "arguments": {"id": 7}}, {"name": "broken", "arguments": "{"}]


def compact(value):
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


# (template, value with its type, text); the text is that of `text_of` where it is None
NAMES = [
    ("{{ question }}", CASE["question"], None),
    ("{{question}}", CASE["question"], None),
    ("{{ case.question }}", CASE["question"], None),
    ("{{ item.question }}", CASE["question"], None),
    ('{{ case["question"] }}', CASE["question"], None),
    ("{{ price }}", 3.0, "3"),
    ("{{ blank }}", None, ""),
    ("{{ nothing }}", None, ""),
    ("{{ nothing.inside }}", None, ""),
    ("{{ flag }}", True, "true"),
    ("{{ año }}", "2024", None),
    ("{{ an\u0303o }}", "2024", None),  # the decomposed form of the same letters
    ("{{ order }}", CASE["order"], compact(CASE["order"])),
    ("{{ order.items[1].n }}", 2.5, "2.5"),
    ("{{ order.items.sku }}", ["a", "b"], '["a","b"]'),
    ("{{ order.note }}", None, ""),
    ('{{ order["odd key"] }}', "o", None),
    ("{{ output.text }}", OUTPUT.text, None),
    ("{{ output }}", OUTPUT.text, None),
    ("{{ sample.output_text }}", OUTPUT.text, None),
    ("{{ output.json.kind }}", "refund", None),
    ("{{ sample.output_json.kind }}", "refund", None),
    ("{{ output.json.lines[-1].n }}", 2, "2"),
    ("{{ output.json.lines.n }}", [1, 2], "[1,2]"),
    ("{{ output.json.none }}", None, ""),
    ("{{ output.tool_calls }}", CALLS, compact(CALLS)),
    ("{{ output.tool_calls[0].name }}", "lookup", None),
    ("{{ sample.output_tools }}", OPENAI_CALLS, compact(OPENAI_CALLS)),
    ("{{ sample.output_tools[0].function.name }}", "lookup", None),
    ("{{ output.steps }}", [{"tool": "lookup"}], '[{"tool":"lookup"}]'),
    ('{{ output.state.refunds["17"] }}', "done", None),
    ("{{ output.stop_reason }}", "stop", None),
    ("{{ trajectory }}", OUTPUT.spans, '{"name":"root","children":[]}'),
    ("{{ trajectory.name }}", "root", None),
]


@pytest.mark.parametrize(("source", "value", "text"), NAMES)
def test_a_name_has_a_value_and_a_text(source, value, text):
    template = compile_template(source)
    assert template.value(SCOPE) == value and type(template.value(SCOPE)) is type(value)
    assert template.render(SCOPE) == (value if text is None else text)
    assert template.problems(CASE.columns, output=True) == []


@pytest.mark.parametrize(("source", "value", "text"), NAMES)
def test_jinja2_gives_the_same_text(source, value, text):
    # A comment makes the template one that only jinja2 reads.
    template = compile_template("{# rich #}" + source)
    assert template.render(SCOPE) == (value if text is None else text)
    assert template.columns == compile_template(source).columns
    assert template.needs_output is compile_template(source).needs_output


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ("", ""),
        ("no names\n", "no names\n"),
        ('{"a": {"b": 1}}', '{"a": {"b": 1}}'),  # braces of JSON stand for themselves
        ("Q: {{ question }}\nA: {{ price }}€\n", f"Q: {CASE['question']}\nA: 3€\n"),
        ("{{{{ price }}", None),
        ("{{ price }}}", "3}"),
        ("{{ question | upper }}", CASE["question"].upper()),
        ("{{ question.upper() }}", CASE["question"].upper()),
        ("{{ price + 1 }}", "4"),
        ("{{ price ~ ' EUR' }}", "3 EUR"),
        ("{{ order ~ '!' }}", compact(CASE["order"]) + "!"),
        ("{{ blank | upper }}{{ order.note | upper }}", ""),
        ("{{ 'yes' if blank else 'no' }}", "no"),
        ("{% for line in order.items %}{{ loop.index }}{{ line.sku }} {% endfor %}", "1a 2b "),
        ("{% for key in order %}{{ key }},{% endfor %}", "items,note,odd key,"),
        ("{{ order.items | map(attribute='n') }}", "[1,2.5]"),
        ("{{ order.items.n | sum }}", "3.5"),
        ("{{ order.missing | default('none') }}", "none"),
        ("{{ output.json.lines | length }}", "2"),
        ("{% if output.json.kind == 'refund' %}R{% endif %}", "R"),
        ("{{ '<b>' | tojson }}", '"<b>"'),  # text for a model, not HTML
        ("{% raw %}{{ x }}{% endraw %}", "{{ x }}"),
        ("{{- price -}}  ", "3"),
        ("{% set p = price %}{{ p }}", "3"),
    ],
)
def test_renders(source, text):
    if text is None:
        with pytest.raises(TemplateError):
            compile_template(source)
    else:
        assert compile_template(source).render(SCOPE) == text


@pytest.mark.parametrize(
    ("source", "value"),
    [
        ("{{ price + 1 }}", 4),
        (" {{ order.items }}\n", CASE["order"]["items"]),
        ("{{ output.json.lines | length }}", 2),
        ("{{ question }}!", CASE["question"] + "!"),
        ("{{ flag }}{{ flag }}", "truetrue"),
        ("{{ blank | trim }}", None),
        ("{{ order.items | selectattr('n', 'gt', 1) | list }}", [{"sku": "b", "n": 2.5}]),
        ("{{ output | lower }}", OUTPUT.text.lower()),
        ("{% if flag %}1{% endif %}", "1"),
    ],
)
def test_one_expression_keeps_its_type(source, value):
    found = compile_template(source).value(SCOPE)
    assert found == value and type(found) is type(value)


def test_finds_its_names():
    template = compile_template("{{ question }} {{ case.price }} {{ item.order.items[0] }} {{ output.text }}")
    assert template.columns == {"question", "price", "order"} and template.needs_output
    rich = compile_template("{% for i in order.items if flag %}{{ i.x }}{{ price | int }}{% endfor %}")
    assert rich.columns == {"order", "flag", "price"} and not rich.needs_output


@pytest.mark.parametrize(
    ("source", "output", "says"),
    [
        ("{{ qestion }}", False, ["`qestion`", "did you mean `question`?", "known names: question, kind"]),
        ("{{ case.qestion }}", False, ["`qestion`", "did you mean `question`?"]),
        ("{{ qestion | upper }}", False, ["`qestion`", "did you mean `question`?"]),
        ("{% if item.knd %}{% endif %}", False, ["`knd`", "did you mean `kind`?"]),
        ("{{ ouput.text }}", True, ["`ouput`", "did you mean `output`?"]),
        ("{{ output.txt }}", True, ["`output.txt`", "did you mean `output.text`?", "output.tool_calls"]),
        ("{{ sample.output_txt }}", True, ["did you mean `sample.output_text`?"]),
        ("{{ sample }}", True, ["`sample`", "sample.output_text"]),
        ("{{ output.text }}", False, ["`output.text`", "criteria only"]),
        ("{{ trajectory }}", False, ["`trajectory`", "criteria only"]),
        ("{{ output.text | upper }}", False, ["`output.text`", "criteria only"]),
        ("{{ output_rating }}", True, ["`output_rating`", "people fill in"]),
        ("{{ verica_label_tone }}", True, ["`verica_label_tone`", "people fill in"]),
    ],
)
def test_problems_are_found_without_rendering(source, output, says):
    columns = ["question", "kind", "output_rating", "verica_label_tone"]
    problems = compile_template(source).problems(columns, output=output)
    assert len(problems) == 1
    for words in says:
        assert words in problems[0]


def test_a_column_called_trajectory_is_reached_through_the_case():
    scope = Scope(Case("a", {"trajectory": "mine"}), OUTPUT)
    assert compile_template("{{ case.trajectory }}").render(scope) == "mine"
    (problem,) = compile_template("{{ trajectory }}").problems(["trajectory"], output=False)
    assert "{{ case.trajectory }}" in problem


@pytest.mark.parametrize(
    ("source", "output", "says"),
    [
        ("{{ output.json.a }}", Output(text="Hello"), ["not JSON", "line 1, column 1"]),
        ("{{ output.json.a | upper }}", Output(text="Hello"), ["not JSON"]),
        ("{{ output.json }}", Output(text='{"a": 1} and prose'), ["not JSON", "Extra data"]),
        ("{{ output.json.b }}", Output(text='{"a": 1}'), ["`b`", "an object with key a"]),
        ("{{ output.json.a.b }}", Output(text='{"a": 1}'), ["`a.b`", "`a` is the number 1"]),
        ("{{ output.json.b | upper }}", Output(text='{"a": 1}'), ["'b'", "an object with key a"]),
        ("{{ output.json.a.b | upper }}{{ price }}", Output(text='{"a": {}}'), ["'b'", "an empty object"]),
        ("{{ output.tool_calls[0].name }}", Output(text="x"), ["tool_calls", "an empty array"]),
        ("{{ output.state.x }}", Output(text="x"), ["state", "null"]),
        ("{{ output.json.a }}", Output(), ["no text"]),
        ("{{ output.text }}", None, ["no output"]),
        ("{{ output.text | upper }}", None, ["no output"]),
    ],
)
def test_a_missing_part_of_the_output_is_named(source, output, says):
    template = compile_template(source)
    for act in (template.render, template.value):
        with pytest.raises(MissingOutput) as caught:
            act(Scope(CASE, output))
        for words in says:
            assert words in str(caught.value)


@pytest.mark.parametrize(
    "source",
    ["{{ order.missing }}", "{{ order.missing | upper }}", "{{ question.x }}", "{{ output.text }}{{ order.x|int }}"],
)
def test_a_missing_part_of_a_column_is_no_fault_of_the_output(source):
    with pytest.raises(TemplateError, match="'order-17'"):
        compile_template(source).render(SCOPE)


def test_a_structured_answer_is_json_and_text():
    scope = Scope(CASE, Output(data={"a": [1, 2.0]}))
    assert compile_template("{{ output.json.a[0] }}").value(scope) == 1
    assert compile_template("{{ output.text }}").render(scope) == '{"a":[1,2.0]}'


@pytest.mark.parametrize(
    ("source", "says"),
    [
        ("first\n{{ a b }}", ["line 2"]),
        ("{{ a", ["line 1"]),
        ("{% if %}", ["line 1"]),
        ("\n\n{{ a | nofilter }}", ["line 3", "nofilter"]),
        ("{% include 'other' %}", ["line 1", "cannot be included"]),
        ("{{ }}", ["line 1"]),
    ],
)
def test_a_syntax_error_has_its_line(source, says):
    with pytest.raises(TemplateError) as caught:
        compile_template(source)
    for words in says:
        assert words in str(caught.value)


@pytest.mark.parametrize(
    "source",
    ["{{ question.__class__.__mro__ | list }}", "{{ ''.__class__ | string }}", "{{ [].append(1) }}", "{{ 1/0 }}"],
)
def test_the_sandbox_and_failing_expressions_give_one_error(source):
    with pytest.raises(TemplateError):
        compile_template(source).render(SCOPE)


def test_simple_templates_do_not_import_jinja2():
    code = (
        "import sys; from pytest_verica.template import compile_template, Scope; from pytest_verica.case import Case;"
        "assert compile_template('{{ a }} and {{ case.b.c[0] }}').render(Scope(Case('x', {'a': 1, 'b': {'c': [2]}})))"
        " == '1 and 2'; assert 'jinja2' not in sys.modules"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("x ", "x "),
        (None, ""),
        (True, "true"),
        (3, "3"),
        (3.0, "3"),
        (-0.5, "-0.5"),
        (1e22, "1e+22"),
        (Decimal("3.10"), "3.1"),
        (Decimal("100"), "100"),
        (Decimal("1E+2"), "100"),
        ({"ñ": [1, None, True]}, '{"ñ":[1,null,true]}'),
        ((1, "a"), '[1,"a"]'),
        ({"case": Case("a", {"x": 1})}, '{"case":{"x":1}}'),
    ],
)
def test_text_of(value, text):
    assert text_of(value) == text


@pytest.mark.parametrize(
    ("value", "missing"), [(None, True), ("", True), (" \n", True), ("x", False), (0, False), ([], False)]
)
def test_is_missing(value, missing):
    assert is_missing(value) is missing


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=8,
)


@given(VALUES)
def test_containers_render_as_their_own_json(value):
    text = text_of(value)
    if isinstance(value, (dict, list)):
        assert json.loads(text) == value
    elif isinstance(value, float):
        assert float(text) == value and not text.endswith(".0")


@given(st.text())
def test_data_is_never_a_template(cell):
    shown = "" if is_missing(cell) else cell
    scope = Scope(Case("a", {"cell": cell}), Output(text=cell))
    assert compile_template("<{{ cell }}>").render(scope) == f"<{shown}>"
    assert compile_template("<{{ output.text }}>").render(scope) == f"<{cell}>"
    assert compile_template("{# rich #}<{{ cell }}>").render(scope) == f"<{shown}>"
