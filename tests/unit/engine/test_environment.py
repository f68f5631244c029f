"""Environment variables in an HTTP target: the eval may name them, a cell of data never, and no message holds them."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from pytest_verica.case import Case
from pytest_verica.engine.environment import EnvironmentTemplate
from pytest_verica.engine.sampling import HttpSampler
from pytest_verica.errors import TargetError
from pytest_verica.evals.target import HttpRequest
from pytest_verica.golden import golden_set_from_rows
from pytest_verica.providers.http_endpoint import HttpEndpoint
from pytest_verica.template import Scope

SECRET = "marked-{{ question }}-7"


@pytest.fixture(autouse=True)
def environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SHOP_KEY", SECRET)
    monkeypatch.setenv("SHOP_URL", "https://shop.example.com")


def case_of(**columns: Any) -> Case:
    return golden_set_from_rows([columns], "rows")[0]


@pytest.mark.parametrize(
    ("text", "columns", "used", "shown"),
    [
        ("${SHOP_URL}/a", {"q": "1"}, "https://shop.example.com/a", "${SHOP_URL}/a"),
        ("${SHOP_URL}/{{ q }}", {"q": "1"}, "https://shop.example.com/1", "${SHOP_URL}/1"),
        ("Bearer ${SHOP_KEY}", {"q": "1"}, f"Bearer {SECRET}", "Bearer ${SHOP_KEY}"),
        ("${SHOP_URL}${SHOP_URL}", {"q": "1"}, "https://shop.example.com" * 2, "${SHOP_URL}" * 2),
        # What a cell holds is data: it names no variable, and what a variable holds is no template.
        ("/{{ q }}", {"q": "${SHOP_KEY}"}, "/${SHOP_KEY}", "/${SHOP_KEY}"),
        ("${SHOP_URL}/{{ q }}", {"q": "{{ q }}"}, "https://shop.example.com/{{ q }}", "${SHOP_URL}/{{ q }}"),
        ("$SHOP_URL ${} ${1A}", {"q": "1"}, "$SHOP_URL ${} ${1A}", "$SHOP_URL ${} ${1A}"),
    ],
)
def test_the_text_used_and_the_text_shown(text: str, columns: dict[str, str], used: str, shown: str) -> None:
    assert EnvironmentTemplate(text).render(Scope(case_of(**columns))) == (used, shown)


def test_the_url_and_the_headers_name_what_they_need_once() -> None:
    request = HttpRequest(url="${SHOP_URL}/a", headers={"x": "${SHOP_KEY}", "y": "${SHOP_URL}"})
    assert list(request.environment()) == ["SHOP_URL", "SHOP_KEY"]


class Echo(BaseHTTPRequestHandler):
    """Refuses, and says what it was asked and with which key."""

    def do_POST(self) -> None:
        body = f"no: {self.path} with {self.headers['X-Key']}".encode()
        self.send_response(403)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args: object) -> None:
        """Says nothing."""


@pytest.fixture
def refusing() -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), Echo) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


def sample(request: HttpRequest) -> TargetError:
    """The error of the one case."""

    async def run() -> None:
        endpoint = HttpEndpoint()
        try:
            await HttpSampler(request, endpoint)(case_of(q="1"), 0, None)  # type: ignore[arg-type]
        finally:
            await endpoint.aclose()

    with pytest.raises(TargetError) as caught:
        asyncio.run(run())
    return caught.value


def test_an_error_names_the_variables_and_not_what_they_hold(refusing: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SHOP_URL", refusing)
    monkeypatch.setenv("SHOP_KEY", "marked-7")
    request = HttpRequest(url="${SHOP_URL}/{{ q }}?key=${SHOP_KEY}", headers={"X-Key": "${SHOP_KEY}"})
    error = sample(request)
    assert "${SHOP_URL}/1?key=${SHOP_KEY} answered with status 403" in str(error)
    assert "no: /1?key=*** with ***" in (error.raw or "")
    assert "marked-7" not in f"{error} {error.raw}"


@pytest.mark.parametrize("address", ["http://127.0.0.1:9/marked-7", "marked-7", "ftp://marked-7", "http://[marked-7"])
def test_an_address_that_cannot_be_asked_is_not_shown(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SHOP_URL", address)
    error = sample(HttpRequest(url="${SHOP_URL}"))
    assert str(error).startswith("${SHOP_URL} could not be asked")
    assert "marked-7" not in f"{error} {error.raw}"
