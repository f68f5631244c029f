"""What the server answers, read without a browser: cards, changes, errors, a rubric's items."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlencode, urlsplit

import pytest

from tests.pages.conftest import copied, served
from tests.pages.site import SECRETS_OF_THE_JUDGE, Site
from tests.pages.test_server import Asked

NAMES = {"eval": "refunds.eval.yaml", "criterion": "helpful", "as": "ana"}


@pytest.fixture(scope="module")
def site(built_site: Site, tmp_path_factory: pytest.TempPathFactory) -> Site:
    return copied(built_site, tmp_path_factory.mktemp("answers"))


@pytest.fixture(scope="module")
def address(site: Site) -> Iterator[str]:
    with served(site.path) as found:
        yield found


def get(address: str, path: str, **names: Any) -> Asked:
    return Asked(address, f"{path}?{urlencode({**NAMES, **names})}")


def post(address: str, path: str, body: Any, **names: Any) -> Asked:
    own = "http://" + urlsplit(address).netloc
    text = body if isinstance(body, str) else json.dumps(body)
    headers = {"Origin": own, "Content_Type": "application/json"}
    return Asked(address, f"{path}?{urlencode({**NAMES, **names})}", "POST", text, **headers)


def card(address: str, at: int, **names: Any) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(get(address, "label/card", at=at, **names).text)["card"]
    return found


def test_no_card_of_any_judge_says_what_the_judge_said(address: str) -> None:
    for criterion, eval_id in {"helpful": "refunds", "tone": "refunds", "care": "care", "care.sure": "care"}.items():
        names = {"criterion": criterion, "eval": f"{eval_id}.eval.yaml", "most": 60}
        texts = [
            get(address, "label", **names).text,
            *(get(address, "label/card", at=at, **names).text for at in range(60)),
        ]
        assert '"card": null' not in "".join(texts)
        assert [secret for secret in SECRETS_OF_THE_JUDGE if secret in "".join(texts)] == []
        assert len({json.loads(text)["card"]["case"] for text in texts[1:]}) == 60


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"verdict": "maybe"}, "an answer is pass, fail or skipped"),
        ({"verdict": "pass", "note": 7}, "an answer is pass, fail or skipped"),
        ({"verdict": "pass", "note": "x" * 4001}, "up to 4000 characters"),
        ({"verdict": "pass", "output_hash": "another"}, "no longer among those to label"),
        ({"verdict": "pass", "case": "case-99"}, "no longer among those to label"),
    ],
)
def test_an_answer_that_cannot_be_is_not_saved(address: str, site: Site, change: dict[str, Any], said: str) -> None:
    before = site.acts()
    answer = post(address, "label/act", {**card(address, 0), **change})
    assert answer.status == 409 and said in json.loads(answer.text)["error"]
    assert site.acts() == before


@pytest.mark.parametrize("body", ["", "[]", "{", '"text"', "null"])
def test_a_change_that_is_no_object_is_refused(address: str, site: Site, body: str) -> None:
    before = site.acts()
    answer = post(address, "label/act", body)
    assert answer.status == 404 and "no JSON object" in json.loads(answer.text)["error"]
    assert site.acts() == before


@pytest.mark.parametrize("name", ["", " ", "x" * 81, "a\x00b", "\u202e"])
def test_a_labeller_has_a_name(address: str, name: str) -> None:
    answer = Asked(address, f"label?{urlencode({**NAMES, 'as': name})}")
    assert (answer.status, "labeller" in answer.text) == (
        (200, True) if name == "" else (409, True)
    )  # "": the account's


def test_the_same_answer_twice_is_one_act(address: str, site: Site) -> None:
    one = card(address, 5, **{"as": "twice"})
    for _ in range(3):
        assert post(address, "label/act", {**one, "verdict": "pass", "note": " a "}, **{"as": "twice"}).status == 200
    assert [act["note"] for act in site.acts() if act["labeller"] == "twice"] == ["a"]


def test_a_rubrics_items_are_judges_with_the_instructions_of_the_whole(address: str, site: Site) -> None:
    listed = Asked(address, "judges").text
    assert all(f">{name}</bdi>" in listed for name in ("care", "care.friendly", "care.sure", "helpful", "tone"))
    item = {"eval": "care.eval.yaml", "criterion": "care.friendly"}
    assert "It greets the customer kindly." in get(address, "label", **item).text
    one = card(address, 0, **item)
    assert post(address, "label/act", {**one, "verdict": "pass"}, **item).status == 200
    page = get(address, "judge", tab="disagreements", **item).text
    assert "care.eval.yaml" in page and "{{ rubric }}" in page and "60 outputs" in page


def test_instructions_without_which_the_eval_cannot_be_read_are_put_back(address: str, site: Site) -> None:
    file = site.path / "care.eval.yaml"
    before = file.read_bytes()
    item = {"eval": "care.eval.yaml", "criterion": "care"}
    answer = post(address, "judge/instructions", {"texts": {"prompt": "{{ output.text }}\nNothing more."}}, **item)
    assert answer.status == 409 and "does not show the rubric" in json.loads(answer.text)["error"]
    assert file.read_bytes() == before


def test_calls_are_made_only_when_the_cost_was_confirmed(address: str, site: Site) -> None:
    runs = len(list(site.path.glob(".verica/runs/*")))
    answer = post(address, "judge/evaluate", {})
    assert answer.status == 404 and "confirm" in json.loads(answer.text)["error"]
    assert json.loads(get(address, "judge/progress").text) == {"state": None}
    assert len(list(site.path.glob(".verica/runs/*"))) == runs


@pytest.mark.parametrize(
    ("path", "names", "said"),
    [
        ("judge", {"criterion": "nobody"}, "no saved run has a verdict of the judge &#39;nobody&#39;"),
        ("judge", {"eval": "<script>"}, "&lt;script&gt;"),
        ("run", {"id": "<script>alert(1)</script>"}, "no run &#39;&lt;script&gt;"),
        ("compare", {"a": "1"}, "the address names no b"),
    ],
)
def test_errors_say_what_to_do_and_are_text(address: str, path: str, names: dict[str, str], said: str) -> None:
    answer = get(address, path, **names)
    assert answer.status in (404, 409) and said in answer.text and "<script>" not in answer.text.split("<main")[1]


def test_a_damaged_label_file_is_said_and_nothing_is_written_over(built_site: Site, tmp_path: Path) -> None:
    site = copied(built_site, tmp_path)
    site.labels.write_text('{"record":"label","eval":"x"}\n{"record":\n')
    before = site.labels.read_bytes()
    with served(site.path) as address:
        for path in ("judge", "judges", "label/card"):
            answer = get(address, path)
            assert "refunds.labels.jsonl:1" in answer.text
    assert site.labels.read_bytes() == before
