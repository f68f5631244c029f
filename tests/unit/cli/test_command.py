"""`verica` itself."""

from __future__ import annotations

import subprocess
import sys
from importlib import metadata
from pathlib import Path

import pytest

from tests.unit.cli.conftest import Verica


def test_the_console_script_is_this_command() -> None:
    (script,) = metadata.entry_points(group="console_scripts", name="verica")
    assert script.value == "pytest_verica.cli:main"


def test_it_tells_its_version(run: Verica) -> None:
    assert run("--version").output == f"verica, version {metadata.version('pytest-verica')}\n"


@pytest.mark.parametrize(
    "command",
    [
        (),
        ("formula",),
        ("grade",),
        ("graders",),
        ("presets",),
        ("presets", "copy"),
        ("presets", "ls"),
        ("presets", "show"),
        ("schema",),
        ("store",),
        ("store", "export"),
        ("store", "import"),
        ("store", "ls"),
    ],
)
def test_every_command_explains_itself(run: Verica, command: tuple[str, ...]) -> None:
    for flag in ("-h", "--help"):
        result = run(*command, flag)
        assert result.exit_code == 0
        assert f"Usage: {' '.join(('verica', *command))}" in result.output


def test_an_unknown_command_is_a_usage_error(run: Verica) -> None:
    result = run("shop")
    assert result.exit_code == 2
    assert "No such command 'shop'" in result.output


def test_an_error_of_the_product_is_a_sentence_and_exit_code_1(run: Verica, tmp_path: Path) -> None:
    (tmp_path / "answers.jsonl").write_text("[]\n")
    result = run("store", "import", "answers.jsonl")
    assert result.exit_code == 1
    assert result.output.startswith("Error: answers.jsonl:1: expected a JSON object with one recorded answer")
    assert "Traceback" not in result.output


def test_neither_pytest_nor_a_model_door_is_loaded_for_it() -> None:
    code = "import sys, pytest_verica.cli.command; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert not {"pytest", "_pytest", "openai", "aiohttp"} & set(done.stdout.split())
