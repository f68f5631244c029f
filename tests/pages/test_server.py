"""Who is let in, without a browser: hosts, tokens, origins, methods, and what every answer carries."""

from __future__ import annotations

import http.client
import json
import socket
from collections.abc import Iterator
from urllib.parse import urlsplit

import pytest

from pytest_verica.errors import ConfigError
from pytest_verica.ui.guard import HEADERS
from pytest_verica.ui.server import Settings, listening_socket
from tests.pages.conftest import served
from tests.pages.site import Site


@pytest.fixture(scope="module")
def address(built_site: Site) -> Iterator[str]:
    with served(built_site.path) as found:
        yield found


class Asked:
    """One request as written, and its answer."""

    def __init__(self, address: str, path: str = "", method: str = "GET", body: str | None = None, **headers: str):
        parts = urlsplit(address)
        self.connection = http.client.HTTPConnection(parts.netloc, timeout=10)
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        self.connection.request(method, path if path.startswith("/") else parts.path + path, body, named)
        response = self.connection.getresponse()
        self.status, self.headers, self.text = response.status, response.headers, response.read().decode()
        self.connection.close()


def test_the_address_that_is_printed_opens_the_list_of_runs(address: str) -> None:
    answer = Asked(address)
    assert answer.status == 200 and "refunds" in answer.text and "#0001" in answer.text


@pytest.mark.parametrize("path", ["/", "/run", "/wrong-token/", "/static/look.css", "/favicon.ico", "//", "/%00/"])
def test_without_the_token_nothing_is_told(address: str, path: str) -> None:
    answer = Asked(address, path)
    assert answer.status == 403 and "token" in answer.text and "refunds" not in answer.text


@pytest.mark.parametrize(
    "host",
    [
        "evil.example",
        "evil.example:{port}",
        "127.0.0.1",
        "127.0.0.1:1",
        "0.0.0.0:{port}",
        "127.0.0.1.evil.example:{port}",
    ],
)
def test_a_name_made_to_point_here_is_refused(address: str, host: str) -> None:
    port = str(urlsplit(address).port)
    answer = Asked(address, Host=host.replace("{port}", port))
    assert answer.status == 403 and "127.0.0.1 only" in answer.text and "refunds" not in answer.text


def test_localhost_is_this_page_too(address: str) -> None:
    assert Asked(address, Host=f"localhost:{urlsplit(address).port}").status == 200


GOOD = {"Content_Type": "application/json"}


@pytest.mark.parametrize(
    ("method", "headers", "said"),
    [
        ("POST", {**GOOD}, "not sent by the page"),
        ("POST", {**GOOD, "Origin": "https://evil.example"}, "not sent by the page"),
        ("POST", {**GOOD, "Origin": "null"}, "not sent by the page"),
        ("POST", {**GOOD, "Origin": "http://localhost:1"}, "not sent by the page"),
        ("POST", {**GOOD, "Origin": "{own}", "Sec_Fetch_Site": "cross-site"}, "another site"),
        ("POST", {"Origin": "{own}", "Content_Type": "text/plain"}, "JSON"),
        ("POST", {"Origin": "{own}", "Content_Type": "application/x-www-form-urlencoded"}, "JSON"),
        ("PUT", {**GOOD, "Origin": "{own}"}, "GET and POST only"),
        ("DELETE", {"Origin": "{own}"}, "GET and POST only"),
        ("OPTIONS", {"Origin": "https://evil.example"}, "GET and POST only"),
    ],
)
def test_a_change_of_another_origin_is_refused(address: str, method: str, headers: dict[str, str], said: str) -> None:
    own = "http://" + urlsplit(address).netloc
    given = {name: value.replace("{own}", own) for name, value in headers.items()}
    query = "label/act?eval=refunds.eval.yaml&criterion=helpful"
    answer = Asked(address, query, method, json.dumps({"case": "case-01", "verdict": "pass"}), **given)
    assert answer.status == 403 and said in answer.text
    assert "Access-Control-Allow-Origin" not in answer.headers


@pytest.mark.parametrize(("path", "status"), [("", 200), ("static/look.css", 200), ("no-such-page", 404), ("/x", 403)])
def test_every_answer_carries_the_policy(address: str, path: str, status: int) -> None:
    answer = Asked(address, path)
    assert answer.status == status
    assert {name: answer.headers[name] for name in HEADERS} == HEADERS
    assert "Set-Cookie" not in answer.headers  # a cookie of 127.0.0.1 would be sent to every other port too


@pytest.mark.parametrize("name", ["../routes.py", "%2e%2e%2froutes.py", "..%5croutes.py", "look.css.map"])
def test_no_file_but_the_pages_own_is_served(address: str, name: str) -> None:
    answer = Asked(address, f"static/{name}")
    assert answer.status == 404 and "ROUTES" not in answer.text


def test_it_listens_on_the_loopback_only(address: str) -> None:
    sock = listening_socket(0)
    with sock:
        assert sock.getsockname()[0] == "127.0.0.1"
    port = urlsplit(address).port
    assert port is not None
    others = {info[4][0] for info in socket.getaddrinfo(socket.gethostname(), port, socket.AF_INET)} - {"127.0.0.1"}
    for other in [each for each in others if not str(each).startswith("127.")]:
        with pytest.raises(OSError, match=r"refused|timed out"):
            socket.create_connection((other, port), timeout=2)


def test_a_taken_port_is_said(address: str) -> None:
    port = urlsplit(address).port
    with (
        pytest.raises(ConfigError, match=f"port {port} of 127.0.0.1 cannot be used.*--port"),
        listening_socket(port or 0) as sock,
    ):
        sock.listen()


def test_each_start_has_a_token_of_its_own(built_site: Site) -> None:
    tokens = {Settings(built_site.path).token for _ in range(20)}
    assert len(tokens) == 20 and min(map(len, tokens)) >= 32


def test_a_page_that_is_not_there_says_what_to_do(address: str) -> None:
    answer = Asked(address, "run?id=nothing")
    assert answer.status in (404, 409) and "no run" in answer.text and "Traceback" not in answer.text


def test_the_page_of_a_run_keeps_its_own_policy_and_every_other_header(address: str) -> None:
    answer = Asked(address, "run?id=last")
    assert answer.status == 200
    policy = answer.headers["Content-Security-Policy"]
    assert "frame-ancestors 'none'" in policy and "form-action 'none'" in policy
    # What may run, the page itself says, before its data.
    assert "script-src &#39;sha256-" in answer.text.split("<title>")[0]
    rest = {name: value for name, value in HEADERS.items() if name != "Content-Security-Policy"}
    assert {name: answer.headers[name] for name in rest} == rest
