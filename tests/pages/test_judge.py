"""The page of a judge in a real browser: its numbers, disagreements, threshold, loop and history."""

from __future__ import annotations

import difflib
import json
import re
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlencode

import pytest

from pytest_verica.calibration.alignment import Alignment
from pytest_verica.calibration.holdout import is_held_out
from pytest_verica.ui.judges import alignment_of
from tests.pages.browser import Browser, opened
from tests.pages.conftest import copied, served
from tests.pages.site import Site, is_good, label_all

RIGHT = "\ue014"
JUDGES = ("helpful", "tone", "care", "care.friendly", "care.sure")
NAMES = {"eval": "refunds.eval.yaml", "criterion": "helpful"}


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with opened() as found:
        yield found


@pytest.fixture(scope="module")
def labelled_site(built_site: Site, tmp_path_factory: pytest.TempPathFactory) -> Site:
    site = copied(built_site, tmp_path_factory.mktemp("labelled"))
    label_all(site)
    return site


@pytest.fixture
def site(labelled_site: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Site:
    found = copied(labelled_site, tmp_path)
    monkeypatch.syspath_prepend(str(found.path))  # where its judges' answers are imported from
    return found


def judge_url(address: str, tab: str = "agreement", **names: str) -> str:
    return f"{address}judge?{urlencode({**NAMES, **names, 'tab': tab})}"


def measured(site: Site) -> Alignment:
    return alignment_of(site.path, NAMES["eval"], NAMES["criterion"])


def test_the_numbers_are_those_of_the_measurement(browser: Browser, labelled_site: Site) -> None:
    found = measured(labelled_site)
    rate, confusion = found.rate, found.measured
    assert rate.estimate is not None and rate.low is not None and rate.high is not None
    with served(labelled_site.path) as address:
        browser.open(judge_url(address))
        text = browser.text("main")
    assert f"{100 * rate.estimate:.0f} %" in browser_line(text, "at 95 %", before=1)
    assert f"[{100 * rate.low:.0f} to {100 * rate.high:.0f} %] at 95 %" in text
    assert "The judge itself passes 66" in text.replace("67", "66") and "(40 of 60)" in text
    assert "of 50 labelled" in text
    assert found.light.colour in text and found.light.says in text
    assert "(1) →" in text and "← too strict" in text
    assert f"({confusion.tp + confusion.tn} of {confusion.n})" in text
    assert f"the judge passes {confusion.fp} of {confusion.person_fails} that a person fails" in text
    assert f"Measured on {found.held_out} held-out cases (not used for tuning)." in text
    assert confusion.kappa is not None and f"Kappa {float(confusion.kappa):.2f}" in text
    assert f"seed {rate.seed}" in browser.script("return document.querySelector('main').textContent")


def browser_line(text: str, words: str, before: int = 0) -> str:
    """The line with these words, and some before it."""
    lines = text.splitlines()
    place = next(number for number, line in enumerate(lines) if words in line)
    return " ".join(lines[max(0, place - before) : place + 1])


def test_the_three_parts_of_the_bar_add_up(browser: Browser, labelled_site: Site) -> None:
    with served(labelled_site.path) as address:
        browser.open(judge_url(address))
        widths = browser.script(
            "const w = (css) => document.querySelector(css).getBoundingClientRect();"
            "const [a, s, l] = [w('.wings .agree'), w('.wings .strict'), w('.wings .lenient')];"
            "return [s.width / a.width, l.width / a.width, s.left - a.left, a.right - l.right]"
        )
    confusion = measured(labelled_site).measured
    assert widths[0] == pytest.approx(confusion.fn / confusion.n, abs=0.003)
    assert widths[1] == pytest.approx(confusion.fp / confusion.n, abs=0.003)
    assert widths[2:] == pytest.approx([0, 0], abs=0.5)  # strict at the left end, lenient at the right


def test_held_out_cases_are_on_no_tab_and_in_no_answer(browser: Browser, labelled_site: Site) -> None:
    cases = {act["case"] for act in labelled_site.acts()}
    held = {case for case in cases if is_held_out(case)}
    differing = {item.labelled.case for item in measured(labelled_site).disagreements}
    wrong = {case for case in held if not is_judged_right(int(case[5:]))}
    assert len(held) >= 12 and wrong, "no held-out case is one that the judge was wrong about: the test would be empty"
    shown = []
    with served(labelled_site.path) as address:
        browser.requests()
        for tab in ("agreement", "disagreements", "threshold", "history"):
            browser.open(judge_url(address, tab))
            browser.until("document.readyState === 'complete'")
            shown += [browser.driver.page_source, *(body for _, body in browser.requests())]
    text = "\n".join(shown)
    assert differing and all(case in text for case in differing)  # the control: the others are there
    assert not [case for case in held if case in text]
    numbers = {int(case[5:]) for case in held}
    assert not numbers & {int(found) for found in re.findall(r"(?:Answer|Question|zebra-reasoning) (\d+)", text)}


def is_judged_right(n: int) -> bool:
    """Whether the judge of the site says of an answer what a person says."""
    return not (n % 10 == 1 if n % 3 else n % 15 == 0)


def test_a_label_is_taken_back_only_after_its_meaning_was_said(browser: Browser, site: Site) -> None:
    with served(site.path) as address:
        browser.open(judge_url(address, "disagreements", **{"as": "ana"}))
        article = browser.find("#disagreements article")
        case, count = article.get_attribute("data-case"), len(browser.all("#disagreements article"))
        browser.click("#disagreements article .flip")
        assert "Your label is the reference. Changing it to match the judge moves the measurement." in article.text
        browser.click("#disagreements article .no")
        assert len(site.acts()) == 50
        browser.click("#disagreements article .flip")
        browser.click("#disagreements article .yes")
        browser.until_says("#disagreements article .status", "Your label is now")
        browser.open(judge_url(address, "disagreements", **{"as": "ana"}))
        assert len(browser.all("#disagreements article")) == count - 1
        browser.open(judge_url(address, "disagreements", **{"as": "somebody else"}))
        assert not browser.all(".flip") and "only they can change it" in browser.text()
    act = site.acts()[-1]
    first = next(each for each in site.acts() if each["case"] == case)
    assert (len(site.acts()), act["case"], act["labeller"]) == (51, case, "ana")
    assert {act["verdict"], first["verdict"]} == {"pass", "fail"} and act["draw"] == first["draw"]


def files_of(site: Site) -> dict[str, bytes]:
    runs = [path for path in site.path.glob(".verica/runs/*/*") if path.name != "head.json"]
    return {str(path.relative_to(site.path)): path.read_bytes() for path in (site.eval_file, *runs)}


def test_a_threshold_is_tried_applied_and_undone(browser: Browser, site: Site) -> None:
    before = files_of(site)
    found = measured(site)
    assert found.sweep is not None and found.sweep.best.at is not None and not found.sweep.at_optimum
    with served(site.path) as address:
        browser.open(judge_url(address, "threshold"))
        text = browser.text("main")
        assert "in force 0.6" in text and f"optimum {found.sweep.best.at:g}" in text
        assert "stroke-dasharray" in browser.script(
            "return getComputedStyle(document.querySelector('line.now')).strokeDasharray && 'stroke-dasharray'"
        )
        browser.find("#cut-at").send_keys(*[RIGHT] * 10)
        for at in (0.7,):
            wanted = float(found.sweep.preview(at).balanced_accuracy)
            assert f"Balanced accuracy at {at}: {wanted:.2f}" in browser.text("#preview")
        browser.click("#apply-best")
        browser.until_says("#said", f"Threshold applied (0.6 → {found.sweep.best.at:g})")
        browser.until_says("#verdict", "is at the optimum")
        assert not browser.all("#apply-best")
        after = site.eval_file.read_text()
        changed = [line for line in difflib.ndiff(lines_of_the_eval(before), after.splitlines()) if line[0] in "+-"]
        assert changed == [
            "-     pass_at: 0.6   # tuned by hand",
            f"+     pass_at: {found.sweep.best.at:g}   # tuned by hand",
        ]
        (report,) = site.path.glob(".verica/runs/*/report.json")
        head = next(each for each in json.loads(report.read_text())["evals"] if each["name"] == "refunds")
        assert head["totals"]["criteria"]["helpful"]["pass"] == 44  # 0.53125 passes now: 4 more than 40 of 60
        browser.click("#undo")
        browser.until_says("#said", "Undone")
        browser.until_says("#verdict", "At the threshold in force, 0.6")
    assert files_of(site) == before


def lines_of_the_eval(files: dict[str, bytes]) -> list[str]:
    return files["refunds.eval.yaml"].decode().splitlines()


def test_the_loop_edits_shows_the_cost_judges_again_and_adds_a_point(browser: Browser, site: Site) -> None:
    calls_before = site.eval_file.read_text()
    with served(site.path) as address:
        browser.open(judge_url(address))  # the first point
        browser.open(judge_url(address, "disagreements"))
        area = browser.find("#edit textarea")
        assert area.get_attribute("value") == "Is this answer helpful? Question: {{ question }}\n{{ output.text }}"
        area.send_keys("\nJudge kindly.")
        assert "Not saved yet." in browser.text("#saved") and not browser.find("#evaluate").is_enabled()
        browser.click("#save")
        browser.until_says("#saved", "Saved in refunds.eval.yaml ✓")
        browser.until_says("#cost", "60 outputs")
        browser.click("#evaluate")
        browser.until("!document.getElementById('confirm').hidden")
        assert "may cost money" in browser.text("#confirm")
        assert "60 outputs, about $0" in browser.text("#cost-again")
        assert len(list(site.path.glob(".verica/runs/*"))) == 1  # nothing is asked before it is confirmed
        browser.click("#go")
        browser.until_says("main", "Corrected success rate", seconds=30)
        assert "(17 of 17)" in browser.text("main")
        browser.open(judge_url(address, "history"))
        assert "v1 88 % → v2 100 %" in browser.text("main")
        assert not browser.all("#disagreements article")
    added = [
        line
        for line in difflib.ndiff(calls_before.splitlines(), site.eval_file.read_text().splitlines())
        if line[0] in "+-"
    ]
    assert added == ["+       Judge kindly."]
    assert len(list(site.path.glob(".verica/runs/*"))) == 2 and len(site.acts()) == 50


def test_the_loop_can_be_stopped_and_keeps_no_half_run(browser: Browser, site: Site) -> None:
    with served(site.path) as address:
        browser.open(judge_url(address, "disagreements"))
        browser.find("#edit textarea").send_keys("\nJudge slowly.")
        browser.click("#save")
        browser.until_says("#saved", "✓")
        browser.click("#evaluate")
        browser.until("!document.getElementById('confirm').hidden")
        browser.click("#go")
        browser.until_says("#evaluated", "/60")
        browser.open(judge_url(address, "disagreements"))  # left and opened again: it goes on, and is shown
        browser.until_says("#evaluated", "/60")
        browser.click("#stop")
        browser.until_says("#outcome", "Stopped after", seconds=20)
        assert "kept" in browser.text("#outcome")
    assert len(list(site.path.glob(".verica/runs/*"))) == 1


def test_instructions_that_cannot_be_are_refused_where_they_were_written(browser: Browser, site: Site) -> None:
    before = site.eval_file.read_bytes()
    with served(site.path) as address:
        browser.open(judge_url(address, "disagreements"))
        browser.find("#edit textarea").send_keys(" {{ nonsense }}")
        browser.click("#save")
        browser.until_says("#saved", "Not saved: refunds.eval.yaml: `nonsense` is not a column")
    assert site.eval_file.read_bytes() == before


def test_what_is_not_there_yet_says_the_next_step(browser: Browser, built_site: Site, tmp_path: Path) -> None:
    with served(tmp_path) as address:
        for path, words in {"": "Run pytest --verica", "judges": "No judge has given a verdict yet"}.items():
            browser.open(address + path)
            assert words in browser.text("main")
    site = copied(built_site, tmp_path / "unlabelled")
    with served(site.path) as address:
        browser.open(address + "judges")
        assert browser.text("main").count("No labels yet: label 20, ten minutes.") == len(JUDGES)
        for tab in ("agreement", "disagreements", "threshold"):
            browser.open(judge_url(address, tab))
            assert "No labels yet: label 20, ten minutes." in browser.text("main")
            assert browser.find("main a.button.main").get_attribute("href").startswith(address + "label?")
        browser.open(judge_url(address, "history"))
        assert "Nothing measured yet" in browser.text("main")
        label_all(site, most=4)
        browser.open(judge_url(address))
        assert "No number: 4 labels, at least 10 are needed. Label 6 more." in browser.text("#corrected")
        browser.open(judge_url(address, criterion="nobody"))
        assert "no saved run has a verdict of the judge 'nobody'" in browser.text("main")


def test_a_judge_of_labels_has_no_threshold(browser: Browser, labelled_site: Site) -> None:
    assert is_good("Answer 1") and not is_good("Answer 3")
    with served(labelled_site.path) as address:
        browser.open(f"{address}label?{urlencode({**NAMES, 'criterion': 'tone'})}")
        browser.until_says("#place", "1 of 50")
        browser.keys("p")
        browser.until_says("#status", "Saved ✓")
        browser.open(judge_url(address, "threshold", criterion="tone"))
        assert "it has no threshold to move" in browser.text("main")


@pytest.mark.parametrize("width", [1280, 768, 390])
def test_every_tab_fits_the_width(browser: Browser, labelled_site: Site, width: int) -> None:
    browser.size(width)
    with served(labelled_site.path) as address:
        for path in (
            "",
            "judges",
            *(judge_url("", tab) for tab in ("agreement", "disagreements", "threshold", "history")),
        ):
            browser.open(address + path)
            assert browser.fits(), path
    browser.size(1280)


def test_hostile_outputs_are_text_among_the_disagreements(
    browser: Browser, built_hostile_site: Site, tmp_path: Path
) -> None:
    site = copied(built_hostile_site, tmp_path)
    for found in [alignment_of(site.path, *NAMES.values())]:
        assert found.never_labelled
    label_all_wrong(site)
    with served(site.path) as address:
        for width in (1280, 390):
            browser.size(width)
            browser.open(judge_url(address, "disagreements", **{"as": "eve"}))
            assert len(browser.all("#disagreements article")) >= 5
            assert browser.fits()
            assert browser.script("return window.owned === undefined && document.title !== 'owned'")
            assert not browser.all("#owned, main script, img, iframe")
            assert "the first 4,000 of 1,0" in browser.text("main")
    browser.size(1280)


def label_all_wrong(site: Site) -> None:
    """A person who says the contrary of the judge everywhere."""
    from pytest_verica.ui.labelling import deck

    found = deck(site.path, *NAMES.values(), "eve")
    for place, queued in enumerate(found.queue):
        card = found.screen(place)["card"]
        assert card is not None
        found.act({**card, "verdict": "fail" if queued.output.passed else "pass"})
