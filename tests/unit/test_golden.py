"""Golden sets: formats, rules of columns and ids, and what each error says. Real files: test_golden_real.py."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from decimal import Decimal

import pytest

from pytest_verica.errors import GoldenSetError
from pytest_verica.golden import golden_set_from_rows, load_golden_set


@pytest.fixture
def load(tmp_path):
    """Writes a file and reads it as a golden set."""

    def load(name, content):
        data = content if isinstance(content, bytes) else content.encode("utf-8")
        (tmp_path / name).write_bytes(data)
        return load_golden_set(name, tmp_path)

    return load


def rows(golden):
    return [dict(case) for case in golden]


TWO = [{"q": "one", "a": "1"}, {"q": "two", "a": "2"}]


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("x.csv", "q,a\none,1\ntwo,2\n"),
        ("x.CSV", "q,a\none,1\ntwo,2"),
        ("x.csv", b"\xef\xbb\xbfq,a\r\none,1\r\ntwo,2\r\n"),
        ("x.csv", "q;a\none;1\ntwo;2\n"),
        ("x.csv", "q\ta\none\t1\ntwo\t2\n"),
        ("x.tsv", "q\ta\none\t1\ntwo\t2\n"),
        ("x.csv", '"q","a"\n"one","1"\n\ntwo,2\n'),
        ("x.csv", "q,a\rone,1\rtwo,2\r"),
        ("x.jsonl", '{"q":"one","a":"1"}\n\n{"q":"two","a":"2"}\n'),
        ("x.jsonl", b'\xef\xbb\xbf{"q":"one","a":"1"}\r\n{"q":"two","a":"2"}'),
        ("x.json", '[{"q":"one","a":"1"},\n {"q":"two","a":"2"}]'),
        ("x.yaml", "- q: one\n  a: '1'\n- {q: two, a: '2'}\n"),
        ("x.yml", '[{"q":"one","a":"1"}, {"q":"two","a":"2"}]'),
    ],
)
def test_the_same_rows_from_any_text_format(load, name, content):
    golden = load(name, content)
    assert rows(golden) == TWO
    assert golden.columns == ("q", "a") and golden.warnings == ()
    assert [case.id for case in golden] == ["row-0001", "row-0002"]
    assert (len(golden), golden.size, golden.path, golden[1].position) == (2, 2, name, 1)
    assert golden.snapshot_hash == golden_set_from_rows(TWO, "x").snapshot_hash


@pytest.mark.parametrize(
    ("content", "found"),
    [
        ('q,a\n"two\nlines",x\n', {"q": "two\nlines", "a": "x"}),
        ('q,a\n"a ""quoted"", word",x\n', {"q": 'a "quoted", word', "a": "x"}),
        ("q,a\n1.50,\n", {"q": "1.50", "a": ""}),  # text, as written; an empty cell is missing
        ("q;a\nx, y; z\n", {"q": "x, y", "a": " z"}),
        ("q,a\nx;y,z\n", {"q": "x;y", "a": "z"}),
        ("q\nx;y\n", {"q": "x;y"}),  # one column: the rows do not choose the separator
        ('q,"a"\n{{ x }},"{""k"": 1}"\n', {"q": "{{ x }}", "a": '{"k": 1}'}),
        ("año,नाम\n1,2\n", {"año": "1", "नाम": "2"}),
        ("q,a\n" + "x" * 200_000 + ",y\n", {"q": "x" * 200_000, "a": "y"}),  # beyond the csv module's own limit
    ],
)
def test_csv_cells(load, content, found):
    assert rows(load("x.csv", content)) == [found]


def test_lines_are_those_where_a_row_starts(load):
    golden = load("x.csv", '\nq,a\n"two\nlines",1\n\nb,2\n')
    assert [case.line for case in golden] == [3, 6]
    assert [case.line for case in load("x.json", '[\n{"q":\n1},\n\n{"q": 2}]')] == [2, 5]
    assert [case.line for case in load("x.yaml", "# cases\n- q: 1\n\n- q: 2\n")] == [2, 4]
    assert [case.line for case in load("x.jsonl", '\n{"q":1}\n{"q":2}\n')] == [2, 3]


def test_nested_values_stay_nested(load):
    value = {"q": {"a": [1, 2.5, None, True]}, "t": "x"}
    assert rows(load("x.jsonl", json.dumps(value))) == [value]
    assert rows(load("x.yaml", "- q: {a: [1, 2.5, null, true]}\n  t: x\n")) == [value]


def test_every_case_has_every_column(load):
    golden = load("x.jsonl", '{"a":1}\n{"b":2,"a":3}\n')
    assert golden.columns == ("a", "b")
    assert rows(golden) == [{"a": 1, "b": None}, {"a": 3, "b": 2}]


def test_yaml_dates_are_texts(load):
    golden = load("x.yaml", "- {day: 2024-02-29, at: 2024-02-29T10:30:00}\n")
    assert rows(golden) == [{"day": "2024-02-29", "at": "2024-02-29T10:30:00"}]


def test_odd_but_readable_things_are_warnings(load):
    golden = load("x.csv", " q ,a\n1,2\n,\n3,4\n")
    assert rows(golden) == [{"q": "1", "a": "2"}, {"q": "3", "a": "4"}]
    assert golden.warnings == (
        "x.csv:1: white space around the column name ' q ' was taken away: it is 'q'",
        "x.csv: rows without any value are left out: line 3",
    )


def test_manual_columns_are_kept(load):
    golden = load("x.csv", "q,output_rating,output_feedback,verica_label_is polite\n1,good,fine,pass\n")
    assert golden.columns == ("q", "output_rating", "output_feedback", "verica_label_is polite")


@pytest.mark.parametrize(
    ("name", "content", "says"),
    [
        # nothing to check
        ("x.csv", "", ["x.csv: ", "0 bytes"]),
        ("x.jsonl", "", ["0 bytes"]),
        ("x.xlsx", "", ["0 bytes"]),
        ("x.csv", " \n\n", ["nothing but white space"]),
        ("x.csv", "q,a\n", ["a header and no rows"]),
        ("x.csv", "q,a\n,\n\n", ["a header and no rows"]),
        ("x.jsonl", "\n\n", ["no rows"]),
        ("x.json", "[]", ["no rows"]),
        ("x.json", " ", ["nothing but white space"]),
        ("x.yaml", "# nothing\n", ["no content"]),
        ("x.yaml", "[]", ["no rows"]),
        # CSV
        ("x.csv", "q,a\n1,2\n3\n4,5,6\n", [":3: ", "1 cell,", "2 columns", ":4: ", "3 cells", "quote a cell"]),
        ("x.csv", 'q,a\n1,2\n"3,4\n5,6\n', ["x.csv:3: ", "never closed"]),
        ("x.csv", 'q,a\n"x" y,2\n', ["x.csv:2: ", "closing quote"]),
        ("x.csv", ",a,a,a\n1,2,3,4\n", ["column 1 of the header has no", "'a' is written 3 times (columns 2, 3, 4)"]),
        ("x.csv", "a, a\n1,2\n", ["'a' is written 2 times"]),
        ("x.csv", "output,q\n1,2\n", ["x.csv:1: ", "'output' is reserved"]),
        ("x.csv", "item,sample\n1,2\n", ["'item' is reserved", "'sample' is reserved"]),
        ("x.csv", "verica_x,verica_label_\n1,2\n", ["'verica_x'", "'verica_label_'", "verica_label_<criterion>"]),
        ("x.csv", "order no,2nd\n1,2\n", ["'order no'", "`order_no`", "'2nd'", "`column_2nd`"]),
        ("x.csv", "How much is two and two?,4\nx,y\n", ["header line missing", "`column_4`"]),
        # encodings
        ("x.csv", "q,a\n1,2\naño,3\n".encode("latin-1"), ["x.csv:3: ", "not UTF-8", "byte 10 of the file is 0xf1"]),
        ("x.jsonl", '{"q":"año"}'.encode("latin-1"), ["x.jsonl:1: ", "0xf1"]),
        ("x.csv", "q,a\n1,2\n".encode("utf-16"), ["UTF-16"]),
        # JSON
        ("x.jsonl", '{"q":1}\n{"q":}\n{"q":2', ["x.jsonl:2: ", "(column 6)", "x.jsonl:3: "]),
        ("x.jsonl", '{"q":NaN}', ["x.jsonl:1: ", "NaN is not JSON"]),
        ("x.jsonl", '{"q":1e999}', ["out of range"]),
        ("x.jsonl", '{"q":-Infinity}', ["-Infinity is not JSON"]),
        ("x.jsonl", '{"q":1,"q":2}', ["'q' appears twice"]),
        ("x.jsonl", '{"q":1} {"q":2}', ["Extra data", "(column 9)"]),
        ("x.jsonl", '{"q":1}\n4\n[1]\n', [":2: ", "the number 4", ":3: ", "an array"]),
        ("x.jsonl", '{"q":1}\n"x"\n{}', [":2: ", "text 'x'", ":3: ", "empty object"]),
        ("x.jsonl", '[\n{"q":1}\n]', ["a .json file"]),
        ("x.jsonl", '{"q":1," q":2}', ["'q' is written twice"]),
        ("x.jsonl", '{"":1}', ["no name"]),
        ("x.json", '{"cases":[]}', ["array of objects", "an object with key cases"]),
        ("x.json", '[{"q":1},\n {"q":2},\n x]', ["x.json:3: "]),
        ("x.json", '[{"q":1},\n 5]', ["x.json:2: ", "the number 5"]),
        ("x.json", '```\n[{"q":1}]\n```', ["code fence"]),
        # YAML
        ("x.yaml", "- q: 1\n- q: [\n", ["x.yaml:3: ", "not valid YAML"]),
        ("x.yaml", "- q: 1\n  q: 2\n", ["x.yaml:2: ", "duplicate key"]),
        ("x.yaml", "- q: 1\n- text\n", ["x.yaml:2: ", "text 'text'"]),
        ("x.yaml", "- q: .nan\n", ["x.yaml:1: ", "nan"]),
        ("x.yaml", "- 1: x\n", ["x.yaml:1: ", "a key must be a text"]),
        ("x.yaml", "q: 1\n", ["list of mappings", "a mapping"]),
        ("x.yaml", "- &a {q: [*a]}\n", ["x.yaml:1: "]),
        ("x.yaml", "- q: !!python/object:os.system x\n", ["x.yaml:1: "]),
        ("x.yaml", "--- \n- q: 1\n---\n- q: 2\n", ["not valid YAML"]),
        # ids
        ("x.csv", "id,q\na,1\nb,2\na,3\n", ["x.csv:4: ", "'a' is written twice", "line 2", "line 4"]),
        ("x.csv", "id,q\na,1\n ,2\n", ["x.csv:3: ", "no id"]),
        ("x.jsonl", '{"id":7}\n{"id":"7"}', ["x.jsonl:2: ", "'7' is written twice"]),
        ("x.jsonl", '{"id":[1]}', ["an id must be a text or a number", "an array of 1 element"]),
        ("x.jsonl", '{"id":1}\n{"q":2}', ["x.jsonl:2: ", "no id"]),
        # formats
        ("x.txt", "q\n1\n", [".txt", ".csv"]),
        ("x.xlsx", "not a book", ["not an .xlsx book"]),
        ("x.parquet", "not parquet", ["not a Parquet file"]),
    ],
)  # fmt: skip
def test_errors_say_where_and_what(load, name, content, says):
    with pytest.raises(GoldenSetError) as caught:
        load(name, content)
    text = str(caught.value)
    assert text.startswith(name)
    for words in says:
        assert words in text


def test_at_most_twenty_problems_are_told(load):
    with pytest.raises(GoldenSetError) as caught:
        load("x.csv", "q,a\n" + "1\n" * 500)
    assert len(caught.value.problems) == 21
    assert "stopped after 20" in caught.value.problems[-1].message


@pytest.mark.parametrize(
    ("asked", "says"),
    [
        ("golden/refund.csv", "did you mean `refunds.csv`?"),
        ("golden/Refunds.CSV", "did you mean `refunds.csv`?"),
        ("golden/zzzzzz.parquet", "relative to the eval's file"),
        ("other/refunds.csv", "its folder does not exist"),
        ("golden", "this is a folder"),
    ],
)
def test_a_file_that_is_not_there(tmp_path, asked, says):
    (tmp_path / "golden").mkdir()
    (tmp_path / "golden" / "refunds.csv").write_text("q\n1\n")
    if (tmp_path / asked).is_file():
        pytest.skip("this file system does not tell upper from lower case")
    with pytest.raises(GoldenSetError) as caught:
        load_golden_set(asked, tmp_path)
    assert str(caught.value).startswith(f"{asked}: ") and says in str(caught.value)


def test_ids_and_hashes_are_the_same_in_every_process(tmp_path):
    (tmp_path / "x.jsonl").write_text('{"id": "a::b", "q": {"x": 1, "y": [2]}}\n{"id": 2.0, "q": "ñ"}\n', "utf-8")
    code = (
        "import pathlib, sys; from pytest_verica.golden import load_golden_set;"
        "g = load_golden_set('x.jsonl', pathlib.Path(sys.argv[1]));"
        "print([c.id for c in g], [c.content_hash for c in g], g.snapshot_hash)"
    )
    said = {
        subprocess.run(
            [sys.executable, "-c", code, str(tmp_path)],
            env={"PYTHONHASHSEED": seed, "PYTHONPATH": os.pathsep.join(sys.path)},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert len(said) == 1 and "['a_b', '2']" in said.pop()


@pytest.mark.parametrize(
    "other",
    [
        [TWO[1], TWO[0]],  # another order
        TWO[:1],
        [TWO[0], {"q": "two", "a": "3"}],
        [TWO[0], {"q": "two", "a": 2}],  # the number is not the text
        [{"id": "x", **TWO[0]}, {"id": "y", **TWO[1]}],
    ],
)
def test_the_snapshot_hash_tells_golden_sets_apart(other):
    assert golden_set_from_rows(other, "x").snapshot_hash != golden_set_from_rows(TWO, "x").snapshot_hash


class TestRowsOfPython:
    def test_parameters_of_a_test_may_be_anything(self):
        made = [{"number": Decimal("1.50"), "kind": dict, "pair": (1, 2), "nan": float("nan"), "thing": object()}]
        golden = golden_set_from_rows(made, "test_refund")
        assert rows(golden) == [
            {"number": "1.50", "kind": "builtins.dict", "pair": [1, 2], "nan": "nan", "thing": "<object object>"}
        ]
        assert len(golden.snapshot_hash) == 64

    def test_an_id_parameter_that_repeats_is_a_column_like_others(self):
        golden = golden_set_from_rows([{"id": 1, "x": 1}, {"id": 1, "x": 2}], "test_refund")
        assert [case.id for case in golden] == ["row-0001", "row-0002"]
        assert "written twice" in golden.warnings[0]

    def test_one_row_without_columns_is_one_case(self):
        assert len(golden_set_from_rows([{}], "test_refund")) == 1

    @pytest.mark.parametrize(
        ("made", "says"),
        [
            ([], "no rows"),
            ([{"output": 1}], "'output' is reserved"),
            ([{"q": 1}, 5], "row 2 must be a mapping"),
        ],
    )
    def test_the_rules_hold(self, made, says):
        with pytest.raises(GoldenSetError, match=says):
            golden_set_from_rows(made, "test_refund")

    @pytest.mark.parametrize(
        ("source", "says"),
        [
            ("rows = [{'q': 1.5, 'day': date(2024, 2, 29), 'place': Place(1, 2)}]", None),
            ("def rows():\n    yield {'q': 1.5, 'day': '2024-02-29', 'place': {'x': 1, 'y': 2}}", None),
            ("rows = [{'q': object()}]", ["row 1: ", "type object"]),
            ("rows = [{'q': float('inf')}]", ["row 1: ", "inf"]),
            ("rows = [{1: 2}]", ["row 1: ", "a key must be a text"]),
            ("rows = [1]", ["row 1 must be a mapping", "the number 1"]),
            ("rows = {'q': 1}", ["iterable of mappings", "an object with key q"]),
            ("rows = []", ["no rows"]),
            ("rows = [{'id': 'a'}, {'id': 'a'}]", ["'a' is written twice", "row 1", "row 2"]),
            ("async def rows(): return []", ["is async"]),
            ("def rows(): return 1 / 0", ["ZeroDivisionError", "made.py:"]),
            ("def rows():\n    yield {'q': 1}\n    raise ValueError('no more')", ["ValueError: no more", "made.py:"]),
            ("row = []", ["no 'rows'", "did you mean `row`?"]),
            ("import nothing_of_this_name", ["cannot be imported", "nothing_of_this_name"]),
            ("1 +", ["cannot be imported", "SyntaxError"]),
        ],
    )
    def test_a_module_beside_the_eval(self, tmp_path, monkeypatch, source, says):
        head = "from collections import namedtuple\nfrom dataclasses import dataclass\nfrom datetime import date\n"
        head += "@dataclass\nclass Place:\n    x: int\n    y: int\n"
        (tmp_path / "made.py").write_text(head + source, "utf-8")
        monkeypatch.delitem(sys.modules, "made", raising=False)
        before = list(sys.path)
        if says is None:
            golden = load_golden_set({"python": "made:rows"}, tmp_path)
            assert rows(golden) == [{"q": 1.5, "day": "2024-02-29", "place": {"x": 1, "y": 2}}]
            assert golden.path == "made:rows"
        else:
            with pytest.raises(GoldenSetError) as caught:
                load_golden_set({"python": "made:rows"}, tmp_path)
            for words in says:
                assert words in str(caught.value)
        sys.modules.pop("made", None)
        assert sys.path == before

    def test_two_modules_of_one_name_are_not_mixed_up(self, tmp_path, monkeypatch):
        for folder in ("a", "b"):
            (tmp_path / folder).mkdir()
            (tmp_path / folder / "twice_named.py").write_text(f"rows = [{{'q': {folder!r}}}]")
        assert load_golden_set({"python": "twice_named:rows"}, tmp_path / "a")[0].q == "a"
        with pytest.raises(GoldenSetError, match="another folder"):
            load_golden_set({"python": "twice_named:rows"}, tmp_path / "b")
        monkeypatch.delitem(sys.modules, "twice_named")

    @pytest.mark.parametrize("source", [{}, {"python": 1}, {"python": "x:y", "more": 1}, {"python": "rows"}])
    def test_a_source_that_is_none(self, tmp_path, source):
        with pytest.raises(GoldenSetError, match="module"):
            load_golden_set(source, tmp_path)
