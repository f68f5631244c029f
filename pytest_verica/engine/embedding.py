"""Embeddings asked together: what is asked in one turn of the loop goes to its endpoint in few calls."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Sequence

from pytest_verica.canonical import canonical_json
from pytest_verica.embedding import Embedding, EmbeddingRequest
from pytest_verica.errors import ProviderError

_MOST_TEXTS = 64
_MOST_CHARACTERS = 100_000
_MAY_BE_ONE_TEXT = "bad_request"
"""The kind of error that one text (too long, say) can bring upon all of its call."""

Embedded = tuple[Embedding, int, float]
"""A vector, with the attempts and the seconds of the call that it came with. The attempts are told with one vector of
the call, so that they are counted once; the others have 0."""

_Item = tuple[EmbeddingRequest, "asyncio.Future[Embedded]"]

Call = Callable[[Sequence[EmbeddingRequest]], Awaitable["tuple[list[Embedding], int, float]"]]
"""One call with its retries: vectors in order, attempts, seconds. Raises ProviderError."""


Keep = Callable[[EmbeddingRequest, Embedding, float], None]
"""Told of a vector whose asker is gone (its case ran out of time), and of the seconds of its call: it was paid for."""


class EmbeddingBatches:
    """Gathers the texts of one model into calls. A text that its endpoint refuses takes no other with it."""

    def __init__(self, call: Call, keep: Keep) -> None:
        self._call = call
        self._keep = keep
        self._waiting: list[_Item] = []
        self._tasks: set[asyncio.Task[None]] = set()

    async def embed(self, request: EmbeddingRequest) -> Embedded:
        """Raises ProviderError."""
        loop = asyncio.get_running_loop()
        if not self._waiting:
            loop.call_soon(self._send)
        future: asyncio.Future[Embedded] = loop.create_future()
        self._waiting.append((request, future))
        return await future

    async def aclose(self) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def _send(self) -> None:
        waiting, self._waiting = self._waiting, []
        by_model: dict[str, list[_Item]] = {}
        for item in waiting:
            model = item[0].model
            by_model.setdefault(canonical_json([*model.endpoint, model.name, dict(model.params)]), []).append(item)
        for items in by_model.values():
            for part in _parts(items):
                task = asyncio.ensure_future(self._ask(part))
                self._tasks.add(task)
                task.add_done_callback(self._tasks.discard)

    async def _ask(self, items: list[_Item], before: int = 0) -> None:
        """before: calls made in vain for these texts and others together, to be told with them."""
        failure: BaseException
        try:
            vectors, attempts, seconds = await self._call([request for request, _ in items])
        except ProviderError as error:
            if len(items) > 1 and error.kind == _MAY_BE_ONE_TEXT:
                half = len(items) // 2
                before += error.attempts
                await asyncio.gather(self._ask(items[:half], before), self._ask(items[half:]))
                return
            error.attempts += before
            failure = error
        except asyncio.CancelledError:
            for _, future in items:
                future.cancel()
            raise
        except Exception as error:  # noqa: BLE001 - each that waits gets it
            failure = error
        else:
            attempts += before
            for (request, future), vector in zip(items, vectors, strict=True):
                if future.done():
                    self._keep(request, vector, seconds)
                else:
                    future.set_result((vector, attempts, seconds))
                    attempts = 0
            return
        for _, future in items:
            if not future.done():
                future.set_exception(failure)
                failure = failure.again() if isinstance(failure, ProviderError) else failure


def _parts(
    items: list[_Item],
) -> Iterator[list[_Item]]:
    """In calls of a size that every endpoint takes; a text that is too long for one goes alone."""
    part: list[_Item] = []
    size = 0
    for item in items:
        length = len(item[0].text)
        if part and (len(part) == _MOST_TEXTS or size + length > _MOST_CHARACTERS):
            yield part
            part, size = [], 0
        part.append(item)
        size += length
    if part:
        yield part
