"""Long work that a page started: all outputs of a run judged again, in a thread, with its progress, to be stopped."""

from __future__ import annotations

import asyncio
import threading
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pytest_verica.calibration.alignment import align
from pytest_verica.calibration.finding import labels_for
from pytest_verica.calibration.history import remember
from pytest_verica.calibration.rejudging import Plan, Stopped, rejudge
from pytest_verica.errors import VericaError
from pytest_verica.report.figures import percent


@dataclass
class Work:
    """One evaluation. done, total: outputs; state: running, done, stopped or failed; said: what came of it."""

    root: Path
    plan: Plan
    now: str
    done: int = 0
    state: str = "running"
    said: str = ""
    _stop: threading.Event = field(default_factory=threading.Event)
    _task: asyncio.Task[None] | None = None

    @property
    def total(self) -> int:
        return self.plan.outputs

    def start(self) -> None:
        self._task = asyncio.create_task(asyncio.to_thread(self._judge))

    def stop(self) -> None:
        """Ends it at the next output; answers that were bought stay in the store."""
        self._stop.set()

    async def aclose(self) -> None:
        self.stop()
        if self._task is not None:
            await self._task

    def to_json(self) -> dict[str, Any]:
        return {"state": self.state, "done": self.done, "total": self.total, "said": self.said}

    def _judge(self) -> None:
        try:
            judged = rejudge(self.root, self.plan, progress=self._progress, stop=self._stop)
            points = remember(self.root, align(judged, labels_for(self.root, judged)), self.now)
            agreement = points[-1].agreement
            self.said = (
                f"Version {points[-1].version}: agreement {'unknown' if agreement is None else percent(agreement, 0)}"
            )
            self.state = "done"
        except Stopped:
            kept = "What was answered is kept: going on pays for the rest only."
            self.said = f"Stopped after {self.done} of {self.total}. {kept}"
            self.state = "stopped"
        except VericaError as error:
            self.said, self.state = str(error), "failed"
        except Exception as error:
            self.said, self.state = f"it ended with {type(error).__name__}: {error}", "failed"
            raise

    def _progress(self, done: int, total: int) -> None:
        self.done = done
