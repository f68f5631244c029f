"""Reading a YAML or JSON text with the place of every value."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_verica.errors import ConfigError, Place
from pytest_verica.evals.document import parse_document, read_document

TEXT = """\
name: shop
model:
  params: {temperature: 0,
           seed: 7}
criteria:
  - name: polite
    contains: [please,
      thanks]
"""


@pytest.mark.parametrize(
    ("location", "place"),
    [
        (("name",), (1, 1)),
        (("model",), (2, 1)),
        (("model", "params", "temperature"), (3, 12)),
        (("model", "params", "seed"), (4, 12)),
        (("criteria", 0), (6, 5)),
        (("criteria", 0, "contains"), (7, 5)),
        (("criteria", 0, "contains", 1), (8, 7)),
        # What was not written has the place of the deepest part around it.
        (("criteria", 0, "type"), (6, 5)),
        (("model", "credential"), (2, 1)),
        (("gate", "pass_rate"), (1, 1)),
    ],
)
def test_every_part_knows_its_place(location: tuple[Any, ...], place: tuple[int, int]) -> None:
    assert parse_document(TEXT, "shop.eval.yaml").place(location) == Place("shop.eval.yaml", *place)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("a: yes\nb: on\nc: 'no'", {"a": "yes", "b": "on", "c": "no"}),  # YAML 1.2: only true and false are booleans
        ("a: true\nb: ~\nc: 1.5\nd: 0o14", {"a": True, "b": None, "c": 1.5, "d": 12}),
        ("a: &x [1, 2]\nb: *x", {"a": [1, 2], "b": [1, 2]}),
        ("a: |\n  one\n  two\nb: >-\n  one\n  two", {"a": "one\ntwo\n", "b": "one two"}),
        ("7: seven", {"7": "seven"}),
        ("año: ñ", {"año": "ñ"}),
        ("", None),
        ("# nothing", None),
    ],
)
def test_values_are_plain(text: str, value: Any) -> None:
    assert parse_document(text, "a.yaml").value == value


# YAML takes keys of up to 1,024 characters as they are written; an escaped one may take twelve.
KEYS = st.text(max_size=80)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEYS, inner, max_size=4),
    max_leaves=12,
)


@given(JSON)
def test_json_is_read_as_json_wrote_it(value: Any) -> None:
    # Escaped as most programs write it: characters beyond the first plane are pairs of escapes there.
    assert parse_document(json.dumps({"value": value}), "a.eval.json").value == {"value": value}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "a: 1\nb: {c: 1,\n c: 2}\na: 3",
            ["a.yaml:3: the key 'c' is written twice", "a.yaml:4: the key 'a' is written twice"],
        ),
        ("a: [1,\nb: c", ["a.yaml:2: not valid YAML: expected ',' or ']'"]),
        ("a: &x\n  - *x", ["a.yaml:1: an alias refers to itself"]),
        ("x: 1\n? [a]\n: b", ["a.yaml:2: a key must be a plain text"]),
        ("a: !!python/name:os.system x", ["a.yaml:1: cannot be read: could not determine a constructor"]),
        ("[" * 3000, ["a.yaml: nested too deeply to be read"]),
    ],
)
def test_what_is_wrong_is_told_with_its_line(text: str, message: list[str]) -> None:
    with pytest.raises(ConfigError) as caught:
        parse_document(text, "a.yaml")
    lines = str(caught.value).splitlines()
    assert len(lines) == len(message)
    assert all(line.startswith(start) for line, start in zip(lines, message, strict=True))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "a.yaml does not exist"),
        (b"a: \xff", "a.yaml: not UTF-8: byte 3 is 0xff"),
    ],
)
def test_a_file_that_cannot_be_read(tmp_path: Path, content: bytes | None, message: str) -> None:
    if content is not None:
        (tmp_path / "a.yaml").write_bytes(content)
    with pytest.raises(ConfigError, match=message):
        read_document(tmp_path / "a.yaml", "a.yaml")


def test_a_byte_order_mark_is_no_part_of_the_text(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_bytes(b"\xef\xbb\xbfname: shop")
    assert read_document(tmp_path / "a.yaml", "a.yaml").value == {"name": "shop"}
