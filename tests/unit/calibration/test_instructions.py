"""A judge's instructions edited in their file: their text changes, every other byte stays."""

from __future__ import annotations

import difflib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_verica.calibration.instructions import read_instructions, write_instructions
from pytest_verica.calibration.judged import JudgedRun
from pytest_verica.errors import ConfigError
from pytest_verica.evals.document import parse_document
from pytest_verica.run import CriterionRecord, EvalRecord, RunHeader

PROMPT = ("prompt",)


def run_of(file: str = "demo.eval.yaml", kind: Any = "file") -> JudgedRun:
    """A run without outputs: only where its judge is written counts here."""
    criterion = CriterionRecord("tone", "tone", "score_model", {"prompt": {"user": "old"}}, "h", judge_hash="j")
    return JudgedRun(
        RunHeader("r", "2026-01-01"), EvalRecord("demo", "demo", file, kind, (criterion,), 0, 0), criterion, ()
    )


FILES = {
    "plain": "prompt: Is it good?",
    "quoted": 'prompt: "Is it \\"good\\"?"   # said by hand',
    "single": "prompt: 'It''s good?'",
    "literal": "prompt: |\n      Is it good?\n\n      Say so.\n    pass_at: 1",
    "literal_stripped": "prompt: |-\n      Is it good?\n        indented\n\n    # a comment after it\n    pass_at: 1",
    "folded": "prompt: >-\n      Is it\n      good?\n    pass_at: 1",
}
WHOLE = """\
# first comment
name: demo   # a name
criteria:
  - name: other
    prompt: not this one
  - name: tone
    {}
# last
"""
NEW = [
    "One line: with # signs, {braces} and 'quotes' \"too\"",
    "Two\nlines",
    "Ends with a line's end\n",
    "  begins indented\nthen not",
    "a\n\n\nb\n\n",
    "tab\there\n\tand here",
    "ünïcödé 🙂 \u2028 line",
    "control \x07 sign",
    "yes",
    "- a list?\n- no",
    "trailing space \nnext",
]


@pytest.mark.parametrize("new", NEW)
@pytest.mark.parametrize("written", FILES.values(), ids=FILES)
def test_only_the_text_changes(tmp_path: Path, written: str, new: str) -> None:
    file = tmp_path / "demo.eval.yaml"
    before = WHOLE.format(written)
    file.write_text(before, "utf-8", newline="")
    assert list(read_instructions(tmp_path, run_of()).texts) == [PROMPT]
    write_instructions(tmp_path, run_of(), {PROMPT: new})
    after = file.read_bytes().decode("utf-8")
    assert read_instructions(tmp_path, run_of()).texts == {PROMPT: new}
    removed = [line[2:] for line in difflib.ndiff(before.splitlines(), after.splitlines()) if line.startswith("- ")]
    kept = {
        "# first comment",
        "name: demo   # a name",
        "    prompt: not this one",
        "    # a comment after it",
        "    pass_at: 1",
        "# last",
    }
    assert not kept & set(removed), removed
    assert ("# said by hand" in after) == ("# said by hand" in before)


@given(
    st.text(alphabet=st.characters(exclude_categories=["Cs"]), min_size=1).filter(
        lambda text: text.strip() and "{" not in text
    )
)
def test_any_text_reads_back(tmp_path_factory: pytest.TempPathFactory, new: str) -> None:
    folder = tmp_path_factory.mktemp("any")
    (folder / "demo.eval.yaml").write_text(WHOLE.format(FILES["literal"]), newline="")
    write_instructions(folder, run_of(), {PROMPT: new})
    document = parse_document((folder / "demo.eval.yaml").read_bytes().decode("utf-8"), "demo").value
    assert document["criteria"][1] == {"name": "tone", "prompt": new, "pass_at": 1}


def test_system_and_user_and_messages_are_parts_of_their_own(tmp_path: Path) -> None:
    file = tmp_path / "demo.eval.yaml"
    file.write_text(WHOLE.format("prompt: {system: Be strict., user: 'Is it good?'}"))
    found = read_instructions(tmp_path, run_of()).texts
    assert found == {("prompt", "system"): "Be strict.", ("prompt", "user"): "Is it good?"}
    write_instructions(tmp_path, run_of(), {("prompt", "system"): "Be\nkind.", ("prompt", "user"): "Is it?"})
    assert read_instructions(tmp_path, run_of()).texts == {
        ("prompt", "system"): "Be\nkind.",
        ("prompt", "user"): "Is it?",
    }
    file.write_text(
        WHOLE.format(
            "prompt:\n      messages:\n        - {role: system, content: a}\n        - role: user\n          content: b"
        )
    )
    write_instructions(tmp_path, run_of(), {("prompt", "messages", 1, "content"): "c\nd"})
    assert list(read_instructions(tmp_path, run_of()).texts.values()) == ["a", "c\nd"]


def test_line_ends_and_a_byte_order_mark_stay(tmp_path: Path) -> None:
    file = tmp_path / "demo.eval.yaml"
    file.write_bytes("\ufeff".encode() + WHOLE.format(FILES["literal"]).replace("\n", "\r\n").encode())
    write_instructions(tmp_path, run_of(), {PROMPT: "Two\nlines"})
    after = file.read_bytes()
    assert after.startswith("\ufeff".encode()) and after.count(b"\r\n") == after.count(b"\n") > 8
    assert read_instructions(tmp_path, run_of()).texts == {PROMPT: "Two\nlines"}


def test_a_text_that_is_the_same_writes_nothing(tmp_path: Path) -> None:
    file = tmp_path / "demo.eval.yaml"
    file.write_text(WHOLE.format(FILES["folded"]))
    before = file.stat().st_mtime_ns
    write_instructions(tmp_path, run_of(), {PROMPT: "Is it good?"})
    assert file.stat().st_mtime_ns == before


@pytest.mark.parametrize(
    ("written", "new", "said"),
    [
        ("prompt: old", "  \n", "empty"),
        ("prompt: old", "{{ nonsense }}", "`nonsense` is not a column"),
        ("prompt: old", "{{ output.texd }}", "is not a part of the output"),
        ("prompt: *somewhere", "new", "not valid YAML|alias"),
        ("pass_at: 1", "new", "not written plainly"),
    ],
)
def test_what_cannot_be_done_is_said_and_nothing_is_written(tmp_path: Path, written: str, new: str, said: str) -> None:
    file = tmp_path / "demo.eval.yaml"
    file.write_text(WHOLE.format(written))
    before = file.read_bytes()
    with pytest.raises(ConfigError, match=said) as caught:
        write_instructions(tmp_path, run_of(), {PROMPT: new})
    assert "demo.eval.yaml" in str(caught.value)
    assert file.read_bytes() == before


def test_a_judge_written_in_python_is_edited_there(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="written in Python"):
        read_instructions(tmp_path, run_of("tests/test_bot.py", "function"))
