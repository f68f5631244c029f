"""HTTP to one endpoint: bytes out, status, headers and bytes back, never repeated. Knows no provider's JSON."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, Protocol

if TYPE_CHECKING:
    import aiohttp
    import httpx2

FailureKind = Literal["timeout", "tls", "connection", "malformed"]

# Many servers close an idle connection after 5 s; one that is dropped before that is never written to in vain.
_KEEP_ALIVE_S = 4.0


@dataclass(frozen=True)
class Reply:
    """What came back. headers: by lower-case name; body: decompressed. Its repr has neither: both may echo the key."""

    status: int
    headers: Mapping[str, str] = field(repr=False)
    body: bytes = field(repr=False)


class TransportFailure(Exception):
    """No whole reply came. kind: which part failed; words: what the transport said, which may hold secrets."""

    def __init__(self, kind: FailureKind, words: str) -> None:
        self.kind = kind
        self.words = words
        super().__init__(words)


class Connection(Protocol):
    """A pool of connections to one endpoint."""

    async def send(self, method: str, path: str, content: bytes | None = None) -> Reply:
        """One HTTP request, whole, within the timeout. A reply of any status is returned.

        Raises:
            TransportFailure: no whole reply came.
        """
        ...

    async def aclose(self) -> None:
        """Closes every connection. Safe to call twice."""
        ...


class AiohttpConnection:
    """Straight on aiohttp. Measured, it needs a quarter of the CPU that the SDK's own request machinery needs."""

    def __init__(self, base_url: str, headers: Mapping[str, str], timeout_s: float, proxy: str | None = None) -> None:
        self._base, _, query = base_url.partition("?")
        self._query = f"?{query}" if query else ""
        self._headers = headers
        self._timeout_s = timeout_s
        self._proxy = proxy
        self._session: aiohttp.ClientSession | None = None
        self._urls: dict[str, Any] = {}

    async def send(self, method: str, path: str, content: bytes | None = None) -> Reply:
        import aiohttp  # deferred: only a run that makes calls pays for it

        session = self._session or self._open()
        try:
            # A redirected POST would arrive as a GET: it is reported, not followed.
            async with session.request(
                method, self._url(path), data=content, allow_redirects=False, proxy=self._proxy
            ) as response:
                body = await response.read()
                headers = {name.lower(): value for name, value in response.headers.items()}
                return Reply(response.status, headers, body)
        except (aiohttp.ClientError, asyncio.TimeoutError, OSError) as error:
            raise _failure(error) from None  # the cause may hold the request's headers

    async def aclose(self) -> None:
        session, self._session = self._session, None
        if session is not None:
            await session.close()
            await asyncio.sleep(0)  # transports let go of their sockets on the loop's next turn, which may be its last

    def _url(self, path: str) -> Any:
        url = self._urls.get(path)
        if url is None:
            import yarl  # part of aiohttp

            url = self._urls[path] = yarl.URL(address_of(self._base, path, self._query), encoded=True)
        return url

    def _open(self) -> aiohttp.ClientSession:
        import aiohttp  # deferred: only a run that makes calls pays for it

        secure = self._base.startswith("https:")
        connector = aiohttp.TCPConnector(
            limit=0, keepalive_timeout=_KEEP_ALIVE_S, **({"ssl": _tls_context()} if secure else {})
        )
        self._session = aiohttp.ClientSession(
            connector=connector,
            headers=self._headers,
            timeout=aiohttp.ClientTimeout(total=self._timeout_s),
            cookie_jar=aiohttp.DummyCookieJar(),
        )
        return self._session


class Httpx2Connection:
    """Through httpx2, which the SDKs bring along: where aiohttp is not installed, or cannot speak to the proxy."""

    def __init__(self, base_url: str, headers: Mapping[str, str], timeout_s: float) -> None:
        self._base, _, query = base_url.partition("?")
        self._query = f"?{query}" if query else ""
        self._headers = headers
        self._timeout_s = timeout_s
        self._client: httpx2.AsyncClient | None = None

    async def send(self, method: str, path: str, content: bytes | None = None) -> Reply:
        import httpx2  # deferred: only a run that makes calls pays for it

        client = self._client or self._open()
        url = address_of(self._base, path, self._query)
        try:
            # Its own timeouts are for each read: the whole request has one here.
            response = await asyncio.wait_for(client.request(method, url, content=content), self._timeout_s)
        except (httpx2.HTTPError, httpx2.InvalidURL, asyncio.TimeoutError, OSError) as error:
            raise _failure(error) from None  # the cause may hold the request's headers
        headers = {name.lower(): value for name, value in response.headers.items()}
        return Reply(response.status_code, headers, response.content)

    async def aclose(self) -> None:
        client, self._client = self._client, None
        if client is not None:
            await client.aclose()
            await asyncio.sleep(0)  # as above

    def _open(self) -> httpx2.AsyncClient:
        import httpx2  # deferred: only a run that makes calls pays for it

        self._client = httpx2.AsyncClient(
            headers=self._headers,
            timeout=self._timeout_s,
            limits=httpx2.Limits(max_connections=None, keepalive_expiry=_KEEP_ALIVE_S),
        )
        return self._client


def open_connection(base_url: str, headers: Mapping[str, str], timeout_s: float) -> Connection:
    """The way to an endpoint: straight or through the environment's proxy. Nothing is sent yet."""
    proxy = environment_proxy(base_url)
    if has_aiohttp() and not (proxy or "").startswith("socks"):
        return AiohttpConnection(base_url, headers, timeout_s, proxy)
    return Httpx2Connection(base_url, headers, timeout_s)


def has_aiohttp() -> bool:
    try:
        import aiohttp  # noqa: F401  (deferred: only a run that makes calls pays for it)
    except ImportError:
        return False
    return True


def address_of(base: str, path: str, query: str) -> str:
    """A path under an address, with the query of both."""
    if query and "?" in path:
        query = f"&{query[1:]}"
    return f"{base.rstrip('/')}{path}{query}"


def environment_proxy(url: str) -> str | None:
    """The proxy that the environment (or the system) sets for an address, None where it is reached directly.

    Looked up once: aiohttp's own `trust_env` looks it up on every request, which costs more than the request.
    """
    # Deferred: slow to import, and only a run that makes calls needs it.
    from urllib.parse import urlsplit
    from urllib.request import getproxies, proxy_bypass

    parts = urlsplit(url)
    if not parts.hostname or proxy_bypass(parts.netloc.rpartition("@")[2]):
        return None
    proxies = getproxies()
    proxy = proxies.get(parts.scheme) or proxies.get("all")
    if not proxy:
        return None
    return proxy if "://" in proxy else f"http://{proxy}"


def _tls_context() -> Any:
    import httpx2  # comes with the SDKs: the system's certificates, SSL_CERT_FILE and SSL_CERT_DIR

    return httpx2.create_ssl_context()


def _failure(error: BaseException) -> TransportFailure:
    """What went wrong, from the exception and its causes."""
    import ssl  # already loaded by whoever made a connection

    causes: list[BaseException] = []
    cause: BaseException | None = error
    while cause is not None and cause not in causes:
        causes.append(cause)
        cause = cause.__cause__ or cause.__context__
    texts = dict.fromkeys(text for text in (str(each).strip() for each in causes) if text)
    words = next(iter(texts), type(error).__name__)
    names = {name for each in causes for name in (base.__name__ for base in type(each).__mro__)}
    # The other errors of ssl say that a handshake was waiting or broke off: that is no mistake of the configuration.
    waiting = (ssl.SSLWantReadError, ssl.SSLWantWriteError)
    passing = (*waiting, ssl.SSLZeroReturnError, ssl.SSLSyscallError, ssl.SSLEOFError)
    if any(isinstance(each, ssl.SSLError) and not isinstance(each, passing) for each in causes):
        return TransportFailure("tls", words)
    if names & {"ServerDisconnectedError", "ClientPayloadError", "ClientOSError", "RemoteProtocolError"}:
        return TransportFailure("connection", words)
    if any(isinstance(each, (asyncio.TimeoutError, TimeoutError)) for each in causes) or "TimeoutException" in names:
        return TransportFailure("timeout", words)
    if names & {"ClientResponseError", "BadHttpMessage"}:
        return TransportFailure("malformed", words)
    return TransportFailure("connection", words)
