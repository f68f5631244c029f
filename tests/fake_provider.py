"""A fake provider over real HTTP on 127.0.0.1: in a thread of a test, or `python -m tests.fake_provider --port 0`.

    POST /v1/chat/completions   solves "What is A + B?", answers JSON schemas, calls forced tools
    GET  /v1/models
    POST /answer                {"question": …} → {"answer": {"text": …}}, for HTTP targets
    GET  /stats, POST /reset, POST /config   control: never counted

Every answer and every fault follows from the seed, the body and how often that body was seen: a run can be repeated
whatever the order in which its requests arrive, and a request made again draws again.
"""

from __future__ import annotations

import argparse
import asyncio
import collections
import dataclasses
import json
import socket
import struct
import threading
from collections.abc import Mapping
from typing import Any

from tests.fake_answers import Draw, chat_completion, plain_answer

FAULTS = ("429", "500", "reset", "slow", "malformed", "cut", "truncated", "never")


@dataclasses.dataclass
class Options:
    """How the provider behaves. faults: share of requests by kind: `429` and `500` statuses, `reset` of the connection
    before the headers, `slow` by `slow_ms`, `malformed` (a 200 that is not JSON), `cut` off in the body, `truncated`
    (a whole answer whose model ran into its limit), `never` an answer. max_concurrency: more in flight get a 429; 0: no
    limit. api_key: any other is refused with a 401. A model named `missing…` is a 404."""

    latency_ms: float = 0.0
    faults: dict[str, float] = dataclasses.field(default_factory=dict)
    retry_after: str = "0"
    slow_ms: float = 1_000.0
    max_concurrency: int = 0
    wrong_rate: float = 0.0
    fail_rate: float = 0.0
    seed: int = 0
    api_key: str | None = None
    models: tuple[str, ...] | None = ("fake-1", "fake-judge")
    record: bool = True

    def update(self, new: Mapping[str, Any]) -> None:
        for name, value in new.items():
            if name not in self.__dataclass_fields__:
                raise ValueError(f"no option {name!r}; the options are {', '.join(self.__dataclass_fields__)}")
            setattr(self, name, value)
        unknown = set(self.faults) - set(FAULTS)
        if unknown:
            raise ValueError(f"no fault {sorted(unknown)}; the faults are {', '.join(FAULTS)}")


@dataclasses.dataclass
class Received:
    """A request as it arrived. headers: by lower-case name."""

    method: str
    target: str
    headers: dict[str, str]
    body: bytes


@dataclasses.dataclass
class Reply:
    """What to send. fault: how sending it goes wrong."""

    status: int
    body: bytes
    headers: Mapping[str, str] = dataclasses.field(default_factory=dict)
    fault: str | None = None

    @property
    def whole(self) -> bool:
        """Whether a client that waits can use it."""
        return self.status == 200 and self.fault in (None, "slow")


class Counters:
    def __init__(self) -> None:
        self.requests = self.in_flight = self.peak_in_flight = 0
        self.seen: collections.Counter[bytes] = collections.Counter()
        self.answered: collections.Counter[bytes] = collections.Counter()
        self.statuses: collections.Counter[str] = collections.Counter()
        self.faults: collections.Counter[str] = collections.Counter()

    def report(self) -> dict[str, Any]:
        """requests: all; answered: whole answers sent; unique: bodies; bought_twice: bodies wholly answered more than
        once; the rest as named."""
        return {
            "requests": self.requests,
            "answered": self.answered.total(),
            "unique": len(self.seen),
            "bought_twice": sum(count > 1 for count in self.answered.values()),
            "in_flight": self.in_flight,
            "peak_in_flight": self.peak_in_flight,
            "statuses": dict(self.statuses),
            "faults": dict(self.faults),
        }


class Service:
    """What the provider knows and says; sends nothing itself."""

    def __init__(self, options: Options) -> None:
        self.options = options
        self.counters = Counters()
        self.received: list[Received] = []
        self.scripted: collections.deque[Reply] = collections.deque()

    def control(self, path: str, body: bytes) -> Reply | None:
        if path == "/stats":
            return _json(200, self.counters.report())
        if path == "/reset":
            out, self.counters = self.counters.in_flight, Counters()
            self.counters.in_flight = out
            self.received.clear()
            return _json(200, {})
        if path == "/config":
            try:
                self.options.update(json.loads(body))
            except (ValueError, TypeError) as error:
                return _json(400, {"error": str(error)})
            return _json(200, dataclasses.asdict(self.options))
        return None

    def answer(self, method: str, path: str, authorization: str | None, body: bytes) -> Reply:
        counters, options = self.counters, self.options
        attempt = counters.seen[body]
        if method == "POST":
            counters.seen[body] += 1
        if self.scripted:
            return self.scripted.popleft()
        if options.api_key is not None and authorization != f"Bearer {options.api_key}":
            return _error(401, "Incorrect API key provided", code="invalid_api_key")
        if method == "GET" and path == "/v1/models" and options.models is not None:
            return _json(200, {"object": "list", "data": [{"id": name, "object": "model"} for name in options.models]})
        if method != "POST" or path not in ("/v1/chat/completions", "/answer"):
            return _error(404, f"no {method} {path} here")
        if options.max_concurrency and counters.in_flight > options.max_concurrency:
            return _error(429, "Too many requests in flight", code="rate_limit_exceeded", headers=self._retry_after())
        fault = self._fault(body, attempt)
        if fault == "429":
            return _error(
                429, "Rate limit reached", code="rate_limit_exceeded", headers=self._retry_after(), fault=fault
            )
        if fault == "500":
            return _error(500, "The server had an error", code="server_error", fault=fault)
        try:
            reply = self._said(path, json.loads(body), Draw(options.seed, body), fault == "truncated")
        except (ValueError, KeyError, TypeError, AttributeError, StopIteration) as error:
            return _error(400, f"{type(error).__name__}: {error}", code="invalid_request_error")
        reply.fault = fault
        return reply

    def _said(self, path: str, request: Any, draw: Draw, cut_short: bool) -> Reply:
        options = self.options
        if path == "/answer":
            return _json(200, {"answer": {"text": plain_answer(request["question"], draw, options.wrong_rate)}})
        if request["model"].startswith("missing"):
            return _error(404, f"The model `{request['model']}` does not exist", code="model_not_found")
        rates = {"wrong_rate": options.wrong_rate, "fail_rate": options.fail_rate}
        return _json(200, chat_completion(request, draw, cut_short=cut_short, **rates))

    def _fault(self, body: bytes, attempt: int) -> str | None:
        if not self.options.faults:
            return None
        place = Draw(self.options.seed, body, attempt).unit()
        for kind, rate in self.options.faults.items():
            place -= rate
            if place < 0:
                return kind
        return None

    def _retry_after(self) -> dict[str, str]:
        return {"retry-after": self.options.retry_after}


def _headers(lines: str) -> dict[str, str]:
    pairs = (line.partition(":") for line in lines.split("\r\n"))
    return {name.lower(): value.strip() for name, _, value in pairs}


_encode = json.JSONEncoder(separators=(",", ":")).encode


def _json(status: int, value: Any, **more: Any) -> Reply:
    return Reply(status, _encode(value).encode(), **more)


def _error(status: int, message: str, *, code: str | None = None, **more: Any) -> Reply:
    return _json(status, {"error": {"message": message, "type": "error", "param": None, "code": code}}, **more)


class Wire(asyncio.Protocol):
    """HTTP/1.1 with keep-alive, one request at a time."""

    def __init__(self, service: Service, open_wires: set[Wire]) -> None:
        self.service = service
        self.open_wires = open_wires
        self.loop = asyncio.get_running_loop()
        self.buffer = b""
        self.busy = self.closed = False
        self.timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport
        self.open_wires.add(self)

    def connection_lost(self, exc: Exception | None) -> None:
        self.closed = True
        self.open_wires.discard(self)
        if self.timer is not None:
            self.timer.cancel()
        self._leave()

    def data_received(self, data: bytes) -> None:
        self.buffer += data
        while not self.busy and not self.closed:
            end = self.buffer.find(b"\r\n\r\n")
            if end < 0:
                return
            head = self.buffer[:end]
            lower = head.lower()
            start = lower.find(b"content-length:")
            length = int(lower[start + 15 :].split(b"\r\n", 1)[0]) if start >= 0 else 0
            if len(self.buffer) < end + 4 + length:
                return
            body = self.buffer[end + 4 : end + 4 + length]
            self.buffer = self.buffer[end + 4 + length :]
            self._handle(head, body)

    def _handle(self, head: bytes, body: bytes) -> None:
        line, _, lines = head.decode("latin-1").partition("\r\n")
        method, target, _ = line.split(" ", 2)
        path = target
        if target.startswith("http://"):  # as a proxy is asked
            path = "/" + target.split("/", 3)[3]
        service = self.service
        reply = service.control(path, body)
        if reply is not None:
            self._send(reply)
            return
        headers = _headers(lines) if service.options.record or service.options.api_key is not None else {}
        if service.options.record:
            service.received.append(Received(method, target, headers, body))
        counters = service.counters
        counters.requests += 1
        counters.in_flight += 1
        counters.peak_in_flight = max(counters.peak_in_flight, counters.in_flight)
        self.busy = True
        reply = service.answer(method, path, headers.get("authorization"), body)
        if reply.fault is not None:
            counters.faults[reply.fault] += 1
        if reply.fault == "never":
            return
        wait = 0.0 if reply.status == 429 else service.options.latency_ms / 1000
        if reply.fault == "slow":
            wait += service.options.slow_ms / 1000
        if wait:
            self.timer = self.loop.call_later(wait, self._finish, reply, body)
        else:
            self._finish(reply, body)

    def _finish(self, reply: Reply, body: bytes) -> None:
        counters = self.service.counters
        self._leave()
        if reply.fault == "reset":
            # A linger of zero makes closing a reset, with nothing sent.
            self.transport.get_extra_info("socket").setsockopt(
                socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0)
            )
            self.transport.abort()
            return
        counters.statuses[str(reply.status)] += 1
        if body and reply.whole:
            counters.answered[body] += 1
        self._send(reply)
        if self.buffer:
            self.data_received(b"")

    def _send(self, reply: Reply) -> None:
        body = reply.body[: len(reply.body) // 2] if reply.fault == "malformed" else reply.body
        extra = "".join(f"{name}: {value}\r\n" for name, value in reply.headers.items())
        head = f"HTTP/1.1 {reply.status} Reply\r\ncontent-type: application/json\r\n{extra}"
        head += f"content-length: {len(body)}\r\n\r\n"
        cut = reply.fault == "cut"
        self.transport.write(head.encode("latin-1") + (body[: len(body) // 2] if cut else body))
        if cut:
            self.transport.close()

    def _leave(self) -> None:
        if self.busy:
            self.busy = False
            self.service.counters.in_flight -= 1


class FakeProvider:
    """The provider in a thread: `with FakeProvider(latency_ms=50) as fake: … fake.url …`."""

    def __init__(self, **options: Any) -> None:
        self.options = Options()
        self.options.update(options)
        self._service = Service(self.options)
        self._ready = threading.Event()
        self._thread = threading.Thread(target=self._run, name="fake provider", daemon=True)

    def __enter__(self) -> FakeProvider:
        self._thread.start()
        self._ready.wait()
        return self

    def __exit__(self, *exc: object) -> None:
        self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join()

    @property
    def root(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def url(self) -> str:
        """The base_url of its Chat Completions."""
        return f"{self.root}/v1"

    @property
    def received(self) -> list[Received]:
        """Every request that was not control, in order."""
        return list(self._service.received)

    @property
    def requests(self) -> list[Any]:
        """The JSON bodies of the POSTs, in order."""
        return [json.loads(each.body) for each in self.received if each.method == "POST"]

    def stats(self) -> dict[str, Any]:
        return self._service.counters.report()

    def script(self, *replies: tuple[int, Mapping[str, str], bytes]) -> None:
        """The next replies, word for word: status, headers, body."""
        self._service.scripted.extend(Reply(status, body, headers) for status, headers, body in replies)

    def _run(self) -> None:
        asyncio.run(self._main())

    async def _main(self) -> None:
        self._loop, self._stop = asyncio.get_running_loop(), asyncio.Event()
        wires: set[Wire] = set()
        self.port, close = await _serve(self._service, 0, wires)
        self._ready.set()
        await self._stop.wait()
        await close()


async def _serve(service: Service, port: int, wires: set[Wire]) -> tuple[int, Any]:
    loop = asyncio.get_running_loop()
    server = await loop.create_server(lambda: Wire(service, wires), "127.0.0.1", port, backlog=2048)

    async def close() -> None:
        server.close()
        for wire in tuple(wires):
            wire.transport.abort()
        await asyncio.sleep(0)  # the transports close on the loop's next turn
        await server.wait_closed()

    return server.sockets[0].getsockname()[1], close


def main() -> None:
    parser = argparse.ArgumentParser(description="A fake provider on 127.0.0.1.")
    parser.add_argument("--port", type=int, default=0, help="0 picks a free one; `READY PORT` is printed")
    for field in dataclasses.fields(Options):
        if field.name in ("latency_ms", "retry_after", "slow_ms", "max_concurrency", "wrong_rate", "fail_rate", "seed"):
            kind = type(field.default)
            parser.add_argument(f"--{field.name.replace('_', '-')}", type=kind, default=field.default)
    parser.add_argument("--api-key")
    parser.add_argument("--fault", action="append", default=[], metavar="KIND=RATE", help=f"kinds: {', '.join(FAULTS)}")
    given = vars(parser.parse_args())
    port = given.pop("port")
    faults = {kind: float(rate) for kind, _, rate in (each.partition("=") for each in given.pop("fault"))}
    options = Options(record=False)
    options.update({**given, "faults": faults})

    async def serve() -> None:
        bound, _ = await _serve(Service(options), port, set())
        print(f"READY {bound}", flush=True)
        await asyncio.Event().wait()

    asyncio.run(serve())


if __name__ == "__main__":
    main()
