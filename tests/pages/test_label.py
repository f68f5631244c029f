"""Labelling in a real browser: blind, by keys alone, by several people at once, through kills, over hostile outputs."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlencode, urlsplit

import pytest

from tests.pages.browser import Browser, opened
from tests.pages.conftest import copied, served
from tests.pages.site import HOSTILE, ROOT, SECRETS_OF_THE_JUDGE, Site, is_good

QUEUE = 50
LEFT, RIGHT, ESCAPE = "\ue012", "\ue014", "\ue00c"
"""Keys, as WebDriver writes them."""

CARD_KEYS = {"position", "case", "sample", "output_hash", "inputs", "output", "verdict", "note"}
SCREEN_KEYS = {"card", "total", "labelled", "skipped", "more", "available"}


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with opened() as found:
        yield found


@pytest.fixture
def site(built_site: Site, tmp_path: Path) -> Site:
    return copied(built_site, tmp_path)


def label_url(address: str, labeller: str | None = None, criterion: str = "helpful") -> str:
    query = {"eval": "refunds.eval.yaml", "criterion": criterion, **({"as": labeller} if labeller else {})}
    return f"{address}label?{urlencode(query)}"


def start(browser: Browser, address: str, place: str, labeller: str | None = None) -> None:
    browser.open(label_url(address, labeller))
    browser.until_says("#place", place)


def judge_by_key(browser: Browser) -> str:
    """Presses the key that a person would who sees the output on the screen; the verdict."""
    good = is_good(browser.text("#output"))
    browser.keys("p" if good else "f")
    return "pass" if good else "fail"


def saved(browser: Browser, labelled: int) -> None:
    browser.until_says("#count", f"{labelled} labelled")
    browser.until_says("#status", "Saved ✓")


@pytest.mark.slow
def test_fifty_outputs_are_labelled_blind_and_by_keys_alone(browser: Browser, site: Site) -> None:
    seen: list[str] = []
    answers: list[str] = []
    with served(site.path) as address:
        browser.requests()
        start(browser, address, "1 of 50")
        for number in range(QUEUE):
            seen.append(browser.script("return document.documentElement.outerHTML") + browser.storage())
            if number == 3:
                browser.keys("n")
                browser.keys("A note with keys: f p s")
                browser.keys(ESCAPE)
            if number == 7:  # back, look, and on: nothing is changed by it
                browser.keys(LEFT)
                browser.until_says("#place", "7 of 50")
                assert browser.find("[aria-pressed=true]").text
                browser.keys(RIGHT)
                browser.until_says("#place", "8 of 50")
            judge_by_key(browser)
            saved(browser, number + 1)
            answers += [body for _, body in _ours(browser, address)]
        browser.until("!document.getElementById('done').hidden")
        seen.append(browser.script("return document.documentElement.outerHTML") + browser.storage())
        source = browser.driver.page_source
        browser.click("#done-more")  # another sitting
        browser.until_says("#place", "51 of 60")
    acts = site.acts()
    assert [act["verdict"] for act in acts] == [
        "pass" if is_good(f"Answer {int(act['case'][5:])}") else "fail" for act in acts
    ]
    assert Counter((act["case"], act["labeller"]) for act in acts).most_common(1)[0][1] == 1 and len(acts) == QUEUE
    assert [act["note"] for act in acts if act["note"]] == ["A note with keys: f p s"]
    _nothing_of_the_judge([*seen, *answers, source])
    screens = [json.loads(body) for body in answers if body.startswith('{"card"')]
    assert len(screens) >= QUEUE + 1
    for screen in screens:
        assert set(screen) == SCREEN_KEYS
        assert screen["card"] is None or set(screen["card"]) == CARD_KEYS


def _ours(browser: Browser, address: str) -> list[tuple[str, str]]:
    """What was asked and answered; nothing was asked of anybody else."""
    found = browser.requests()
    strangers = [url for url, _ in found if not url.startswith((address, "data:"))]
    assert not strangers, f"the page asked for {strangers}"
    return found


def _nothing_of_the_judge(texts: list[str]) -> None:
    for text in texts:
        assert "(not kept" not in text, text[:200]
        found = [secret for secret in SECRETS_OF_THE_JUDGE if secret in text]
        assert not found, f"{found} in {text[:2000]}"
        assert not re.search(r'stratum|"draw"|judge_hash|"score"|"reasoning"|pass_at', text), text[:2000]


def test_the_search_for_the_judges_words_finds_them_where_they_are(browser: Browser, site: Site) -> None:
    """The control of the test above: the page of a run does show the judge's words, and they are found."""
    with served(site.path) as address:
        browser.requests()
        browser.open(f"{address}run?id=last")
        browser.keys("j")
        browser.keys("\ue007")
        browser.until_says("body", "zebra-reasoning")
        texts = [body for _, body in _ours(browser, address)]
    with pytest.raises(AssertionError, match="zebra-reasoning"):
        _nothing_of_the_judge([text for text in texts if "zebra" in text])
    assert all(any(secret in text for text in texts) for secret in SECRETS_OF_THE_JUDGE)


def test_a_person_goes_on_at_the_first_output_without_an_answer(browser: Browser, site: Site) -> None:
    with served(site.path) as address:
        start(browser, address, "1 of 50")
        judge_by_key(browser)
        saved(browser, 1)
        browser.keys("s")
        browser.until_says("#count", "1 skipped")
        judge_by_key(browser)
        saved(browser, 2)
        browser.open("about:blank")  # closing is finishing
        start(browser, address, "4 of 50")
        browser.keys(LEFT)
        browser.until_says("#place", "3 of 50")
        before = browser.find("[aria-pressed=true]").get_attribute("id")
        browser.keys("f" if before == "pass" else "p")
        browser.until_says("#place", "4 of 50")
        assert "2 labelled" in browser.text("#count")
    verdicts = [act["verdict"] for act in site.acts()]
    assert verdicts[1] == "skipped" and {verdicts[2], verdicts[3]} == {"pass", "fail"}
    assert site.acts()[2]["case"] == site.acts()[3]["case"]


def test_the_columns_shown_can_be_chosen_and_are_remembered(browser: Browser, site: Site) -> None:
    with served(site.path) as address:
        start(browser, address, "1 of 50")
        assert [each.text for each in browser.all("#inputs .name")] == ["question"]
        browser.find("#choose summary").click()
        browser.find("#columns input[value=channel]").click()
        browser.until_says("#status", "Columns remembered")
        assert [each.text for each in browser.all("#inputs .name")] == ["question", "channel"]
    with served(site.path) as address:  # another start, another address
        start(browser, address, "1 of 50")
        assert [each.text for each in browser.all("#inputs .name")] == ["question", "channel"]
        assert not site.acts()


def test_two_people_and_two_tabs_at_once(browser: Browser, site: Site) -> None:
    with served(site.path) as address:
        first = browser.driver.current_window_handle
        start(browser, address, "1 of 50", "ana")
        browser.driver.switch_to.new_window("tab")
        second = browser.driver.current_window_handle
        start(browser, address, "1 of 50", "Ben Ó")
        try:
            for number in range(6):
                for tab in (first, second):
                    browser.driver.switch_to.window(tab)
                    browser.keys("p" if tab == first else "f")
                    saved(browser, number + 1)
            # the same person in both tabs: the last answer for an output is the one that counts
            start(browser, address, "7 of 50", "ana")
            browser.driver.switch_to.window(first)
            browser.keys("p")
            saved(browser, 7)
            browser.driver.switch_to.window(second)
            browser.keys("f")
            browser.until_says("#place", "8 of 50")
            saved(browser, 7)
        finally:
            browser.driver.switch_to.window(second)
            browser.driver.close()
            browser.driver.switch_to.window(first)
    acts = site.acts()
    assert Counter(act["labeller"] for act in acts) == {"ana": 8, "Ben Ó": 6}
    in_force = {(act["case"], act["labeller"]): act["verdict"] for act in acts}
    assert Counter((who, verdict) for (_, who), verdict in in_force.items()) == {
        ("ana", "pass"): 6,
        ("Ben Ó", "fail"): 6,
        ("ana", "fail"): 1,
    }
    assert [act["case"] for act in acts if act["labeller"] == "ana"][:6] == [
        act["case"] for act in acts if act["labeller"] != "ana"
    ]


class Served:
    """A `verica` command as a process of its own, which can be killed. address: that of the page it opens."""

    def __init__(self, site: Site, *command: str) -> None:
        environment = {**os.environ, "PYTHONPATH": str(ROOT)}
        verica = [sys.executable, "-c", "from pytest_verica.cli import main; main()"]
        given = [*verica, *command, "--no-browser", "--labeller", "ana"]
        self.process = subprocess.Popen(given, cwd=site.path, env=environment, stdout=subprocess.PIPE, text=True)
        assert self.process.stdout is not None
        self.address = self.process.stdout.readline().strip()
        assert self.address.startswith("http://127.0.0.1:"), self.address

    def kill(self) -> None:
        self.process.kill()
        self.process.wait(10)
        assert self.process.stdout is not None
        self.process.stdout.close()


@pytest.mark.slow
def test_a_kill_in_the_middle_loses_no_answer_that_was_confirmed_and_doubles_none(browser: Browser, site: Site) -> None:
    confirmed = 0
    for _ in range(3):
        server = Served(site, "label", "refunds", "--criterion", "helpful")
        try:
            browser.open(server.address)
            browser.until_says("#place", f"{confirmed + 1} of 50")
            for _ in range(3):
                judge_by_key(browser)
                confirmed += 1
                saved(browser, confirmed)
        finally:
            server.kill()
        shown = browser.text("#output")
        browser.keys("p")
        browser.until_says("#status", "Not saved")
        assert browser.text("#output") == shown  # it stays, and can be answered once the server is back
        acts = site.acts()
        assert len(acts) == confirmed and len({act["case"] for act in acts}) == confirmed
        assert len({act["act"] for act in acts}) == confirmed


def test_the_command_ends_quietly_at_an_interrupt(site: Site) -> None:
    server = Served(site, "ui")
    try:
        assert urlsplit(server.address).hostname == "127.0.0.1"
        server.process.send_signal(signal.SIGINT)
        assert server.process.wait(10) == 0
    finally:
        server.kill()


@pytest.fixture(scope="module")
def hostile(built_hostile_site: Site, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with served(copied(built_hostile_site, tmp_path_factory.mktemp("hostile-copy")).path) as address:
        yield address


@pytest.mark.parametrize("width", [1280, 390])
def test_hostile_outputs_are_text_on_the_label_page(browser: Browser, hostile: str, width: int) -> None:
    shown = set()
    browser.size(width)
    browser.requests()
    browser.open(label_url(hostile, f"eve {width}"))
    for place in range(len(HOSTILE)):
        browser.until_says("#place", f"{place + 1} of 8")
        assert len(browser.all("#output .said")) == 1
        text = browser.script("return document.querySelector('#output .said').textContent.toWellFormed()")
        number = int(re.search(r"Answer (\d+)", text)[1])  # type: ignore[index]
        shown.add(number)
        whole = list(HOSTILE.values())[number - 1]
        assert browser.fits()
        if len(whole) > 100_000:
            assert len(text) == 20_000 and "Show all 1,0" in browser.text("#output")
            browser.click("#output button.more")
            text = browser.script("return document.querySelector('#output .said').textContent.toWellFormed()")
            assert browser.fits()
        assert text == whole.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
        _is_harmless(browser)
        browser.keys("s")
    assert shown == set(range(1, 9))
    browser.size(1280)
    _ours(browser, hostile)


@pytest.mark.parametrize("path", ["", "run?id=last", "judges"])
def test_hostile_outputs_are_text_on_every_other_page(browser: Browser, hostile: str, path: str) -> None:
    for width in (1280, 390):
        browser.size(width)
        browser.open(hostile + path)
        _is_harmless(browser)
        assert browser.fits()
        if path.startswith("run"):
            browser.find("#verica-eval").send_keys("refunds")
            browser.script("document.activeElement.blur()")
            for _ in HOSTILE:
                browser.keys("j", "\ue007")
            browser.until_says("body", "zebra-reasoning 8")
            _is_harmless(browser)
            assert browser.fits()
    browser.size(1280)
    _ours(browser, hostile)


def _is_harmless(browser: Browser) -> None:
    assert browser.script("return window.owned === undefined && document.title !== 'owned'")
    assert (
        browser.script("return document.querySelectorAll('#owned, main script:not([type*=json]), img, iframe').length")
        == 0
    )


def test_no_page_asks_anything_of_the_network(browser: Browser, site: Site) -> None:
    with served(site.path) as address:
        browser.asked()
        for path in ("", "judges", "run?id=last", "label?eval=refunds.eval.yaml&criterion=helpful"):
            browser.open(address + path)
        asked = browser.asked()
    assert len(asked) > 8
    assert [url for url in asked if not url.startswith((address, "data:"))] == []
