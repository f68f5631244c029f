"""Endpoints of every provider that fail as they are told to, and a loop on which minutes of waiting take no time."""

from __future__ import annotations

import asyncio
import json
import re
import socket
import struct
from collections.abc import Callable, Coroutine, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

T = TypeVar("T")

INPUT, OUTPUT, PER_TEXT = 1000, 500, 10
"""Tokens that every answer says it used; and each embedded text."""
REFUSED = "I will not say."


class JumpingLoop(asyncio.SelectorEventLoop):
    """Where nothing is under way on the machine's own sockets, it jumps to its next timer: seconds are counted, and not
    waited for."""

    def __init__(self) -> None:
        super().__init__()
        self._now = 0.0

    def time(self) -> float:
        return self._now

    def _run_once(self) -> None:
        ready, scheduled = self._ready, self._scheduled  # type: ignore[attr-defined]
        if not ready and scheduled:
            events = self._selector.select(0.001)  # type: ignore[attr-defined]
            if events:
                self._process_events(events)  # type: ignore[attr-defined]
            else:
                next_timer = min((timer.when() for timer in scheduled if not timer.cancelled()), default=self._now)
                self._now = max(self._now, next_timer)
        super()._run_once()  # type: ignore[misc]


def run_jumping(main: Coroutine[Any, Any, T]) -> T:
    loop = JumpingLoop()
    try:
        return loop.run_until_complete(main)
    finally:
        loop.run_until_complete(loop.shutdown_asyncgens())
        loop.close()


@dataclass(frozen=True)
class Face:
    """How a provider's API looks from outside. base: of the base_url, under the server's root; answer: (text, why it
    ended: stop, length, refusal) as JSON; empty: an answer that holds none; quota: status and body where the account
    has nothing left; error: the body of any other error; embed: the vectors of so many texts as JSON, None where it
    embeds nothing; no_vectors: the same without the numbers."""

    provider: str
    api: str | None
    base: str
    answer: Callable[[str, str], dict[str, Any]]
    empty: Mapping[str, Any]
    quota: tuple[int, Mapping[str, Any]]
    error: Callable[[str], dict[str, Any]]
    embed: Callable[[int], dict[str, Any]] | None
    no_vectors: Mapping[str, Any] = field(default_factory=dict)


def _openai_error(message: str, code: str = "other") -> dict[str, Any]:
    return {"error": {"message": message, "type": code, "param": None, "code": code}}


def _chat(text: str, end: str) -> dict[str, Any]:
    message = {"content": None, "refusal": text} if end == "refusal" else {"content": text}
    reason = "stop" if end == "refusal" else end
    usage = {"prompt_tokens": INPUT, "completion_tokens": OUTPUT}
    return {"choices": [{"message": message, "finish_reason": reason}], "usage": usage}


def _response(text: str, end: str) -> dict[str, Any]:
    part = {"type": "refusal", "refusal": text} if end == "refusal" else {"type": "output_text", "text": text}
    cut = {"status": "incomplete", "incomplete_details": {"reason": "max_output_tokens"}} if end == "length" else {}
    usage = {"input_tokens": INPUT, "output_tokens": OUTPUT}
    return {"status": "completed", "output": [{"type": "message", "content": [part]}], "usage": usage, **cut}


def _message(text: str, end: str) -> dict[str, Any]:
    reason = {"stop": "end_turn", "length": "max_tokens", "refusal": "refusal"}[end]
    usage = {"input_tokens": INPUT, "output_tokens": OUTPUT}
    return {"type": "message", "content": [{"type": "text", "text": text}], "stop_reason": reason, "usage": usage}


def _gemini(text: str, end: str) -> dict[str, Any]:
    reason = {"stop": "STOP", "length": "MAX_TOKENS", "refusal": "SAFETY"}[end]
    usage = {"promptTokenCount": INPUT, "candidatesTokenCount": OUTPUT}
    candidate = {"content": {"parts": [{"text": text}]}, "finishReason": reason}
    return {"candidates": [candidate], "usageMetadata": usage}


def _openai_vectors(texts: int) -> dict[str, Any]:
    data = [{"index": index, "embedding": [1.0, 0.0]} for index in range(texts)]
    return {"data": data, "usage": {"prompt_tokens": PER_TEXT * texts}}


def _google_vectors(texts: int) -> dict[str, Any]:
    usage = {"promptTokenCount": PER_TEXT * texts}
    return {"embeddings": [{"values": [1.0, 0.0]}] * texts, "usageMetadata": usage}


def _anthropic_error(message: str, kind: str = "api_error") -> dict[str, Any]:
    return {"type": "error", "error": {"type": kind, "message": message}}


def _google_error(message: str) -> dict[str, Any]:
    return {"error": {"code": 0, "message": message, "status": "OTHER"}}


_NO_QUOTA = (429, _openai_error("You have no quota left.", "insufficient_quota"))
_PER_DAY = {
    "error": {
        "code": 429,
        "message": "You have no quota left.",
        "status": "RESOURCE_EXHAUSTED",
        "details": [
            {
                "@type": "type.googleapis.com/google.rpc.QuotaFailure",
                "violations": [{"quotaId": "GenerateRequestsPerDayPerProjectPerModel-FreeTier"}],
            },
            {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "34s"},
        ],
    }
}
_NO_CREDIT = (400, _anthropic_error("You have no quota left: your credit balance is too low.", "invalid_request_error"))
_NO_OPENAI_VECTORS: Mapping[str, Any] = {"data": [{"index": 0, "embedding": []}]}

FACES = {
    "openai": Face(
        "openai", None, "/v1", _chat, {"choices": []}, _NO_QUOTA, _openai_error, _openai_vectors, _NO_OPENAI_VECTORS
    ),
    "openai responses": Face(
        "openai",
        "responses",
        "/v1",
        _response,
        {"status": "completed", "output": []},
        _NO_QUOTA,
        _openai_error,
        _openai_vectors,
        _NO_OPENAI_VECTORS,
    ),
    "openai_compatible": Face(
        "openai_compatible",
        None,
        "/v1",
        _chat,
        {"choices": []},
        _NO_QUOTA,
        _openai_error,
        _openai_vectors,
        _NO_OPENAI_VECTORS,
    ),
    "anthropic": Face(
        "anthropic",
        None,
        "",
        _message,
        {"type": "message", "content": [], "stop_reason": "end_turn"},
        _NO_CREDIT,
        _anthropic_error,
        None,
    ),
    "google": Face(
        "google",
        None,
        "",
        _gemini,
        {"candidates": []},
        (429, _PER_DAY),
        _google_error,
        _google_vectors,
        {"embeddings": [{"values": []}]},
    ),
}

_MARK = re.compile(rb"\[\[(.*?)\]\]")
_STATUSES = {"408": 408, "409": 409, "429": 429, "429 with Retry-After": 429, "500": 500, "503": 503, "529": 529}
RETRY_AFTER_S = 7
FAULTS = (
    *_STATUSES,
    "429 insufficient_quota",
    "reset before headers",
    "reset after headers",
    "slow body",
    "never answers",
    "malformed JSON",
    "truncated output",
    "refusal",
    "empty choices",
)


class FaultyServer:
    """One face of one server. A request says in its text, as [[fault]], how it is to be answered."""

    def __init__(self, face: Face) -> None:
        self._face = face
        self._tasks: set[asyncio.Task[None]] = set()
        self.arrivals: dict[str, list[float]] = {}
        self.paths: set[str] = set()

    async def start(self) -> str:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        return f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}{self._face.base}"

    async def stop(self) -> None:
        self._server.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        try:
            while await self._answer(reader, writer):
                pass
        except (asyncio.IncompleteReadError, ConnectionError, asyncio.CancelledError):
            pass  # the client has gone, or the test is over
        finally:
            self._tasks.discard(task)
            writer.transport.abort()

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        """Answers a request; whether the connection can be used again."""
        head = await reader.readuntil(b"\r\n\r\n")
        length = re.search(rb"content-length: (\d+)", head, re.IGNORECASE)
        body = await reader.readexactly(int(length[1]) if length else 0)
        path = head.split(b" ", 2)[1].decode()
        self.paths.add(path)
        mark = _MARK.search(body)
        fault = mark[1].decode() if mark else ""
        if fault:
            self.arrivals.setdefault(fault, []).append(asyncio.get_running_loop().time())
        role = "embedding" if "mbed" in path else "judge" if b"verdict" in body else "sample"
        texts = max(body.count(b'"embed this'), 1)
        status, reply, more = self._reply(fault, role, texts)
        return await self._send(writer, fault, status, reply, more)

    def _reply(self, fault: str, role: str, texts: int) -> tuple[int, bytes, str]:
        face = self._face
        if fault in _STATUSES:
            after = f"retry-after: {RETRY_AFTER_S}\r\n" if "Retry-After" in fault else ""
            return _STATUSES[fault], _json(face.error("Something is wrong.")), after
        if fault == "429 insufficient_quota":
            return face.quota[0], _json(face.quota[1]), ""
        if role == "embedding" and face.embed is not None:
            if fault == "refusal":
                return 400, _json(face.error("This text is not embedded.")), ""
            whole = face.no_vectors if fault == "truncated output" else face.embed(texts)
            return 200, _json({} if fault == "empty choices" else whole), ""
        if fault == "empty choices":
            return 200, _json(face.empty), ""
        end = {"truncated output": "length", "refusal": "refusal"}.get(fault, "stop")
        words = '{"reasoning": "Fine.", "label": "good"}' if role == "judge" else "The answer is 4."
        text = REFUSED if end == "refusal" else words[:12] if end == "length" else words
        return 200, _json(face.answer(text, end)), ""

    async def _send(self, writer: asyncio.StreamWriter, fault: str, status: int, body: bytes, more: str) -> bool:
        if fault == "never answers":
            await asyncio.sleep(10_000)
        if fault == "reset before headers":
            return _reset(writer)
        if fault == "malformed JSON":
            body = body[: len(body) // 2]
        head = f"HTTP/1.1 {status} Reply\r\ncontent-type: application/json\r\n{more}content-length: {len(body)}\r\n\r\n"
        whole = head.encode() + body
        if fault in ("reset after headers", "slow body"):
            writer.write(whole[: len(head) + len(body) // 2])
            await writer.drain()
            await asyncio.sleep(0.01 if fault == "reset after headers" else 10_000)
            return _reset(writer)
        writer.write(whole)
        await writer.drain()
        return True


def _reset(writer: asyncio.StreamWriter) -> bool:
    """A linger of zero makes closing a reset."""
    writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    writer.transport.abort()
    return False


def _json(value: Any) -> bytes:
    return json.dumps(value).encode()
