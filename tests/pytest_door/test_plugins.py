"""Other people's plugins beside evals: random order, reruns, timeouts, HTML reports, two ways to run coroutines."""

from __future__ import annotations

import re

import pytest

from tests.fake_provider import FakeProvider
from tests.pytest_door.conftest import OTHER_PLUGINS, Suite, asked, text

pytestmark = pytest.mark.slow
ONCE_AND_MANY = [pytest.param((), id="alone"), pytest.param(("-n2",), id="n2")]
CASES = [{"id": f"c{n}", "answer": "please" if n % 3 else "no", "q": f"What is {n} + 1?"} for n in range(9)]
TWO = [text("polite", contains="please"), text("short", length={"max": 99})]
TEST = """
import pathlib
import pytest
from pytest_verica import text_check

def note(what):
    with pathlib.Path(__file__).with_name("notes.txt").open("a") as file:
        file.write(what + "\\n")
    return pathlib.Path(__file__).with_name("notes.txt").read_text().split().count(what)

A, B = text_check(name="a", contains="yes"), text_check(name="b", contains="yes")
"""


@pytest.mark.parametrize("args", ONCE_AND_MANY)
def test_randomly_shuffles_cases_and_keeps_each_whole(suite: Suite, fake: FakeProvider, args: tuple[str, ...]) -> None:
    pytest.importorskip("pytest_randomly")
    suite.eval(cases=CASES, criteria=TWO, target=None, prompt={"user": "{{ q }}"}, model=asked(fake), gate=0.5)
    suite.file("test_bot.py", TEST + MARKED)
    orders = []
    for seed in ("1", "2"):
        run = suite.run("--verica-fresh", f"--randomly-seed={seed}", *args, plugins=["randomly"])
        assert len(run.verdicts) == 9 * 2 + 3 * 2
        assert run.gates == {"demo.eval.yaml::gate": "passed"} and run.exit == 0
        cases = [name.rpartition("::")[0] for name in run.verdicts if name.startswith("demo")]
        if not args:
            assert all(cases[n] == cases[n + 1] for n in range(0, 18, 2)), "a case's verdicts stand together"
        orders.append(cases)
    assert orders[0] != orders[1] and sorted(orders[0]) == sorted(orders[1])
    assert fake.stats()["requests"] == 18, "one sample for each case and run"
    assert sorted((suite.path / "notes.txt").read_text().split()) == sorted([f"body{n}" for n in range(3)] * 2)


MARKED = """
@pytest.mark.verica(criteria=[A, B])
@pytest.mark.parametrize("n", range(3))
def test_bot(n):
    note(f"body{n}")
    return "yes"
"""


@pytest.mark.parametrize("args", ONCE_AND_MANY)
def test_reruns_sample_a_flaky_file_verdict_anew(suite: Suite, args: tuple[str, ...]) -> None:
    pytest.importorskip("pytest_rerunfailures")
    suite.file("bot.py", FLAKY_BOT)
    suite.eval(
        cases=[{"id": "flaky"}, {"id": "good"}, {"id": "bad"}],
        target={"python": "bot:answer"},
        criteria=[text("yes", contains="yes"), text("short", length={"max": 9})],
    )
    run = suite.run("--reruns=2", *args, plugins=["rerunfailures"])
    last = {each.id.removeprefix("demo.eval.yaml::"): each.word for each in run.told if each.word != "rerun"}
    assert last == {
        "flaky::yes": "passed",
        "flaky::short": "passed",
        "good::yes": "passed",
        "good::short": "passed",
        "bad::yes": "failed",
        "bad::short": "passed",
    }
    again = sorted(each.id.removeprefix("demo.eval.yaml::") for each in run.told if each.word == "rerun")
    assert again == ["bad::yes", "bad::yes", "flaky::yes"]
    assert run.exit == 1
    assert "1 failed, 5 passed, 3 rerun" in run.last_line
    assert {key: grade["outcome"] for key, grade in run.grades.items() if grade["outcome"] != "pass"} == {
        ("bad", "yes"): "fail"
    }
    assert "demo: 83.3 %, 5 of 6 graded passed" in run.out


FLAKY_BOT = """
import pathlib

def answer(case):
    notes = pathlib.Path(__file__).with_name("notes.txt")
    with notes.open("a") as file:
        file.write(case.id + "\\n")
    seen = notes.read_text().split().count(case.id)
    return "yes" if case.id == "good" or (case.id == "flaky" and seen > 1) else "no"
"""


@pytest.mark.parametrize("args", ONCE_AND_MANY)
def test_reruns_run_a_flaky_function_anew(suite: Suite, args: tuple[str, ...]) -> None:
    pytest.importorskip("pytest_rerunfailures")
    suite.file("test_bot.py", TEST + FLAKY)
    run = suite.run("--reruns=2", *args, plugins=["rerunfailures"])
    last = {each.id.partition("::")[2]: each.word for each in run.told if each.word != "rerun"}
    assert last == {
        "test_output[row-0001-a]": "passed",
        "test_output[row-0001-b]": "passed",
        "test_crash[row-0001-a]": "passed",
        "test_crash[row-0001-b]": "passed",
        "test_never[row-0001-a]": "failed",
        "test_never[row-0001-b]": "failed",
    }
    assert run.exit == 1
    outcomes = {
        each["name"].partition("::")[2]: [g["outcome"] for c in each["cases"] for g in c["grades"]]
        for each in run.report["evals"]
    }
    assert outcomes == {"test_output": ["pass", "pass"], "test_crash": ["pass", "pass"], "test_never": ["fail", "fail"]}


FLAKY = """
@pytest.mark.verica(criteria=[A, B])
def test_output():
    return "yes" if note("output") > 1 else "no"

@pytest.mark.verica(criteria=[A, B])
def test_crash():
    assert note("crash") > 1
    return "yes"

@pytest.mark.verica(criteria=[A, B])
def test_never():
    return "no"
"""


def test_flaky_mark_reruns_one_test(suite: Suite) -> None:
    pytest.importorskip("pytest_rerunfailures")
    source = FLAKY.replace("@pytest.mark.verica", "@pytest.mark.flaky(reruns=1)\n@pytest.mark.verica", 1)
    suite.file("test_bot.py", TEST + source)
    run = suite.run("-k", "test_output or test_never", plugins=["rerunfailures"])
    assert [each.word for each in run.told if "test_output" in each.id] == ["rerun", "passed", "passed"]
    assert [each.word for each in run.told if "test_never" in each.id] == ["failed", "failed"]


def test_misses_are_not_rerun(suite: Suite) -> None:
    pytest.importorskip("pytest_rerunfailures")
    suite.eval(cases=CASES, gate=0.5)
    run = suite.run("--reruns=2", plugins=["rerunfailures"])
    assert run.exit == 0 and "rerun" not in run.last_line
    assert list(run.verdicts.values()).count("missed") == 3


@pytest.mark.parametrize("method", ["signal", "thread"])
def test_timeout_of_a_hanging_test(suite: Suite, method: str) -> None:
    pytest.importorskip("pytest_timeout")
    suite.file("test_bot.py", TEST + HANGING)
    run = suite.run("--timeout=1", f"--timeout-method={method}", plugins=["timeout"], new_process=True)
    assert run.exit != 0 and "Timeout" in run.out
    if method == "signal":  # the other one ends the process
        assert run.words == {f"test_bot.py::test_bot[row-0001-{c}]": "error" for c in "ab"}


HANGING = """
import time

@pytest.mark.verica(criteria=[A, B])
def test_bot():
    time.sleep(60)
"""


@pytest.mark.parametrize(("method", "kind"), [("signal", "sync"), ("signal", "async"), ("thread", "sync")])
def test_timeout_of_a_hanging_target(suite: Suite, method: str, kind: str) -> None:
    pytest.importorskip("pytest_timeout")
    sync = "import time, asyncio\ndef sync(case):\n    time.sleep(60)\n"
    suite.file("bot.py", f"{sync}async def async_(case):\n    await asyncio.sleep(60)\n")
    target = {"python": "bot:sync" if kind == "sync" else "bot:async_"}
    suite.eval(cases=[{"id": "a"}], target=target)
    run = suite.run("--timeout=1", f"--timeout-method={method}", plugins=["timeout"], new_process=True)
    assert run.exit != 0 and "Timeout" in run.out
    if method == "signal":
        assert run.words == {"demo.eval.yaml::a::polite": "error"}


def test_evals_own_timeout_comes_first(suite: Suite) -> None:
    pytest.importorskip("pytest_timeout")
    suite.file("bot.py", "import time\ndef sync(case):\n    time.sleep(60)\n")
    suite.eval(cases=[{"id": "a"}, {"id": "b"}], target={"python": "bot:sync", "timeout": 0.5})
    run = suite.run("--timeout=20", plugins=["timeout"])
    assert set(run.words.values()) == {"error"} and "gave no answer within 0.5 s" in run.out


@pytest.mark.parametrize("args", ONCE_AND_MANY)
def test_html_report_is_written(suite: Suite, args: tuple[str, ...]) -> None:
    pytest.importorskip("pytest_html")
    suite.eval("gated", cases=CASES, gate=0.5)
    suite.eval("plain", cases=[*CASES[:2], {"id": "blank", "answer": ""}])
    suite.file("test_bot.py", TEST + MARKED)
    run = suite.run("--html=report.html", "--self-contained-html", *args, plugins=["metadata", "html"])
    assert run.exit == 1 and "INTERNALERROR" not in run.out
    written = (suite.path / "report.html").read_text()
    for name in (
        "gated.eval.yaml::c1::polite",
        "plain.eval.yaml::c0::polite",
        "test_bot.py::test_bot[0-a]",
        "gated.eval.yaml::gate",
    ):
        assert name in written
    assert "it is" in written, "the failure's text"


@pytest.mark.parametrize("args", ONCE_AND_MANY)
def test_asyncio_in_auto_mode(suite: Suite, args: tuple[str, ...]) -> None:
    pytest.importorskip("pytest_asyncio")
    suite.file("pytest.ini", "[pytest]\nasyncio_mode = auto\nasyncio_default_fixture_loop_scope = function\n")
    suite.file("test_bot.py", TEST + ASYNC)
    suite.eval(cases=CASES)
    run = suite.run(*args, plugins=["asyncio"])
    words = {name: word for name, word in run.words.items() if name.startswith("test_bot")}
    assert words == {
        **{f"test_bot.py::test_bot[{n}-{c}]": "passed" for n in range(3) for c in "ab"},
        **{f"test_bot.py::test_crash[row-0001-{c}]": "error" for c in "ab"},
        "test_bot.py::test_plain": "passed",
        "test_bot.py::test_fixture": "passed",
    }
    assert sorted((suite.path / "notes.txt").read_text().split()) == ["body0", "body1", "body2"]


ASYNC = """
import asyncio

@pytest.fixture
async def word():
    await asyncio.sleep(0)
    yield "yes"

@pytest.mark.verica(criteria=[A, B])
@pytest.mark.parametrize("n", range(3))
async def test_bot(n, word):
    await asyncio.sleep(0)
    note(f"body{n}")
    return word

@pytest.mark.verica(criteria=[A, B])
async def test_crash():
    await asyncio.sleep(0)
    raise ValueError("no answer")

async def test_plain(word):
    assert word == "yes"

async def test_fixture(verica, word):
    assert verica.grade(word, A).passed
"""


@pytest.mark.parametrize("plugins", [["anyio"], ["anyio", "asyncio"]], ids=["anyio alone", "beside strict asyncio"])
def test_anyio(suite: Suite, plugins: list[str]) -> None:
    suite.file(
        "pytest.ini", "[pytest]\n" + ("asyncio_default_fixture_loop_scope = function\n" if "asyncio" in plugins else "")
    )
    source = ASYNC.replace("asyncio.sleep", "anyio.sleep").replace(
        "import asyncio", "import anyio\npytestmark = pytest.mark.anyio"
    )
    suite.file("test_bot.py", TEST + source + "\n@pytest.fixture\ndef anyio_backend():\n    return 'asyncio'\n")
    run = suite.run(plugins=plugins)
    assert set(run.words.values()) == {"passed", "error"} and len(run.words) == 10
    assert [name for name, word in run.words.items() if word == "error"] == [
        f"test_bot.py::test_crash[row-0001-{c}]" for c in "ab"
    ]
    assert sorted((suite.path / "notes.txt").read_text().split()) == ["body0", "body1", "body2"]


def test_everything_at_once(suite: Suite) -> None:
    """As in a project that has them all but hypothesis, whose plugin warns of other packages; with strict warnings."""
    for module in ("pytest_randomly", "pytest_rerunfailures", "pytest_timeout", "pytest_html", "pytest_asyncio"):
        pytest.importorskip(module)
    ini = "[pytest]\nasyncio_mode = auto\nasyncio_default_fixture_loop_scope = function\nfilterwarnings = error\n"
    suite.file(
        "pytest.ini", ini + "addopts = --reruns=1 --timeout=60 --html=report.html --strict-markers --strict-config\n"
    )
    suite.eval(cases=CASES, criteria=TWO, gate=0.5)
    suite.file("test_bot.py", TEST + MARKED)
    run = suite.run("-n2", "--junit-xml=junit.xml", plugins=OTHER_PLUGINS[:-1], new_process=True)
    assert run.exit == 0, run.out
    assert len(run.verdicts) == 18 + 6
    assert re.search(r"demo: 83\.3 %, 15 of 18 graded passed", run.out)
