"""The fake provider itself: what it says and counts can be relied on."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from functools import cache
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from tests.fake_answers import Draw, value_of
from tests.fake_provider import FakeProvider

ROOT = Path(__file__).resolve().parents[2]


@cache
def _opener() -> urllib.request.OpenerDirector:
    """Uses no proxy. Made once: it loads the system's certificates."""
    return urllib.request.build_opener(urllib.request.ProxyHandler({}))


def post(url: str, body: Any) -> tuple[int, Any]:
    """Status and JSON of one request, on a connection of its own."""
    request = urllib.request.Request(url, json.dumps(body).encode(), {"content-type": "application/json"})
    try:
        with _opener().open(request, timeout=30) as response:
            return response.status, json.load(response)
    except urllib.error.HTTPError as error:
        with error:
            return error.code, json.load(error)


def sum_of(a: int, b: int) -> dict[str, Any]:
    return {"model": "fake-1", "messages": [{"role": "user", "content": f"What is {a} + {b}?"}]}


def text_of(answer: Any) -> str:
    return str(answer["choices"][0]["message"]["content"])


def test_sums_are_solved_and_counted() -> None:
    with FakeProvider() as fake:
        for a, b in ((2, 3), (-4, 1), (2, 3)):
            assert text_of(post(f"{fake.url}/chat/completions", sum_of(a, b))[1]) == f"The answer is {a + b}."
        stats = fake.stats()
        assert (stats["requests"], stats["answered"], stats["unique"], stats["bought_twice"]) == (3, 3, 2, 1)
        assert fake.requests[0] == sum_of(2, 3)
        assert post(f"{fake.root}/reset", {})[0] == 200
        assert fake.stats()["requests"] == 0


def test_wrong_sums_are_a_share_that_repeats() -> None:
    def wrong(seed: int) -> set[int]:
        with FakeProvider(wrong_rate=0.25, seed=seed) as fake:
            answers = [text_of(post(f"{fake.url}/chat/completions", sum_of(number, 1))[1]) for number in range(60)]
        return {number for number, text in enumerate(answers) if text != f"The answer is {number + 1}."}

    first = wrong(1)
    assert first == wrong(1) != wrong(2)
    assert 5 <= len(first) <= 25  # 15 expected, standard deviation 3.4


def test_faults_follow_from_the_body_and_the_attempt_not_from_the_order() -> None:
    def fates(order: list[int]) -> dict[int, list[int]]:
        seen: dict[int, list[int]] = {}
        with FakeProvider(faults={"500": 0.4}) as fake:
            for number in order:
                status, _ = post(f"{fake.url}/chat/completions", sum_of(number, 0))
                seen.setdefault(number, []).append(status)
        return seen

    order = [number for number in range(12) for _ in range(3)]
    assert fates(order) == fates(order[::-1])
    assert {status for statuses in fates(order).values() for status in statuses} == {200, 500}


def test_more_in_flight_than_allowed_get_a_429() -> None:
    body = json.dumps(sum_of(1, 1)).encode()
    head = b"POST /v1/chat/completions HTTP/1.1\r\ncontent-length: %d\r\n\r\n" % len(body)
    with FakeProvider(max_concurrency=1, faults={"never": 1.0}, retry_after="3") as fake:
        with socket.create_connection(("127.0.0.1", fake.port)) as first:
            first.sendall(head + body)
            while fake.stats()["in_flight"] < 1:
                time.sleep(0.001)
            with socket.create_connection(("127.0.0.1", fake.port)) as second:
                second.sendall(head + body)
                reply = second.recv(4096)
        assert reply.startswith(b"HTTP/1.1 429 ") and b"retry-after: 3\r\n" in reply
        assert fake.stats()["peak_in_flight"] == 2


@pytest.mark.parametrize("bad", [False, True])
@pytest.mark.parametrize(
    "schema",
    [
        {"type": "object", "properties": {"reason": {"type": "string"}, "label": {"enum": ["good", "bad"]}}},
        {"type": "integer", "minimum": 1, "maximum": 5},
        {"type": "number", "minimum": 0, "maximum": 1},
        {"type": "integer", "exclusiveMinimum": 0, "exclusiveMaximum": 3},
        {"type": "boolean"},
        {"type": ["null", "string"]},
        {"anyOf": [{"type": "null"}, {"type": "integer"}]},
        {"const": 7},
        {"type": "array", "items": {"type": "boolean"}, "minItems": 3, "maxItems": 3},
        {"$defs": {"item": {"type": "object", "properties": {"met": {"type": "boolean"}}}}, "$ref": "#/$defs/item"},
    ],
)
def test_values_fit_their_schema(schema: dict[str, Any], bad: bool) -> None:
    for seed in range(20):
        jsonschema.validate(value_of(schema, Draw(seed), bad), schema)


def test_a_bad_verdict_is_the_last_label_and_the_lower_half() -> None:
    schema = {
        "properties": {"label": {"enum": ["good", "bad"]}, "score": {"type": "number", "minimum": 0, "maximum": 10}}
    }
    for seed in range(20):
        good, bad = value_of(schema, Draw(seed), False), value_of(schema, Draw(seed), True)
        assert (good["label"], bad["label"]) == ("good", "bad")
        assert bad["score"] < 5 <= good["score"]


def test_an_http_target_is_answered() -> None:
    with FakeProvider() as fake:
        assert post(f"{fake.root}/answer", {"question": "What is 2 + 2?"}) == (
            200,
            {"answer": {"text": "The answer is 4."}},
        )
        assert post(f"{fake.root}/answer", {"q": 1})[0] == 400
        fake.options.faults = {"500": 1.0}
        assert post(f"{fake.root}/answer", {"question": "x"})[0] == 500


@pytest.mark.parametrize("options", [{"latency": 3}, {"faults": {"boom": 1}}])
def test_an_option_that_does_not_exist_is_refused(options: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"no option|no fault"):
        FakeProvider(**options)


def test_it_runs_as_a_process_of_its_own() -> None:
    command = [sys.executable, "-m", "tests.fake_provider", "--port", "0", "--fault", "429=1", "--retry-after", "5"]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            word, port = process.stdout.readline().split()
            url = f"http://127.0.0.1:{port}"
            assert word == "READY"
            assert post(f"{url}/v1/chat/completions", sum_of(1, 2))[0] == 429
            assert post(f"{url}/config", {"faults": {}})[1]["retry_after"] == "5"
            assert text_of(post(f"{url}/v1/chat/completions", sum_of(1, 2))[1]) == "The answer is 3."
            stats = post(f"{url}/stats", {})[1]
            assert (stats["requests"], stats["answered"], stats["faults"]) == (2, 1, {"429": 1})
            assert post(f"{url}/config", {"faults": {"boom": 1}})[0] == 400
        finally:
            process.terminate()
