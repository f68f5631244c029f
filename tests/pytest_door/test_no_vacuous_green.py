"""No vacuous green: exit 0 says that something was checked, could have failed, and did not.

Each way to be green for nothing that issue 2 lists is tried, and must end in another exit code with its reason shown.
"""

from __future__ import annotations

import json
from typing import Any

import pytest

from pytest_verica.engine.retry import RetryPolicy
from tests.fake_provider import FakeProvider
from tests.pytest_door.conftest import Suite, asked, judge, text

ONE = [{"id": "one", "answer": "yes, please"}]
HALF = [{"id": "a", "answer": "please"}, {"id": "b", "answer": "no"}]
MANY = "-n2"
ONCE_AND_MANY = [pytest.param((), id="alone"), pytest.param((MANY,), id="n2", marks=pytest.mark.slow)]

TARGET = """
def crash(case):
    raise RuntimeError("the bot is down")

def some(case):
    if case["kind"] == "crash":
        raise RuntimeError("the bot is down")
    return case["kind"]
"""


@pytest.mark.parametrize(
    ("args", "gate"),
    [
        ((), None),
        pytest.param((MANY,), None, marks=pytest.mark.slow),
        ((), 0.1),
        ((), {"pass_rate": 0.1, "max_errors": 0.9}),
    ],
)
def test_crashed_target_under_negated_criteria(suite: Suite, args: tuple[str, ...], gate: Any) -> None:
    suite.file("bot.py", TARGET)
    negated = [
        text("not_rude", contains="idiot", negate=True),
        text("not_contains", not_contains="idiot"),
        text("not_long", length={"min": 100}, negate=True),
        {"name": "no_42", "type": "number_check", "not_equals": 42},
        {"name": "not_json", "type": "json_check", "valid": True, "negate": True},
    ]
    suite.eval(cases=[{"id": "a"}, {"id": "b"}], target={"python": "bot:crash"}, criteria=negated, gate=gate)
    run = suite.run(*args)
    assert run.exit == 1
    assert set(run.verdicts.values()) <= {"error", "errored"} and len(run.verdicts) == 10
    assert {grade["outcome"] for grade in run.grades.values()} == {"error"}
    assert "the bot is down" in run.out
    if gate is not None:
        assert run.gates == {"demo.eval.yaml::gate": "failed"}
        assert "nothing was graded" in run.out


def test_crashed_function_under_negated_criteria(suite: Suite) -> None:
    suite.file(
        "test_bot.py",
        """
        import pytest
        from pytest_verica import text_check

        @pytest.mark.verica(criteria=[text_check(name="a", not_contains="x"), text_check(name="b", not_contains="y")])
        def test_bot():
            raise RuntimeError("the bot is down")
        """.replace("\n        ", "\n"),
    )
    run = suite.run()
    assert run.exit == 1
    assert run.words == {"test_bot.py::test_bot[row-0001-a]": "error", "test_bot.py::test_bot[row-0001-b]": "error"}


JUDGES: dict[str, Any] = {
    "empty_object": "{}",
    "pass_as_text": '{"pass": "false"}',
    "score_as_text": '{"reasoning": "fine", "score": "1"}',
    "true": '{"reasoning": "fine", "score": true}',
    "null": '{"reasoning": "fine", "score": null}',
    "nan": '{"reasoning": "fine", "score": NaN}',
    "infinity": '{"reasoning": "fine", "score": Infinity}',
    "overflow": '{"reasoning": "fine", "score": 1e999}',
    "prose": "The answer is very polite: I would give it a 1.",
    "nothing": "",
    "white_space": " \n ",
    "half_json": '{"reasoning": "fine", "score": 1',
    "two_answers": '{"reasoning": "fine", "score": 1}{"reasoning": "fine", "score": 1}',
    "list": '[{"reasoning": "fine", "score": 1}]',
    "no_reasoning": '{"score": 1}',
    "doubled_key": '{"reasoning": "fine", "score": 0, "score": 1}',
}
SCRIPTS = f"""
JUDGES = {JUDGES!r}

def bad(request):
    last = request.messages[0].content
    return next(answer for name, answer in JUDGES.items() if last == "Rate: " + name)

def crash(request):
    raise ZeroDivisionError("inside the judge")

def good(request):
    return {{"reasoning": "fine", "score": 1}}
"""


@pytest.mark.parametrize("negate", [False, True], ids=["plain", "negated"])
def test_judge_that_gives_no_verdict(suite: Suite, negate: bool) -> None:
    suite.file("scripts.py", SCRIPTS)
    cases = [{"id": name, "answer": name} for name in JUDGES]
    suite.eval(cases=cases, criteria=[judge("good", "scripts:bad", negate=negate)])
    run = suite.run()
    assert run.exit == 1
    assert run.words == {f"demo.eval.yaml::{name}::good": "error" for name in JUDGES}
    for (case, _), grade in run.grades.items():
        assert grade["score"] is None and grade["passed"] is None, case
        assert grade["error"]["kind"].startswith("judge_")
        assert (grade["error"]["raw"] or "").strip() == JUDGES[case].strip()
    assert "no rate, 0 of 0 graded passed" in run.out


@pytest.mark.parametrize("negate", [False, True], ids=["plain", "negated"])
def test_label_judge_that_gives_no_verdict(suite: Suite, negate: bool) -> None:
    answers = {"unknown": "excellent", "case": "Good", "list": ["good"], "none": None, "number": 1}
    said = {name: {"reasoning": "fine", "label": label} for name, label in answers.items()}
    suite.file("scripts.py", f"SAID = {said!r}\ndef bad(request):\n    return SAID[request.messages[0].content[6:]]\n")
    labels = {"type": "label_model", "labels": ["good", "bad"], "passing_labels": ["good"], "negate": negate}
    criterion = {**judge("good", "scripts:bad"), **labels}
    for key in ("min", "max", "pass_at"):
        del criterion[key]
    suite.eval(cases=[{"id": name, "answer": name} for name in answers], criteria=[criterion])
    run = suite.run()
    assert run.exit == 1
    assert run.words == {f"demo.eval.yaml::{name}::good": "error" for name in answers}


def test_judge_that_raises(suite: Suite) -> None:
    suite.file("scripts.py", SCRIPTS)
    suite.eval(cases=ONE, criteria=[judge("good", "scripts:crash", negate=True), judge("fine", "scripts:absent")])
    run = suite.run()
    assert run.exit == 1
    assert set(run.words.values()) == {"error"}
    assert "inside the judge" in run.out


@pytest.mark.parametrize("fault", ["never", "malformed", "cut", "reset", "500", "truncated"])
def test_judge_over_http_that_gives_no_verdict(
    suite: Suite, fake: FakeProvider, fault: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake.options.update({"faults": {fault: 1.0}})
    # Retries wait for seconds; a policy without them shows the same.
    monkeypatch.setattr(RetryPolicy, "wait_s", lambda *args: None)
    criteria = [{**judge("good", "x"), "model": asked(fake, "fake-judge")}, {**judge("bad", "x", negate=True)}]
    criteria[1]["model"] = asked(fake, "fake-judge")
    suite.eval(cases=ONE, criteria=criteria)
    run = suite.run("--verica-request-timeout", "0.3")
    assert run.exit == 1
    assert set(run.words.values()) == {"error"}
    assert "The judge could not evaluate" in run.out


def test_blank_expected_cell_is_not_applicable(suite: Suite) -> None:
    cases = [{"id": "blank", "answer": "yes", "want": " "}, {"id": "none", "answer": "yes", "want": None}]
    criteria = [
        text("contains", contains="{{ want }}"),
        text("equals", equals="{{ want }}"),
        text("starts", starts_with="{{ want }}"),
        text("matches", matches="{{ want }}"),
        text("one_of", one_of=["{{ want }}"]),
        text("not_contains", not_contains="{{ want }}"),
        text("negated", contains="{{ want }}", negate=True),
        {"name": "number", "type": "number_check", "equals": "{{ want }}"},
    ]
    suite.eval(cases=cases, criteria=criteria)
    run = suite.run()
    assert set(run.verdicts.values()) == {"skipped"} and len(run.verdicts) == 16
    assert "no rate, 0 of 0 graded passed, 16 N/A" in run.out


NEVER = {"only_if": {"variable": "{{ answer }}", "condition": "equals", "value": "never"}}


@pytest.mark.parametrize(
    ("args", "gate"),
    [((), None), pytest.param((MANY,), None, marks=pytest.mark.slow), ((), 0.5), ((), {"min_graded": 1})],
)
def test_eval_whose_verdicts_are_all_not_applicable(suite: Suite, args: tuple[str, ...], gate: Any) -> None:
    suite.eval(cases=ONE, criteria=[text("polite", contains="please", **NEVER)], gate=gate)
    run = suite.run(*args)
    assert run.exit == 1
    assert run.verdicts == {"demo.eval.yaml::one::polite": "skipped"}
    assert "nothing was graded" in run.out


def test_whole_run_gate_over_verdicts_that_are_all_not_applicable(suite: Suite) -> None:
    suite.eval(cases=ONE, criteria=[text("polite", contains="please", **NEVER)])
    run = suite.run("--verica-gate", "0.5")
    assert run.exit == 1 and "nothing was graded" in run.out


GOLDEN = {
    "zero_bytes.csv": b"",
    "zero_bytes.jsonl": b"",
    "header_only.csv": b"id,answer\n",
    "bom_only.csv": b"\xef\xbb\xbf",
    "blank_lines.jsonl": b"\n\n",
    "empty_list.json": b"[]",
    "empty_list.yaml": b"[]\n",
    "nothing.yaml": b"# nothing yet\n",
}


@pytest.mark.parametrize("name", GOLDEN)
def test_golden_set_without_cases(suite: Suite, name: str) -> None:
    suite.eval(golden_set=name)
    (suite.path / name).write_bytes(GOLDEN[name])
    run = suite.run()
    assert run.exit == 2 and run.words == {}
    assert "ERROR demo.eval.yaml" in run.out and name in run.out


@pytest.mark.slow
def test_golden_set_without_cases_over_several_processes(suite: Suite) -> None:
    suite.eval(cases=[])
    run = suite.run(MANY)
    assert run.exit == 1 and run.words == {}
    assert "demo.jsonl" in run.out


def test_python_golden_set_without_cases(suite: Suite) -> None:
    suite.file("rows.py", "rows = []\n")
    suite.eval(golden_set={"python": "rows:rows"})
    run = suite.run()
    assert run.exit == 2 and "rows:rows" in run.out


def test_function_whose_golden_set_has_no_cases(suite: Suite) -> None:
    suite.file("empty.csv", "id,answer\n")
    suite.file("test_bot.py", FUNCTION.replace("criteria=", 'golden_set="empty.csv", criteria='))
    run = suite.run()
    assert run.exit == 2 and "empty.csv" in run.out


FUNCTION = """
import pytest
from pytest_verica import text_check

@pytest.mark.verica(criteria=[text_check(name="a", contains="x")])
def test_bot():
    return "x"
"""


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ('@pytest.mark.parametrize("n", [])', "no cases"),
        ('@pytest.mark.skip(reason="later")', "later"),
    ],
)
def test_function_without_a_single_verdict(suite: Suite, line: str, said: str) -> None:
    """Skipped by its author, or parametrized with nothing: the run had evals and judged none of them."""
    source = FUNCTION.replace("@pytest.mark.verica", f"{line}\n@pytest.mark.verica")
    suite.file("test_bot.py", source.replace("test_bot()", "test_bot(n)") if "parametrize" in line else source)
    run = suite.run("-rs")
    assert "passed" not in run.last_line
    assert set(run.words.values()) == {"skipped"}


JUDGE_PROBLEMS: dict[str, tuple[dict[str, Any], str]] = {
    "no pass_at": ({"pass_at": None}, "`pass_at`"),
    "pass_at at min": ({"pass_at": 0}, "could not fail"),
    "pass_at under min": ({"pass_at": -1}, "could not fail"),
    "pass_at over max": ({"pass_at": 2}, "could not pass"),
    "pass_at nan": ({"pass_at": float("nan")}, "pass_at"),
    "min not under max": ({"min": 1}, "not below"),
}


@pytest.mark.parametrize(("keys", "said"), JUDGE_PROBLEMS.values(), ids=list(JUDGE_PROBLEMS))
def test_judge_that_cannot_fail(suite: Suite, fake: FakeProvider, keys: dict[str, Any], said: str) -> None:
    criterion = {**judge("good", "x"), "model": asked(fake), **keys}
    suite.eval(cases=ONE, criteria=[{name: value for name, value in criterion.items() if value is not None}])
    run = suite.run()
    assert run.exit == 2 and run.words == {}
    assert said in run.out
    assert fake.stats()["requests"] == 0


def test_labels_that_all_pass(suite: Suite) -> None:
    labels = {"labels": ["good", "bad"], "passing_labels": ["good", "bad"]}
    model = {"provider": "scripted", "name": "x:y"}
    suite.eval(cases=ONE, criteria=[{"name": "a", "type": "label_model", "prompt": "?", "model": model, **labels}])
    run = suite.run()
    assert run.exit == 2 and "cannot fail" in run.out


@pytest.mark.parametrize(
    ("gate", "said"),
    [
        (0, "cannot fail"),
        ({"pass_rate": 0}, "cannot fail"),
        ({"pass_rate": 0.0, "max_errors": 0}, "cannot fail"),
        ({"pass_rate": -0.1}, "above 0"),
        ({"pass_rate": float("nan")}, "expected a number"),
        ({"pass_rate": 90}, "0.9"),
        ({"criteria": {"polite": 0}}, "cannot fail"),
        ({"min_graded": 0}, "min_graded"),
        ({"min_graded": 2}, "cannot be passed"),
        ({"max_errors": 1.0}, "max_errors"),
        ({"pass_rate": 0.9, "confidence": 0.95}, "25 are needed"),
        ({"calibrated": True}, "no criterion of the eval asks a model"),
        ({"max_errors": 1}, "cannot fail for errors"),
        ({"max_na": 1}, "cannot fail"),
        ({"repeat": {"min_passes": 2}}, "min_passes is 2 and each case is sampled 1 times"),
        ({"max_cost_per_case": 0.1}, "cannot fail for its cost"),
    ],
)
def test_gate_that_cannot_fail_or_cannot_be_passed(suite: Suite, gate: Any, said: str) -> None:
    suite.eval(cases=ONE, gate=gate)
    run = suite.run()
    assert run.exit == 2 and run.words == {}
    assert said in run.out


@pytest.mark.parametrize("rate", ["0", "0.0", "-1", "1.5", "90", "nan", "inf", "x", ""])
def test_run_gate_that_cannot_fail(suite: Suite, rate: str) -> None:
    suite.eval(cases=ONE)
    run = suite.run(f"--verica-gate={rate}")
    assert run.exit == 4 and run.words == {}
    assert "expected a rate above 0 and up to 1" in run.out


@pytest.mark.parametrize(
    ("args", "gate"),
    [
        ((), 0.8),
        pytest.param((MANY,), 0.8, marks=pytest.mark.slow),
        ((), {"pass_rate": 0.8, "max_errors": 0.5}),
        ((), {"pass_rate": 0.8, "max_errors": 4}),
    ],
)
def test_three_crashes_and_one_nan_of_five(suite: Suite, args: tuple[str, ...], gate: Any) -> None:
    """One passed of one graded is 100 %: only the limit of errors keeps such a gate shut."""
    suite.file("bot.py", TARGET)
    nan = '{"reasoning": "fine", "score": NaN}'
    kinds = ["crash", "good", "crash", "nan", "crash"]
    cases = [{"id": f"c{index}", "kind": kind} for index, kind in enumerate(kinds)]
    suite.file("scripts.py", f"bot = {{'Rate: nan': {nan!r}, 'Rate: good': {{'reasoning': 'fine', 'score': 1}}}}\n")
    suite.eval(cases=cases, target={"python": "bot:some"}, criteria=[judge("good", "scripts:bot")], gate=gate)
    run = suite.run(*args)
    outcomes = [run.grades[case["id"], "good"]["outcome"] for case in cases]
    assert outcomes == ["error", "pass", "error", "error", "error"]
    assert "1 of 1 graded passed" in run.out and "4 errors" in run.out
    if gate == {"pass_rate": 0.8, "max_errors": 4}:
        assert run.exit == 0 and run.gates == {"demo.eval.yaml::gate": "passed"}, "four errors were allowed"
    else:
        assert run.exit == 1
        assert run.gates == {"demo.eval.yaml::gate": "failed"} and "4 errors" in run.text_of("demo.eval.yaml::gate")


ORDINARY = {
    "failing": ("def test_ordinary():\n    assert 0\n", 1),
    "erring": ("import pytest\n@pytest.fixture\ndef bad():\n    raise ValueError\ndef test_ordinary(bad): pass\n", 1),
    "teardown": (
        "import pytest\n@pytest.fixture\ndef bad():\n    yield\n    raise ValueError\ndef test_x(bad): pass\n",
        1,
    ),
    "exit": ("import pytest\ndef test_ordinary():\n    pytest.exit('enough', 1)\n", 1),
    "exit 7": ("import pytest\ndef test_ordinary():\n    pytest.exit('enough', 7)\n", 7),
    "interrupt": ("def test_ordinary():\n    raise KeyboardInterrupt\n", 2),
}


@pytest.mark.parametrize("name", ["test_after.py", "a_test.py"], ids=["after", "before"])
@pytest.mark.parametrize("kind", ORDINARY)
def test_gate_met_while_an_ordinary_test_goes_wrong(suite: Suite, name: str, kind: str) -> None:
    source, wanted = ORDINARY[kind]
    suite.file(name, source)
    suite.eval(cases=HALF, gate=0.5)
    run = suite.run(new_process=kind == "interrupt")
    assert run.exit == wanted
    if name == "test_after.py":
        assert "passed" in {each.word for each in run.told if each.id == "demo.eval.yaml::gate"}


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["failing", "exit"])
def test_gate_met_while_an_ordinary_test_goes_wrong_in_a_worker(suite: Suite, kind: str) -> None:
    suite.file("test_after.py", ORDINARY[kind][0])
    suite.eval(cases=HALF, gate=0.5)
    run = suite.run(MANY)
    # xdist alone ends with 3 where a worker calls pytest.exit.
    assert run.exit == {"failing": 1, "exit": 3}[kind]
    assert run.gates == {"demo.eval.yaml::gate": "passed"}


@pytest.mark.parametrize(
    ("args", "more"),
    [
        ((), ()),
        ((), ("--continue-on-collection-errors",)),
        pytest.param((MANY,), ("--continue-on-collection-errors",), marks=pytest.mark.slow),
    ],
)
def test_gate_met_while_collection_errs(suite: Suite, args: tuple[str, ...], more: tuple[str, ...]) -> None:
    suite.file("test_ordinary.py", "import nothing_of_that_name\n")
    suite.eval(cases=ONE, gate=0.5)
    run = suite.run(*args, *more)
    assert run.exit in (1, 2)
    assert "nothing_of_that_name" in run.out


def test_one_eval_errs_while_another_passes_its_gate(suite: Suite) -> None:
    suite.eval("good", cases=ONE, gate=0.5)
    suite.eval("broken", cases=[], gate=0.5)
    run = suite.run("--continue-on-collection-errors")
    assert run.exit == 1
    assert run.gates == {"good.eval.yaml::gate": "passed"}


@pytest.mark.parametrize("args", ONCE_AND_MANY)
def test_nothing_collected(suite: Suite, args: tuple[str, ...]) -> None:
    run = suite.run(*args)
    assert run.exit == 5 and run.words == {}


@pytest.mark.parametrize("args", [("-k", "nothing_like_it"), ("--deselect", "demo.eval.yaml"), ("-m", "slow")])
def test_everything_deselected(suite: Suite, args: tuple[str, ...]) -> None:
    suite.file("pytest.ini", "[pytest]\nmarkers = slow\n")
    suite.eval(cases=ONE, gate=0.5)
    run = suite.run(*args)
    assert run.exit == 5 and run.words == {}


def test_run_gate_with_nothing_collected(suite: Suite) -> None:
    assert suite.run("--verica-gate", "0.9").exit == 5


def test_sessionfinish_of_another_plugin_is_not_lowered(suite: Suite) -> None:
    suite.file("conftest.py", "def pytest_sessionfinish(session):\n    session.exitstatus = 9\n")
    suite.eval(cases=ONE, gate=0.5)
    assert suite.run().exit == 9


def test_failed_gate_of_one_eval_is_not_covered_by_another(suite: Suite) -> None:
    suite.eval("good", cases=ONE, gate=0.5)
    suite.eval("poor", cases=[{"id": "a", "answer": "no"}, {"id": "b", "answer": "please"}], gate=0.8)
    run = suite.run("--verica-gate", "0.6")
    assert run.exit == 1
    assert run.gates == {"good.eval.yaml::gate": "passed", "poor.eval.yaml::gate": "failed", "verica::gate": "passed"}


def test_test_that_returns_nothing(suite: Suite) -> None:
    suite.file("test_bot.py", FUNCTION.replace('return "x"', "pass").replace("contains", "not_contains"))
    run = suite.run()
    assert run.exit == 1 and set(run.words.values()) == {"error"}
    assert "returned nothing" in run.out


def test_grader_that_gives_no_number(suite: Suite) -> None:
    suite.file(
        "checks.py", "def nan(output, case):\n    return float('nan')\ndef none(output, case):\n    return None\n"
    )
    criteria = [
        {"name": name, "type": "python_check", "python": f"checks:{name}", "pass_at": 0.5, "negate": negate}
        for name, negate in (("nan", False), ("none", True))
    ]
    suite.eval(cases=ONE, criteria=criteria)
    run = suite.run()
    assert run.exit == 1 and set(run.words.values()) == {"error"}
    json.dumps(run.report, allow_nan=False)
