"""Runs and comparisons in a real browser: two runs picked, their difference, what changed, what flipped."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.pages.browser import Browser, opened
from tests.pages.conftest import copied, served
from tests.pages.site import Site

REFUNDS = "form[data-eval='refunds.eval.yaml']"


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with opened() as found:
        yield found


@pytest.fixture(scope="module")
def twice(built_site: Site, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Site, str]]:
    """A site that was run again with other answers to six of its cases, and with shorter ones allowed."""
    site = copied(built_site, tmp_path_factory.mktemp("twice"))
    golden = site.path / "golden" / "refunds.jsonl"
    text = golden.read_text()
    for n, new in {1: 2002, 11: 2005, 31: 2008, 41: 2014}.items():  # good ones that the judge was too strict about
        text = text.replace(f'"Answer {n} to it."', f'"Answer {new} </div><script>window.owned=1</script>"')
    for n, new in {2: 1002, 4: 1002}.items():  # these become bad ones, in tone too
        text = text.replace(f'"Answer {n} to it."', f'"Answer {new} to it."')
    golden.write_text(text)
    site.eval_file.write_text(site.eval_file.read_text().replace("gate: 0.5", "gate: 0.6"))
    site.run()
    with served(site.path) as address:
        yield site, address


def test_two_runs_that_are_picked_are_compared_the_older_one_first(browser: Browser, twice: tuple[Site, str]) -> None:
    _, address = twice
    browser.open(address)
    assert [row.text for row in browser.all(f"{REFUNDS} td[data-name=run]")] == ["#0002", "#0001"]
    assert "gate ≥ 60 % · last 77.8 % · mean of 2: 77.8 %" in browser.text("main")
    button = browser.find(f"{REFUNDS} button")
    boxes = browser.all(f"{REFUNDS} input[name=run]")
    assert not button.is_enabled()
    boxes[0].send_keys(" ")
    assert "Pick one more" in browser.text("main") and not button.is_enabled()
    boxes[1].send_keys(" ")
    button.click()
    browser.until_says("h1", "Compare")
    text = browser.text("main")
    assert text.index("A: #0001") < text.index("B: #0002")
    assert "60 of 60 cases are comparable" in text  # the recorded answer's own column is no part of what is the same
    assert "66.7 % → 70 % of 60" in text and "+3.3 points" in text and "4 fixed · 2 broke" in text
    assert "exact McNemar" in text
    assert "4 verdicts broke: passed in A, fails in B" in text and "4 verdicts fixed: failed in A, passes in B" in text
    added = [each.text for each in browser.all("pre.diff ins")]
    assert any("pass_rate" in line and "0.6" in line for line in added)


def test_what_flipped_stands_side_by_side_as_text(browser: Browser, twice: tuple[Site, str]) -> None:
    _, address = twice
    browser.open(f"{address}compare?a=1&b=2&eval=refunds.eval.yaml")
    article = next(each for each in browser.all("article") if "case-11" in each.text and "helpful" in each.text)
    assert "Answer 11 to it." in article.text and "</div><script>window.owned=1</script>" in article.text
    assert "FAIL" in article.text and "PASS" in article.text
    assert browser.script("return window.owned === undefined")
    for width in (1280, 768, 390):
        browser.size(width)
        assert browser.fits()
    browser.size(1280)


def test_runs_that_cannot_be_compared_say_why(browser: Browser, twice: tuple[Site, str]) -> None:
    _, address = twice
    browser.open(f"{address}compare?a=1&b=nothing")
    assert "no run 'nothing'" in browser.text("main")
    browser.open(f"{address}compare?a=1&b=2&eval=other")
    assert "have no eval named 'other' in common" in browser.text("main")
