"""The door to an HTTP target: one client for the run, errors as sentences, secrets kept out of them."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pytest_verica.errors import TargetError
from pytest_verica.providers.door import hidden


@dataclass(frozen=True)
class HttpAnswer:
    """A response with a 2xx status."""

    status: int
    text: str

    def json(self) -> Any:
        """The body as JSON.

        Raises:
            TargetError: it is not.
        """
        try:
            return json.loads(self.text)
        except ValueError as error:
            raise TargetError("http_not_json", f"the response is not JSON: {error}", self.text[:2000]) from None


class HttpEndpoint:
    """Sends requests; lives on the event loop that uses it. The client is made at the first request."""

    def __init__(self) -> None:
        self._client: Any = None

    async def send(
        self,
        method: str,
        url: str,
        headers: Mapping[str, str],
        body: Any,
        timeout_s: float,
        *,
        shown: str,
        secrets: Sequence[str] = (),
    ) -> HttpAnswer:
        """One request. shown: the url as messages name it; secrets: texts that no message may hold.

        Raises:
            TargetError: no connection, no answer in time, or a status that is not 2xx.
        """
        import httpx2  # deferred: only an HTTP target needs it

        if self._client is None:
            limits = httpx2.Limits(max_connections=None, max_keepalive_connections=None)
            self._client = httpx2.AsyncClient(limits=limits, follow_redirects=True)
        content = None if body is None else json.dumps(body, allow_nan=False).encode()
        sent = {**headers, **({} if content is None else {"content-type": "application/json"})}
        try:
            response = await self._client.request(method, url, headers=sent, content=content, timeout=timeout_s)
            text = hidden(response.text, secrets)
        except httpx2.TimeoutException:
            raise TargetError("timeout", f"{shown} gave no answer within {timeout_s:g} s") from None
        except (httpx2.HTTPError, httpx2.InvalidURL) as error:
            detail = hidden(f"{type(error).__name__}: {error}", secrets)
            raise TargetError("http", f"{shown} could not be asked: {detail}") from None
        if not 200 <= response.status_code < 300:
            raise TargetError("http_status", f"{shown} answered with status {response.status_code}", text[:2000])
        return HttpAnswer(response.status_code, text)

    async def aclose(self) -> None:
        if self._client is not None:
            await self._client.aclose()
            self._client = None
