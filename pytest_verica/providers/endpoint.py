"""An endpoint: JSON out, JSON back, over one pool of connections; whatever else comes is a classified error."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from typing import Any

from pytest_verica.providers.connection import Connection, Reply, TransportFailure
from pytest_verica.providers.door import Door
from pytest_verica.providers.error_body import error_inside
from pytest_verica.providers.refusal import broken, malformed, refusal

_NO_LIST = frozenset({404, 405, 501})


class Endpoint:
    """Knows no API: what it sends and reads is any JSON."""

    def __init__(self, door: Door, connection: Connection, timeout_s: float) -> None:
        self.door = door
        self._connection = connection
        self._timeout_s = timeout_s

    async def post(self, path: str, body: Mapping[str, Any], model: str) -> tuple[Any, bytes]:
        """The JSON that the endpoint answers a body with, and the bytes that it came as.

        Raises:
            ProviderError: it answered something else, or nothing.
        """
        reply = await self._send("POST", path, json.dumps(body, separators=(",", ":")).encode("ascii"))
        if reply.status != 200:
            raise refusal(self.door, model, reply, time.time())
        try:
            data = json.loads(reply.body)
        except (ValueError, RecursionError) as error:
            raise malformed(self.door, model, f"its body is not JSON ({error})", reply.body) from None
        status = error_inside(data) if isinstance(data, Mapping) else None
        if status is not None:
            raise refusal(self.door, model, Reply(status, reply.headers, reply.body), time.time())
        return data, reply.body

    async def get(self, path: str) -> Any:
        """The JSON at a path; None where there is no such thing.

        Raises:
            ProviderError: it could not be had, though it may be there.
        """
        reply = await self._send("GET", path)
        if reply.status in _NO_LIST:
            return None
        if reply.status != 200:
            raise refusal(self.door, "models", reply, time.time())
        try:
            return json.loads(reply.body)
        except (ValueError, RecursionError):
            return None  # some other kind of page

    async def aclose(self) -> None:
        await self._connection.aclose()

    async def _send(self, method: str, path: str, content: bytes | None = None) -> Reply:
        try:
            reply = await self._connection.send(method, path, content)
        except TransportFailure as failure:
            raise broken(self.door, failure, self._timeout_s) from None
        return Reply(reply.status, reply.headers, self.door.scrub_body(reply.body))
