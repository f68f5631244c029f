"""What a run tells: node ids, one body per case, four outcomes, misses and gates, failure texts, exit codes."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from tests.pytest_door.conftest import Suite, judge, text

FOUR = [
    {"id": "good", "answer": "yes, please", "kind": "a"},
    {"id": "bad", "answer": "no", "kind": "a"},
    {"id": "other", "answer": "no", "kind": "b"},
    {"id": "blank", "answer": "", "kind": "a"},
]
FOUR_CRITERIA = [
    text("polite", contains="please", only_if={"variable": "{{ kind }}", "condition": "equals", "value": "a"})
]
HALF = [{"id": "a", "answer": "please"}, {"id": "b", "answer": "no"}]

HEAD = """
import pytest
from pytest_verica import Output, json_check, number_check, text_check

A, B = text_check(name="a", contains="yes"), text_check(name="b", contains="no")
"""


def marked(body: str, **arguments: str) -> str:
    given = ", ".join(f"{name}={value}" for name, value in {"criteria": "[A, B]", **arguments}.items())
    return f"{HEAD}\n@pytest.mark.verica({given})\n{body}\n"


def ids(*cases: str, test: str = "test_bot.py::test_bot") -> list[str]:
    return [f"{test}[{case}-{criterion}]" for case in cases for criterion in "ab"]


GOLDEN = 'golden_set="golden.csv"'
TESTS: dict[str, tuple[str, list[str]]] = {
    "nothing": (marked("def test_bot():\n    return 'yes no'"), ids("row-0001")),
    "parametrize": (
        marked("@pytest.mark.parametrize('n', [1, 2])\ndef test_bot(n):\n    return 'yes no'"),
        ids("1", "2"),
    ),
    "parametrize twice": (
        marked(
            "@pytest.mark.parametrize('m', ['x-y', 'z'])\n@pytest.mark.parametrize('n', [1, 2])\n"
            "def test_bot(n, m):\n    return 'yes no'"
        ),
        ids("1-x-y", "1-z", "2-x-y", "2-z"),
    ),
    "parametrized fixture": (
        marked("def test_bot(tongue):\n    return 'yes no'")
        + "\n@pytest.fixture(params=['en', 'es'])\ndef tongue(request):\n    return request.param\n",
        ids("en", "es"),
    ),
    "indirect": (
        marked(
            "@pytest.mark.parametrize('twice', [2, 3], indirect=True)\n"
            "def test_bot(twice):\n    return f'yes no {twice}'"
        )
        + "\n@pytest.fixture\ndef twice(request):\n    return request.param * 2\n",
        ids("2", "3"),
    ),
    "golden set": (
        marked("def test_bot(case):\n    assert case.q == case['q']\n    return 'yes no'", golden_set='"golden.csv"'),
        ids("p", "q"),
    ),
    "golden set without case": (
        marked("def test_bot():\n    return 'yes no'", golden_set='"golden.csv"'),
        ids("p", "q"),
    ),
    "class": (
        HEAD + "\nclass TestBot:\n    @pytest.mark.verica(golden_set='golden.csv', criteria=[A, B])\n"
        "    def test_bot(self, case):\n        return 'yes no'\n",
        ids("p", "q", test="test_bot.py::TestBot::test_bot"),
    ),
    "marked class": (
        HEAD + "\n@pytest.mark.verica(golden_set='golden.csv', criteria=[A, B])\nclass TestBot:\n"
        "    def test_bot(self, case):\n        return 'yes no'\n",
        ids("p", "q", test="test_bot.py::TestBot::test_bot"),
    ),
    "marked module": (
        HEAD + "\npytestmark = pytest.mark.verica(criteria=[A, B])\ndef test_bot():\n    return 'yes no'\n",
        ids("row-0001"),
    ),
    "async with anyio": (
        marked("@pytest.mark.anyio\nasync def test_bot(case):\n    return 'yes no'", golden_set='"golden.csv"')
        + "\n@pytest.fixture\ndef anyio_backend():\n    return 'asyncio'\n",
        ids("p", "q"),
    ),
    "mapping": (marked("def test_bot():\n    return {'yes': 'no'}"), ids("row-0001")),
    "output": (marked("def test_bot():\n    return Output(text='yes no')"), ids("row-0001")),
}


@pytest.mark.parametrize(("source", "wanted"), TESTS.values(), ids=list(TESTS))
def test_node_ids_of_functions(suite: Suite, source: str, wanted: list[str]) -> None:
    suite.file("golden.csv", "id,q\np,1\nq,2\n")
    suite.file("test_bot.py", source)
    run = suite.run(plugins=["anyio"] if "anyio" in source else [])
    assert run.words == dict.fromkeys(wanted, "passed")
    assert list(run.words) == wanted, "case by case"
    assert run.exit == 0


@pytest.mark.parametrize("golden", ["", ", golden_set='golden.csv'"], ids=["parameters", "golden set too"])
def test_odd_ids_of_functions(suite: Suite, golden: str) -> None:
    """Ids that pytest escapes, or that a golden set would have to change."""
    odd = ["a::b", "[x]", "señor", "x-y", "", " ", "x" * 300, "a/b.py::c[d]"]
    suite.file("folder [1]/golden.csv", "id,q\nseñor,1\na::b,2\n")
    source = f"@pytest.mark.parametrize('word', {odd!r})\ndef test_bot(word):\n    return f'yes no {{word}}'"
    criteria = f"[A, text_check(name='b', contains='{{{{ word }}}}')]{golden}"
    suite.file("folder [1]/test_bot.py", marked(source, criteria=criteria))
    run = suite.run(new_process=True)  # it warns
    told = list(run.verdicts.values())
    assert len(told) == len(odd) * 2 * (2 if golden else 1) and run.exit == 0
    assert told.count("skipped") == 2 * (2 if golden else 1), "a blank word is no expected value"
    columns = [case["columns"]["word"] for case in run.report["evals"][0]["cases"]]
    assert sorted(columns) == sorted(odd * (2 if golden else 1))


@pytest.mark.parametrize(
    "args",
    [
        ("-p", "no:terminal"),
        ("--import-mode=importlib",),
        ("-s",),
        ("--pdb",),
        ("--keep-duplicates", ".", "."),
        ("-p", "no:xdist"),
    ],
)
def test_odd_ways_to_run(suite: Suite, args: tuple[str, ...]) -> None:
    suite.eval(cases=HALF, gate=0.5)
    suite.file("test_bot.py", marked("def test_bot():\n    return 'yes no'"))
    run = suite.run(*args)
    assert run.exit == 0
    assert [each["totals"]["pass"] for each in run.report["evals"]] == [1, 2]


def test_node_ids_of_async_functions_in_auto_mode(suite: Suite) -> None:
    suite.file("pytest.ini", "[pytest]\nasyncio_mode = auto\nasyncio_default_fixture_loop_scope = function\n")
    suite.file("golden.csv", "id,q\np,1\nq,2\n")
    body = "async def test_bot(case, line):\n    return f'yes no {await line()}'"
    fixture = "\n@pytest.fixture\nasync def line():\n    async def say():\n        return 'x'\n    yield say\n"
    suite.file("test_bot.py", marked(body, golden_set='"golden.csv"') + fixture)
    run = suite.run(plugins=["asyncio"])
    assert run.words == dict.fromkeys(ids("p", "q"), "passed")


def test_node_ids_of_a_file(suite: Suite) -> None:
    cases = [{"id": identifier, "answer": "x"} for identifier in ("order-17", "a::b", "c[d]", "señor", "e f", 7)]
    suite.eval(
        "evals/refunds",
        cases=[*cases, {"answer": "x"}][:6],
        criteria=[text("ok", contains="x"), text("states amount!", contains="x")],
    )
    run = suite.run()
    assert list(run.words) == [
        f"evals/refunds.eval.yaml::{case}::{criterion}"
        for case in ("order-17", "a_b", "c_d_", "señor", "e f", "7")
        for criterion in ("ok", "states_amount_")
    ]
    assert [case["original_id"] for case in run.report["evals"][0]["cases"]] == [
        "order-17",
        "a::b",
        "c[d]",
        "señor",
        "e f",
        "7",
    ]


def test_cases_without_an_id_are_numbered(suite: Suite) -> None:
    suite.eval(cases=[{"answer": "please"}, {"answer": "please"}])
    assert list(suite.run().words) == [f"demo.eval.yaml::row-000{n}::polite" for n in (1, 2)]


def test_repeats_are_told_apart(suite: Suite) -> None:
    suite.eval(repeat=2)
    assert list(suite.run().words) == [f"demo.eval.yaml::one::polite[{n}]" for n in (1, 2)]


COUNTING = """
import pathlib
import pytest
from pytest_verica import text_check

def note(what):
    with pathlib.Path(__file__).with_name("notes.txt").open("a") as file:
        file.write(what + "\\n")

@pytest.fixture(scope="module")
def shop():
    note("shop opens")
    yield
    note("shop closes")

@pytest.fixture
def table():
    note("table set")
    yield
    note("table cleared")

@pytest.mark.verica(
    golden_set="golden.csv",
    criteria=[text_check(name=name, contains="yes") for name in ("a", "b", "c")],
)
def test_bot(case, shop, table, tmp_path, request):
    note("body " + case.id)
    return "yes"
"""


def test_body_and_fixtures_run_once_per_case(suite: Suite) -> None:
    suite.file("golden.csv", "id,q\np,1\nq,2\n")
    suite.file("test_bot.py", COUNTING)
    run = suite.run()
    assert set(run.words.values()) == {"passed"} and len(run.words) == 6
    per_case = [note for case in "pq" for note in ("table set", f"body {case}", "table cleared")]
    assert (suite.path / "notes.txt").read_text().splitlines() == ["shop opens", *per_case, "shop closes"]


@pytest.mark.slow
def test_body_runs_once_per_case_over_several_processes(suite: Suite) -> None:
    suite.file("golden.csv", "id,q\n" + "".join(f"p{n},1\n" for n in range(20)))
    suite.file("test_bot.py", COUNTING)
    run = suite.run("-n2")
    assert len(run.words) == 60
    notes = (suite.path / "notes.txt").read_text().splitlines()
    assert sorted(note for note in notes if note.startswith("body")) == sorted(f"body p{n}" for n in range(20))
    assert notes.count("table set") == 20


def test_only_selected_criteria_of_a_function_still_run_its_body_once(suite: Suite) -> None:
    suite.file("golden.csv", "id,q\np,1\nq,2\n")
    suite.file("test_bot.py", COUNTING)
    run = suite.run("-k", "p-c")
    assert list(run.words) == ["test_bot.py::test_bot[p-c]"]
    assert (suite.path / "notes.txt").read_text().count("body") == 1


def test_four_outcomes(suite: Suite) -> None:
    suite.eval(cases=FOUR, criteria=FOUR_CRITERIA)
    run = suite.run("-v")
    told = {each.id.split("::")[1]: (each.word, each.letter, each.outcome) for each in run.told}
    assert told == {
        "good": ("passed", ".", "passed"),
        "bad": ("failed", "F", "failed"),
        "other": ("skipped", "s", "skipped"),
        "blank": ("error", "E", "failed"),
    }
    assert run.exit == 1
    for case, word in (("good", "PASS"), ("bad", "FAIL"), ("other", "N/A"), ("blank", "ERROR")):
        assert re.search(rf"demo\.eval\.yaml::{case}::polite {word}\b", run.out)
    assert run.last_line.strip("= ").startswith("1 failed, 1 passed, 1 skipped, 1 error in")
    assert "demo: 50 %, 1 of 2 graded passed, 1 N/A, 1 error, 0 missed" in run.out
    grades = {case: grade["outcome"] for (case, _), grade in run.grades.items()}
    assert grades == {"good": "pass", "bad": "fail", "other": "na", "blank": "error"}


@pytest.mark.parametrize(
    ("gate", "words", "exit_code"),
    [
        (0.5, {"bad": "missed", "blank": "error", "gate": "failed"}, 1),
        (0.6, {"bad": "missed", "blank": "error", "gate": "failed"}, 1),
        ({"pass_rate": 0.5, "max_errors": 1}, {"bad": "missed", "blank": "errored", "gate": "passed"}, 0),
        ({"pass_rate": 0.6, "max_errors": 1}, {"bad": "missed", "blank": "errored", "gate": "failed"}, 1),
        ({"pass_rate": 0.5, "max_errors": 0.3}, {"bad": "missed", "blank": "errored", "gate": "passed"}, 0),
        (
            {"pass_rate": 0.5, "max_errors": 1, "max_na": 0.2},
            {"bad": "missed", "blank": "errored", "gate": "failed"},
            1,
        ),
        (
            {"pass_rate": 0.5, "max_errors": 1, "criteria": {"polite": 1.0}},
            {"bad": "missed", "blank": "errored", "gate": "failed"},
            1,
        ),
        (
            {"pass_rate": 0.5, "max_errors": 1, "min_graded": 3},
            {"bad": "missed", "blank": "errored", "gate": "failed"},
            1,
        ),
    ],
)
def test_misses_and_gate(suite: Suite, gate: Any, words: dict[str, str], exit_code: int) -> None:
    suite.eval(cases=FOUR, criteria=FOUR_CRITERIA, gate=gate)
    run = suite.run()
    found = {name.split("::")[1]: word for name, word in run.words.items()}
    assert found == {"good": "passed", "other": "skipped", **words}
    assert run.exit == exit_code
    assert run.report["run"]["exit_code"] == exit_code
    assert run.report["evals"][0]["gate"]["status"] == words["gate"]


def test_miss_is_an_expected_failure_for_other_plugins(suite: Suite) -> None:
    suite.eval(cases=HALF, gate=0.5)
    run = suite.run("-v")
    miss = next(each for each in run.told if each.word == "missed")
    assert (miss.letter, miss.outcome) == ("m", "skipped")
    assert "demo.eval.yaml::b::polite MISSED" in run.out
    assert "1 missed" in run.last_line and "failed" not in run.last_line
    assert "demo.eval.yaml::gate PASSED" in run.out


def test_failed_gate_lists_its_reasons_and_misses(suite: Suite) -> None:
    suite.eval(cases=HALF, gate=0.9)
    run = suite.run()
    shown = run.text_of("demo.eval.yaml::gate")
    assert "1 of 2 passed (50 %), 90 % wanted" in shown
    assert "demo.eval.yaml::b::polite: the response does not contain 'please'; it is 'no'" in shown
    assert "Traceback" not in run.out
    assert "FAILED demo.eval.yaml::gate" in run.out


def test_strict_makes_failures_of_misses(suite: Suite) -> None:
    suite.eval(cases=HALF, gate=0.5)
    run = suite.run("--verica-strict")
    assert run.words == {
        "demo.eval.yaml::a::polite": "passed",
        "demo.eval.yaml::b::polite": "failed",
        "demo.eval.yaml::gate": "passed",
    }
    assert run.exit == 1


@pytest.mark.parametrize(("rate", "word", "exit_code"), [("0.5", "passed", 1), ("0.51", "failed", 1)])
def test_gate_over_the_whole_run_of_ungated_evals(suite: Suite, rate: str, word: str, exit_code: int) -> None:
    """It is one more gate: failing verdicts of evals without one stay failures."""
    suite.eval(cases=HALF)
    run = suite.run("--verica-gate", rate)
    assert run.gates == {"verica::gate": word}
    assert run.exit == exit_code
    assert run.report["gate"]["status"] == word


def test_gate_over_the_whole_run_beside_each_evals_own(suite: Suite) -> None:
    suite.eval("poor", cases=HALF, gate=0.5)
    suite.eval("good", cases=HALF[:1], gate=1.0)
    run = suite.run("--verica-gate", "0.9")
    assert run.gates == {"good.eval.yaml::gate": "passed", "poor.eval.yaml::gate": "passed", "verica::gate": "failed"}
    assert run.exit == 1
    assert "2 of 3 passed (66.7 %), 90 % wanted" in run.text_of("verica::gate")


def test_gate_of_a_function(suite: Suite) -> None:
    suite.file("test_bot.py", marked("def test_bot():\n    return 'yes'", gate="0.5"))
    run = suite.run()
    assert run.words == {
        "test_bot.py::test_bot[row-0001-a]": "passed",
        "test_bot.py::test_bot[row-0001-b]": "missed",
        "test_bot.py::test_bot::gate": "passed",
    }
    assert run.exit == 0


MANY = [{"id": f"c{n}", "answer": "no" if n in (1, 3) else "please"} for n in range(6)]


@pytest.mark.parametrize(("args", "ran"), [(("-x",), 2), (("--maxfail=2",), 4), (("--maxfail=3",), 6)])
def test_maxfail_counts_failures(suite: Suite, args: tuple[str, ...], ran: int) -> None:
    suite.eval(cases=MANY)
    run = suite.run(*args)
    assert len(run.words) == ran and run.exit in (1, 2)


def test_maxfail_does_not_count_misses(suite: Suite) -> None:
    suite.eval(cases=MANY, gate=0.5)
    run = suite.run("-x")
    assert len(run.verdicts) == 6
    assert run.exit == 0 and run.gates == {"demo.eval.yaml::gate": "passed"}


def test_gate_of_a_run_that_stopped_is_skipped(suite: Suite) -> None:
    suite.eval("gated", cases=MANY, gate=0.5)
    suite.file("a_test.py", "def test_a(): assert 0\n")
    suite.eval("z", cases=HALF)
    run = suite.run("gated.eval.yaml", "a_test.py", "z.eval.yaml", "-x")
    assert run.gates == {"gated.eval.yaml::gate": "passed"}, "it was whole before the stop"
    run = suite.run("a_test.py", "gated.eval.yaml", "-x")
    assert list(run.words) == ["a_test.py::test_a"]


def test_run_that_stops_among_misses_is_not_green(suite: Suite) -> None:
    suite.eval("gated", cases=MANY, gate=0.5)
    suite.file("conftest.py", STOP)
    run = suite.run()
    assert run.gates == {"gated.eval.yaml::gate": "skipped"}
    assert "3 of 6 verdicts ran" in run.out
    assert run.exit != 0


STOP = """
def pytest_runtest_logreport(report):
    if "::c2::" in report.nodeid:
        STATE[0].shouldstop = "enough"

STATE = []

def pytest_sessionstart(session):
    STATE[:] = [session]
"""


@pytest.mark.parametrize(
    ("mark", "word", "exit_code"),
    [
        ("@pytest.mark.skip(reason='not yet')", {"a": "skipped", "b": "skipped"}, 0),
        ("@pytest.mark.skipif(True, reason='not yet')", {"a": "skipped", "b": "skipped"}, 0),
        ("@pytest.mark.skipif(False, reason='not yet')", {"a": "passed", "b": "failed"}, 1),
        ("@pytest.mark.xfail(reason='not yet')", {"a": "xpassed", "b": "xfailed"}, 0),
        ("@pytest.mark.xfail(strict=True)", {"a": "failed", "b": "xfailed"}, 1),
        ("@pytest.mark.xfail(False, reason='not yet')", {"a": "passed", "b": "failed"}, 1),
        ("@pytest.mark.xfail(run=False)", {"a": "xfailed", "b": "xfailed"}, 0),
    ],
)
def test_skip_and_xfail_marks(suite: Suite, mark: str, word: dict[str, str], exit_code: int) -> None:
    suite.file("test_bot.py", marked(f"{mark}\ndef test_bot():\n    return 'yes'"))
    run = suite.run()
    assert {name[-2]: told for name, told in run.words.items()} == word
    assert run.exit == exit_code


def test_skip_in_the_body(suite: Suite) -> None:
    body = "def test_bot(case):\n    if case.id == 'p':\n        pytest.skip('closed today')\n    return 'yes no'"
    suite.file("golden.csv", "id,q\np,1\nq,2\n")
    suite.file("test_bot.py", marked(body, golden_set='"golden.csv"'))
    run = suite.run("-rs")
    assert list(run.words.values()) == ["skipped", "skipped", "passed", "passed"]
    assert "closed today" in run.out and run.exit == 0
    assert {grade["outcome"] for (case, _), grade in run.grades.items() if case == "p"} == {"na"}


def test_skip_in_a_fixture(suite: Suite) -> None:
    fixture = "\n@pytest.fixture\ndef shop():\n    pytest.skip('closed today')\n"
    suite.file("test_bot.py", marked("def test_bot(shop):\n    return 'yes no'") + fixture)
    run = suite.run("-rs")
    assert list(run.words.values()) == ["skipped", "skipped"]
    assert "closed today" in run.out


def test_xfail_in_the_body(suite: Suite) -> None:
    suite.file("test_bot.py", marked("def test_bot():\n    pytest.xfail('known')"))
    run = suite.run()
    assert list(run.words.values()) == ["xfailed", "xfailed"] and run.exit == 0


@pytest.mark.parametrize("body", ["pytest.skip('closed')", "pytest.xfail('known')"])
@pytest.mark.parametrize("mark", ["", "@pytest.mark.skip(reason='later')\n"])
def test_gate_of_an_eval_that_its_author_skips_is_skipped(suite: Suite, mark: str, body: str) -> None:
    suite.file("test_bot.py", marked(f"{mark}def test_bot():\n    {body}", gate="0.9"))
    run = suite.run("-rs")
    assert set(run.verdicts.values()) <= {"skipped", "xfailed"}
    assert run.gates == {"test_bot.py::test_bot::gate": "skipped"} and run.exit == 0
    assert "running.py" not in run.out, "a skip is told of where the user wrote it"


def test_failing_assertion_in_the_body_is_an_error_of_each_verdict(suite: Suite) -> None:
    suite.file("test_bot.py", marked("def test_bot():\n    assert 1 == 2, 'sums are off'"))
    run = suite.run()
    assert list(run.words.values()) == ["error", "error"] and run.exit == 1
    assert "sums are off" in run.out
    assert {grade["error"]["kind"] for grade in run.grades.values()} == {"target_raised"}


def test_error_in_a_fixture_is_an_error_of_each_verdict(suite: Suite) -> None:
    fixture = "\n@pytest.fixture\ndef shop():\n    raise ValueError('no shop')\n"
    suite.file("test_bot.py", marked("def test_bot(shop):\n    return 'yes no'") + fixture)
    run = suite.run()
    assert list(run.words.values()) == ["error", "error"] and run.exit == 1
    assert len(run.grades) == 2


def test_failure_text_of_a_file(suite: Suite) -> None:
    long = "word " * 2000 + "the end"
    cases = [{"id": "order-17", "question": "Where is my\norder?", "secret": "unused", "answer": long}]
    script = "def bot(request):\n    return CASES[0]['answer']\n"
    suite.file("scripts.py", f"CASES = {cases!r}\n{script}")
    model = {"provider": "scripted", "name": "scripts:bot"}
    suite.eval(cases=cases, target=None, prompt={"user": "{{ question }}"}, model=model)
    shown = suite.run("--tb=long", "-vv").text_of("demo.eval.yaml::order-17::polite")
    lines = shown.splitlines()
    assert lines[0].startswith("polite: fail: the response does not contain 'please'; it is 'word word")
    assert "question: Where is my" in lines and "    order?" in lines
    assert "secret" not in shown, "the prompt does not use that column"
    assert any(line.startswith("output: word") and line.endswith("the end") for line in lines)
    assert len(shown) < 3000
    assert lines[-1] == 'rerun: pytest --verica "demo.eval.yaml::order-17::polite"'


@pytest.mark.parametrize("style", ["auto", "long", "short", "line", "native", "no"])
def test_failing_verdict_shows_no_traceback(suite: Suite, style: str) -> None:
    suite.eval(cases=[*HALF, {"id": "c", "answer": ""}])
    suite.file("test_bot.py", marked("def test_bot():\n    return 'nothing'"))
    run = suite.run(f"--tb={style}", "-vv", "--showlocals")
    assert run.exit == 1
    for word in ("Traceback", "pytest_verica/", "site-packages", "CaughtVerdict"):
        assert word not in run.out
    if style != "no":
        assert "it is 'no'" in run.out and "it is 'nothing'" in run.out


def test_failure_text_of_a_judge(suite: Suite) -> None:
    suite.file("scripts.py", "def low(request):\n    return {'reasoning': 'Too short by far.', 'score': 0.25}\n")
    suite.eval(cases=HALF[:1], criteria=[judge("kind", "scripts:low")])
    shown = suite.run().text_of("demo.eval.yaml::a::kind")
    assert "the judge's score is 0.25; wanted at least 0.5, up to 1" in shown
    assert "score: 0.25" in shown and "judge: Too short by far." in shown and "answer: please" in shown


def test_failure_text_of_a_function_can_be_run_again(suite: Suite) -> None:
    suite.file("golden.csv", "id,q\np,what?\nq,who?\n")
    suite.file("test_bot.py", marked("def test_bot(case):\n    return 'yes'", golden_set='"golden.csv"'))
    shown = suite.run().text_of("test_bot.py::test_bot[p-b]")
    assert "the response does not contain 'no'; it is 'yes'" in shown and "q: what?" in shown
    again = re.search(r'rerun: pytest --verica "(.*)"', shown)
    assert again is not None
    assert suite.run(again[1]).words == {"test_bot.py::test_bot[p-b]": "failed"}


def test_rerun_line_of_an_odd_id_can_be_run(suite: Suite) -> None:
    suite.eval(cases=[{"id": "a::b [c] 'd' ñ", "answer": "no"}])
    shown = suite.run().told[0]
    again = re.search(r'rerun: pytest --verica "(.*)"', shown.text)
    assert again is not None
    assert suite.run(again[1]).words == {shown.id: "failed"}


def test_summary_names_rates_intervals_gates_and_the_report(suite: Suite) -> None:
    suite.eval(cases=HALF, criteria=[text("polite", contains="please"), text("short", length={"max": 10})], gate=0.75)
    out = suite.run().out
    for line in (
        "demo: 75 %, 3 of 4 graded passed, 0 N/A, 0 errors, 1 missed",
        "  polite: 50 %, 1 of 2 graded passed, 0 N/A, 0 errors, 1 missed",
        "  short: 100 %, 2 of 2 graded passed, 0 N/A, 0 errors, 0 missed",
        "  gate (≥ 75 %) passed: 3 of 4 passed (75 %), 75 % wanted",
    ):
        assert line in out.splitlines()
    assert re.search(r"95 % interval 30\.1 % to 95\.4 % \(Wilson\)", out)
    assert re.search(r"^report: .*report\.json$", out, re.MULTILINE)


def test_run_without_evals_says_nothing(suite: Suite) -> None:
    suite.file("test_plain.py", "def test_plain(): pass\n")
    run = suite.run()
    assert run.exit == 0 and "verica ====" not in run.out
    assert not (suite.path / ".verica").exists()


@pytest.mark.parametrize(
    ("style", "ends"),
    [("progress", ("[ 50%]", "[100%]")), ("count", ("[2/4]", "[4/4]")), ("times", ("", "")), ("classic", ("", ""))],
)
def test_rows_of_letters_end_before_the_gates(suite: Suite, style: str, ends: tuple[str, str]) -> None:
    for name in ("one", "two"):
        suite.eval(name, cases=HALF, gate=0.5)
    before = suite.run("-o", f"console_output_style={style}", "--verica-gate=0.5").out.partition("==== verica")[0]
    rows = [row.split() for row in before.splitlines() if ".eval.yaml" in row or "%]" in row or "/4]" in row]
    words = [["one.eval.yaml", ".m", *ends[0].split()], ["two.eval.yaml", ".m", *ends[1].split()]]
    assert rows == words


@pytest.mark.parametrize("flag", ["-q", "-qq"])
def test_quiet_runs(suite: Suite, flag: str) -> None:
    suite.eval(cases=HALF, gate=0.5)
    run = suite.run(flag)
    assert run.exit == 0
    assert run.out.lstrip().startswith(".m")


def test_verica_fixture_grades_and_checks(suite: Suite) -> None:
    body = """
def test_grade(verica):
    assert verica.grade("yes", A).passed and not verica.grade("yes", B).passed

def test_check(verica):
    verica.check("yes", B)

def test_error(verica):
    verica.check("yes", number_check(name="n", equals="{{ nothing }}"))

@pytest.mark.parametrize("want", ["", "yes"])
def test_na(verica, want):
    verica.check("yes", text_check(name="c", contains="{{ want }}"))
"""
    suite.file("test_bot.py", HEAD + body)
    run = suite.run()
    words = {name.partition("::")[2]: word for name, word in run.words.items()}
    assert words == {
        "test_grade": "passed",
        "test_check": "failed",
        "test_error": "failed",
        "test_na[]": "skipped",
        "test_na[yes]": "passed",
    }
    assert "the response does not contain 'no'; it is 'yes'" in run.out
    outcomes = {
        each["id"].partition("::")[2]: [g["outcome"] for c in each["cases"] for g in c["grades"]]
        for each in run.report["evals"]
    }
    assert outcomes["test_grade"] == ["pass", "fail"] and outcomes["test_check"] == ["fail"]


def test_report_goes_where_it_is_told(suite: Suite) -> None:
    suite.eval()
    run = suite.run("--verica-report", "out/here.json")
    assert json.loads((suite.path / "out" / "here.json").read_text())["run"]["exit_code"] == 0
    assert run.reports == []
