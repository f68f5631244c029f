"""What holds for every provider that calls: proxies, certificates, keys, time-outs, lists of models."""

from __future__ import annotations

import asyncio
import json
import traceback
from typing import Any
from urllib.parse import quote

import pytest

from pytest_verica.errors import ProviderError
from pytest_verica.providers.registry import PROVIDERS
from pytest_verica.request import Message, ModelSpec, Request
from tests.fake_provider import FakeProvider
from tests.unit.providers.asking import KEY, KEY_NAME, ask, models, refused
from tests.unit.providers.faulty import FACES, Face

every_face = pytest.mark.parametrize("face", FACES.values(), ids=FACES)


def model(face: Face, url: str | None) -> ModelSpec:
    return ModelSpec(face.provider, "m", KEY_NAME, None if url is None else url + face.base, {}, face.api)


def asked(face: Face, url: str | None) -> Request:
    return Request(model(face, url), (Message("user", "What is 2 + 2?"),))


def answers(face: Face) -> tuple[int, dict[str, str], bytes]:
    return 200, {}, json.dumps(face.answer("The answer is 4.", "stop")).encode()


@pytest.fixture
def open_fake() -> Any:
    with FakeProvider() as provider:
        yield provider


@every_face
@pytest.mark.usefixtures("transport")
def test_it_answers_on_both_transports(open_fake: FakeProvider, face: Face) -> None:
    open_fake.script(answers(face))
    [found] = ask(asked(face, open_fake.root))
    assert (found.text, found.stop_reason) == ("The answer is 4.", "stop")
    assert found.usage is not None and (found.usage.input_tokens, found.usage.output_tokens) == (1000, 500)
    sent = open_fake.received[0].headers
    assert KEY in sent.get("authorization", "") + sent.get("x-goog-api-key", "")
    assert KEY not in open_fake.received[0].target


@every_face
@pytest.mark.usefixtures("transport")
def test_the_proxy_of_the_environment_is_used(
    open_fake: FakeProvider, face: Face, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HTTP_PROXY", open_fake.root)
    open_fake.script(answers(face))
    ask(asked(face, "http://model.invalid"))
    assert open_fake.received[0].target.startswith("http://model.invalid/v1/")


@every_face
@pytest.mark.usefixtures("transport")
def test_a_connection_that_is_not_secure_says_what_to_check(face: Face) -> None:
    async def main() -> Exception:
        async def puzzled(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await reader.read(1)
            writer.write(b"HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\n\r\n")
            writer.close()

        server = await asyncio.start_server(puzzled, "127.0.0.1", 0)
        request = asked(face, f"https://127.0.0.1:{server.sockets[0].getsockname()[1]}")
        provider = PROVIDERS[face.provider].open(request.model, 30.0)
        with pytest.raises(ProviderError) as caught:
            await provider.complete(request)
        await provider.aclose()
        server.close()
        return caught.value

    error = asyncio.run(main())
    assert isinstance(error, ProviderError) and (error.kind, error.retryable) == ("connection", False)
    assert "No secure connection" in error.message and "SSL_CERT_FILE" in error.message


@every_face
@pytest.mark.parametrize(
    "reply",
    [
        (401, {}, f"bad key {KEY}".encode()),
        (500, {}, json.dumps({"error": {"message": f"{KEY} {quote(KEY, safe='')}"}}).encode()),
        (307, {"location": f"https://elsewhere/?key={quote(KEY, safe='')}"}, b""),
        (200, {}, f"<html>{KEY}</html>".encode()),
        (200, {}, json.dumps({"odd": KEY}).encode()),
    ],
    ids=["401", "500", "redirect", "no JSON", "another shape"],
)
def test_the_key_is_in_nothing_that_comes_out(
    open_fake: FakeProvider, face: Face, reply: tuple[int, dict[str, str], bytes], caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("DEBUG")
    open_fake.script(reply)
    error = refused(asked(face, open_fake.root))
    trace = traceback.TracebackException.from_exception(error, capture_locals=True)
    trace.stack[:] = [frame for frame in trace.stack if "pytest_verica" in frame.filename]  # not this test's own
    assert trace.stack
    texts = ["".join(trace.format()), str(error), repr(error), error.raw or "", repr(vars(error)), caplog.text]
    assert not [text for text in texts if KEY in text or quote(KEY, safe="") in text]


@every_face
def test_an_echoed_key_is_not_in_the_answer(open_fake: FakeProvider, face: Face) -> None:
    open_fake.script((200, {}, json.dumps(face.answer(f"Your key is {KEY}.", "stop")).encode()))
    assert ask(asked(face, open_fake.root))[0].text == "Your key is ***."


@every_face
def test_the_key_is_in_no_repr(face: Face) -> None:
    provider = PROVIDERS[face.provider].open(model(face, "http://127.0.0.1:9"), 30.0)
    assert KEY not in repr(provider) + str(provider) + repr(vars(provider))
    asyncio.run(provider.aclose())


@every_face
def test_a_key_that_is_missing_says_which(face: Face, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(KEY_NAME)
    error = refused(asked(face, "http://127.0.0.1:9"))
    assert (error.kind, error.attempts) == ("missing_credential", 0) and KEY_NAME in error.message


@pytest.mark.parametrize("provider", ["openai", "anthropic", "google"])
def test_a_credential_that_is_not_named_says_how(provider: str) -> None:
    assert PROVIDERS[provider].needs_credential
    with pytest.raises(ProviderError, match=r"as in `credential: [A-Z]+_API_KEY`") as caught:
        PROVIDERS[provider].open(ModelSpec(provider, "m"), 1.0)
    assert caught.value.kind == "missing_credential"


@every_face
def test_no_answer_in_time_is_a_time_out(face: Face) -> None:
    with FakeProvider(faults={"never": 1.0}) as fake:
        # A request that the fake does not know is a 404 before it is a fault: the answer is late for all.
        fake.options.latency_ms = 60_000
        fake.script(answers(face))
        error = refused(asked(face, fake.root), timeout_s=0.1)
    assert (error.kind, error.retryable) == ("timeout", True) and "within 0.1 s" in error.message


@every_face
@pytest.mark.parametrize("reply", [(404, {}, b"{}"), (405, {}, b""), (200, {}, b"<html>"), (200, {}, b'{"odd": []}')])
def test_an_endpoint_without_a_list_of_models(open_fake: FakeProvider, face: Face, reply: Any) -> None:
    open_fake.script(reply)
    assert models(model(face, open_fake.root)) is None


@every_face
def test_a_list_that_goes_on_for_ever_ends(open_fake: FakeProvider, face: Face) -> None:
    page = {
        "data": [{"id": "m"}],
        "has_more": True,
        "last_id": "m",
        "models": [{"name": "models/m"}],
        "nextPageToken": "again",
    }
    open_fake.script(*[(200, {}, json.dumps(page).encode())] * 100)
    assert set(models(model(face, open_fake.root)) or ()) == {"m"}


@every_face
def test_a_stream_is_refused_before_it_is_asked_for(open_fake: FakeProvider, face: Face) -> None:
    request = asked(face, open_fake.root)
    streaming = ModelSpec(face.provider, "m", KEY_NAME, request.model.base_url, {"extra": {"stream": True}}, face.api)
    error = refused(Request(streaming, request.messages))
    assert (error.kind, error.attempts) == ("bad_request", 0) and "extra.stream" in error.message
    assert open_fake.stats()["requests"] == 0
