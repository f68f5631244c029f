"""`verica formula`."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.unit.cli.conftest import Verica

GOLDEN = 'id,subtotal,note\norder-1,100,x\n7,59.90,"two\nlines"\nlast,,y\n'


@pytest.fixture(autouse=True)
def files(tmp_path: Path) -> None:
    (tmp_path / "golden.csv").write_text(GOLDEN)
    (tmp_path / "rows.jsonl").write_text('{"subtotal": 1}\n{"subtotal": 2}\n')
    (tmp_path / "out.json").write_text('{"total": 72.48, "items": [{"qty": 2}, {"qty": 3}]}')


def test_each_sub_expression_is_shown_once_with_its_value(run: Verica) -> None:
    result = run("formula", "=ROUND(1.21*subtotal,2)-json.total", "--case", "golden.csv:3", "--output", "out.json")
    assert result.exit_code == 0
    assert result.output.splitlines() == [
        "=ROUND(1.21*subtotal,2)-json.total",
        '  subtotal                "59.90"',
        "  1.21*subtotal           72.479",
        "  ROUND(1.21*subtotal,2)  72.48",
        "  json.total              72.48",
        "= 0",
    ]


WORKED_OUT = [
    (["=1+1"], "=1+1\n= 2\n"),
    (["=1"], "=1\n= 1\n"),
    (["=SUM(json.items.qty)", "--output", "out.json"], "=SUM(json.items.qty)\n  json.items.qty  {2, 3}\n= 5\n"),
    (
        ["=subtotal+subtotal*2", "--case", "golden.csv:2"],
        '=subtotal+subtotal*2\n  subtotal    "100"\n  subtotal*2  200\n= 300\n',
    ),
    (["=note", "--case", "golden.csv:2"], '=note\n= "x"\n'),
    (["=LEN(note)", "--case", "golden.csv:4"], '=LEN(note)\n  note  "two\\nlines"\n= 9\n'),  # its row begins in line 3
    (["=note", "--case", "golden.csv:7"], '=note\n= "two\\nlines"\n'),  # no such line: an id
    (["=note", "--case", "golden.csv:last"], '=note\n= "y"\n'),
    (["=subtotal", "--case", "golden.csv:5"], "=subtotal\n= empty\n"),
    (["=subtotal", "--case", "rows.jsonl:2"], "=subtotal\n= 2\n"),
    (["=LEN(output.text)", "--output", "golden.csv"], None),
    (['="\ud800"'], '="\\ud800"\n= "\\ud800"\n'),
]


@pytest.mark.parametrize(("arguments", "printed"), WORKED_OUT)
def test_what_is_worked_out(run: Verica, arguments: list[str], printed: str | None) -> None:
    result = run("formula", *arguments)
    assert result.exit_code == 0
    assert printed is None or result.output == printed


def test_an_error_value_ends_with_1(run: Verica) -> None:
    result = run("formula", "=1/(subtotal-100)", "--case", "golden.csv:2")
    assert result.exit_code == 1
    assert result.output.splitlines()[-1] == (
        "= #DIV/0! in `1/(subtotal-100)`: a number was divided by zero (with (subtotal-100) = 0)"
    )


REFUSED = [
    (["=1+"], "ends too early", "       ^"),
    (["=ROUN(1)"], "did you mean `ROUND`?", "     ^^^^"),
    (["=subtotl", "--case", "golden.csv:2"], "`subtotl` is not a column of the golden set", "     ^^^^^^^"),
    (["=1", "--case", "golden.csv:99"], "no case stands there; the cases begin in the lines 2 to 5", None),
    (["=1", "--case", "golden.csv:1"], "no case stands there", None),
    (["=1", "--case", "golden.csv"], "write the file and the line of the case", None),
    (["=1", "--case", "nothing.csv:2"], "there is no such file", None),
]


@pytest.mark.parametrize(("arguments", "says", "carets"), REFUSED)
def test_what_is_wrong_is_said(run: Verica, arguments: list[str], says: str, carets: str | None) -> None:
    result = run("formula", *arguments)
    assert result.exit_code == 1 and says in result.output and "Traceback" not in result.output
    assert carets is None or carets in result.output.splitlines()


def test_without_an_output_its_parts_are_missing(run: Verica) -> None:
    result = run("formula", "=json.total")
    assert result.exit_code == 1 and "= #REF! in `json.total`: there is no output" in result.output
