"""The response store for workers on other machines: they ask the controller's, over their connection to it.

So an answer that one of them buys is in the controller's store before it is used, and none of them needs a store.
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterable, Sequence
from dataclasses import replace
from decimal import Decimal
from typing import Any, Protocol

from pytest_verica.completion import Completion, StoredAnswer
from pytest_verica.errors import StoreError
from pytest_verica.request import Request
from pytest_verica.store.responses import ResponseStore
from pytest_verica.store.saved import SavedAnswer, compact

LONGEST_WAIT_S = 120.0
"""A worker waits so long for the controller, whose own store may wait for other processes."""


class Channel(Protocol):
    """What is used of an execnet channel. It carries texts: JSON."""

    def send(self, item: object) -> None: ...

    def receive(self, timeout: float | None = None) -> Any: ...


class DistantAnswers:
    """In a worker on another machine: the engine's store. A round trip for each batch."""

    def __init__(self, channel: Channel) -> None:
        self._channel = channel
        self._lock = threading.Lock()  # the engine's thread asks, and before launch the main one
        self.warnings: list[str] = []  # the controller tells its own

    def get_many(self, keys: Iterable[str]) -> dict[str, StoredAnswer]:
        wanted = list(keys)
        found: dict[str, Any] = self._asked("get_many", wanted) if wanted else {}
        return {key: _from_json(data) for key, data in found.items()}

    def get_by_content(self, content_key: str) -> StoredAnswer | None:
        found = self._asked("get_by_content", content_key)
        return None if found is None else _from_json(found)

    def latest(self, provider: str, base_url: str | None, model: str, limit: int) -> list[SavedAnswer]:
        return [SavedAnswer.from_json(data) for data in self._asked("latest", [provider, base_url, model, limit])]

    def put_many(self, answers: Sequence[tuple[Request, StoredAnswer]]) -> None:
        if answers:
            self._asked("put_many", [SavedAnswer.of(request, answer).to_json() for request, answer in answers])

    def claim_many(self, keys: Iterable[str]) -> set[str]:
        wanted = list(keys)
        return set(self._asked("claim_many", wanted)) if wanted else set()

    def release_many(self, keys: Iterable[str]) -> None:
        wanted = list(keys)
        if wanted:
            self._asked("release_many", wanted)

    def close(self) -> None:
        """Nothing is held here: the controller frees what is still claimed when the worker ends."""

    def _asked(self, what: str, about: Any) -> Any:
        try:
            with self._lock:
                self._channel.send(compact([what, about]))
                answer = json.loads(self._channel.receive(LONGEST_WAIT_S))
        except Exception as error:  # noqa: BLE001 - what execnet raises shares no base
            raise StoreError(f"the controller's store of answers gave no answer: {error!r}") from None
        if "error" in answer:
            raise StoreError(answer["error"])
        return answer["found"]


class AnswersDesk:
    """In the controller: serves the workers on other machines from the one store, a call at a time.

    A claim belongs to one of them: what one is buying, another waits for, and a worker that ends frees its own.
    """

    def __init__(self, store: ResponseStore) -> None:
        self._store = store
        self._holders: dict[str, str] = {}  # key → the worker that buys it
        self._lock = threading.Lock()  # each worker's connection has a thread of its own

    def serve(self, worker: str, channel: Channel, message: str | None) -> None:
        """Answers one message. None: the worker has ended."""
        with self._lock:
            try:
                if message is None:
                    self._release_many(worker, [key for key, holder in self._holders.items() if holder == worker])
                    return
                what, about = json.loads(message)
                answer = {"found": getattr(self, f"_{what}")(worker, about)}
            except StoreError as error:
                answer = {"error": str(error)}
        if message is not None:
            channel.send(compact(answer))

    def close(self) -> list[str]:
        """Ends the service; what there is to warn of."""
        with self._lock:
            self._store.close()
            return self._store.warnings

    def _get_many(self, worker: str, keys: list[str]) -> dict[str, Any]:
        return {key: _to_json(answer) for key, answer in self._store.get_many(keys).items()}

    def _get_by_content(self, worker: str, content_key: str) -> Any:
        found = self._store.get_by_content(content_key)
        return None if found is None else _to_json(found)

    def _latest(self, worker: str, about: list[Any]) -> list[Any]:
        return [saved.to_json() for saved in self._store.latest(*about)]

    def _put_many(self, worker: str, answers: list[Any]) -> None:
        now = time.time()  # by one clock, whatever the worker's says: a fresh run asks what was bought since it began
        saved = [SavedAnswer.from_json(data) for data in answers]
        self._store.put_saved(replace(each, answer=replace(each.answer, created=now)) for each in saved)
        for each in saved:
            self._holders.pop(each.key, None)

    def _claim_many(self, worker: str, keys: list[str]) -> list[str]:
        free = [key for key in keys if self._holders.get(key, worker) == worker]
        ours = self._store.claim_many(free)
        self._holders.update(dict.fromkeys(ours, worker))
        return sorted(ours)

    def _release_many(self, worker: str, keys: list[str]) -> None:
        held = [key for key in keys if self._holders.get(key) == worker]
        self._store.release_many(held)
        for key in held:
            del self._holders[key]


def _to_json(answer: StoredAnswer) -> dict[str, Any]:
    return {
        "completion": answer.completion.to_json(),
        "cost": None if answer.cost is None else str(answer.cost),
        "latency_s": answer.latency_s,
        "created": answer.created,
    }


def _from_json(data: dict[str, Any]) -> StoredAnswer:
    cost = data["cost"]
    return StoredAnswer(
        Completion.from_json(data["completion"]),
        None if cost is None else Decimal(cost),
        data["latency_s"],
        data["created"],
    )
