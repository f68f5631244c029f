"""Proxies, TLS and broken connections, with both transports."""

from __future__ import annotations

import asyncio
import shutil
import ssl
import subprocess
from pathlib import Path
from typing import Any

import pytest

from pytest_verica.completion import Completion
from pytest_verica.errors import ProviderError
from pytest_verica.providers.connection import environment_proxy
from pytest_verica.providers.registry import PROVIDERS
from tests.fake_provider import FakeProvider
from tests.unit.providers.asking import ask, refused, request, spec


@pytest.mark.parametrize(
    ("environment", "url", "expected"),
    [
        ({}, "http://host/v1", None),
        ({"HTTP_PROXY": "http://proxy:3128"}, "http://host/v1", "http://proxy:3128"),
        ({"http_proxy": "proxy:3128"}, "http://host/v1", "http://proxy:3128"),
        ({"HTTP_PROXY": "http://proxy:3128"}, "https://host/v1", None),
        ({"HTTPS_PROXY": "http://proxy:3128"}, "https://host/v1", "http://proxy:3128"),
        ({"ALL_PROXY": "socks5://proxy:1080"}, "https://host/v1", "socks5://proxy:1080"),
        ({"HTTP_PROXY": "http://proxy:3128", "NO_PROXY": "host,other"}, "http://host/v1", None),
        ({"HTTP_PROXY": "http://proxy:3128", "NO_PROXY": ".example.org"}, "http://a.example.org:80/v1", None),
        ({"HTTP_PROXY": "http://proxy:3128", "NO_PROXY": "host:81"}, "http://host:80/v1", "http://proxy:3128"),
        ({"HTTP_PROXY": "http://proxy:3128", "NO_PROXY": "*"}, "http://host/v1", None),
    ],
)
def test_the_proxy_of_the_environment(
    monkeypatch: pytest.MonkeyPatch, environment: dict[str, str], url: str, expected: str | None
) -> None:
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    assert environment_proxy(url) == expected


@pytest.mark.usefixtures("transport")
def test_a_request_goes_through_the_proxy(fake: FakeProvider, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTP_PROXY", fake.root)
    [found] = ask(request(spec("http://model.invalid/v1")))
    assert found.text == "The answer is 5."
    assert fake.received[0].target == "http://model.invalid/v1/chat/completions"


@pytest.mark.usefixtures("transport")
@pytest.mark.parametrize("url", ["http://127.0.0.1:9/v1", "http://no-such-host.invalid/v1"])
def test_no_connection_may_be_tried_again(url: str) -> None:
    error = refused(request(spec(url)))
    assert (error.kind, error.retryable, error.status) == ("connection", True, None)
    assert url in error.message and "Check that the server runs" in error.message


@pytest.mark.usefixtures("transport")
def test_tls_to_a_server_that_speaks_plain_http_says_what_to_check() -> None:
    async def main() -> Exception:
        async def puzzled(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await reader.read(1)
            writer.write(b"HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\n\r\n")
            writer.close()

        server = await asyncio.start_server(puzzled, "127.0.0.1", 0)
        model = spec(f"https://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1")
        provider = PROVIDERS["openai"].open(model, 30.0)
        with pytest.raises(ProviderError) as caught:
            await provider.complete(request(model))
        await provider.aclose()
        server.close()
        return caught.value

    error = asyncio.run(main())
    assert isinstance(error, ProviderError) and (error.kind, error.retryable) == ("connection", False)
    assert "No secure connection" in error.message and "SSL_CERT_FILE" in error.message


def test_a_handshake_that_never_ends_is_a_timeout(fake: FakeProvider) -> None:
    error = refused(request(spec(fake.url.replace("http:", "https:"))), timeout_s=0.2)
    assert (error.kind, error.retryable) == ("timeout", True)


def test_a_certificate_is_trusted_once_ssl_cert_file_names_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    openssl = shutil.which("openssl")
    if openssl is None:
        pytest.skip("needs the openssl command to make a certificate")
    certificate, key = tmp_path / "cert.pem", tmp_path / "key.pem"
    make = "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=localhost"
    name = ["-addext", "subjectAltName=DNS:localhost"]
    subprocess.run(
        [openssl, *make.split(), *name, "-keyout", key, "-out", certificate], check=True, capture_output=True
    )
    body = b'{"choices": [{"message": {"content": "over TLS"}, "finish_reason": "stop"}]}'

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: %d\r\n\r\n" % len(body) + body)
        await writer.drain()
        writer.close()

    async def main() -> tuple[Exception, Completion]:
        context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        context.load_cert_chain(certificate, key)
        server = await asyncio.start_server(answer, "127.0.0.1", 0, ssl=context)
        model = spec(f"https://localhost:{server.sockets[0].getsockname()[1]}/v1")
        outcomes: list[Any] = []
        for _ in range(2):
            provider = PROVIDERS["openai"].open(model, 10.0)
            outcomes += await asyncio.gather(provider.complete(request(model)), return_exceptions=True)
            await provider.aclose()
            monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
        server.close()
        return outcomes[0], outcomes[1]

    before, after = asyncio.run(main())
    assert isinstance(before, Exception) and "certificate" in str(before) and "SSL_CERT_FILE" in str(before)
    assert isinstance(after, Completion) and after.text == "over TLS"
