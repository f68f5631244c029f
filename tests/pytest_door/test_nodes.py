"""What other plugins and conftest files find on the nodes of an eval: what they would find on a test's."""

from __future__ import annotations

import pytest

from tests.pytest_door.conftest import Suite, text

TWO = [text("polite", contains="please"), text("short", length={"max": 99})]


def test_markers_keywords_names_and_notes_are_kept(suite: Suite) -> None:
    suite.file(
        "conftest.py",
        """
import pytest

KEY = pytest.StashKey()


def pytest_collection_modifyitems(items):
    first, second = items
    assert first.own_markers == [] and list(first.iter_markers()) == [] and not first.extra_keyword_matches
    assert first.name in first.keywords and first.parent.name in first.keywords and "tagged" not in first.keywords
    first.add_marker("tagged")
    assert "tagged" in first.keywords and "tagged" not in second.keywords
    assert [mark.name for mark in first.own_markers] == ["tagged"] and second.own_markers == []
    first.parent.add_marker("above")
    assert second.get_closest_marker("above") is not None and second.get_closest_marker("tagged") is None
    assert [mark.name for mark in first.iter_markers()] == ["tagged", "above"]
    second.extra_keyword_matches.add("nickname")
    first.stash[KEY] = 7
    assert first.stash[KEY] == 7 and KEY not in second.stash
    assert first._store is first.stash and second._store is second.stash


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    report = yield
    report.sections.append(("note", str(item.stash.get(KEY, None))))
    return report


def pytest_runtest_logreport(report):
    if report.when == "call":
        wanted = "7" if report.nodeid.endswith("polite") else "None"
        assert report.sections == [("note", wanted)], report.sections
""",
    )
    suite.file("pytest.ini", "[pytest]\nmarkers =\n    tagged: a test\n    above: a test\n")
    suite.eval(criteria=TWO)
    name = "demo.eval.yaml::one"
    assert suite.run().verdicts == {f"{name}::polite": "passed", f"{name}::short": "passed"}
    assert set(suite.run("-m", "tagged").verdicts) == {f"{name}::polite"}
    assert set(suite.run("-m", "above").verdicts) == {f"{name}::polite", f"{name}::short"}
    assert set(suite.run("-k", "nickname").verdicts) == {f"{name}::short"}
    assert set(suite.run("-k", "one and not polite").verdicts) == {f"{name}::short"}


@pytest.mark.parametrize("args", [(), ("-n2",)], ids=["alone", "n2"])
def test_a_folder_s_conftest_is_asked_of_its_own_items_only(suite: Suite, args: tuple[str, ...]) -> None:
    for folder in ("a", "b"):
        suite.file(
            f"{folder}/conftest.py",
            """
import pathlib

import pytest

NOTES = pathlib.Path(__file__).with_name("notes.txt")


def pytest_runtest_setup(item):
    NOTES.open("a").write("setup " + item.nodeid + chr(10))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    report = yield
    if call.when == "call":
        NOTES.open("a").write("report " + item.nodeid + chr(10))
    return report
""",
        )
        suite.eval(f"{folder}/{folder}", criteria=TWO[:1])
    assert len(suite.run(*args).verdicts) == 2
    for folder in ("a", "b"):
        name = f"{folder}/{folder}.eval.yaml::one::polite"
        assert (suite.path / folder / "notes.txt").read_text().splitlines() == [f"setup {name}", f"report {name}"]
