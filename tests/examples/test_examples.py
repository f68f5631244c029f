"""Every folder of conftest_examples/: each command of its README runs, and ends as it is told here."""

from __future__ import annotations

import csv
import json
import re
import threading
from collections import Counter
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.examples.conftest import EXAMPLES, Example


class Run(NamedTuple):
    """What a command of a README leads to. outcomes: as pytest's last line counts them; lines: of the output, in order;
    loopback: whether it talks to a server of this machine."""

    folder: str
    command: str
    outcomes: dict[str, int]
    lines: tuple[str, ...] = ()
    loopback: bool = False


RUNS = (
    Run(
        "quickstart",
        "pytest --verica",
        {"passed": 41, "skipped": 180, "missed": 20},  # 40 verdicts and the gate
        (
            "verica: *replay=True (ini)*",
            "collected 240 items",
            "quickstart: 66.7 %, 40 of 60 graded passed, 180 N/A, 0 errors, 20 missed",
            "  95 % interval 54.1 % to 77.3 % (Wilson)",
            "  right_number: 20 %, 2 of 10 graded passed, 30 N/A, 0 errors, 8 missed",
            "  json_shape: 90 %, 9 of 10 graded passed, 30 N/A, 0 errors, 1 missed",
            "  right_city: 90 %, 9 of 10 graded passed, 30 N/A, 0 errors, 1 missed",
            "  right_fact: 60 %, 6 of 10 graded passed, 30 N/A, 0 errors, 4 missed",
            "  declines: 80 %, 8 of 10 graded passed, 30 N/A, 0 errors, 2 missed",
            "  judged_declines: 60 %, 6 of 10 graded passed, 30 N/A, 0 errors, 4 missed",
            "  gate (* 50 %) passed: 40 of 60 passed (66.7 %), 50 % wanted",
            "  cost: $0 sampling + $0 judges = $0, net $0 per case, avoided $0",
            "  calls: 0 made (0 retries), 50 reused*",
        ),
    ),
    Run("existing_suite", "pytest", {"passed": 2, "skipped": 1}),
    Run(
        "existing_suite",
        "pytest --verica",
        {"passed": 7, "skipped": 1},
        (
            "*test_replies: 100 %, 5 of 5 graded passed, 1 N/A, 0 errors, 0 missed",
            "  polite: 100 %, 3 of 3 graded passed*",
            "  deadline: 100 %, 2 of 2 graded passed, 1 N/A*",
        ),
    ),
    Run("existing_suite", "pytest --verica -k deadline", {"passed": 3, "skipped": 1, "deselected": 4}),
    Run(
        "custom_grader",
        "pytest --verica",
        {"passed": 4, "skipped": 2, "missed": 1},
        (
            "replies: 75 %, 3 of 4 graded passed, 2 N/A, 0 errors, 1 missed",
            "  plain: 66.7 %, 2 of 3 graded passed*",
            "  legalese: 100 %, 1 of 1 graded passed, 2 N/A*",
            "  gate (* 70 %) passed: 3 of 4 passed (75 %), 70 % wanted",
        ),
    ),
    Run(
        "custom_provider",
        "pytest --verica",
        {"passed": 6, "missed": 1},
        (
            "questions: 83.3 %, 5 of 6 graded passed, 0 N/A, 0 errors, 1 missed",
            "  names_the_day: 100 %, 3 of 3 graded passed*",
            "  says_when: 66.7 %, 2 of 3 graded passed*",
            # 33 tokens read and 13 written at 1 and 2 USD the million, and so on: nothing is free, nothing unknown.
            "  cost: $5.9e-05 sampling + $7.5e-05 judges = $0.000134*",
            "  calls: 6 made (1 retries), 1 reused*",
            "note: `temperature` was not sent to house/house-1: it takes none (questions: says_when)",
        ),
    ),
    Run(
        "http_service",
        "pytest --verica",
        {"passed": 3, "skipped": 3},
        ("hours: 100 %, 3 of 3 graded passed, 3 N/A, 0 errors, 0 missed",),
        loopback=True,
    ),
    Run(
        "python_target",
        "pytest --verica",
        {"passed": 13, "skipped": 4},
        (
            "answers: 100 %, 4 of 4 graded passed, 4 N/A, 0 errors, 0 missed",
            "orders: 100 %, 9 of 9 graded passed, 0 N/A, 0 errors, 0 missed",
            "all evals: 100 %, 13 of 13 graded passed*",
        ),
    ),
)
ELSEWHERE = {
    "python serve_smollm2.py": "test_local_model.py",
    "pytest --verica --verica-fresh": "test_local_model.py",
    "SHOP_URL=https://staging.example.com pytest --verica": "test_the_url_of_the_environment_is_asked, below",
}
"""Commands of the READMEs that other tests run, and which."""


@pytest.mark.parametrize("told", RUNS, ids=lambda told: f"{told.folder}: {told.command}")
def test_a_command_of_a_readme_ends_as_told(example: Example, told: Run) -> None:
    example.copy(told.folder)
    result = example.run(told.command, offline=not told.loopback)
    assert result.parseoutcomes() == told.outcomes
    assert result.ret == pytest.ExitCode.OK
    result.stdout.fnmatch_lines(list(told.lines))
    result.stdout.no_fnmatch_line("network: *")
    result.stdout.no_fnmatch_line("*warning*")


def test_every_folder_and_every_command_is_covered() -> None:
    commands = {(folder.name, command) for folder in folders() for command in commands_of(folder / "README.md")}
    told = {(told.folder, told.command) for told in RUNS}
    assert {folder for folder, _ in told} == {folder.name for folder in folders()}
    assert {(folder, command) for folder, command in commands if command not in ELSEWHERE} == told
    assert set(ELSEWHERE) <= {command for _, command in commands}


@pytest.mark.parametrize("name", [path.name for path in sorted(EXAMPLES.iterdir()) if path.is_dir()])
def test_a_readme_is_short_and_names_every_file(name: str) -> None:
    text = (EXAMPLES / name / "README.md").read_text("utf-8")
    assert len(text.splitlines()) <= 25
    for file in (EXAMPLES / name).glob("*"):
        if file.suffix in (".yaml", ".py") and file.name != "conftest.py":
            assert file.name in text


def folders() -> list[Path]:
    return [path for path in sorted(EXAMPLES.iterdir()) if path.is_dir() and path.name != "__pycache__"]


def commands_of(readme: Path) -> list[str]:
    """The lines of the fenced blocks."""
    blocks = re.findall(r"^```\n(.*?)^```$", readme.read_text("utf-8"), re.MULTILINE | re.DOTALL)
    return [line for block in blocks for line in block.splitlines()]


# The quickstart


def test_the_golden_set_has_forty_questions_of_four_kinds_in_two_languages() -> None:
    with (EXAMPLES / "quickstart" / "golden" / "questions.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    kinds = ("arithmetic", "extraction", "fact", "refusal")
    assert Counter((row["kind"], row["language"]) for row in rows) == {
        (kind, language): 5 for kind in kinds for language in ("en", "es")
    }
    assert len({row["question"] for row in rows}) == 40


def test_the_recorded_answers_are_all_used_and_say_nothing_of_a_machine() -> None:
    text = (EXAMPLES / "quickstart" / "recorded.jsonl").read_text("utf-8")
    answers = [json.loads(line) for line in text.splitlines()]
    assert len(answers) == 50  # 40 samples and 10 verdicts of the judge: what the run above reuses
    assert {answer["base_url"] for answer in answers} == {"http://127.0.0.1:8091/v1"}
    assert not re.search(r"(?<![/\w])/(home|root|Users|tmp|mnt)/", text)


def test_the_quickstart_runs_from_the_root_of_the_repository_too(example: Example) -> None:
    inner = example.path / "conftest_examples" / "quickstart"
    example.copy("quickstart")
    files = list(example.path.iterdir())
    inner.mkdir(parents=True)
    for path in files:
        path.rename(inner / path.name)
    result = example.run("pytest --verica conftest_examples/quickstart")
    assert result.ret == pytest.ExitCode.OK
    assert result.parseoutcomes() == RUNS[0].outcomes
    result.stdout.fnmatch_lines(["*avoided $0"])  # the prices are found beside pytest.ini


def test_an_edited_prompt_has_no_recorded_answer_and_is_not_green(example: Example) -> None:
    example.copy("quickstart")
    file = example.path / "quickstart.eval.yaml"
    file.write_text(file.read_text("utf-8").replace("in one short sentence", "in one word"), "utf-8")
    result = example.run("pytest --verica")
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    assert "passed" not in result.parseoutcomes()
    result.stdout.fnmatch_lines(["*gate (* 50 %) failed: *nothing was graded*"])


def test_one_verdict_of_the_readme_is_shown_whole(example: Example) -> None:
    readme = (EXAMPLES / "quickstart" / "README.md").read_text("utf-8")
    command = re.search(r"`(pytest --verica \"[^`]*)`", readme)
    assert command is not None
    example.copy("quickstart")
    result = example.run(command[1])
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.stdout.fnmatch_lines(
        [
            "right_number: fail: the response is 11; wanted equal to 12",
            "question: What is 7 + 5?",
            "output: El 7 + 5 = 11.",
            f"rerun: {command[1]}",
            "*gate (* 50 %) skipped: 1 of 240 verdicts ran",
        ]
    )


# The custom grader


def test_a_key_that_the_type_does_not_have_is_an_error_with_its_line(example: Example) -> None:
    example.copy("custom_grader")
    file = example.path / "replies.eval.yaml"
    file.write_text(file.read_text("utf-8").replace("most_words: 10}", "most_wrods: 10}"), "utf-8")
    result = example.run("pytest --verica")
    assert result.ret == pytest.ExitCode.INTERRUPTED
    result.stdout.fnmatch_lines(["*replies.eval.yaml:5: *most_wrods*"])


@pytest.mark.slow
def test_the_grader_of_conftest_grades_in_the_workers_of_xdist_too(example: Example) -> None:
    example.copy("custom_grader")
    result = example.run("pytest --verica -n 2", offline=False)
    assert result.parseoutcomes() == {"passed": 4, "skipped": 2, "missed": 1}


def test_a_plain_run_loads_nothing_of_the_grader(example: Example) -> None:
    example.copy("custom_grader")
    (example.path / "test_plain.py").write_text("import sys\n\ndef test(): assert 'pydantic' not in sys.modules\n")
    assert example.run("pytest").parseoutcomes() == {"passed": 1}


# The custom provider


def test_what_was_not_sent_is_in_the_report(example: Example) -> None:
    example.copy("custom_provider")
    example.run("pytest --verica")
    [found] = example.report()["evals"]
    assert found["left_out"] == [
        {
            "criterion": "says_when",
            "model": "house/house-1",
            "parameter": "temperature",
            "value": 0.0,
            "why": "it takes none",
        }
    ]
    assert found["params"] == {"max_tokens": 50}


def test_a_parameter_written_for_a_model_that_takes_none_stops_the_run(example: Example) -> None:
    example.copy("custom_provider")
    file = example.path / "questions.eval.yaml"
    file.write_text(file.read_text("utf-8").replace("{max_tokens: 50}", "{temperature: 0}"), "utf-8")
    result = example.run("pytest --verica")
    assert result.ret == pytest.ExitCode.INTERRUPTED
    result.stdout.fnmatch_lines(
        ["*questions.eval.yaml:4: `model`: house/house-1 takes no `temperature`: it takes none*"]
    )


# The plain suite


def test_without_the_flag_the_plain_suite_writes_nothing_and_says_nothing(example: Example) -> None:
    example.copy("existing_suite")
    (example.path / "tests" / "golden" / "returns.csv").unlink()  # it would be an error if it were read
    result = example.run("pytest -p no:terminalreporter")
    assert result.ret == pytest.ExitCode.OK
    assert result.outlines == []
    assert not (example.path / ".verica").exists()


# The service


class Closed(BaseHTTPRequestHandler):
    """Says that the shop is closed, whatever is asked."""

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        body = b'{"reply": {"text": "We are closed."}}'
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args: object) -> None:
        """Says nothing."""


def test_the_url_of_the_environment_is_asked(example: Example, monkeypatch: pytest.MonkeyPatch) -> None:
    example.copy("http_service")
    with ThreadingHTTPServer(("127.0.0.1", 0), Closed) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        monkeypatch.setenv("SHOP_URL", f"http://127.0.0.1:{server.server_port}")
        result = example.run("pytest --verica", offline=False)
        server.shutdown()
    assert result.parseoutcomes() == {"passed": 1, "failed": 2, "skipped": 3}
    assert result.ret == pytest.ExitCode.TESTS_FAILED


@pytest.mark.slow
def test_the_workers_of_xdist_ask_the_one_service(example: Example) -> None:
    example.copy("http_service")
    result = example.run("pytest --verica -n 2", offline=False)
    assert result.parseoutcomes() == {"passed": 3, "skipped": 3}
    assert result.ret == pytest.ExitCode.OK
