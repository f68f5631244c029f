"""Whole runs with judges: rubric items and pairs in the summary and the report, presets over real RAG data."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.fake_provider import FakeProvider
from tests.pytest_door.conftest import Run, Suite, asked

SCRIPTS = '''
import json
import pathlib

from pytest_verica import Completion

asked = []


def always_first(request):
    asked.append(request)
    return {"reasoning": "the first one is better", "better": "first"}


def points(request):
    text = request.messages[-1].content
    return {
        "polite": {"reasoning": "looks for please", "met": "please" in text.split("Rubric")[0]},
        "short": {"reasoning": "counts", "met": True},
    }


LISTS = json.loads(pathlib.Path("lists.json").read_text("utf-8"))


def lists(request):
    """A judge that answers from fixed lists, by the question (or the reference) that it reads and what it looks at."""
    asked.append(request)
    with open("asked.jsonl", "a") as file:
        file.write("x\\n")
    text = "\\n".join(message.content for message in request.messages)
    shape = json.dumps(request.answer.schema)
    key = next(k for k in ("entailed", "addresses", "relevant", "attributable") if f'"{k}"' in shape)
    answer = next(answers[key] for mark, answers in LISTS.items() if mark in text and key in answers)
    return Completion(None, stop_reason="refusal", refusal=answer["refuse"]) if "refuse" in answer else answer
'''
SCRIPTED = {"provider": "scripted"}


@pytest.fixture
def scripts(suite: Suite) -> str:
    """The suite's module of judges, under a name of its own: a run inside this process imports it once."""
    suite.file("lists.json", "{}")
    suite.file("fake_judges.py", SCRIPTS)
    return "fake_judges"


ANSWERS = [
    {"id": "one", "answer": "Yes, please.", "reference": "No."},
    {"id": "two", "answer": "Yes.", "reference": "No, please."},
    {"id": "three", "answer": "Of course.", "reference": "Never."},
]


def test_a_judge_that_always_says_first_gives_all_ties_and_the_summary_says_so(suite: Suite, scripts: str) -> None:
    better = {
        "name": "better",
        "type": "pairwise_model",
        "prompt": "1: {{ first }} 2: {{ second }}",
        "b": "{{ reference }}",
        "passing": ["a", "tie"],
        "model": {**SCRIPTED, "name": f"{scripts}:always_first"},
    }
    suite.eval(cases=ANSWERS, criteria=[better])
    run = suite.run()
    assert {name: (grade["label"], grade["outcome"]) for (name, _), grade in run.grades.items()} == {
        "one": ("tie", "pass"),
        "two": ("tie", "pass"),
        "three": ("tie", "pass"),
    }
    assert (
        "    the judge chose the same in both orders in 0 of 3 pairs, always the answer shown first: "
        "it cannot tell the two apart (a coin would choose the same in half of them)\n"
    ) in run.out
    assert run.report["evals"][0]["totals"]["criteria"]["better"]["pairs"] == {
        "judged": 3,
        "changed_mind": 3,
        "first": 6,
        "ties": 0,
    }
    assert run.report["evals"][0]["calls"]["made"] == 6


def test_each_item_of_a_rubric_is_shown_and_counted(suite: Suite, scripts: str) -> None:
    complete = {
        "name": "complete",
        "type": "rubric_model",
        "prompt": "{{ output.text }}\nRubric:\n{{ rubric }}",
        "rubric": {"polite": "It says please.", "short": "It is short."},
        "model": {**SCRIPTED, "name": f"{scripts}:points"},
    }
    name = suite.eval(cases=ANSWERS, criteria=[complete])
    run = suite.run()
    assert run.verdicts == {
        f"{name}::one::complete": "passed",
        f"{name}::two::complete": "failed",
        f"{name}::three::complete": "failed",
    }
    text = run.text_of(f"{name}::two::complete")
    assert "complete: fail: 1 of 2 rubric items are met; met: short; not met: polite; wanted: all" in text
    assert "judge: polite: not met: looks for please\n    short: met: counts" in text
    assert "    polite: met in 1 of 3\n" in run.out and "    short: met in 3 of 3\n" in run.out
    assert run.report["evals"][0]["totals"]["criteria"]["complete"]["rubric"] == {
        "polite": {"met": 1, "judged": 3},
        "short": {"met": 3, "judged": 3},
    }
    assert all(re.fullmatch("[0-9a-f]{64}", grade["judge_hash"]) for grade in run.grades.values())


def test_a_case_without_an_output_still_says_which_judge_it_was_for(suite: Suite, scripts: str) -> None:
    complete = {
        "name": "complete",
        "type": "rubric_model",
        "prompt": "{{ output.text }} {{ rubric }}",
        "rubric": {"polite": "It says please.", "short": "It is short."},
        "model": {**SCRIPTED, "name": f"{scripts}:points"},
    }
    suite.file("bots.py", "def breaks(case):\n    raise KeyError('boom')\n")
    suite.eval(cases=ANSWERS[:1], criteria=[complete], target={"python": "bots:breaks"})
    (grade,) = suite.run().grades.values()
    assert grade["outcome"] == "error" and grade["judge_hash"]


def parts(kind: str, *holds: bool) -> dict[str, Any]:
    """A fixed list of claims, statements or units, of which these hold."""
    name, part = {
        "entailed": ("claims", "claim"),
        "attributable": ("claims", "claim"),
        "addresses": ("statements", "statement"),
        "relevant": ("units", "unit"),
    }[kind]
    items = [
        {part: number if part == "unit" else f"{part} {number}", "reasoning": "fixed", kind: value}
        for number, value in enumerate(holds, 1)
    ]
    return {name: items}


def addresses(*holds: bool, non_committal: bool = False) -> dict[str, Any]:
    return {"reasoning": "fixed", "non_committal": non_committal, **parts("addresses", *holds)}


PRESETS = ("faithfulness", "answer_relevance", "context_relevance", "context_recall")
NA: Any = None
Wanted = tuple[Any, Any, Any, Any]

RAG: Mapping[str, tuple[Mapping[str, Any], Wanted]] = {
    # id: (the judge's lists, the four scores by hand); None is na, a text the kind of an error
    "in_network": (
        {
            "entailed": parts("entailed", True, True, True, True),  # 4 of 4
            "addresses": addresses(True),  # 1 of 1
            "relevant": {"refuse": "I cannot judge that."},
            "attributable": parts("attributable", True, False),  # 1 of 2
        },
        (1.0, 1.0, "judge_refusal", 0.5),
    ),
    "limitation": (
        {
            "entailed": parts("entailed", True, False),  # 1 of 2
            "addresses": addresses(True, True, False),  # 2 of 3
            "relevant": parts("relevant", True),  # not one for each sentence of the context
            "attributable": parts("attributable", False),  # 0 of 1
        },
        (0.5, 2 / 3, "judge_schema", 0.0),
    ),
    "everest": (
        {
            "entailed": parts("entailed", False),  # 0 of 1
            "addresses": addresses(True),
            "relevant": parts("relevant", True, False),  # 1 of 2 chunks
            "attributable": parts("attributable", True),
        },
        (0.0, 1.0, 0.5, 1.0),
    ),
    "no_claims": (
        {
            "entailed": parts("entailed"),  # 0 of 0
            "addresses": addresses(False, False),  # 0 of 2
            "relevant": parts("relevant", False),  # 0 of 1 chunk
            "attributable": parts("attributable"),  # 0 of 0
        },
        (NA, 0.0, 0.0, NA),
    ),
    "no_contexts": ({"addresses": addresses(True)}, (NA, 1.0, NA, 0.0)),
    "blank_answer": (
        {"relevant": parts("relevant", True), "attributable": parts("attributable", True, True, True, False)},
        (NA, NA, 1.0, 0.75),
    ),
    "blank_reference": (
        {
            "entailed": parts("entailed", True),
            "addresses": addresses(True),
            "relevant": parts("relevant", True),
        },
        (1.0, 1.0, 1.0, NA),
    ),
    "does_not_know": (
        {
            "entailed": parts("entailed"),
            "addresses": addresses(False, non_committal=True),
            "relevant": parts("relevant", False, False),
            "attributable": parts("attributable", False),
        },
        (NA, 0.0, 0.0, 0.0),
    ),
}
NOT_ASKED = {
    ("no_contexts", "faithfulness"),
    ("no_contexts", "context_relevance"),
    ("no_contexts", "context_recall"),
    ("blank_answer", "faithfulness"),
    ("blank_answer", "answer_relevance"),
    ("blank_reference", "context_recall"),
}
TWICE = {("limitation", "context_relevance")}  # asked again, in vain


def rag_rows(folder: Path) -> list[dict[str, Any]]:
    """Real questions, answers and contexts: of a service's published evaluation, and of a test suite's goldens."""
    lines = (folder / "azure_baseline_60.jsonl").read_text("utf-8").splitlines()
    service = [json.loads(line) for line in lines]
    unknown = json.loads((folder / "azure_qa_dontknows.jsonl").read_text("utf-8").splitlines()[0])
    goldens = json.loads((folder / "deepeval_goldens.json").read_text("utf-8"))

    def of_service(name: str, row: Mapping[str, Any]) -> dict[str, Any]:
        return {
            "id": name,
            **{k: row[k] for k in ("question", "answer")},
            "contexts": row["context"],
            "truth": row["truth"],
        }

    def of_goldens(name: str, number: int, **changed: Any) -> dict[str, Any]:
        golden = goldens[number]
        row = {
            "question": golden["input"],
            "answer": golden["actual_output"],
            "contexts": golden["retrieval_context"],
            "truth": golden["expected_output"],
        }
        return {"id": name, **row, **changed}

    return [
        of_service("in_network", service[2]),
        of_service("limitation", service[3]),
        of_goldens("everest", 0),
        of_goldens("no_claims", 3, answer="Thanks for asking! Anything else?", truth="Good question."),
        of_goldens("no_contexts", 5, contexts=[]),
        of_goldens("blank_answer", 7, answer=" "),
        of_goldens("blank_reference", 8, truth=""),
        of_goldens("does_not_know", 2, question=unknown["question"], answer="I don't know."),
    ]


@pytest.fixture
def rag_run(suite: Suite, scripts: str, shared_data: Path) -> Run:
    rows = rag_rows(shared_data / "rag")
    lists: dict[str, Any] = {}
    for row in rows:
        answers = RAG[row["id"]][0]
        asking = {key: answer for key, answer in answers.items() if key != "attributable"}
        lists[f"\n{row['question']}\n"] = asking
        if row["truth"] and "attributable" in answers:
            lists[f"\n{row['truth']}\n--- end of reference answer"] = {"attributable": answers["attributable"]}
    suite.file("lists.json", json.dumps(lists))
    model = {**SCRIPTED, "name": f"{scripts}:lists"}
    criteria: list[dict[str, Any]] = [{"preset": f"rag/{name}", "model": model} for name in PRESETS]
    criteria[-1]["reference"] = "truth"
    suite.file("bot.py", "def answer(case):\n    return case.answer or ''\n")  # a blank answer is an answer
    suite.eval("rag", cases=rows, criteria=criteria, target={"python": "bot:answer"})
    return suite.run()


def test_presets_on_real_rag_data_give_the_scores_worked_out_by_hand(rag_run: Run, suite: Suite) -> None:
    found = {
        (case, criterion): grade["error"]["kind"] if grade["error"] else grade["score"]
        for (case, criterion), grade in rag_run.grades.items()
    }
    wanted = {
        (case, name): score for case, (_, scores) in RAG.items() for name, score in zip(PRESETS, scores, strict=True)
    }
    assert found == wanted
    for at, grade in rag_run.grades.items():
        if wanted[at] is NA:
            assert grade["outcome"] == "na", at
        calls = 0 if at in NOT_ASKED else 2 if at in TWICE else 1
        assert (grade["calls"], bool(grade["judge_hash"])) == (calls, True), at
    asked = (suite.path / "asked.jsonl").read_text().count("x")
    assert asked == len(RAG) * len(PRESETS) - len(NOT_ASKED) + len(TWICE)
    assert rag_run.grades["does_not_know", "answer_relevance"]["label"] == "non_committal"
    claims = rag_run.grades["limitation", "faithfulness"]["details"]["claims"]
    assert [(claim["claim"], claim["entailed"]) for claim in claims] == [("claim 1", True), ("claim 2", False)]
    words = rag_run.verdicts
    assert {name for name, word in words.items() if word == "skipped"} == {
        f"rag.eval.yaml::{case}::{name}"
        for case, (_, scores) in RAG.items()
        for name, score in zip(PRESETS, scores, strict=True)
        if score is NA
    }
    grade = rag_run.grades["no_contexts", "faithfulness"]
    assert grade["explanation"] == "rag/faithfulness needs `contexts`, and {{ contexts }} is empty for this case"


PROBLEMS = [
    ({"contexts": "context"}, r"criterion 'faithfulness', `contexts`: `context` is not a column of the golden set"),
    ({"prompt": "{{ answr }} {{ fence }}"}, r"`prompt\.user`: `answr` is not a column .*did you mean `answer`\?"),
    ({"preset": "rag/faithfulnes"}, r"`preset`"),
    ({"referense": "x"}, r"`?referense`?"),
]


@pytest.mark.parametrize(("keys", "says"), PROBLEMS)
def test_what_is_wrong_with_a_preset_is_told_before_any_call(suite: Suite, scripts: str, keys: Any, says: str) -> None:
    written = {"preset": "rag/faithfulness", "model": {**SCRIPTED, "name": f"{scripts}:lists"}, **keys}
    suite.eval("rag", cases=[{"id": "a", "answer": "x", "question": "y", "contexts": "z"}], criteria=[written])
    run = suite.run()
    assert run.exit != 0 and re.search(says, run.out), run.out
    assert "rag.eval.yaml:" in run.out and not (suite.path / "asked.jsonl").exists()


KINDS: Mapping[str, dict[str, Any]] = {
    "label": {"type": "label_model", "prompt": "{{ output.text }}", "labels": ["a", "b"], "passing_labels": ["a"]},
    "score": {"type": "score_model", "prompt": "{{ output.text }}", "min": 0, "max": 10, "pass_at": 1},
    "rubric": {
        "type": "rubric_model",
        "prompt": "{{ output.text }} {{ rubric }}",
        "rubric": {"one": "It is one.", "two": "It is two."},
        "scale": ["no", "partly", "yes"],
    },
    "pair": {"type": "pairwise_model", "prompt": "{{ first }} {{ second }}", "b": "{{ reference }}", "passing": ["a"]},
    "faithful": {"preset": "rag/faithfulness"},
    "recall": {"preset": "rag/context_recall"},
    "relevance": {"preset": "rag/answer_relevance"},
}


def test_every_kind_forces_its_shape_over_http_in_the_way_that_was_chosen(suite: Suite, fake: FakeProvider) -> None:
    model = asked(fake)
    criteria = [
        {"name": f"{name}_{structured}", "structured": structured, "model": model, **keys}
        for name, keys in KINDS.items()
        for structured in ("json_schema", "tool", "json_object")
    ]
    row = {"id": "one", "question": "What is it?", "contexts": ["It is one."], **{k: ANSWERS[0][k] for k in ANSWERS[0]}}
    suite.eval(cases=[row], criteria=criteria)
    run = suite.run()
    for (_, name), grade in run.grades.items():
        if name.endswith("json_object"):  # this endpoint answers with some other object, also when asked again
            assert (grade["outcome"], grade["error"]["kind"]) == ("error", "judge_schema"), name
            assert "choose another model or credential. Cause: the answer has no " in grade["error"]["message"]
            assert grade["calls"] == (4 if name.startswith("pair") else 2)
            continue
        assert grade["outcome"] in ("pass", "fail"), (name, grade["error"])
        assert grade["reasoning"] and grade["calls"] == (2 if name.startswith("pair") else 1)
    for request in fake.requests:
        form = (request.get("response_format") or {}).get("type")
        tools = [tool["function"] for tool in request.get("tools", ())]
        schema = tools[0]["parameters"] if tools else (request.get("response_format") or {}).get("json_schema")
        if form == "json_schema":
            assert schema["strict"] is True and not tools
            schema = schema["schema"]
        elif tools:
            assert request["tool_choice"] == {"type": "function", "function": {"name": "verdict"}} and form is None
        else:
            assert form == "json_object" and schema is None
            continue
        for inner in objects_of(schema):
            assert inner["required"] == list(inner["properties"]) and inner["additionalProperties"] is False
            keys = list(inner["properties"])
            assert not {"met", "level", "label", "score", "better", "entailed"} & set(
                keys[: keys.index("reasoning") + 1]
            )
    assert len(fake.requests) == sum(grade["calls"] for grade in run.grades.values())


def objects_of(schema: Any) -> list[Any]:
    """Every schema of an object that has a reasoning inside a schema."""
    found = []
    if isinstance(schema, dict):
        found += [schema] if "reasoning" in schema.get("properties", {}) else []
        found += [inner for value in schema.values() for inner in objects_of(value)]
    return found


def test_a_marked_test_may_declare_them(suite: Suite, scripts: str) -> None:
    suite.file(
        "test_bot.py",
        f"""
import pytest
from pytest_verica import pairwise_model, preset, rubric_model

POINTS = dict(provider="scripted", name="{scripts}:points")
LISTS = dict(provider="scripted", name="{scripts}:lists")
FIRST = dict(provider="scripted", name="{scripts}:always_first")
CRITERIA = [
    rubric_model("points", prompt="{{{{ output.text }}}} Rubric {{{{ rubric }}}}", model=POINTS, pass_="any",
                 rubric={{"polite": "Says please.", "short": "Is short."}}),
    pairwise_model("better", prompt="{{{{ first }}}} {{{{ second }}}}", b="{{{{ reference }}}}", passing=["tie"],
                   model=FIRST),
    preset("faithful", preset="rag/faithfulness", model=LISTS),
]


@pytest.mark.verica(golden_set="rows.jsonl", criteria=CRITERIA)
def test_bot(case):
    return "Yes."
""",
    )
    row = {"id": "one", "question": "What?", "contexts": ["Yes."], "reference": "No."}
    suite.file("rows.jsonl", json.dumps(row) + "\n")
    suite.file("lists.json", json.dumps({"What?": {"entailed": parts("entailed", True)}}))
    run = suite.run()
    names = [f"test_bot.py::test_bot[one-{name}]" for name in ("points", "better", "faithful")]
    assert run.verdicts == dict.fromkeys(names, "passed"), run.out
