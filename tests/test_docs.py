"""README and docs, executed: every fence that is a command, YAML or Python does what its page says.

The fences of a page share one folder, in order:

    ```yaml title=shop.eval.yaml   written as that file (any language)
    ```console                     `$ command`, run there; the lines under it must appear in its output, in that order,
                                   `…` standing for anything; it must end with 0 (`; echo "exit code $?"` shows another)
    ```python                      a script, run there
    ```yaml                        a part of an eval file, or a list of criteria, checked with the JSON Schema
    ```json, ```toml, ```ini       parsed
    ```sh                          a command that is run elsewhere: the table ELSEWHERE says where
    ```text                        not executed
"""

from __future__ import annotations

import configparser
import inspect
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import jsonschema
import pytest

from pytest_verica.evals.document import parse_document
from pytest_verica.evals.schema import eval_schema
from pytest_verica.graders.registry import OLD_NAMES
from pytest_verica.judge.registry import KINDS
from pytest_verica.plugin import hookspecs
from pytest_verica.plugin.options import OPTIONS, Option
from pytest_verica.report.schema import report_schema
from tests.fake_provider import FakeProvider
from tests.forked import ForkedPython
from tests.test_architecture import ROWS

ROOT = Path(__file__).resolve().parent.parent
DOCS = ROOT / "docs"
PAGES = [ROOT / "README.md", *sorted(DOCS.rglob("*.md"))]

MODEL_OF_THE_PAGES = "http://127.0.0.1:8091/v1"
"""The address that the pages give to a model's server; a fake one answers for it here."""

ELSEWHERE = {
    "sh run/tests.sh": "it is this very run; .ci/run calls it",
    "pip install pytest-verica": "the packaging environment of tox.ini installs the wheel",
    "verica ui": "tests/pages runs it: it serves until it is stopped",
    "verica label refunds --criterion helpful": "tests/pages runs it, on a site with these names",
}

VERICA = "import sys; from pytest_verica.cli import main; sys.argv[0] = 'verica'; main()"

_FENCE = re.compile(r"^```(?P<language>\w*)(?: title=(?P<title>\S+))?\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL)
_LINK = re.compile(r"\[[^\]]*\]\((?!https?:|mailto:)([^)#\s]+)(#[^)\s]*)?\)")


@dataclass(frozen=True)
class Fence:
    """A fenced block of a page. title: the file it is written to; line: where it begins."""

    language: str
    title: str | None
    text: str
    line: int


def fences_of(page: Path) -> list[Fence]:
    text = page.read_text("utf-8")
    found = [
        Fence(match["language"], match["title"], match["text"], text.count("\n", 0, match.start()) + 1)
        for match in _FENCE.finditer(text)
    ]
    assert text.count("\n```") + text.startswith("```") == 2 * len(found), f"{page.name}: a fence that is not read"
    return found


def _name(page: Path) -> str:
    return str(page.relative_to(ROOT))


@dataclass
class Reader:
    """Follows a page in a folder of its own."""

    folder: Path
    model: str
    programs: Path
    """The folder where `pytest` and `verica` are found first."""

    def follow(self, fence: Fence) -> None:
        if fence.title is not None:
            self._write(fence.title, fence.text)
        elif fence.language == "console":
            for command, expected in _commands(fence.text):
                self._run(command, expected)
        else:
            check = getattr(self, f"_{fence.language}", None)
            assert check is not None, f"no such fence: {fence.language!r}"
            check(fence.text)

    def _write(self, title: str, text: str) -> None:
        path = self.folder / title
        assert path.resolve().is_relative_to(self.folder)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text.replace(MODEL_OF_THE_PAGES, self.model), "utf-8")
        if path.suffix in (".yaml", ".yml"):
            parse_document(text, title)

    def _run(self, command: str, expected: list[str]) -> None:
        done = subprocess.run(
            ["sh", "-c", command],
            cwd=self.folder,
            env=self._environment(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=120,
            check=False,
        )
        assert done.returncode == 0, f"$ {command}\nended with {done.returncode}:\n{done.stdout}"
        lines = iter(line.rstrip() for line in done.stdout.splitlines())
        for line in expected:
            pattern = re.compile(".*".join(map(re.escape, line.split("…"))))
            assert any(pattern.fullmatch(found) for found in lines), f"$ {command}\nno {line!r} in:\n{done.stdout}"

    def _environment(self) -> dict[str, str]:
        kept = {
            name: value
            for name, value in os.environ.items()
            if name != "CI" and not name.startswith(("PYTEST_", "VERICA_", "GITHUB_", "COV_"))
        }
        others = ("randomly", "rerunfailures", "asyncio", "anyio", "timeout", "html", "metadata", "hypothesispytest")
        return {
            **kept,
            "PATH": os.pathsep.join([str(self.programs), str(Path(sys.executable).parent), kept.get("PATH", "")]),
            "PYTHONDONTWRITEBYTECODE": "1",  # a page may rewrite a module within a second
            "PYTEST_ADDOPTS": " ".join(f"-p no:{name}" for name in others),
            "COLUMNS": "120",
            "OPENAI_API_KEY": "none",
            "VERICA_PYTHON": sys.executable,
        }

    def _python(self, text: str) -> None:
        done = subprocess.run(
            [sys.executable, "-c", text],
            cwd=self.folder,
            env=self._environment(),
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        assert done.returncode == 0, done.stderr

    def _yaml(self, text: str) -> None:
        value = parse_document(text, "a fence").value
        part = {"criteria": value} if isinstance(value, list) else value
        # A file that extends another may be a part; see `eval_schema`.
        errors = list(_SCHEMA.iter_errors({"extends": "all-the-rest.eval.yaml", **part}))
        assert not errors, "\n".join(error.message for error in errors)

    def _json(self, text: str) -> None:
        json.loads(text)

    def _toml(self, text: str) -> None:
        if sys.version_info >= (3, 11):
            import tomllib
        else:
            import tomli as tomllib
        tomllib.loads(text)

    def _ini(self, text: str) -> None:
        configparser.ConfigParser().read_string(text)

    def _sh(self, text: str) -> None:
        unknown = [line for line in text.splitlines() if line not in ELSEWHERE]
        assert not unknown, f"a command that nothing runs: {unknown}; make it ```console, or add it to ELSEWHERE"

    def _text(self, text: str) -> None:
        pass


_SCHEMA = jsonschema.Draft202012Validator(eval_schema({name: kind.config for name, kind in KINDS.items()}))


def _commands(text: str) -> Iterator[tuple[str, list[str]]]:
    assert text.startswith("$ "), "a console begins with a command"
    for block in text.removeprefix("$ ").split("\n$ "):
        command, *expected = block.splitlines()
        yield command, [line.rstrip() for line in expected if line.strip() not in ("", "…")]


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest) -> Path:
    """`pytest` and `verica` that start at once, where there can be such."""
    folder = tmp_path_factory.mktemp("programs")
    if sys.platform != "win32":
        python: ForkedPython = request.getfixturevalue("forked_python")
        for name, start in (("pytest", ["-m", "pytest"]), ("verica", ["-c", VERICA])):
            program = folder / name
            program.write_text(f'#!/bin/sh\nexec {shlex.join([*python.command, *start])} "$@"\n')
            program.chmod(0o755)
    return folder


@pytest.mark.slow
@pytest.mark.parametrize("page", [page for page in PAGES if fences_of(page)], ids=_name)
def test_a_page_does_what_it_says(page: Path, programs: Path, tmp_path: Path) -> None:
    fences = fences_of(page)
    if any("conftest_examples" in fence.text or "run/" in fence.text for fence in fences):
        for name in ("conftest_examples", "run"):
            shutil.copytree(ROOT / name, tmp_path / name, ignore=shutil.ignore_patterns(".verica", "__pycache__"))
    # A folder of its own to pytest too, whatever stands above it; the examples have tests of their own.
    (tmp_path / "pytest.ini").write_text("[pytest]\nnorecursedirs = conftest_examples\n")
    with FakeProvider() as fake:
        reader = Reader(tmp_path, fake.url, programs)
        for fence in fences:
            try:
                reader.follow(fence)
            except AssertionError as error:
                raise AssertionError(f"{_name(page)}:{fence.line}: {error}") from None


@pytest.mark.parametrize("page", PAGES, ids=_name)
def test_links_lead_somewhere(page: Path) -> None:
    for target, anchor in _LINK.findall(page.read_text("utf-8")):
        found = page.parent / target
        assert found.exists(), f"{_name(page)} links to {target}"
        if anchor:
            assert anchor[1:] in _anchors(found), f"{_name(page)} links to {target}{anchor}"


def _anchors(page: Path) -> list[str]:
    headings = re.findall(r"^#+ (.+)$", page.read_text("utf-8"), re.MULTILINE)
    return [re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings]


def test_every_page_is_reached_from_the_readme() -> None:
    seen: set[Path] = set()
    waiting = [ROOT / "README.md"]
    while waiting:
        page = waiting.pop()
        seen.add(page)
        links = [(page.parent / target).resolve() for target, _ in _LINK.findall(page.read_text("utf-8"))]
        waiting += [link for link in links if link.suffix == ".md" and link.is_file() and link not in seen]
    assert not {_name(page) for page in set(PAGES) - seen}


def test_every_command_that_is_run_elsewhere_is_shown() -> None:
    shown = {
        line
        for page in PAGES
        for fence in fences_of(page)
        if fence.language == "sh"
        for line in fence.text.splitlines()
    }
    assert set(ELSEWHERE) <= shown
    assert "sh run/tests.sh" in (ROOT / ".ci" / "run").read_text()


def options_table() -> str:
    """The table of docs/reference/options.md."""
    rows = ["| flag | ini key | environment | default | what it does |", "|---|---|---|---|---|"]
    return "\n".join([*rows, *map(_option_row, OPTIONS)])


def _option_row(option: Option) -> str:
    metavar = f" {option.metavar}" if option.metavar else ""
    flag = "" if option.flag is None else f"`{option.flag}{metavar}`"
    default = {None: "", False: "off", (): ""}.get(option.default, f"{option.default:g}" if option.default else "")
    return f"| {flag} | `{option.ini}` | `{option.environment}` | {default} | {option.help} |"


def test_the_page_of_options_has_every_option() -> None:
    page = (DOCS / "reference" / "options.md").read_text("utf-8")
    assert options_table() in page, f"the table of docs/reference/options.md should be:\n{options_table()}"


def test_the_page_of_the_report_names_every_key() -> None:
    page = (DOCS / "reference" / "report.md").read_text("utf-8")
    schema = report_schema()
    missing = {
        name
        for part in (schema, *(schema["$defs"][key] for key in ("run", "eval", "case", "grade", "run_totals", "cost")))
        for name in part["properties"]
        if f"`{name}`" not in page
    }
    assert not missing


def test_the_page_of_eval_files_names_every_key() -> None:
    page = (DOCS / "reference" / "eval-file.md").read_text("utf-8")
    missing = {name for name in _SCHEMA.schema["properties"] if f"`{name}`" not in page}
    assert not missing


@pytest.mark.parametrize("kind", [name for name in KINDS if name not in OLD_NAMES])
def test_every_type_of_criterion_has_a_page_that_names_its_keys(kind: str) -> None:
    page = DOCS / "reference" / "criteria" / f"{kind}.md"
    assert page.is_file(), f"write docs/reference/criteria/{kind}.md, and a line for it in the README.md beside it"
    text = page.read_text("utf-8") + page.with_name("README.md").read_text("utf-8")
    keys = _SCHEMA.schema["$defs"][KINDS[kind].config.__name__]["properties"]
    missing = {key for key in keys if f"`{key}`" not in text and f"{key}: " not in text}
    assert not missing, f"docs/reference/criteria/{kind}.md does not say what these keys are: {sorted(missing)}"


def test_the_page_of_the_house_has_every_room_in_its_row() -> None:
    page = (DOCS / "explanation" / "the-house.md").read_text("utf-8")
    rows = [tuple(re.findall(r"`(\w+)`", line.split("|")[1])) for line in page.splitlines() if line.startswith("| `")]
    assert rows == list(ROWS)


def test_decisions_are_listed_in_order() -> None:
    listed = re.findall(r"\((\d{3}-[\w-]+\.md)\)", (DOCS / "decisions" / "README.md").read_text("utf-8"))
    assert listed == sorted(path.name for path in (DOCS / "decisions").glob("0*.md"))


def hooks_table() -> str:
    """The table of docs/reference/hooks.md."""
    specs = [(name, spec) for name, spec in vars(hookspecs).items() if name.startswith("pytest_verica_")]
    rows = ["| hook | what it is for |", "|---|---|"]
    for name, spec in specs:
        says = (spec.__doc__ or "").partition("::")[0]
        rows.append(f"| `{name}({', '.join(inspect.signature(spec).parameters)})` | {says} |")
    return "\n".join(rows)


def test_the_page_of_hooks_has_every_hook() -> None:
    page = (DOCS / "reference" / "hooks.md").read_text("utf-8")
    assert hooks_table() in page, f"the table of docs/reference/hooks.md should be:\n{hooks_table()}"
