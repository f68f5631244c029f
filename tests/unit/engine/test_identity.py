"""The code behind an eval: which files are in its hash, and which are not."""

from __future__ import annotations

import functools
import importlib
import json
import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from pytest_verica.canonical import content_hash
from pytest_verica.engine.identity import code_hash, criterion_code
from pytest_verica.graders.criterion import make_criterion
from pytest_verica.graders.protocol import BuildContext
from pytest_verica.judge.registry import KINDS
from pytest_verica.state_checks import STATE_CHECKS

FILES = {
    "shop/__init__.py": "",
    "shop/bot.py": "import json\nfrom shop import phrases\nfrom .deep.words import WORD\n\ndef answer():\n"
    "    import late\n    return phrases.P + WORD\n",
    "shop/phrases.py": "P = 1\n",
    "shop/deep/__init__.py": "",
    "shop/deep/words.py": "WORD = 1\n",
    "shop/unused.py": "U = 1\n",
    "late.py": "L = 1\n",
}


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    # A folder of its own for each test: what is on Python's path is looked up once.
    for name, source in FILES.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(source)
    monkeypatch.syspath_prepend(str(tmp_path))
    from pytest_verica.engine import identity

    identity._top_level.cache_clear()
    yield tmp_path
    for name in [name for name in sys.modules if name.partition(".")[0] in ("shop", "late")]:
        del sys.modules[name]
    identity._top_level.cache_clear()


def _answer() -> Callable[..., Any]:
    function: Callable[..., Any] = importlib.import_module("shop.bot").answer
    return function


@pytest.mark.parametrize("name", sorted(FILES))
def test_what_is_imported_counts(project: Path, name: str) -> None:
    """Also what is imported inside a function, by a relative name, or as the package around a module."""
    before = code_hash([_answer()])
    path = project / name
    path.write_text(path.read_text() + "# another line\n")
    changed = code_hash([_answer()]) != before
    assert before is not None and changed == (name != "shop/unused.py")


def test_undoing_gives_the_same_hash_again(project: Path) -> None:
    before = code_hash([_answer()])
    path = project / "late.py"
    path.write_text("L = 22\n")
    assert code_hash([_answer()]) != before
    path.write_text(FILES["late.py"])
    assert code_hash([_answer()]) == before


def test_installed_packages_are_left_out(project: Path) -> None:
    assert code_hash([_answer()]) == code_hash([_answer()], [project / "shop/bot.py"])
    assert code_hash([json.dumps]) is not None  # its own file only
    assert code_hash([functools.partial(_answer(), 1)]) == code_hash([_answer()])


def test_what_has_no_source_cannot_be_seen(project: Path) -> None:
    assert code_hash([len]) is None
    assert code_hash([_answer(), len]) is None
    made: dict[str, Any] = {}
    exec("def made(): return 1", made)
    assert code_hash([made["made"]]) is None


@pytest.mark.parametrize(
    ("written", "calls"),
    [
        ({"type": "python_check", "python": "late:checked"}, True),
        ({"type": "state_check", "check": "identity_test_check"}, True),
        ({"type": "text_check", "contains": "x"}, False),
    ],
)
def test_the_code_that_a_criterion_calls(
    project: Path, monkeypatch: pytest.MonkeyPatch, written: dict[str, Any], calls: bool
) -> None:
    (project / "late.py").write_text("from shop import phrases\n\ndef checked(output, case=None):\n    return True\n")
    checked = importlib.import_module("late").checked
    before = [code_hash([checked]), content_hash([])]
    kind = KINDS[written["type"]]
    config = kind.config.model_validate({"name": "c", **written})
    monkeypatch.setattr(STATE_CHECKS, "_checks", {})
    STATE_CHECKS.add("identity_test_check", checked)
    criterion = make_criterion(config, KINDS, BuildContext(project))
    assert criterion_code(criterion) == before[0 if calls else 1]
    (project / "shop/phrases.py").write_text("P = 22\n")
    assert (criterion_code(criterion) != before[0 if calls else 1]) == calls


def test_a_file_that_is_no_python_still_counts(project: Path) -> None:
    (project / "late.py").write_text("this is (not Python\n")
    assert code_hash([_answer()]) is not None
    assert os.path.exists(project / "late.py")
