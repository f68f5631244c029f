"""What names stand for, lists, error values with their place, and the limits."""

from __future__ import annotations

from decimal import Decimal

import pytest

from pytest_verica.case import Case
from pytest_verica.formula import FormulaError, compile_formula, shown
from pytest_verica.formula.formula import Formula
from pytest_verica.output import Output
from pytest_verica.template import Scope
from pytest_verica.tool_calls import ToolCall

COLUMNS = {
    "subtotal": "100",
    "rate": 0.21,
    "name": "Pen",
    "zip": "00123",
    "odd name": 7,
    "blank": "",
    "many": [1, 2, 3],
    "texts": ["10", "x", "2.5"],
    "when": "2024-02-29",
    "order": {"lines": [{"qty": 2}, {"qty": 3}]},
    "json": 5,
}
OUTPUT = (
    '{"total": 121.0, "paid": true, "note": null, "none": [],'
    ' "items": [{"price": 10, "qty": 2}, {"price": 0.5, "qty": 3}]}'
)

VALUES = [
    ("={{ subtotal }}*1.21", "121"),
    ("=subtotal*1.21", "121"),
    ("=ROUND(1.21*subtotal,2)", "121"),
    ("=json.total", "121"),
    ("=output.json.total - {{ output.json.total }}", "0"),
    ("=json.items[0].price", "10"),
    ("=json.items[-1].qty", "3"),
    ("=SUM(json.items.qty*json.items.price)", "21.5"),
    ("=SUM(output.json.items.price)", "10.5"),
    ("=SUM(order.lines.qty)", "5"),
    ('=case["odd name"]+1', "8"),
    ("=case.json+1", "6"),
    ("=LEN(output.text)", str(len(OUTPUT))),
    ("=LEN(output)", str(len(OUTPUT))),
    ("=COUNTA(json.items)", "2"),
    ("=COUNT(json.items)", "0"),
    ("=COUNTA(json.none)", "0"),
    ("=SUM(json.none)", "0"),
    ("=SUM(json.none*2)", "0"),
    ("=IF(json.paid,1,2)", "1"),
    ("=json.note+1", "1"),
    ("=blank+1", "1"),
    ('=IF(blank="",1,2)', "1"),
    ("=IFERROR(json.tax,9)", "9"),
    ("=INDEX(many,2)", "2"),
    # A cell whose text is a number is that number, as where a sheet opens the file.
    ("=SUM(texts)", "12.5"),
    ("=MAX(texts)", "10"),
    ("=IF(subtotal>50,1,2)", "1"),
    ("=IF(subtotal=100,1,2)", "1"),
    ("=LEN(zip)", "5"),
    ('=COUNTIF(texts,">5")', "1"),
    ("=MATCH(10,texts,0)", "1"),
    ("=IF(when>DATE(2024,2,28),1,2)", "1"),
    ('=IF(when="2024-02-29",1,2)', "1"),
    ("=YEAR(when)", "2024"),
]


@pytest.mark.parametrize(("formula", "right"), VALUES)
def test_values(value_of, formula, right):
    assert value_of(formula, COLUMNS, OUTPUT) == Decimal(right)


ERRORS = [
    ("=1/(subtotal-100)", "#DIV/0!", "1/(subtotal-100)", "(subtotal-100) = 0"),
    ("=ROUND(10/subtotal/(rate-0.21)+1,2)", "#DIV/0!", "10/subtotal/(rate-0.21)", "10/subtotal = 0.1, (rate-0.21) = 0"),
    ("=name*2", "#VALUE!", "name*2", 'name = "Pen"'),
    ("=many+texts+1", "#VALUE!", "many+texts+1", "many+texts = {11, #VALUE!, 5.5}"),
    ("=SUM(many*json.items.qty)", "#VALUE!", "many*json.items.qty", "many = {1, 2, 3}, json.items.qty = {2, 3}"),
    ("=json.tax+1", "#REF!", "json.tax", ""),
    ("=json.items.tax", "#REF!", "json.items.tax", ""),
    ("=order.nope", "#REF!", "order.nope", ""),
    ("=order+1", "#VALUE!", "order", ""),
    ("=json.items+1", "#VALUE!", "json.items", ""),
    ("=nothing+1", "#NAME?", "nothing", ""),
    ("=output.state", "#REF!", "output.state", ""),
    ("=INDEX(many,9)", "#REF!", "INDEX(many,9)", "many = {1, 2, 3}"),
    ("=MATCH(9,many,0)", "#N/A", "MATCH(9,many,0)", "many = {1, 2, 3}"),
    ("=XLOOKUP(9,many,texts)", "#N/A", "XLOOKUP(9,many,texts)", "many = "),
    ("=MAX(json.none)", "#VALUE!", "MAX(json.none)", "json.none = {}"),
    ("=AVERAGE(json.none)", "#DIV/0!", "AVERAGE(json.none)", "json.none = {}"),
    ("=SQRT(0-subtotal)", "#NUM!", "SQRT(0-subtotal)", "0-subtotal = -100"),
    ("=many*many>0&LEFT(name,-1)", "#NUM!", "LEFT(name,-1)", 'name = "Pen", -1 = -1'),
]


@pytest.mark.parametrize(("formula", "code", "source", "values"), ERRORS)
def test_error_values_have_a_code_a_place_and_values(value_of, formula, code, source, values):
    found = value_of(formula, COLUMNS, OUTPUT)
    while isinstance(found, tuple):
        found = next(item for item in found if isinstance(item, (FormulaError, tuple)))
    assert isinstance(found, FormulaError)
    assert (found.code, formula[found.start : found.end]) == (code, found.source)
    if not source.startswith("many+texts"):
        assert found.source == source
        assert values.replace(", -1 = -1", "") in str(found)
    assert str(found).startswith(f"{code} in `{found.source}`: ") and str(found).isprintable()


def test_the_first_error_is_the_result(value_of):
    assert value_of("=1/0+SQRT(-1)").code == "#DIV/0!"
    assert value_of("=SQRT(-1)+1/0").code == "#NUM!"
    assert value_of("=SUM(1,1/0,SQRT(-1))").code == "#DIV/0!"


def test_without_an_output_its_parts_are_missing(value_of):
    assert value_of("=json.total", COLUMNS).code == "#REF!"
    assert value_of("=json.total", COLUMNS, "no JSON").code == "#REF!"
    assert "the output is not JSON" in value_of("=json.total", COLUMNS, "no JSON").reason


def test_a_list_is_the_value_where_the_formula_gives_one(value_of):
    assert value_of("=many*2", COLUMNS) == (Decimal(2), Decimal(4), Decimal(6))
    assert value_of("=many>1", COLUMNS) == (False, True, True)
    assert value_of('=IF(many>1,"a",many)', COLUMNS) == (Decimal(1), "a", "a")
    assert value_of("=IF(TRUE,many,0)", COLUMNS) == (Decimal(1), Decimal(2), Decimal(3))
    assert value_of("=IF(FALSE,many,5)", COLUMNS) == 5


def test_errors_in_a_list_stay_in_their_places(value_of):
    found = value_of("=1/(many-2)", COLUMNS)
    assert [isinstance(item, FormulaError) for item in found] == [False, True, False]
    assert value_of("=SUM(IFERROR(1/(many-2),0))", COLUMNS) == 0
    assert value_of("=COUNT(1/(many-2))", COLUMNS) == 2


def test_lists_of_different_lengths_do_not_combine(value_of):
    found = value_of("=SUM(many*pair)", {**COLUMNS, "pair": [1, 2]})
    assert found.code == "#VALUE!" and "the lists have different lengths: 2, 3" in found.reason
    assert value_of("=SUM(many*one)", {**COLUMNS, "one": [1]}).code == "#VALUE!"
    assert value_of("=SUMIF(many,1,pair)", {**COLUMNS, "pair": [1, 2]}).code == "#VALUE!"


def test_nested_arrays_are_one_list(value_of):
    assert value_of("=SUM(m)", {"m": [[1, 2], [3, [4]]]}) == 10
    deep: list = [1]
    for _ in range(5000):
        deep = [deep, 1]
    assert value_of("=SUM(m)", {"m": deep}) == 5001


def test_tool_calls_can_be_counted(value_of):
    output = Output("x", tool_calls=(ToolCall("a", {"n": 2}), ToolCall("b", {"n": 3})), tool_calls_recorded=True)
    assert value_of("=COUNTA(output.tool_calls)", {}, output) == 2
    assert value_of("=SUM(output.tool_calls.arguments.n)", {}, output) == 5


def test_numbers_of_json_stay_exact(value_of):
    assert value_of("=json.n+1", {}, '{"n": 12345678901234567890}') == 12345678901234567891
    assert value_of("=json.n*3", {}, '{"n": 0.1}') == Decimal("0.3")
    assert value_of("=json.n+1", {}, '{"n": 1' + "0" * 400 + "}").code == "#NUM!"


def test_100_000_elements_and_no_more(value_of):
    assert value_of("=SUM(v)", {"v": [1] * 100_000}) == 100_000
    found = value_of("=IFERROR(SUM(v),0)", {"v": [1] * 100_001})
    assert found.code == "#NUM!" and "at most 100,000 elements" in str(found)


def test_lists_in_lists_of_work_end(value_of):
    """Each element of one list is looked up in another: 10 million comparisons are refused, not made."""
    found = value_of("=SUM(MATCH(v,v,0))", {"v": list(range(3200))})
    assert found.code == "#NUM!" and "1,000,000 list elements in all" in str(found)
    assert value_of("=SUM(COUNTIF(v,v))", {"v": list(range(100))}) == 100


def test_texts_do_not_grow_without_end(value_of):
    text = "a" * 1000
    for formula in (
        '=SUBSTITUTE(SUBSTITUTE(t,"a",t),"a",t)',
        '=LEN(SUBSTITUTE(SUBSTITUTE(t,"a",t),"a",t))',
        f"={'&'.join(['u'] * 20)}",
        f"=CONCAT({','.join(['u'] * 20)})",
        "=TEXTJOIN(u,FALSE,1,2,3,4,5,6,7,8,9,10,11,12)",
    ):
        found = value_of(formula, {"t": text, "u": text * 100})
        assert found.code == "#NUM!" and "at most 1,000,000 characters" in str(found)


def test_a_large_output_is_read(value_of):
    assert value_of("=LEN(output.text)", {}, "x" * 10_000_000) == 10_000_000
    assert value_of('=IFERROR(SEARCH("*y*y*y*y*z",output.text),0)', {}, "y" * 1_000_000) == 0


STRANGE = ["\ud800", "\x00", "İ", "ß", "e\u0301", "שלום", "😀", "\u202e"]


@pytest.mark.parametrize("text", STRANGE)
def test_strange_texts(value_of, text):
    columns = {"a": text, "b": f"x{text}y"}
    assert value_of("=a=a", columns) is True
    assert value_of("=LEN(a)", columns) == len(text)
    assert value_of('=COUNTIF(b,"x*y")', columns) == 1
    assert value_of("=EXACT(UPPER(LOWER(a)),a)", columns) in (True, False)
    assert value_of("=SEARCH(a,b)", columns) in (2, value_of("=FIND(a,b)", columns))
    found = value_of("=a+1", columns)
    assert found.code == "#VALUE!" and str(found).isprintable()


def test_the_trace_shows_each_sub_expression():
    formula = compile_formula("=ROUND(1.21 * subtotal, 2) - json.total")
    lines = formula.trace(Scope(Case("a", COLUMNS), Output(OUTPUT)))
    assert [(line.source, shown(line.value)) for line in lines] == [
        ("subtotal", '"100"'),
        ("1.21 * subtotal", "121"),
        ("ROUND(1.21 * subtotal, 2)", "121"),
        ("json.total", "121"),
        ("ROUND(1.21 * subtotal, 2) - json.total", "0"),
    ]
    assert [line.source for line in compile_formula("=1+1").trace(Scope(Case("a", {})))] == ["1+1"]
    assert [line.source for line in compile_formula("=1").trace(Scope(Case("a", {})))] == ["1"]


def test_what_a_formula_says_of_itself():
    formula = compile_formula('=IF(a="", 0, {{ b }} + case.c + json.x)')
    assert isinstance(formula, Formula)
    assert formula.columns == {"a", "b", "c"}
    assert (formula.needs_output, formula.chooses) == (True, True)
    assert not compile_formula("=a+1").needs_output and not compile_formula("=a+1").chooses
