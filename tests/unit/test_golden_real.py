"""Golden sets of other projects, as they stand: each opens, or says at which line it does not and why."""

from __future__ import annotations

import json

import pytest

from pytest_verica.errors import GoldenSetError
from pytest_verica.golden import load_golden_set

# File -> cases, columns (counted with Python's csv and json modules by hand), or the line and words of the refusal.
MESSY = {
    "bom_jsonl__promptflow_monitoring.jsonl": (5, 5),
    "emoji_semicolons__ragas_support_triage.csv": (20, 4),
    "json_in_cells_crlf__deepeval_goldens.csv": (15, 10),
    "all_duplicate_columns__alloy_temp.csv": (":1: ", "'Composition' is written 3 times"),
    "crlf_newlines_empty_header__ragas_hf_doc_qa_eval.csv": (":1: ", "column 3 of the header has no name"),
    "duplicate_and_empty_headers__temp1.csv": (":1: ", "'Affinities' is written 2 times"),
    "leading_tab_index_trailing_blank__promptflow_colors.tsv": (":1: ", "column 1 of the header has no name"),
    "spanish_no_header__mgsm_es_head100.tsv": (":1: ", "header line missing"),
}


def test_every_messy_file_is_in_the_table(shared_data):
    found = {path.name for path in (shared_data / "messy_csv").iterdir()} - {"SOURCES.md"}
    assert found == set(MESSY)


@pytest.mark.parametrize("name", MESSY)
def test_messy_files(shared_data, name):
    expected = MESSY[name]
    if isinstance(expected[0], int):
        golden = load_golden_set(name, shared_data / "messy_csv")
        assert (len(golden), len(golden.columns)) == expected
        assert golden.warnings == ()
    else:
        with pytest.raises(GoldenSetError) as caught:
            load_golden_set(name, shared_data / "messy_csv")
        assert all(f"{name}{expected[0]}" in str(problem) for problem in caught.value.problems)
        assert expected[1] in str(caught.value)


def test_a_list_with_semicolons_and_odd_signs_stay_in_their_cells(shared_data):
    golden = load_golden_set("emoji_semicolons__ragas_support_triage.csv", shared_data / "messy_csv")
    assert golden[0].id == "1" and golden[0].labels == "Billing;RefundCancel"
    assert {"—", "’", "→"} <= {character for case in golden for character in case.text}


def test_json_in_cells_stays_json(shared_data):
    golden = load_golden_set("json_in_cells_crlf__deepeval_goldens.csv", shared_data / "messy_csv")
    assert json.loads(golden[0].tools_called)[0]["name"] == "mountain_lookup"


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_the_line_of_a_byte_that_is_not_utf8(shared_data, tmp_path, newline):
    # SOURCES.md asks to derive it: a Spanish file in Latin-1. Its first accented letter, of "día", is in its first row.
    text = (shared_data / "messy_csv" / "spanish_no_header__mgsm_es_head100.tsv").read_text("utf-8")
    latin = ("question\tanswer\n" + text).replace("\n", newline).encode("latin-1", "replace")
    (tmp_path / "x.csv").write_bytes(latin)
    place = latin.index("í".encode("latin-1")) + 1
    with pytest.raises(GoldenSetError, match=rf"x\.csv:2: the file is not UTF-8: byte {place} of the file is 0xed"):
        load_golden_set("x.csv", tmp_path)


@pytest.mark.parametrize("language", ["es", "en"])
@pytest.mark.parametrize(("name", "mark"), [("x.tsv", ""), ("x.csv", ""), ("x.tsv", "\ufeff")])
def test_mgsm_with_a_header(shared_data, tmp_path, language, name, mark):
    text = (shared_data / "gsm8k" / f"mgsm_{language}.tsv").read_text("utf-8")
    (tmp_path / name).write_text(f"{mark}question\tanswer\n{text}", "utf-8", newline="")
    golden = load_golden_set(name, tmp_path)
    assert len(golden) == 250 and golden.columns == ("question", "answer")  # 250 rows each: SOURCES.md
    assert golden[0].answer == "18" and golden[-1].line == 251
    assert all(case.answer.replace(",", "").replace(".", "").lstrip("-").isdigit() for case in golden)


@pytest.mark.parametrize("name", ["simple_python", "multiple", "parallel", "irrelevance"])
def test_nested_functions_of_bfcl(shared_data, name):
    golden = load_golden_set(f"{name}.jsonl", shared_data / "bfcl")
    assert len(golden) == 40 and golden[0].id == f"{name}_0"
    assert isinstance(golden[0].function, list) and isinstance(golden[0].function[0], dict)
