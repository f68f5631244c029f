"""Labels in the golden set's own column."""

from __future__ import annotations

import pytest

from pytest_verica.calibration.judged import read_judged
from pytest_verica.calibration.recorded_labels import recorded_labels, verdict_of
from pytest_verica.errors import ConfigError
from tests.unit.calibration.site import make_site


@pytest.mark.parametrize("word", ["yes", "Yes", "1", 1, 1.0, True, "TRUE", " good ", "PASS"])
def test_words_that_pass(word):
    assert verdict_of(word) == "pass"


@pytest.mark.parametrize("word", ["no", "0", 0, False, "false", "Bad", "fail"])
def test_words_that_fail(word):
    assert verdict_of(word) == "fail"


@pytest.mark.parametrize("word", ["", "maybe", "y", "2", None, 0.5, "passed"])
def test_other_words_are_no_label(word):
    assert verdict_of(word) is None


def with_column(run, words, answer=lambda n: f"answer {n}"):
    """The run with `verica_label_tone` in its rows, and these recorded answers."""
    text = run.journal.read_text()
    for n, word in enumerate(words):
        old = f'"columns":{{"question":"what about {n}?","answer":"answer {n}"}}'
        assert text.count(old) == 1
        text = text.replace(old, f'"columns":{{"question":"q","answer":"{answer(n)}","verica_label_tone":"{word}"}}')
    run.journal.write_text(text)
    (again,) = read_judged(run.journal)
    return again


def test_labels_of_recorded_outputs(tmp_path):
    run = with_column(make_site(tmp_path), ["yes", "0", "", "Good"])
    assert [(label.case, label.verdict, label.draw.method, label.labeller) for label in recorded_labels(run)] == [
        ("order-0", "pass", "unknown", "golden set"),
        ("order-1", "fail", "unknown", "golden set"),
        ("order-3", "pass", "unknown", "golden set"),
    ]


def test_a_label_is_not_one_of_an_output_that_nobody_saw(tmp_path):
    assert recorded_labels(with_column(make_site(tmp_path), ["yes"], lambda n: "another answer")) == []


def test_an_unknown_word_names_case_and_column(tmp_path):
    with pytest.raises(ConfigError, match=r"refunds\.csv: case order-1, column verica_label_tone: 'meh' is no label"):
        recorded_labels(with_column(make_site(tmp_path), ["yes", "meh"]))
