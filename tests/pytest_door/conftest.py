"""A suite that is written and run with `pytest --verica`, and what an observer beside the product saw of it."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

# A run inside this process forgets every module it imports; some of these cannot be imported twice.
import aiohttp  # noqa: F401
import genai_prices  # noqa: F401
import jsonschema  # noqa: F401
import openai  # noqa: F401
import pytest
import regex  # noqa: F401
import ruamel.yaml  # noqa: F401
from _pytest.terminal import TerminalReporter
from execnet import gateway_io

import pytest_verica.plugin.active  # noqa: F401
from tests.fake_provider import FakeProvider
from tests.forked import ForkedPython

OBSERVER = '''
"""Notes each report as pytest's own parts see it, apart from the product."""
import json
import pathlib

import pytest


@pytest.hookimpl(trylast=True)
def pytest_configure(config):
    if not hasattr(config, "workerinput"):
        config.pluginmanager.register(Observer(config), "suite-observer")


class Observer:
    def __init__(self, config):
        self.config = config
        self.file = pathlib.Path(__file__).with_name("observed.jsonl")

    def note(self, **told):
        with self.file.open("a", encoding="ascii") as file:
            file.write(json.dumps(told) + "\\n")

    @pytest.hookimpl(trylast=True)
    def pytest_runtest_logreport(self, report):
        word, letter, _ = self.config.hook.pytest_report_teststatus(report=report, config=self.config)
        if word:
            text = str(report.longrepr or "")
            self.note(id=report.nodeid, word=word, letter=letter, outcome=report.outcome, text=text)
'''

OTHER_PLUGINS = ("randomly", "rerunfailures", "timeout", "html", "metadata", "asyncio", "anyio", "hypothesispytest")
"""Plugins that this environment has and most suites have not: left out, but for the tests that ask for them."""

OUTER = ("VERICA_", "GITHUB_", "PYTEST_ADDOPTS", "PYTEST_XDIST_", "PYTEST_DISABLE_PLUGIN_AUTOLOAD")
"""Environment variables that tell of the run of this very suite."""


@dataclass(frozen=True)
class Told:
    """One report that counts. word: its category in the terminal's last line; outcome: what other plugins see."""

    id: str
    word: str
    letter: str
    outcome: str
    text: str


@dataclass(frozen=True)
class Run:
    """What a run of the suite left behind."""

    exit: int
    out: str
    told: Sequence[Told]
    reports: Sequence[Mapping[str, Any]] = field(repr=False)

    @property
    def words(self) -> dict[str, str]:
        """Word by node id; every one is told of once."""
        words = {each.id: each.word for each in self.told}
        assert len(words) == len(self.told), f"told of twice: {self.told}"
        return words

    @property
    def verdicts(self) -> dict[str, str]:
        """The words without the gates."""
        return {name: word for name, word in self.words.items() if not name.endswith("::gate")}

    @property
    def gates(self) -> dict[str, str]:
        return {name: word for name, word in self.words.items() if name.endswith("::gate")}

    @property
    def last_line(self) -> str:
        return self.out.rstrip().splitlines()[-1]

    @property
    def report(self) -> Mapping[str, Any]:
        """The JSON report, of which there is one."""
        assert len(self.reports) == 1, self.out
        return self.reports[0]

    @property
    def grades(self) -> dict[tuple[str, str], Mapping[str, Any]]:
        """(case, criterion) -> the grade in the JSON report."""
        cases = [case for each in self.report["evals"] for case in each["cases"]]
        return {(case["id"], grade["criterion"]): grade for case in cases for grade in case["grades"]}

    def text_of(self, nodeid: str) -> str:
        return next(each.text for each in self.told if each.id == nodeid)


class Suite:
    """A folder with tests and evals, and the runs of it."""

    def __init__(
        self, pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch, forked_python: ForkedPython | None
    ) -> None:
        self.pytester = pytester
        self._monkeypatch = monkeypatch
        self._forked_python = forked_python
        self.path: Path = pytester.path
        self.file("observer.py", OBSERVER)
        self.file("pytest.ini", "[pytest]\n")

    def _run_here(self, plugins: Sequence[str], given: Sequence[str]) -> pytest.RunResult:
        """A run in this process (its workers are processes, as always), without what costs most and shows nothing:
        a search for plugins, a walk through the objects of all of this suite, the source behind "collection failed",
        the loading of the same modules by every worker."""
        with self._monkeypatch.context() as patch:
            patch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
            patch.setattr("gc.freeze", lambda: None)
            patch.setattr(TerminalReporter, "pytest_keyboard_interrupt", _remember_the_message)
            patch.setattr("xdist.workermanage._sys_path", list(sys.path))  # it remembers the path of its first import
            if self._forked_python is not None:
                patch.setattr(gateway_io, "popen_args", self._popen_args)
            return self.pytester.runpytest_inprocess(*plugins, *given)

    def _popen_args(self, spec: object) -> list[str]:
        assert self._forked_python is not None
        return [*self._forked_python.command, "-c", gateway_io.popen_bootstrapline]

    def file(self, name: str, text: str) -> Path:
        path = self.path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text.lstrip("\n"), "utf-8")
        return path

    def eval(
        self,
        name: str = "demo",
        *,
        cases: Sequence[Mapping[str, Any]] = ({"id": "one", "answer": "yes, please"},),
        criteria: Sequence[Mapping[str, Any]] | None = None,
        **keys: Any,
    ) -> str:
        """Writes `<name>.eval.yaml` and its golden set, over the column `answer` where nothing else is said; its id."""
        lines = "".join(json.dumps(case) + "\n" for case in cases)
        self.file(f"{name}.jsonl", lines)
        if not {"target", "prompt"} & keys.keys():
            keys["target"] = {"column": "answer"}
        keys.setdefault("golden_set", f"{Path(name).name}.jsonl")
        written = {**keys, "criteria": list(criteria or [text("polite", contains="please")])}
        self.file(f"{name}.eval.yaml", json.dumps({k: v for k, v in written.items() if v is not None}, indent=1))
        return f"{name}.eval.yaml"

    def run(self, *args: str, plain: bool = False, new_process: bool = False, plugins: Sequence[str] = ()) -> Run:
        """`pytest --verica` with these arguments. plain: without --verica; plugins: those of OTHER_PLUGINS to have;
        new_process: as a user starts it, in a process of its own that finds its plugins by their entry points."""
        seen = self.path / "observed.jsonl"
        seen.unlink(missing_ok=True)
        before = set(self.path.glob(".verica/runs/*/report.json"))
        given = ["-p", "observer", *([] if plain else ["--verica"]), *args]
        if new_process:
            without = [f"-pno:{name}" for name in OTHER_PLUGINS if name not in plugins]
            result = self.pytester.runpytest_subprocess(*without, *given)
        else:
            result = self._run_here([f"-p{name}" for name in ("verica", "xdist", *plugins)], given)
        told = [Told(**json.loads(line)) for line in seen.read_text().splitlines()] if seen.exists() else []
        written = sorted(set(self.path.glob(".verica/runs/*/report.json")) - before)
        reports = [json.loads(path.read_text()) for path in written]
        return Run(int(result.ret), result.stdout.str() + "\n" + result.stderr.str(), told, reports)


def _remember_the_message(reporter: Any, excinfo: pytest.ExceptionInfo[BaseException]) -> None:
    reporter._keyboardinterrupt_memo = excinfo.getrepr(style="value")


def text(name: str, **keys: Any) -> dict[str, Any]:
    return {"name": name, "type": "text_check", **keys}


def judge(name: str, script: str, **keys: Any) -> dict[str, Any]:
    """A score judge whose answers stand in a module of the suite."""
    model = {"provider": "scripted", "name": script}
    kind = {"type": "score_model", "min": 0, "max": 1, "pass_at": 0.5, **keys}
    return {"name": name, "prompt": "Rate: {{ output.text }}", "model": model, **kind}


def asked(fake: FakeProvider, name: str = "fake-1", **keys: Any) -> dict[str, Any]:
    """A model behind the fake provider."""
    return {"provider": "openai_compatible", "name": name, "base_url": fake.url, **keys}


@pytest.fixture
def suite(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> Suite:
    for name in [name for name in os.environ if name.startswith(OUTER)]:
        monkeypatch.delenv(name)
    monkeypatch.delenv("CI", raising=False)
    # What a run asks before launch has its own tests (test_preflight.py); others count the calls of their evals.
    monkeypatch.setenv("VERICA_NO_PREFLIGHT", "1")
    monkeypatch.setenv(
        "PYTHONPATH", os.pathsep.join([str(pytester.path), *filter(None, [os.environ.get("PYTHONPATH")])])
    )
    monkeypatch.setattr(sys, "path", [str(pytester.path), *sys.path])
    forks = None if sys.platform == "win32" else request.getfixturevalue("forked_python")
    return Suite(pytester, monkeypatch, forks)


@pytest.fixture
def fake() -> Iterator[FakeProvider]:
    with FakeProvider() as provider:
        yield provider
