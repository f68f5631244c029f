"""Chat Completions over real HTTP: answers, every fault, what is sent, and that the key never comes out."""

from __future__ import annotations

import asyncio
import json
import traceback
from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

import pytest

from pytest_verica.errors import ProviderError
from pytest_verica.providers.registry import PROVIDERS
from pytest_verica.request import AnswerSchema, ModelSpec
from tests.fake_provider import FakeProvider
from tests.unit.providers.asking import KEY, KEY_NAME, ask, models, refused, request, spec

SCHEMA = {
    "type": "object",
    "properties": {"reason": {"type": "string"}, "score": {"type": "integer", "minimum": 1, "maximum": 5}},
}


@pytest.mark.usefixtures("transport")
@pytest.mark.parametrize("provider", ["openai", "openai_compatible"])
def test_a_question_is_answered(fake: FakeProvider, provider: str) -> None:
    [found] = ask(request(spec(fake.url, provider=provider, temperature=0), "What is 19 + 23?"))
    assert (found.text, found.stop_reason, found.model) == ("The answer is 42.", "stop", "fake-1")
    assert found.usage is not None and found.usage.cached_input_tokens == 0
    assert found.complete


@pytest.mark.parametrize("structured", ["json_schema", "tool"])
def test_a_forced_shape_comes_back_as_text(fake: FakeProvider, structured: Any) -> None:
    [found] = ask(request(spec(fake.url), answer=AnswerSchema("verdict", SCHEMA, structured)))
    verdict = json.loads(found.text or "")
    assert list(verdict) == ["reason", "score"] and 1 <= verdict["score"] <= 5
    assert found.tool_calls == ()


@pytest.mark.parametrize(
    ("provider", "name"), [("openai", "max_completion_tokens"), ("openai_compatible", "max_tokens")]
)
def test_each_provider_has_its_name_for_the_token_limit(fake: FakeProvider, provider: str, name: str) -> None:
    ask(request(spec(fake.url, provider=provider, max_tokens=9)))
    assert fake.requests[0] == {
        "model": "fake-1",
        "messages": [{"role": "user", "content": "What is 2 + 3?"}],
        name: 9,
    }


def test_any_text_survives_the_wire(fake: FakeProvider) -> None:
    text = "¿Qué tal? \ud83d \U0001f600 \x00 \u2028"  # an unpaired surrogate among them
    ask(request(spec(fake.url), text))
    assert fake.requests[0]["messages"][0]["content"] == text


def test_the_account_of_the_environment_is_openais_business_alone(
    fake: FakeProvider, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_ORG_ID", "org-1")
    monkeypatch.setenv("OPENAI_PROJECT_ID", "proj-1")
    monkeypatch.setenv("OPENAI_CUSTOM_HEADERS", "X-Team: qa\nAuthorization: Bearer another-key")
    monkeypatch.setenv("OPENAI_API_KEY", "yet-another-key")
    ask(request(spec(fake.url)))
    ask(request(spec(fake.url, provider="openai_compatible")))
    first, second = (each.headers for each in fake.received)
    assert (first["openai-organization"], first["openai-project"], first["x-team"]) == ("org-1", "proj-1", "qa")
    assert "openai-organization" not in second and "openai-project" not in second
    assert {first["authorization"], second["authorization"]} == {f"Bearer {KEY}"}


def test_a_server_without_keys_is_asked_with_a_placeholder(fake: FakeProvider, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "not-for-this-server")
    fake.options.api_key = None
    ask(request(ModelSpec("openai_compatible", "fake-1", None, fake.url)))
    assert fake.received[0].headers["authorization"] == "Bearer no-key"


def test_the_openai_base_url_of_the_environment_is_used(fake: FakeProvider, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", fake.url)
    ask(request(spec(None)))
    assert fake.stats()["answered"] == 1


def test_a_base_url_may_carry_a_query(fake: FakeProvider) -> None:
    fake.script((200, {}, b'{"choices": [{"message": {"content": "x"}}]}'))
    ask(request(spec(f"{fake.url}?api-version=2")))
    assert fake.received[0].target == "/v1/chat/completions?api-version=2"


@pytest.mark.parametrize(
    ("status", "body", "kind", "retryable", "words"),
    [
        (
            400,
            {"error": {"message": "Too hot.", "param": "temperature"}},
            "bad_request",
            False,
            "parameter `temperature`",
        ),
        (400, {"error": {"message": "Odd."}}, "bad_request", False, "Check the model's parameters"),
        (422, {"detail": [{"loc": ["body", "top_p"], "msg": "too big"}]}, "bad_request", False, "`top_p`"),
        (413, {"detail": "Too long."}, "bad_request", False, "Too long"),
        (401, {"error": {"message": "Bad key."}}, "auth", False, KEY_NAME),
        (403, {"error": "No."}, "auth", False, "may use `fake-1`"),
        (402, {"error": {"message": "Pay."}}, "quota", False, "credit"),
        (404, {"error": {"message": "No such model."}}, "not_found", False, "no model `fake-1`"),
        (408, {}, "timeout", True, "gave up waiting"),
        (409, {}, "server", True, "HTTP 409"),
        (429, {"error": {"message": "Slow down.", "code": "rate_limit_exceeded"}}, "rate_limit", True, "Slow down"),
        (
            429,
            {"error": {"message": "Broke.", "code": "insufficient_quota"}},
            "quota",
            False,
            "asking again does not help",
        ),
        (429, {"error": {"message": "Broke.", "type": "insufficient_quota"}}, "quota", False, "Broke"),
        (500, "<html><b>oops</b></html>", "server", True, "oops"),
        (503, "", "server", True, "it said nothing"),
        (529, {"error": {"message": "Overloaded"}}, "server", True, "Overloaded"),
        (307, "", "bad_request", False, "Correct `base_url`"),
        # Gateways that send their errors with HTTP 200:
        (200, {"error": {"message": "Slow down.", "code": 429}}, "rate_limit", True, "Slow down"),
        (200, {"error": {"message": "Upstream."}}, "server", True, "Upstream"),
        # Not an API at all, or not this one:
        (200, "<html>login</html>", "malformed", True, "not JSON"),
        (200, {"answer": 3}, "malformed", True, "no `choices`"),
        (200, [], "malformed", True, "not an object"),
    ],
)
@pytest.mark.usefixtures("transport")
def test_a_refusal_has_its_kind(
    fake: FakeProvider, status: int, body: Any, kind: str, retryable: bool, words: str
) -> None:
    fake.script((status, {}, (body if isinstance(body, str) else json.dumps(body)).encode()))
    error = refused(request(spec(fake.url)))
    assert (error.kind, error.retryable) == (kind, retryable)
    assert words in error.message and fake.url in error.message
    assert fake.stats()["requests"] == 1  # a provider never asks twice


@pytest.mark.usefixtures("transport")
@pytest.mark.parametrize(
    ("fault", "kind"),
    [
        ("429", "rate_limit"),
        ("500", "server"),
        ("reset", "connection"),
        ("cut", "connection"),
        ("malformed", "malformed"),
        ("slow", "timeout"),
        ("never", "timeout"),
    ],
)
def test_every_fault_of_the_wire_may_be_asked_again(fault: str, kind: str) -> None:
    with FakeProvider(faults={fault: 1.0}, slow_ms=60_000, retry_after="7") as fake:
        error = refused(request(spec(fake.url)), timeout_s=0.2 if kind == "timeout" else 30.0)
        assert (error.kind, error.retryable, fake.stats()["requests"]) == (kind, True, 1)
        assert error.retry_after_s == (7.0 if fault == "429" else None)


def test_a_truncated_answer_is_an_answer_that_is_not_complete() -> None:
    with FakeProvider(faults={"truncated": 1.0}) as fake:
        [found] = ask(request(spec(fake.url)))
        assert (found.text, found.stop_reason, found.complete) == ("The answ", "length", False)


def test_the_timeout_is_for_the_whole_request() -> None:
    """Each of these bytes comes in time; together they do not."""

    async def main() -> ProviderError:
        async def drip(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await reader.readuntil(b"\r\n\r\n")
            writer.write(b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 1000\r\n\r\n")
            try:
                for _ in range(1000):
                    writer.write(b" ")
                    await asyncio.sleep(0.01)
            finally:
                writer.transport.abort()

        server = await asyncio.start_server(drip, "127.0.0.1", 0)
        model = spec(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1")
        provider = PROVIDERS["openai"].open(model, 0.1)
        try:
            with pytest.raises(ProviderError) as caught:
                await provider.complete(request(model))
            return caught.value
        finally:
            await provider.aclose()
            server.close()

    error = asyncio.run(main())
    assert (error.kind, error.retryable) == ("timeout", True)
    assert "within 0.1 s" in error.message


def test_a_cancelled_question_leaves_the_provider_usable() -> None:
    with FakeProvider(faults={"never": 1.0}) as fake:

        async def main() -> str | None:
            provider = PROVIDERS["openai"].open(spec(fake.url), 30.0)
            task = asyncio.create_task(provider.complete(request(spec(fake.url))))
            while not fake.stats()["requests"]:  # noqa: ASYNC110 - the other side is a thread
                await asyncio.sleep(0.005)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            fake.options.faults = {}
            answer = await provider.complete(request(spec(fake.url)))
            await provider.aclose()
            return answer.text

        assert asyncio.run(main()) == "The answer is 5."


@pytest.mark.usefixtures("transport")
def test_calls_are_in_flight_together() -> None:
    """More than the 100 connections that aiohttp opens by default: nobody is answered until all have asked."""
    together = 150
    body = b'{"choices": [{"message": {"content": "all here"}, "finish_reason": "stop"}]}'

    async def main() -> set[str | None]:
        asked, everybody = 0, asyncio.Event()

        async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            nonlocal asked
            await reader.readuntil(b"\r\n\r\n")
            asked += 1
            if asked == together:
                everybody.set()
            await everybody.wait()
            writer.write(b"HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: %d\r\n\r\n" % len(body) + body)
            writer.close()

        server = await asyncio.start_server(answer, "127.0.0.1", 0, backlog=together)
        model = spec(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1")
        provider = PROVIDERS["openai"].open(model, 60.0)
        answers = await asyncio.gather(*(provider.complete(request(model, str(number))) for number in range(together)))
        await provider.aclose()
        server.close()
        return {each.text for each in answers}

    assert asyncio.run(main()) == {"all here"}


@pytest.mark.usefixtures("transport")
@pytest.mark.parametrize(
    "reply",
    [
        (401, {}, f"bad key {KEY}".encode()),
        (500, {}, json.dumps({"error": {"message": f"{KEY} {quote(KEY, safe='')}"}}).encode()),
        (307, {"location": f"https://elsewhere/?key={quote(KEY, safe='')}"}, b""),
        (200, {}, f"<html>{KEY}</html>".encode()),
        None,
    ],
    ids=["401", "500", "redirect", "malformed", "no connection"],
)
def test_the_key_is_in_nothing_that_comes_out(
    fake: FakeProvider, reply: tuple[int, Mapping[str, str], bytes] | None
) -> None:
    url = fake.url if reply else "http://127.0.0.1:9/v1"
    if reply:
        fake.script(reply)
    error = refused(request(spec(url)))
    trace = traceback.TracebackException.from_exception(error, capture_locals=True)
    trace.stack[:] = [frame for frame in trace.stack if "pytest_verica" in frame.filename]  # not this test's own
    assert trace.stack
    texts = ["".join(trace.format()), str(error), repr(error), error.message, error.raw or "", repr(vars(error))]
    assert not [text for text in texts if KEY in text or quote(KEY, safe="") in text]


def test_the_key_is_in_no_repr(fake: FakeProvider) -> None:
    provider = PROVIDERS["openai"].open(spec(fake.url), 30.0)
    assert KEY not in repr(provider) + str(provider) + repr(provider._endpoint.door)  # type: ignore[attr-defined]
    asyncio.run(provider.aclose())


@pytest.mark.usefixtures("transport")
@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        (None, ("fake-1", "fake-judge")),
        ((404, {}, b"{}"), None),
        ((405, {}, b""), None),
        ((200, {}, b"<html>"), None),
        ((200, {}, b'{"models": []}'), None),
        ((200, {}, b'{"data": []}'), ()),
    ],
    ids=["a list", "404", "405", "html", "another shape", "an empty list"],
)
def test_models(fake: FakeProvider, reply: Any, expected: tuple[str, ...] | None) -> None:
    if reply:
        fake.script(reply)
    assert models(spec(fake.url)) == expected


def test_a_wrong_key_is_no_empty_list_of_models(fake: FakeProvider) -> None:
    fake.options.api_key = "another"
    with pytest.raises(ProviderError) as caught:
        models(spec(fake.url))
    assert caught.value.kind == "auth"


@pytest.mark.parametrize(
    ("model", "kind", "words"),
    [
        (ModelSpec("openai", "m"), "missing_credential", "credential: OPENAI_API_KEY"),
        (ModelSpec("openai", "m", "VERICA_NOT_SET"), "missing_credential", "VERICA_NOT_SET, which is not set"),
        (ModelSpec("openai", "m", "VERICA_BLANK"), "missing_credential", "VERICA_BLANK, which is not set"),
        (ModelSpec("openai", "m", "VERICA_ODD"), "missing_credential", "no key has"),
        (ModelSpec("openai_compatible", "m"), "bad_request", "write `base_url`"),
        (ModelSpec("openai_compatible", "m", None, "localhost:8000/v1"), "bad_request", "http://"),
        (ModelSpec("openai_compatible", "m", None, "https://user:pw@host/v1"), "bad_request", "user or password"),
    ],
)
def test_what_cannot_be_opened_says_why(
    monkeypatch: pytest.MonkeyPatch, model: ModelSpec, kind: str, words: str
) -> None:
    monkeypatch.delenv("VERICA_NOT_SET", raising=False)
    monkeypatch.setenv("VERICA_BLANK", " \n")
    monkeypatch.setenv("VERICA_ODD", "“sk-quoted”")
    with pytest.raises(ProviderError) as caught:
        PROVIDERS[model.provider].open(model, 30.0)
    assert caught.value.kind == kind and words in caught.value.message and not caught.value.retryable
    assert "pw" not in caught.value.message and "sk-quoted" not in caught.value.message


def test_a_key_with_a_line_break_around_it_is_that_key(fake: FakeProvider, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(KEY_NAME, f" {KEY}\n")
    assert ask(request(spec(fake.url)))[0].text == "The answer is 5."


def test_a_stream_is_refused_before_it_is_asked_for(fake: FakeProvider) -> None:
    error = refused(request(spec(fake.url, extra={"stream": True})))
    assert error.kind == "bad_request" and "extra.stream" in error.message
    assert fake.stats()["requests"] == 0
