"""What a user wrote wrongly is found before the first call: where it stands, what was expected, what was found."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

import pytest

from tests.fake_provider import FakeProvider
from tests.pytest_door.conftest import Run, Suite

GOOD = """\
name: refunds
golden_set: golden.csv
prompt:
  system: You serve {{ shop }}.
  user: "{{ question }}"
model:
  provider: openai_compatible
  name: fake-1
  base_url: BASE_URL
criteria:
  - name: polite
    type: text_check
    contains: please
  - name: kind
    type: label_model
    prompt: "Is this kind? {{ output.text }}"
    labels: [yes_, no_]
    passing_labels: [yes_]
    model: {provider: openai_compatible, name: fake-judge, base_url: BASE_URL}
gate: {pass_rate: 0.9}
"""
GOLDEN = "id,shop,question\na,Acme,What is 1 + 1?\nb,Acme,What is 2 + 1?\n"


def run_file(suite: Suite, fake: FakeProvider, source: str, golden: str = GOLDEN) -> Run:
    suite.file("golden.csv", golden)
    suite.file("refunds.eval.yaml", source.replace("BASE_URL", fake.url))
    run = suite.run()
    assert fake.stats()["requests"] == 0, "nothing is called"
    assert not (suite.path / ".verica").exists(), "nothing is written"
    return run


class Slip(NamedTuple):
    """A mistake in the good file. written, instead: the text of the good file and what stands there in its place;
    at: a text of the line that is named, "" for any; said: parts of the message."""

    written: str
    instead: str
    at: str
    said: Sequence[str]


SLIPS = {
    "unknown key": Slip("gate:", "gatte:", "gatte:", ["unknown key `gatte`; did you mean 'gate'?", "known keys: name"]),
    "unknown key of the model": Slip(
        "  name: fake-1", "  nam: fake-1", "nam:", ["did you mean 'name'?", "`model.name` is missing"]
    ),
    "unknown key of a criterion": Slip(
        "contains: please", "contians: please", "contians", ["did you mean 'contains'?"]
    ),
    "unknown key of the gate": Slip("{pass_rate: 0.9}", "{passrate: 0.9}", "passrate", ["did you mean 'pass_rate'?"]),
    "unknown type": Slip(
        "type: text_check", "type: text_chek", "text_chek", ["unknown type 'text_chek'; did you mean 'text_check'?"]
    ),
    "unknown variable of the prompt": Slip(
        "{{ question }}", "{{ qestion }}", "qestion", ["qestion", "question", "shop"]
    ),
    "unknown variable of a system text": Slip("{{ shop }}", "{{ shp }}", "shp", ["`prompt.system`", "shp", "shop"]),
    "unknown variable of a criterion": Slip(
        "contains: please", 'contains: "{{ wanted }}"', "wanted", ["'polite'", "wanted", "question"]
    ),
    "unknown variable of a judge": Slip(
        "{{ output.text }}", "{{ ouput.text }}", "ouput", ["'kind'", "ouput", "output"]
    ),
    "output in the prompt": Slip("{{ question }}", "{{ output.text }}", 'user: "{{ output', ["output"]),
    "unknown variable of a run condition": Slip(
        "contains: please",
        'contains: please\n    only_if: {variable: "{{ knd }}", condition: has_value}',
        "knd",
        ["'polite'", "knd"],
    ),
    "template that does not close": Slip("{{ question }}", "{{ question", "{{ question", ["`prompt.user`"]),
    "criteria of one name": Slip(
        "name: kind",
        "name: polite",
        "- name: polite\n    type: label",
        ["two criteria are named 'polite'", "the other is at refunds.eval.yaml:11"],
    ),
    "unknown provider": Slip(
        "  provider: openai_compatible\n",
        "  provider: openai_compatibel\n",
        "compatibel",
        ["did you mean 'openai_compatible'?", "known providers: ", "scripted"],
    ),
    "no provider": Slip("  provider: openai_compatible\n", "", "model:", ["`model.provider` is missing"]),
    "no credential": Slip(
        "  provider: openai_compatible\n", "  provider: openai\n", "model:", ["`credential` is missing"]
    ),
    "credential that is not set": Slip(
        "  name: fake-1", "  name: fake-1\n  credential: NOT_SET", "credential: NOT_SET", ["NOT_SET is not set"]
    ),
    "gate that cannot fail": Slip("0.9}", "0}", "gate:", ["cannot fail"]),
    "gate in percent": Slip("0.9}", "90}", "gate:", ["for 90 % write 0.9"]),
    "gate as text": Slip("{pass_rate: 0.9}", "high", "gate:", ["gate"]),
    "gate for no criterion": Slip("0.9}", "0.9, criteria: {polit: 1}}", "gate:", ["did you mean 'polite'?"]),
    "gate that cannot be passed": Slip(
        "0.9}", "0.9, min_graded: 5}", "gate:", ["min_graded is 5 and the eval has 4 verdicts"]
    ),
    "gate with an age of no labels": Slip("0.9}", "0.9, max_label_age_days: 30}", "gate", ["needs `calibrated: true`"]),
    "pattern that is none": Slip("contains: please", "matches: '(please'", "- name: polite", ["'polite'"]),
    "temperature below zero": Slip(
        "  name: fake-1", "  name: fake-1\n  params: {temperature: -1}", "temperature", ["temperature"]
    ),
    "unknown parameter": Slip(
        "  name: fake-1", "  name: fake-1\n  params: {temprature: 1}", "temprature", ["did you mean 'temperature'?"]
    ),
    "repeat of nothing": Slip("gate:", "repeat: 0\ngate:", "repeat", ["repeat"]),
    "golden set that is not there": Slip("golden.csv", "goldn.csv", "", ["goldn.csv", "golden.csv"]),
    "target beside a prompt": Slip("gate:", "target: {column: question}\ngate:", "", ["not both"]),
    "key written twice": Slip("gate:", "name: again\ngate:", "name: again", ["the key 'name' is written twice"]),
    "not YAML": Slip("gate: {", "gate: [{", "", ["not valid YAML"]),
    "no criteria": Slip(
        GOOD[GOOD.index("criteria:") : GOOD.index("gate:")], "criteria: []\n", "criteria:", ["criteria"]
    ),
}


@pytest.mark.parametrize("slip", SLIPS.values(), ids=list(SLIPS))
def test_slip_in_a_file(suite: Suite, fake: FakeProvider, slip: Slip) -> None:
    assert slip.written in GOOD
    source = GOOD.replace(slip.written, slip.instead, 1)
    run = run_file(suite, fake, source)
    assert run.exit == 2 and run.words == {}
    assert "Traceback" not in run.out and "pytest_verica/" not in run.out
    shown = run.out[run.out.index("ERROR collecting refunds.eval.yaml") :]
    for words in slip.said:
        assert words in shown
    if slip.at:
        line = source[: source.index(slip.at)].count("\n") + 1
        assert f"refunds.eval.yaml:{line}: " in shown
    else:
        assert re.search(r"(refunds\.eval\.yaml|goldn\.csv)(:\d+)?: ", shown)


def test_criteria_whose_ids_would_be_one(suite: Suite, fake: FakeProvider) -> None:
    source = GOOD.replace("name: polite", "name: how kind").replace("name: kind", "name: how_kind")
    run = run_file(suite, fake, source)
    assert run.exit == 2 and "two criteria are named 'how_kind'" in run.out


def test_good_file_is_good(suite: Suite, fake: FakeProvider) -> None:
    suite.file("golden.csv", GOLDEN)
    suite.file("refunds.eval.yaml", GOOD.replace("BASE_URL", fake.url))
    assert len(suite.run().verdicts) == 4


@pytest.mark.parametrize(
    ("column", "said"),
    [
        ("column: anwser", "no column 'anwser'; did you mean 'answer'?"),
        ("column: answer\n  steps: stps", "no column 'stps'"),
        ("record: recrd", "no column 'recrd'"),
        ("column: answer\n  record: answer", "exactly one of"),
        ("colum: answer", "exactly one of"),
        ("python: bot", "`python`"),
    ],
)
def test_missing_column(suite: Suite, column: str, said: str) -> None:
    suite.file("golden.csv", "id,answer\na,please\n")
    suite.file(
        "demo.eval.yaml",
        f"golden_set: golden.csv\ntarget:\n  {column}\ncriteria:\n  - {{name: a, type: text_check, contains: x}}\n",
    )
    run = suite.run()
    assert run.exit == 2 and run.words == {}
    assert said in run.out
    assert re.search(r"demo\.eval\.yaml:[234]: ", run.out)


GOLDENS: dict[str, tuple[str, str]] = {
    "ragged row": ("id,shop,question\na,Acme\n", "golden.csv:2"),
    "duplicate ids": (GOLDEN + "a,Acme,again\n", "golden.csv:4"),
    "duplicate columns": ("id,shop,question,shop\na,b,c,d\n", "shop"),
    "reserved column": ("id,shop,question,output\na,b,c,d\n", "output"),
    "odd column": ("id,shop,question,2nd\na,b,c,d\n", "2nd"),
    "empty column name": ("id,shop,question,\na,b,c,d\n", "golden.csv:1"),
}


@pytest.mark.parametrize(("golden", "said"), GOLDENS.values(), ids=list(GOLDENS))
def test_wrong_golden_set(suite: Suite, fake: FakeProvider, golden: str, said: str) -> None:
    run = run_file(suite, fake, GOOD, golden)
    assert run.exit == 2 and run.words == {}
    assert said in run.out


KEYS = [
    "sk-proj-Zx8Qw7Er6Ty5Ui4Op3As2Df1",
    "gsk_Zx8Qw7Er6Ty5Ui4Op3As2Df1Gh0Jk",
    "AIzaSyZx8Qw7Er6Ty5Ui4Op3As2Df1",
    "sk-ant-api03-Zx8Qw7Er6Ty5-Ui4Op3As2Df1",
    "Zx8Qw7Er6.Ty5Ui4Op3",
    "Bearer Zx8Qw7Er6Ty5Ui4Op3As2Df1",
]
CHECK = "criteria:\n  - {name: a, type: text_check, contains: x}\n"
HTTP = f"golden_set: golden.csv\ntarget:\n  http:\n    url: 'URL'\n    headers: {{HEADERS}}\n{CHECK}"
PLACES = {
    "model": GOOD.replace("  name: fake-1", "  name: fake-1\n  credential: 'KEY'"),
    "base_url": GOOD.replace("base_url: BASE_URL", "base_url: 'http://user:KEY@127.0.0.1:9/v1'"),
    "parameter of base_url": GOOD.replace("base_url: BASE_URL", "base_url: 'http://127.0.0.1:9/v1?api_key=KEY'"),
    "judge": GOOD.replace("name: fake-judge", "name: fake-judge, credential: 'KEY'"),
    "header": HTTP.replace("URL", "http://127.0.0.1:9/").replace("HEADERS", "authorization: 'Bearer KEY'"),
    "odd header": HTTP.replace("URL", "http://127.0.0.1:9/").replace("HEADERS", "x-shop-api-key: 'KEY'"),
    "password of a url": HTTP.replace("URL", "http://user:KEY@127.0.0.1:9/").replace("HEADERS", ""),
    "user of a url": HTTP.replace("URL", "http://KEY@127.0.0.1:9/").replace("HEADERS", ""),
    "parameter of a url": HTTP.replace("URL", "http://127.0.0.1:9/?q={{ question }}&key=KEY").replace("HEADERS", ""),
}


@pytest.mark.parametrize(
    ("key", "place"), [*((key, "model") for key in KEYS), *((KEYS[0], place) for place in PLACES if place != "model")]
)
def test_literal_key_is_refused_and_not_repeated(suite: Suite, fake: FakeProvider, key: str, place: str) -> None:
    run = run_file(suite, fake, PLACES[place].replace("KEY", key))
    assert run.exit == 2 and run.words == {}
    assert "environment variable" in run.out
    assert re.search(r"refunds\.eval\.yaml:\d+: ", run.out)
    parts = {key, key.split("-")[-1], *key.split()} - {"Bearer"}
    assert not [part for part in parts if part in run.out]


def test_key_that_the_environment_holds_is_fine(suite: Suite, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SHOP_KEY", KEYS[0])
    suite.file("golden.csv", GOLDEN)
    url = "http://user:${SHOP_KEY}@127.0.0.1:9/?key=${SHOP_KEY}"
    source = HTTP.replace("URL", url).replace("HEADERS", "authorization: 'Bearer ${SHOP_KEY}'")
    suite.file("refunds.eval.yaml", source)
    run = suite.run()
    assert set(run.words.values()) == {"error"} and "could not be asked" in run.out
    assert KEYS[0] not in run.out


def test_extends(suite: Suite, fake: FakeProvider) -> None:
    suite.file("a.eval.yaml", "extends: b.yaml\n")
    suite.file("b.yaml", "extends: c.yaml\n")
    suite.file("c.yaml", "extends: a.eval.yaml\n")
    run = suite.run()
    assert run.exit == 2
    assert "`extends` goes round in a circle: a.eval.yaml -> b.yaml -> c.yaml -> a.eval.yaml" in run.out
    assert "c.yaml:1: " in run.out
    suite.file("c.yaml", "extends: nowhere.yaml\n")
    assert "c.yaml:1: `extends`: nowhere.yaml does not exist" in suite.run().out
    suite.file("c.yaml", "extends: c.yaml\n")
    assert "goes round in a circle" in suite.run().out


def test_problem_of_an_extended_file_is_placed_there(suite: Suite, fake: FakeProvider) -> None:
    suite.file("base.yaml", GOOD.replace("contains: please", "contians: please"))
    run = run_file(suite, fake, "extends: base.yaml\nname: mine\n")
    assert "base.yaml:13: " in run.out


def test_all_problems_are_told_together(suite: Suite, fake: FakeProvider) -> None:
    source = GOOD.replace("{{ question }}", "{{ qestion }}").replace("contains: please", 'contains: "{{ wanted }}"')
    source = source.replace("  provider: openai_compatible\n", "  provider: opnai\n").replace(
        "0.9}", "0.9, min_graded: 99}"
    )
    suite.file(
        "second.eval.yaml",
        "golden_set: golden.csv\ntarget: {column: shp}\ncriteria: [{name: a, type: text_check, contains: x}]\n",
    )
    run = run_file(suite, fake, source)
    for words in ("qestion", "wanted", "unknown provider 'opnai'", "no column 'shp'", "2 errors"):
        assert words in run.out


def test_two_evals_of_one_name(suite: Suite, fake: FakeProvider) -> None:
    suite.file("other.eval.yaml", GOOD.replace("BASE_URL", fake.url))
    run = run_file(suite, fake, GOOD)
    assert run.exit == 2 and "two evals are named 'refunds'" in run.out


def test_two_problems_in_one_list_of_criteria(suite: Suite, fake: FakeProvider) -> None:
    source = GOOD.replace("type: text_check", "type: nope").replace("passing_labels: [yes_]", "passing_labels: [maybe]")
    run = run_file(suite, fake, source)
    assert "unknown type 'nope'" in run.out and "'maybe' is not one of `labels`" in run.out


MARKERS: dict[str, tuple[str, str]] = {
    "unknown argument": ("criteria=[A], gaet=0.9", "it takes: golden_set, criteria, gate"),
    "positional": ("'golden.csv', criteria=[A]", "it takes: golden_set"),
    "no criteria": ("", "has no criteria: nothing would be checked"),
    "empty criteria": ("criteria=[]", "has no criteria: nothing would be checked"),
    "criteria that are none": ("criteria=['a']", "criteri"),
    "criteria as one": ("criteria=A", "`criteria` is a list"),
    "bad gate": ("criteria=[A], gate=0", "cannot fail"),
    "bad gate key": ("criteria=[A], gate={'passrate': 1}", "did you mean 'pass_rate'?"),
    "bad criterion": ("criteria=[text_check(name='a', contians='x')]", "did you mean 'contains'?"),
    "bad golden set": ("criteria=[A], golden_set='nowhere.csv'", "nowhere.csv"),
    "criteria of one name": ("criteria=[A, A]", "two criteria are named 'a'"),
    "unknown variable": ("criteria=[text_check(name='a', contains='{{ nope }}')], golden_set='golden.csv'", "nope"),
    "unknown variable of parameters": ("criteria=[text_check(name='a', contains='{{ nope }}')]", "nope"),
    "missing credential": (
        "criteria=[label_model(name='a', prompt='?', labels=['x', 'y'], passing_labels=['x'], "
        "model={'provider': 'openai', 'name': 'm', 'credential': 'NOT_SET_ANYWHERE'})]",
        "NOT_SET_ANYWHERE is not set",
    ),
}


@pytest.mark.parametrize(("arguments", "said"), MARKERS.values(), ids=list(MARKERS))
def test_wrong_marker_names_the_test(suite: Suite, arguments: str, said: str) -> None:
    suite.file("golden.csv", GOLDEN)
    suite.file("test_good.py", "def test_good(): pass\n")
    suite.file(
        "test_bot.py",
        "import pytest\nfrom pytest_verica import label_model, text_check\n\nA = text_check(name='a', contains='x')\n\n"
        f"@pytest.mark.verica({arguments})\ndef test_bot():\n    raise SystemError('never run')\n",
    )
    run = suite.run()
    assert run.exit in (2, 4) and run.words == {}
    assert "test_bot.py" in run.out and "test_bot" in run.out and said in run.out
    assert "INTERNALERROR" not in run.out and "pytest_verica/" not in run.out


def test_case_without_a_marker(suite: Suite) -> None:
    suite.file("test_bot.py", "def test_bot(case):\n    pass\n")
    run = suite.run()
    assert run.exit == 1 and "test_bot asks for `case`, but has no @pytest.mark.verica(golden_set=...)" in run.out


def test_one_wrong_eval_stops_the_others_before_they_pay(suite: Suite, fake: FakeProvider) -> None:
    suite.file("a.eval.yaml", GOOD.replace("refunds", "a").replace("BASE_URL", fake.url))
    run = run_file(suite, fake, GOOD.replace("gate:", "gatte:"))
    assert run.exit == 2 and "1 error" in run.last_line


@pytest.mark.slow
def test_wrong_file_over_several_processes(suite: Suite, fake: FakeProvider) -> None:
    suite.file("golden.csv", GOLDEN)
    suite.file("refunds.eval.yaml", GOOD.replace("gate:", "gatte:").replace("BASE_URL", fake.url))
    run = suite.run("-n2")
    assert run.exit == 1 and "unknown key `gatte`; did you mean 'gate'?" in run.out
    assert fake.stats()["requests"] == 0


def test_wrong_json_file(suite: Suite) -> None:
    suite.file("demo.eval.json", '{"name": "demo",\n "golden_set": "x.csv",\n "critera": []}\n')
    run = suite.run()
    assert run.exit == 2 and "demo.eval.json:3: unknown key `critera`; did you mean 'criteria'?" in run.out
