"""The code behind an eval: which files are in its hash, and which are not."""

from __future__ import annotations

import functools
import importlib.util
import json
import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from pytest_verica.engine.identity import code_hash

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


def test_a_file_that_is_no_python_still_counts(project: Path) -> None:
    (project / "late.py").write_text("this is (not Python\n")
    assert code_hash([_answer()]) is not None
    assert os.path.exists(project / "late.py")
