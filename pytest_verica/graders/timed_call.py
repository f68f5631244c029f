"""One call of a user's function, sync or async, that may take only so long."""

from __future__ import annotations

import contextvars
import inspect
import threading
from collections.abc import Callable
from typing import Any


class TimedCall:
    """One call in a thread of its own, so that it can be given up on. result: what it returned, awaited where it can
    be; error: what it raised, None where nothing."""

    def __init__(self, call: Callable[[], Any], timeout_s: float) -> None:
        self.result: Any = None
        self.error: BaseException | None = None
        self._timeout_s = timeout_s
        # A daemon: a function that never ends must not keep the process alive.
        self._thread = threading.Thread(
            target=contextvars.copy_context().run, args=(self._run, call), name="verica-python-check", daemon=True
        )
        self._thread.start()

    def ended(self) -> bool:
        """Waits for it; False where it did not end in time and is left running."""
        self._thread.join(self._timeout_s)
        return not self._thread.is_alive()

    def _run(self, call: Callable[[], Any]) -> None:
        try:
            result = call()
            if inspect.isawaitable(result):
                import asyncio  # deferred: 30 ms, and most checks are not async

                # A little later than the thread is given up on, so that the coroutine ends too.
                result = asyncio.run(asyncio.wait_for(_awaited(result), self._timeout_s + 1))
            self.result = result
        except BaseException as error:  # noqa: BLE001 - also SystemExit: whatever ends the function is its answer
            self.error = error


async def _awaited(awaitable: Any) -> Any:
    return await awaitable
