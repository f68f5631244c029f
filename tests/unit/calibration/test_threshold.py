"""A threshold applied and undone: one line of the file changes, nothing is called, and the bytes come back."""

from __future__ import annotations

import difflib

import pytest

from pytest_verica.calibration.judged import read_judged
from pytest_verica.calibration.threshold import apply_threshold, can_undo, undo_threshold
from pytest_verica.calibration.threshold_edit import with_threshold
from pytest_verica.errors import ConfigError, StoreError
from tests.unit.calibration.site import EVAL, NUMBER, YAML, make_site, report_of, score_of


def changed_lines(before: str, after: str) -> list[tuple[str, str]]:
    pairs = zip(before.splitlines(keepends=True), after.splitlines(keepends=True), strict=True)
    return [(old, new) for old, new in pairs if old != new]


def test_one_line_of_the_file_changes_and_the_run_is_recomputed(tmp_path):
    run = make_site(tmp_path)
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    done = apply_threshold(tmp_path, run, 8)
    assert str(done) == "Threshold applied (6 → 8)"
    written = (tmp_path / EVAL).read_text()
    assert changed_lines(YAML, written) == [
        ("    pass_at:   6.0   # tried 5, too lenient\n", "    pass_at:   8   # tried 5, too lenient\n")
    ]
    (again,) = read_judged(run.journal)
    assert again.pass_at == 8 and again.judge_hash == run.judge_hash
    assert again.passes == sum(score_of(n) >= 8 for n in range(NUMBER))
    assert done.changed == run.passes - again.passes == sum(6 <= score_of(n) < 8 for n in range(NUMBER))
    report = report_of(tmp_path, run)
    (told,) = report["evals"]
    assert told["totals"]["criteria"]["tone"]["pass"] == again.passes
    assert told["calls"]["made"] == NUMBER  # those of the run: none more
    assert told["gate"]["status"] == "failed" and "tone: " in told["gate"]["reasons"][0]
    grades = {grade["outcome"]: grade for case in told["cases"] for grade in case["grades"]}
    assert "wanted at least 8 (threshold applied after the run)" in grades["fail"]["explanation"]

    assert can_undo(tmp_path, again)
    apply_threshold(tmp_path, again, 3)  # tuned twice: undo goes back to the first
    undo_threshold(tmp_path, again)
    after = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    assert {path: data for path, data in after.items() if path in before} == before
    with pytest.raises(StoreError, match="nothing to undo"):
        undo_threshold(tmp_path, run)


def test_undo_never_loses_an_edit(tmp_path):
    run = make_site(tmp_path)
    apply_threshold(tmp_path, run, 8)
    (tmp_path / EVAL).write_text((tmp_path / EVAL).read_text() + "# edited since\n")
    with pytest.raises(StoreError, match="was edited since the threshold was applied"):
        undo_threshold(tmp_path, run)
    assert (tmp_path / EVAL).read_text().endswith("# edited since\n")


@pytest.mark.parametrize("value", [0, 10.5, -1])
def test_a_value_that_passes_all_or_nothing_is_no_threshold(tmp_path, value):
    run = make_site(tmp_path)
    before = (tmp_path / EVAL).read_bytes()
    with pytest.raises(ConfigError, match="lies above 0 and up to 10"):
        apply_threshold(tmp_path, run, value)
    assert (tmp_path / EVAL).read_bytes() == before


FILES = {
    "flow": 'criteria: [{name: "a", pass_at: 1}, {pass_at: 0.5, name: tone, min: 0}]  # both\n',
    "json": '{"criteria": [{"name": "tone",\r\n "pass_at": 0.50, "x": "\\u00e9"}]}\r\n',
    "bom": "\ufeffcriteria:\n- name: tone\n  pass_at: .5\n",
    "astral": "# 😀 é\ncriteria:\n- {name: tone, note: 😀, pass_at: 0.5} # 😀\n",
    "crlf": "criteria:\r\n- name: tone\r\n  pass_at: 0.5 # half\r\n  prompt: >\r\n    folded\r\n    text\r\n",
    "no end": "criteria:\n- name: tone\n  pass_at: 0.5",
}


@pytest.mark.parametrize("name", FILES)
def test_only_the_number_is_replaced(tmp_path, name):
    path = tmp_path / "a.eval.yaml"
    path.write_bytes(FILES[name].encode())
    file, edited = with_threshold(path, "a.eval.yaml", "tone", 0.7)
    old, new = FILES[name], edited.decode()
    pieces = [tag for tag in difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes() if tag[0] != "equal"]
    start, end = min(p[1] for p in pieces), max(p[2] for p in pieces)
    assert file == path and set(old[start:end]) <= set("0.5") and new.count("0.7") == 1
    assert new.replace("0.7", "@") in {old.replace(text, "@") for text in ("0.50", "0.5", ".5")}


def test_a_threshold_of_a_base_file_is_edited_there(tmp_path):
    (tmp_path / "base.yaml").write_text("criteria:\n- {name: tone, pass_at: 5} # base\n")
    path = tmp_path / "a.eval.yaml"
    path.write_text("extends: base.yaml\ncriteria:\n- {name: other, pass_at: 1}\n")
    file, edited = with_threshold(path, "a.eval.yaml", "tone", 7)
    assert (file.name, edited) == ("base.yaml", b"criteria:\n- {name: tone, pass_at: 7} # base\n")


@pytest.mark.parametrize(
    "text",
    [
        "least: &least 5\ncriteria:\n- {name: tone, pass_at: *least }\n",
        "criteria:\n- {name: tone}\n",
        "golden_set: a.csv\n",
    ],
)
def test_what_is_not_written_plainly_is_left_to_the_person(tmp_path, text):
    path = tmp_path / "a.eval.yaml"
    path.write_text(text)
    with pytest.raises(ConfigError, match=r"a\.eval\.yaml.*(by hand|where the criterion stands)"):
        with_threshold(path, "a.eval.yaml", "tone", 7)
