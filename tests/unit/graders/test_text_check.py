"""text_check: each operation and option, both ways to write them, and every way to be wrong."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from pytest_verica.errors import ConfigError
from pytest_verica.graders.text import Preparation, measure, sentences
from pytest_verica.output import Output, ToolCall

LONG = "lorem ipsum " * 90_000  # about 1 MB

# keys, output, columns, outcome, a part of the explanation
VERDICTS: list[tuple[dict[str, Any], Any, dict[str, Any], str, str]] = [
    # both ways to write an operation
    ({"contains": "please"}, "Yes, please.", {}, "pass", "the response contains 'please'"),
    ({"operation": "contains", "value": "please"}, "Yes, please.", {}, "pass", "contains 'please'"),
    ({"contains": "please"}, "No.", {}, "fail", "does not contain 'please'; it is 'No.'"),
    ({"contains": "{{ word }}"}, "Yes, please.", {"word": "please"}, "pass", "contains 'please'"),
    ({"not_contains": "sorry"}, "Fine.", {}, "pass", "does not contain 'sorry'"),
    ({"not_contains": "sorry"}, "So sorry!", {}, "fail", "contains 'sorry', which it should not: 'So sorry!'"),
    ({"equals": "42"}, "42", {}, "pass", "is '42'"),
    ({"equals": 42}, " 42\n", {}, "pass", "is '42'"),  # equals strips unless told otherwise
    ({"equals": 42, "strip": False}, " 42", {}, "fail", "is ' 42'; expected '42'"),
    ({"equals": True}, "true", {}, "pass", "is 'true'"),
    ({"not_equals": "a"}, "b", {}, "pass", "is not 'a'"),
    ({"not_equals": "a"}, "a", {}, "fail", "which it should not"),
    ({"starts_with": "Dear"}, "Dear customer", {}, "pass", "starts with"),
    ({"starts_with": "Dear"}, " Dear customer", {}, "fail", "does not start with"),
    ({"ends_with": "."}, "Done.", {}, "pass", "ends with"),
    ({"ends_with": "."}, "Done", {}, "fail", "does not end with"),
    # lists
    ({"contains": ["a", "b"]}, "ab", {}, "pass", "each of 2 values"),
    ({"contains": ["a", "b"]}, "ac", {}, "fail", "does not contain 'b'"),
    ({"contains": ["a", "b"], "match": "any"}, "ac", {}, "pass", "'a', one of 2 values"),
    ({"contains": ["a", "b"], "match": "any"}, "c", {}, "fail", "none of 'a', 'b'"),
    ({"not_contains": ["a", "b"]}, "c", {}, "pass", "does not contain each of 2"),
    ({"not_contains": ["a", "b"]}, "cb", {}, "fail", "contains 'b'"),
    ({"contains": "{{ words }}"}, "ab", {"words": ["a", "x"]}, "fail", "does not contain 'x'"),
    ({"contains": ["{{ a }}", "{{ b }}"]}, "x", {"a": "x", "b": " "}, "pass", "contains 'x'"),
    ({"one_of": ["red", "blue"]}, "blue ", {}, "pass", "'blue', one of 2"),
    ({"one_of": ["red", "blue"]}, "green", {}, "fail", "none of 'red', 'blue'; it is 'green'"),
    ({"one_of": "{{ allowed }}"}, "2", {"allowed": [1, 2]}, "pass", "'2'"),
    ({"one_of": "{{ allowed }}"}, "b", {"allowed": '["a", "b"]'}, "pass", "'b'"),  # a CSV cell holds a list as JSON
    ({"one_of": "{{ allowed }}"}, "a", {"allowed": "a"}, "pass", "'a'"),
    # regular expressions
    ({"matches": r"\d{3}"}, "ref 123", {}, "pass", "matches '\\d{3}' with '123' at character 5"),
    ({"matches": r"^\d+$"}, "ref 123", {}, "fail", "does not match"),
    ({"matches": "REF"}, "ref", {}, "fail", "does not match"),
    ({"matches": "REF", "flags": "i"}, "ref", {}, "pass", "matches"),
    ({"matches": "^b", "flags": "m"}, "a\nb", {}, "pass", "matches"),
    ({"matches": r"a\S", "ignore_case": True}, "A B", {}, "fail", "does not match"),  # folding must not turn \S into \s
    ({"not_matches": "x"}, "abc", {}, "pass", "does not match 'x'"),
    ({"not_matches": "b"}, "abc", {}, "fail", "which it should not"),
    ({"matches": "{{ p }}"}, "abc", {"p": "b+"}, "pass", "matches 'b+'"),
    # length
    ({"length": {"max": 3}}, "abc", {}, "pass", "has 3 characters; wanted at most 3"),
    ({"length": {"max": 3}}, "abcd", {}, "fail", "has 4 characters; wanted at most 3: 'abcd'"),
    ({"length": {"min": 2, "max": 3, "unit": "words"}}, "a b", {}, "pass", "has 2 words; wanted 2 to 3"),
    ({"operation": "length", "equals": 1, "unit": "lines"}, "a\n", {}, "pass", "has 1 line"),
    (
        {"operation": "length", "min": 3, "unit": "sentences"},
        "Hi. Ok!",
        {},
        "fail",
        "has 2 sentences; wanted at least 3",
    ),
    ({"length": {"equals": 0}}, "", {}, "pass", "has 0 characters"),
    # options and Unicode
    ({"equals": "STRASSE", "ignore_case": True}, "Straße", {}, "pass", "is"),
    ({"matches": "STRASSE", "ignore_case": True}, "die Straße", {}, "pass", "with 'Straße'"),
    ({"equals": "İ", "ignore_case": True}, "i̇", {}, "pass", "is"),  # Unicode folds İ to i and a dot above
    ({"equals": "i", "ignore_case": True}, "İ", {}, "fail", "expected 'i'"),
    ({"contains": "caf\u00e9"}, "un cafe\u0301", {}, "pass", "contains"),  # NFC unless told otherwise
    ({"contains": "caf\u00e9", "normalize": "none"}, "un cafe\u0301", {}, "fail", "does not contain"),
    ({"equals": "\u1fb4", "ignore_case": True}, "\u0391\u0345\u0301", {}, "pass", "is"),  # alpha, iota below, acute
    ({"equals": "fi", "normalize": "nfkc"}, "\ufb01", {}, "pass", "is"),  # the ligature
    ({"contains": "a b", "collapse_whitespace": True}, "a \n\t b", {}, "pass", "contains"),
    ({"contains": "שלום"}, "\u202bשלום\u202c", {}, "pass", "contains"),
    ({"contains": "x"}, "\ud800", {}, "fail", r"it is '\ud800'"),  # a lone surrogate is shown, not written
    ({"contains": "x"}, "a\x00b", {}, "fail", r"it is 'a\x00b'"),
    ({"equals": "\ud800"}, "\ud800", {}, "pass", "is"),
    ({"contains": "needle"}, LONG, {}, "fail", "it is 'lorem"),
    ({"not_contains": "needle"}, LONG + "needle" + LONG, {}, "fail", "needlelorem"),  # the excerpt shows the place
    ({"equals": LONG + "a"}, LONG + "b", {}, "fail", "ipsum b'; expected"),
    ({"matches": "needle$"}, LONG + "needle", {}, "pass", "matches"),
    # what is looked at
    ({"target": "response", "equals": "a"}, "a", {}, "pass", "the response is"),
    ({"target": {"json_path": "a.b"}, "equals": "x"}, '{"a": {"b": "x"}}', {}, "pass", "`a.b` is 'x'"),
    ({"target": {"json_path": "n"}, "equals": 3}, '{"n": 3.0}', {}, "pass", "`n` is '3'"),
    ({"target": {"json_path": "o"}, "equals": '{"a":1}'}, '{"o": {"a": 1}}', {}, "pass", "`o` is"),
    ({"target": {"json_path": "a"}, "equals": "x"}, '```json\n{"a": "x"}\n```', {}, "pass", "fence"),
    ({"target": {"json_path": "a"}, "equals": "x"}, "Sure! {}", {}, "fail", "the output is not JSON"),
    (
        {"target": {"json_path": "a.c"}, "equals": "x"},
        '{"a": {"b": 1}}',
        {},
        "fail",
        "no `a.c`: `a` is an object with key b",
    ),
    ({"value": "{{ draft }}", "contains": "x"}, "", {"draft": "axb"}, "pass", "the value contains"),
    (
        {"target": {"value": "{{ draft }}"}, "operation": "contains", "value": "x"},
        "",
        {"draft": "axb"},
        "pass",
        "value",
    ),
    ({"value": "{{ draft }}", "contains": "x"}, "x", {"draft": " "}, "na", "no value to check"),
    ({"value": "{{ output.json.a }}", "contains": "x"}, "no", {}, "fail", "JSON"),
    ({"contains": "x"}, None, {}, "fail", "the output has no text"),
    ({"contains": "x"}, Output(None, tool_calls=(ToolCall("f"),)), {}, "fail", "only 1 tool calls"),
    ({"contains": '"a":1'}, Output(None, data={"a": 1}), {}, "pass", "contains"),
    # no expected value
    ({"contains": "{{ word }}"}, "anything", {"word": ""}, "na", "no expected value"),
    ({"contains": "{{ word }}"}, "anything", {"word": "  "}, "na", "no expected value"),
    ({"equals": "{{ word }}"}, "", {"word": None}, "na", "no expected value"),
    ({"one_of": "{{ word }}"}, "", {"word": []}, "na", "no expected value"),
    ({"not_contains": "{{ word }}"}, "anything", {"word": ""}, "na", "no expected value"),
    ({"matches": "{{ word }}"}, "anything", {"word": ""}, "na", "no expected value"),
    # errors
    ({"matches": "{{ p }}"}, "abc", {"p": "(b"}, "error", "not a regular expression: missing ) at character 3"),
    ({"matches": "^(a|aa)+$"}, "a" * 60 + "!", {}, "error", "took longer than 100 ms"),
    ({"not_matches": "^(a|aa)+$", "timeout_ms": 20}, "a" * 60 + "!", {}, "error", "took longer than 20 ms"),
    ({"matches": "^(a|aa)+$", "negate": True}, "a" * 60 + "!", {}, "error", "took longer"),
]


@pytest.mark.parametrize(("keys", "output", "columns", "outcome", "says"), VERDICTS)
def test_verdicts(grade, keys, output, columns, outcome, says):
    result = grade({"type": "text_check", **keys}, output, columns)
    assert (result.outcome, result.score, result.label) == (outcome, None, None)
    assert says in result.explanation
    assert len(result.explanation) < 450 and result.explanation.isprintable()


ERROR_KINDS = [("{{ p }}", "bad_pattern"), ("^(a|aa)+$", "regex_timeout")]


@pytest.mark.parametrize(("pattern", "kind"), ERROR_KINDS)
def test_errors_have_a_kind_and_keep_the_pattern(grade, pattern, kind):
    result = grade({"type": "text_check", "matches": pattern, "timeout_ms": 20}, "a" * 60 + "!", {"p": "("})
    assert result.error.kind == kind
    assert result.error.raw == (pattern if kind == "regex_timeout" else "(")


REFUSED = [
    ({}, "exactly one operation; found none; known: equals, not_equals"),
    ({"contains": "a", "equals": "b"}, "found equals and contains"),
    ({"operation": "contains", "value": "a", "equals": "b"}, "found contains and equals"),
    ({"operation": "has", "value": "a"}, "operation"),
    ({"operation": "contains"}, "`operation: contains` needs `value`"),
    ({"contains": ""}, "empty value"),
    ({"contains": []}, "empty value"),
    ({"contains": ["a", ""]}, "empty value"),
    ({"starts_with": ["a"]}, "a list goes with contains, not_contains, one_of"),
    ({"contains": {"a": 1}}, "a text, a template or a list"),
    ({"length": {}}, "`length` needs"),
    ({"length": {"min": 0}}, "always met"),
    ({"length": {"min": 3, "max": 2}}, "above `max`"),
    ({"length": {"equals": 1, "max": 2}}, "not both"),
    ({"operation": "length", "equals": "many"}, "whole number"),
    ({"contains": "a", "min": 1}, "`min` belongs to `operation: length`"),
    ({"contains": "a", "flags": "i"}, "`flags` belongs to matches"),
    ({"matches": "a", "flags": "q"}, "flags"),
    ({"contains": "a", "target": "answer"}, "`response` or a mapping"),
    ({"contains": "a", "target": {"json_path": "a", "json_items": "b"}}, "found json_path and json_items"),
    ({"contains": "a", "target": {"json_path": "a", "each": "b"}}, "`json_items`, which is not set"),
    ({"contains": "a", "target": {"match": "any"}}, "found only match"),
    ({"contains": "a", "value": "{{ b }}", "target": {"json_path": "a"}}, "keep one"),
    ({"contains": "a", "nocase": True}, "nocase"),
]


@pytest.mark.parametrize(("keys", "says"), REFUSED)
def test_refused_before_launch(build, keys, says):
    with pytest.raises(ValidationError) as caught:
        build({"type": "text_check", **keys})
    assert says in str(caught.value)


@pytest.mark.parametrize(
    ("keys", "says"), [({"matches": "(a"}, "at character 3"), ({"not_matches": "*"}, "character 1")]
)
def test_a_bad_pattern_is_refused_before_launch_with_its_place(build, keys, says):
    with pytest.raises(ConfigError, match=says):
        build({"type": "text_check", **keys})


# https://platform.openai.com/docs/guides/graders: eq, ne, like (contains), ilike (contains, any case)
OPENAI = [("eq", "Paris", "pass"), ("eq", "paris", "fail"), ("ne", "Rome", "pass"), ("like", "Par", "pass"),
          ("like", "par", "fail"), ("ilike", "par", "pass"), ("contains", "Par", "pass")]  # fmt: skip


@pytest.mark.parametrize(("operation", "reference", "outcome"), OPENAI)
def test_string_check_takes_what_openai_wrote(grade, operation, reference, outcome):
    keys = {"type": "string_check", "operation": operation, "input": "{{ sample.output_text }}"}
    assert grade({**keys, "reference": "{{ item.label }}"}, "Paris", {"label": reference}).outcome == outcome
    assert grade({**keys, "value": reference}, "Paris").outcome == outcome


# Counted by hand.
LENGTHS = [
    ("", 0, 0, 0, 0),
    ("one", 3, 1, 1, 1),
    ("Hi there. Really?! Yes… ok", 26, 5, 1, 4),
    ("It costs 3.50 euros.", 20, 4, 1, 1),
    ("a\nb\n\nc", 6, 3, 4, 2),
    ('He said "no." Then left.', 24, 5, 1, 2),
    ("你好。再见！", 6, 1, 1, 2),
    ("...", 3, 1, 1, 0),
    ("1. Wash it.\n 2) Dry it! 3. Go", 29, 8, 2, 4),  # the number of an item is no sentence; inside a line it is one
]


@pytest.mark.parametrize(("text", "characters", "words", "lines", "sentences"), LENGTHS)
def test_length_in_each_unit(text, characters, words, lines, sentences):
    assert [measure(text, unit) for unit in ("characters", "words", "lines", "sentences")] == [
        characters,
        words,
        lines,
        sentences,
    ]


PIECES = [
    ("One is 1.5 long. Two! Three", ["One is 1.5 long.", "Two!", "Three"]),
    ("1. First\n2. Second.\n\nThird…", ["1. First\n2. Second.", "Third…"]),
    ('He said "No." Then he left.', ['He said "No."', "Then he left."]),
    ("一。二！三", ["一。", "二！", "三"]),
    ("... - ?!", []),
    ("", []),
]


@pytest.mark.parametrize(("text", "pieces"), PIECES)
def test_the_sentences_that_are_counted(text, pieces):
    assert sentences(text) == pieces
    assert measure(text, "sentences") == len(pieces)


@given(st.text(alphabet="aé1.?!… \n-。”)", max_size=60))
def test_sentences_are_parts_of_the_text_in_its_order(text):
    found, start = sentences(text), 0
    assert len(found) == measure(text, "sentences")
    for piece in found:
        start = text.index(piece, start) + len(piece)


@pytest.mark.parametrize("piece", [".", "?", " ", "\n", "a.", '."', "。", "\n "])
def test_a_megabyte_of_anything_is_measured(piece):
    assert measure(piece * 300_000, "sentences") in (0, 1, 300_000)


@given(st.text(), st.booleans(), st.booleans(), st.sampled_from(["nfc", "nfkc", "none"]), st.booleans())
def test_preparing_a_prepared_text_changes_nothing(text, ignore_case, strip, normalize, collapse):
    prepare = Preparation(ignore_case, strip, normalize, collapse).step()
    once = prepare(text)
    assert prepare(once) == once


@given(st.text(min_size=1).filter(lambda text: text.strip()), st.text())
def test_an_operation_and_its_opposite_disagree(grade, value, text):
    for name in ("equals", "contains"):
        one = grade({"type": "text_check", name: "{{ v }}"}, text, {"v": value})
        other = grade({"type": "text_check", f"not_{name}": "{{ v }}"}, text, {"v": value})
        assert {one.outcome, other.outcome} == {"pass", "fail"}
