"""Without --verica the plugin is almost not there: nothing imported, nothing read, nothing written, nothing printed."""

from __future__ import annotations

import json
import re
import sys

import pytest

from tests.pytest_door.conftest import Suite

ENTRY = {"pytest_verica", "pytest_verica.plugin", "pytest_verica.plugin.hookspecs", "pytest_verica.plugin.options"}
DECLARATIONS = {"pytest_verica.declare", "pytest_verica.state_checks"}
DECLARING = {"pytest_verica.declare", "pytest_verica.state_checks"}
"""What a test module's declarations need besides: the standard library only."""
SPY = """
import json, pathlib, sys

def pytest_unconfigure(config):
    if not hasattr(config, "workerinput"):
        pathlib.Path(__file__).with_name("loaded.json").write_text(json.dumps(sorted(sys.modules)))
"""
MARKED = """
import pytest
from pytest_verica import criterion, json_check, label_model, number_check, python_check, score_model, text_check

@pytest.mark.verica(golden_set="nowhere.csv", criteria=[text_check(name="a", contains="{{ nothing }}")], gate=7)
def test_bot(case):
    raise SystemError("never run")

@pytest.mark.verica(criteria=[])
class TestBot:
    @pytest.mark.parametrize("n", [1, 2])
    def test_bot(self, n):
        raise SystemError("never run")

def test_fixture(verica):
    raise SystemError("never run")

def test_plain():
    pass
"""


def loaded(suite: Suite) -> set[str]:
    modules: list[str] = json.loads((suite.path / "loaded.json").read_text())
    return set(modules)


def brought(suite: Suite, *args: str) -> set[str]:
    """The modules that a plain run has more than the same run with the plugin blocked."""
    suite.file("conftest.py", SPY)
    with_it = suite.run(*args, plain=True, new_process=True)
    assert with_it.exit == 0
    modules = loaded(suite)
    suite.run(*args, "-p", "no:verica", plain=True, new_process=True)
    return modules - loaded(suite)


@pytest.mark.slow
@pytest.mark.parametrize("args", [(), ("--collect-only",), ("-n2",)], ids=["run", "collect", "n2"])
def test_plain_suite_loads_the_thin_entry_only(suite: Suite, args: tuple[str, ...]) -> None:
    suite.file("test_plain.py", "def test_plain(): pass\n")
    suite.file("broken.eval.yaml", "{{{ not even YAML")
    assert brought(suite, *args) == ENTRY


@pytest.mark.slow
def test_marked_suite_loads_its_declarations_besides(suite: Suite) -> None:
    suite.file("conftest.py", SPY)
    suite.file("test_bot.py", "def test_bot(): pass\n")
    assert suite.run(plain=True, new_process=True).exit == 0
    before = loaded(suite)
    suite.file("test_bot.py", MARKED)
    assert suite.run(plain=True, new_process=True).exit == 0
    more = loaded(suite) - before
    assert {name for name in more if name.startswith("pytest_verica")} == DECLARING
    assert {name.partition(".")[0] for name in more - DECLARING} <= sys.stdlib_module_names


@pytest.mark.slow
def test_workers_of_a_marked_suite_load_no_more(suite: Suite) -> None:
    suite.file("test_bot.py", MARKED)
    wanted = sorted(ENTRY | DECLARING)
    check = "import sys\ndef test_loaded():\n    ours = {m for m in sys.modules if m.startswith('pytest_verica')}\n"
    suite.file("test_loaded.py", f"{check}    assert sorted(ours) == {wanted!r}\n")
    assert suite.run("-n1", plain=True, new_process=True).exit == 0


def test_marked_tests_are_skipped_once_and_say_how_to_run_them(suite: Suite) -> None:
    suite.file("test_bot.py", MARKED)
    run = suite.run("-rs", plain=True)
    assert run.words == {
        "test_bot.py::test_bot": "skipped",
        "test_bot.py::TestBot::test_bot[1]": "skipped",
        "test_bot.py::TestBot::test_bot[2]": "skipped",
        "test_bot.py::test_fixture": "skipped",
        "test_bot.py::test_plain": "passed",
    }
    assert "an eval: run it with --verica" in run.out


def test_strict_markers_know_the_marker(suite: Suite) -> None:
    suite.file("test_bot.py", MARKED)
    assert suite.run("--strict-markers", "--strict-config", plain=True).exit == 0


def told(out: str) -> list[str]:
    """The output without what no two runs share."""
    lines = [
        line for line in out.splitlines() if not line.startswith(("plugins:", "running:", "     in:", "metadata:"))
    ]
    return [re.sub(r"in \d+\.\d+s", "in a moment", line) for line in lines]


@pytest.mark.slow
@pytest.mark.parametrize("args", [(), ("-v",), ("-n2",)], ids=["plain", "v", "n2"])
def test_output_and_files_are_the_same_without_the_plugin(suite: Suite, args: tuple[str, ...]) -> None:
    suite.file("test_plain.py", "def test_good(): pass\ndef test_bad(): assert 0\n")
    suite.eval()
    outs, files = [], []
    for more in ((), ("-p", "no:verica")):
        run = suite.run(*args, *more, plain=True, new_process=True)
        outs.append([re.sub(r"-p no:verica|runpytest-\d|, verica-[\d.]+|gw\d", "", line) for line in told(run.out)])
        files.append(sorted(path.name for path in suite.path.iterdir() if not path.name.startswith("runpytest")))
    assert outs[0] == outs[1] if "-n2" not in args else sorted(outs[0]) == sorted(outs[1])
    assert files[0] == files[1] and ".verica" not in files[0]


def test_options_alone_switch_nothing_on(suite: Suite) -> None:
    suite.eval()
    suite.file("test_plain.py", "def test_plain(): pass\n")
    run = suite.run("--verica-gate=0.9", "--verica-concurrency=4", plain=True)
    assert run.words == {"test_plain.py::test_plain": "passed"} and "verica:" not in run.out
    assert not (suite.path / ".verica").exists()


def test_switched_off_by_the_ini(suite: Suite) -> None:
    suite.file("pytest.ini", "[pytest]\nverica = false\n")
    suite.eval()
    assert suite.run(plain=True).exit == 5


@pytest.mark.slow
def test_run_without_models_loads_no_client(suite: Suite) -> None:
    """With --verica too, what a run does not need is not loaded."""
    suite.file("conftest.py", SPY)
    suite.eval()
    assert suite.run(new_process=True).exit == 0
    assert not {name.partition(".")[0] for name in loaded(suite)} & {
        "openai",
        "aiohttp",
        "httpx2",
        "genai_prices",
        "numpy",
    }


def test_blocked_plugin_leaves_pytest_as_it_was(suite: Suite) -> None:
    suite.file("test_plain.py", "def test_plain(): pass\n")
    run = suite.run("-p", "no:verica", plain=True, new_process=True)
    assert run.exit == 0
