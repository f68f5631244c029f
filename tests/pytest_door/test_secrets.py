"""No secret anywhere: a run with a marked key, and a search of everything that it wrote and printed."""

from __future__ import annotations

import base64
import json
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import pytest

from pytest_verica.engine.retry import RetryPolicy
from tests.fake_provider import FakeProvider
from tests.pytest_door.conftest import Suite, asked, judge, text

pytestmark = pytest.mark.slow
KEY = "sk-marked-Zx8Qw7/Er6+Ty5=Ui4Op3As2"
TOKEN = "token-marked-Lk9Jh8Gf7Ds6Ap5"
FORMS = {
    "the key": KEY,
    "the key, percent-encoded": quote(KEY, safe=""),
    "the key in base64": base64.b64encode(KEY.encode()).decode(),
    "the key as JSON writes it": json.dumps(KEY)[1:-1].replace("/", "\\/"),
    "the body of the key": "Zx8Qw7",
    "the token": TOKEN,
    "the token in base64": base64.b64encode(TOKEN.encode()).decode(),
}
LOUD = ("-vv", "--tb=long", "--showlocals", "-o", "log_cli=true", "--log-level=DEBUG", "-rA", "--full-trace")
WRITING = (
    "--junit-xml=junit.xml",
    "-o",
    "junit_logging=all",
    "--verica-report=report.json",
    "--verica-html=report.html",
    "--log-file=log.txt",
)


def texts_of(path: Path) -> Iterator[bytes]:
    yield path.read_bytes()
    if path.suffix == ".sqlite":
        with sqlite3.connect(path) as database:
            tables = [row[0] for row in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
            for table in tables:
                for row in database.execute(f"SELECT * FROM {table}"):
                    yield repr(row).encode()
        database.close()


def search(suite: Suite, out: str, *, written_by_user: tuple[str, ...] = ()) -> None:
    places = {"the terminal": [out.encode()]}
    for path in suite.path.rglob("*"):
        if path.is_file() and path.name not in written_by_user:
            places[str(path.relative_to(suite.path))] = list(texts_of(path))
    assert any(name.endswith("journal.jsonl") for name in places), "a run that kept nothing shows nothing"
    found = [
        f"{name} in {place}"
        for place, texts in places.items()
        for name, form in FORMS.items()
        if any(form.encode() in each for each in texts)
    ]
    assert not found


@pytest.fixture
def keyed(monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeProvider]:
    monkeypatch.setenv("MARKED_KEY", KEY)
    monkeypatch.setenv("MARKED_TOKEN", TOKEN)
    with FakeProvider(api_key=KEY) as provider:
        yield provider


def write(suite: Suite, fake: FakeProvider, provider: str = "openai_compatible") -> None:
    model = asked(fake, credential="MARKED_KEY", provider=provider)
    cases = [{"id": f"c{n}", "q": f"What is {n} + 1?"} for n in range(3)]
    criteria = [{**judge("kind", ""), "model": {**model, "name": "fake-judge"}}, text("sum", contains="answer is 2")]
    suite.eval(cases=cases, target=None, prompt={"user": "{{ q }}"}, model=model, criteria=criteria)


@pytest.mark.parametrize(
    ("provider", "args"), [("openai", ()), ("openai_compatible", ()), ("openai_compatible", ("-n2",))]
)
def test_good_answers(suite: Suite, keyed: FakeProvider, provider: str, args: tuple[str, ...]) -> None:
    write(suite, keyed, provider)
    run = suite.run(*LOUD, *WRITING, *args, new_process=True)
    assert run.exit == 1 and set(run.words.values()) == {"passed", "failed"}
    assert keyed.stats()["statuses"] == {"200": 6}, "the key was used"
    search(suite, run.out)


SAID = {"role": "assistant", "content": f"My key is {KEY}", "refusal": None}
ANSWER = {"choices": [{"index": 0, "message": SAID, "finish_reason": "stop"}], "usage": None, "model": "m", "id": "x"}
QUOTING = [
    (200, json.dumps(ANSWER)),
    (401, json.dumps({"error": {"message": f"Incorrect API key: {KEY}"}}).replace("/", "\\/")),
    (400, json.dumps({"error": {"message": "x" * 280 + KEY}})),
    (500, "x" * 1985 + KEY),
    (401, f'{{"error": {{"message": "Incorrect API key provided: {KEY}", "code": "invalid_api_key"}}}}'),
    (403, f"The key {KEY} may not do that"),
    (400, f'{{"error": {{"message": "bad", "param": "{KEY}"}}}}'),
    (404, f'{{"detail": "no {KEY} here"}}'),
    (302, ""),
    (500, f"<html>{KEY} {quote(KEY, safe='')}</html>"),
    (200, f"{KEY}, which is not JSON"),
    (200, json.dumps({"error": {"message": f"{KEY}", "code": 400}})),
]


@pytest.mark.parametrize(("status", "body"), QUOTING, ids=[f"{n} {status}" for n, (status, _) in enumerate(QUOTING)])
def test_errors_that_quote_the_key(
    suite: Suite, keyed: FakeProvider, status: int, body: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    headers = {"location": f"http://127.0.0.1:9/?key={KEY}", "x-request-id": KEY, "www-authenticate": KEY}
    keyed.script(*[(status, headers, body.encode())] * 60)
    # Retries wait for seconds; a policy without them shows the same.
    monkeypatch.setattr(RetryPolicy, "wait_s", lambda *args: None)
    write(suite, keyed)
    run = suite.run(*LOUD, *WRITING)
    assert run.exit == 1 and set(run.words.values()) <= {"error", "failed"}
    search(suite, run.out)


@pytest.mark.parametrize("provider", ["anthropic", "google"])
@pytest.mark.parametrize("args", [(), ("-n2",)], ids=["alone", "n2"])
def test_other_providers(suite: Suite, keyed: FakeProvider, args: tuple[str, ...], provider: str) -> None:
    """The fake one does not speak their language: it refuses, and quotes the key."""
    keyed.script(*[(400, {"x-echo": KEY}, json.dumps({"error": {"message": f"no {KEY}"}}).encode())] * 20)
    write(suite, keyed, provider)
    run = suite.run(*LOUD, *WRITING, *args, new_process=True)
    assert run.exit == 1 and set(run.words.values()) == {"error"}
    assert all(KEY in str(each.headers) for each in keyed.received) and keyed.received, "the key was used"
    search(suite, run.out)


def test_what_is_looked_at_before_launch(suite: Suite, keyed: FakeProvider, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("VERICA_NO_PREFLIGHT")
    write(suite, keyed)
    keyed.script((401, {"x-echo": KEY}, json.dumps({"error": {"message": f"wrong: {KEY}"}}).encode()))
    refused = suite.run(*LOUD, *WRITING, new_process=True)
    assert refused.exit == 4 and "wrong: ***" in refused.out and len(keyed.received) == 1
    estimated = suite.run(*LOUD, *WRITING, "--verica-estimate", new_process=True)
    run = suite.run(*LOUD, *WRITING, new_process=True)
    assert run.exit == 1
    search(suite, refused.out + estimated.out + run.out)


def test_wrong_key(suite: Suite, keyed: FakeProvider, monkeypatch: pytest.MonkeyPatch) -> None:
    keyed.options.update({"api_key": "another"})
    write(suite, keyed)
    run = suite.run(*LOUD, *WRITING, new_process=True)
    assert set(run.words.values()) == {"error"} and "MARKED_KEY" in run.out, "the variable is named"
    search(suite, run.out)


def test_no_connection(suite: Suite, keyed: FakeProvider) -> None:
    suite.file("conftest.py", "from pytest_verica.engine import retry\nretry.RetryPolicy.wait_s = lambda *args: None\n")
    model = {"provider": "openai_compatible", "name": "m", "base_url": "http://127.0.0.1:9", "credential": "MARKED_KEY"}
    suite.eval(cases=[{"id": "a", "q": "?"}], target=None, prompt={"user": "{{ q }}"}, model=model)
    run = suite.run(*LOUD, *WRITING, new_process=True)
    assert set(run.words.values()) == {"error"}
    search(suite, run.out)


@pytest.mark.parametrize("answer", ["good", "quoted", "refused", "echoed"])
def test_http_target(suite: Suite, keyed: FakeProvider, answer: str) -> None:
    if answer == "echoed":  # by headers, which the HTTP library logs at DEBUG
        headers = {"x-echo": f"Bearer {KEY}", "x-token": TOKEN}
        keyed.script(*[(200, headers, b'{"answer": {"text": "the answer is 2"}}')] * 20)
    elif answer != "good":
        quoting = json.dumps({"error": f"token {TOKEN}, key {KEY} and {quote(KEY, safe='')}"}).replace("/", "\\/")
        keyed.script(*[(200 if answer == "quoted" else 403, {}, (quoting + "x" * 1990 + TOKEN).encode())] * 20)
    http = {
        "url": f"{keyed.root}/answer?token=${{MARKED_TOKEN}}",
        "headers": {"authorization": "Bearer ${MARKED_KEY}", "x-token": "${MARKED_TOKEN}"},
        "json": {"question": "{{ q }}"},
        "output": "answer.text",
    }
    cases = [{"id": f"c{n}", "q": f"What is {n} + 1?"} for n in range(2)]
    suite.eval(cases=cases, target={"http": http}, criteria=[text("sum", contains="answer is 2")])
    run = suite.run(*LOUD, *WRITING, new_process=True)
    assert {each.headers["x-token"] for each in keyed.received} == {TOKEN}, "the token was used"
    assert run.exit == (0 if answer == "echoed" else 1)
    search(suite, run.out)


def test_interrupted_run(suite: Suite, keyed: FakeProvider) -> None:
    """A crash in the middle, with the frames' locals shown."""
    write(suite, keyed)
    suite.file("conftest.py", "def pytest_verica_graded(case_id):\n    raise RuntimeError(case_id)\n")
    run = suite.run(*LOUD, *WRITING, new_process=True)
    assert run.exit == 3
    search(suite, run.out)


def test_engine_that_crashes_shows_no_locals_with_the_key(suite: Suite, keyed: FakeProvider) -> None:
    write(suite, keyed)
    source = (
        "from pytest_verica.providers import connection\n\nasync def send(*args, **more):\n    raise KeyError(args)\n"
    )
    suite.file(
        "conftest.py", source + "\nconnection.AiohttpConnection.send = connection.Httpx2Connection.send = send\n"
    )
    run = suite.run(*LOUD, *WRITING, new_process=True)
    assert set(run.words.values()) == {"error"}
    search(suite, run.out)


def test_key_in_a_command_line_option_is_not_needed(suite: Suite, keyed: FakeProvider) -> None:
    """The header and the report repeat the command line: nothing on it takes a key."""
    run = suite.run("--help")
    assert "KEY" not in run.out.partition("evaluations of LLM")[2].partition("xdist")[0].upper().replace("KEYWORD", "")
