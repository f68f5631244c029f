"""The engine: one background loop that runs cases ahead of the reader, a bounded window before where it stands.

The reader (a test runner's thread) asks for one result after the other; the loop keeps calls in flight meanwhile.
"""

from __future__ import annotations

import asyncio
import contextlib
import gc
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future

from pytest_verica.case import Case
from pytest_verica.engine.caller import Caller
from pytest_verica.engine.grading import (
    CaseResult,
    failed_case,
    grade_inline,
    grade_output,
    grade_recorded,
    run_case,
)
from pytest_verica.engine.overrides import Overrides
from pytest_verica.engine.plan import Eval, Job
from pytest_verica.engine.sampling import Sampler, make_sampler
from pytest_verica.grade import GradeError
from pytest_verica.graders.protocol import Ask
from pytest_verica.output import Output
from pytest_verica.providers.http_endpoint import HttpEndpoint

Key = tuple[str, str, int]

SWITCH_S = 0.0005
"""How soon the reader lets the loop run while calls are in flight (Python's 5 ms would starve the sockets)."""
YOUNG = 10_000
"""New objects before Python looks for garbage: what hundreds of calls hold would make it look (700 do) all the time."""
GATHER_S = 0.1
GATHERED = 16
"""A reader that had to wait lets results gather, so many at the most (a quarter of a small window) or for so long: to
wake each other for every single one costs the two threads a tenth of all the work of a run."""


class _Lane:
    """The jobs whose outputs come from one endpoint, in order. unread: how many run, or ran and were not read yet."""

    def __init__(self) -> None:
        self.jobs: deque[Job] = deque()
        self.unread = 0


class Engine:
    """Runs jobs in the order they were fed, at most `window` of each endpoint beyond what was read: one that is slow
    holds no other back.

    make_caller: makes the way to the models, on the loop's thread; local_concurrency: Python and HTTP targets running
    at once. Every method is called by the one reader; the loop touches only what the lock guards.
    """

    def __init__(
        self,
        make_caller: Callable[[], Caller],
        *,
        window: int,
        local_concurrency: int,
        overrides: Overrides | None = None,
    ) -> None:
        self._make_caller = make_caller
        self._overrides = overrides or Overrides()
        self._window = window
        self._local_concurrency = local_concurrency
        self._lock = threading.Lock()
        self._lanes: dict[object, _Lane] = {}
        # Of all jobs, whether they are waiting in their lane. No sets: of 20,000 each takes three times the room.
        self._known: dict[Key, bool] = {}
        # Of the jobs that run, or ran and were not read yet, and of the one that is waited for: not of all, which
        # would take more memory than the cases do.
        self._futures: dict[Key, Future[CaseResult]] = {}
        self._came = 0  # results, while the reader lets them gather
        self._enough = max(1, min(GATHERED, window // 4))
        self._gathered = threading.Event()
        self._over: CaseResult | None = None
        self._thread: threading.Thread | None = None
        self._loop: _Loop | None = None
        self._closed = False

    @property
    def in_flight(self) -> int:
        """Model calls under way now."""
        return 0 if self._loop is None else self._loop.caller.in_flight

    @property
    def warnings(self) -> list[str]:
        """What a person should know of the store; whole after `close`."""
        return [] if self._loop is None else self._loop.caller.warnings

    @property
    def broken(self) -> str | None:
        """Why nothing can be bought any more (a full disk, say); None while it can."""
        error = None if self._loop is None else self._loop.caller.broken
        return None if error is None else str(error)

    def feed(self, jobs: Iterable[Job]) -> None:
        """Adds jobs that will be asked for, in that order. One that is known already is not run twice."""
        fresh = [job for job in jobs if job.key not in self._known and not job.eval.offline]
        if not fresh or self._closed:
            return
        with self._lock:
            for job in fresh:
                self._lane(job).jobs.append(job)
                self._known[job.key] = True
        self._running_loop().poke()

    def result(self, job: Job) -> CaseResult:
        """What became of a job; waits for it. It is handed out once, and the window moves on."""
        if job.eval.offline:
            return grade_recorded(job, self._overrides)
        key = job.key
        if not self._pending(key):
            self.forget(job)
            self.feed([job])
        if self._closed:
            return failed_case(job, GradeError("stopped", "the run was stopped before this case was done"))
        with self._lock:
            future = self._future(key)
            lane = self._lane(job)
            waits = self._known.get(key, False)
            opens = waits or lane.unread >= self._window
            lane.unread -= 1  # before the wait: what is waited for must not be kept out by the window
            if waits and lane.jobs[0].key != key:
                queued = next(waiting for waiting in lane.jobs if waiting.key == key)
                lane.jobs.remove(queued)
                lane.jobs.appendleft(queued)
        loop = self._running_loop()
        if opens:
            loop.poke()
        if not future.done():
            future.result()
            self._gather(lane)
        with self._lock:
            del self._futures[key]
        return future.result()

    def _gather(self, lane: _Lane) -> None:
        with self._lock:
            there = sum(future.done() for future in self._futures.values())
            if lane.unread - there < self._enough:  # too few are to come
                return
            self._came = 0
            self._gathered.clear()
        self._gathered.wait(GATHER_S)

    def forget(self, job: Job) -> None:
        """Lets a job be run again (a rerun asked for it); stored answers are still reused."""
        with self._lock:
            self._known.pop(job.key, None)

    def grade(self, job: Job, output: Output) -> CaseResult:
        """Grades an output that the reader already has."""
        if all(criterion.kind.runs == "inline" for criterion in job.criteria):
            return grade_inline(job, output, self._overrides)
        return self._running_loop().run(job, output)

    def close(self) -> None:
        """Stops the window and every call at once. Safe to call twice."""
        self._closed = True
        if self._loop is not None:
            self._loop.stop()
        if self._thread is not None:
            self._thread.join(timeout=10)

    def _running_loop(self) -> _Loop:
        if self._loop is None:
            ready = threading.Event()
            loop = _Loop(self._make_caller, self._next, self._deliver, self._local_concurrency, self._overrides)
            run = threading.Thread(target=loop.main, args=(ready,), name="verica-engine", daemon=True)
            run.start()
            ready.wait()
            self._thread = run
            self._loop = loop
        self._loop.raise_crash()
        return self._loop

    def _lane(self, job: Job) -> _Lane:
        model = job.eval.model
        return self._lanes.setdefault(None if model is None else model.endpoint, _Lane())

    def _pending(self, key: Key) -> bool:
        with self._lock:
            return self._known.get(key, False) or key in self._futures

    def _future(self, key: Key) -> Future[CaseResult]:
        """Where the result of a job will be; the lock is held."""
        future = self._futures.get(key)
        if future is None:
            future = self._futures[key] = Future()
            if self._over is not None:
                future.set_result(self._over)
        return future

    def _next(self) -> Job | None:
        """The next job that its window lets in; called by the loop."""
        with self._lock:
            for lane in self._lanes.values():
                if lane.jobs and lane.unread < self._window:
                    lane.unread += 1
                    job = lane.jobs.popleft()
                    self._known[job.key] = False
                    self._future(job.key)
                    return job
        return None

    def _deliver(self, job: Job | None, result: CaseResult) -> None:
        """Hands a result to the reader; without a job, to every job that has none yet. Called by the loop."""
        with self._lock:
            if job is None:
                self._over = result
            futures = list(self._futures.values()) if job is None else [self._futures[job.key]]
            self._came += 1
            enough = job is None or self._came == self._enough
        for future in futures:
            if not future.done():
                future.set_result(result)
        if enough:
            self._gathered.set()


@contextlib.contextmanager
def _attending_to_calls() -> Iterator[None]:
    """The interpreter's settings for hundreds of calls at once; then they are again what they were."""
    interval, thresholds = sys.getswitchinterval(), gc.get_threshold()
    sys.setswitchinterval(SWITCH_S)
    if 0 < thresholds[0] < YOUNG:
        gc.set_threshold(YOUNG, *thresholds[1:])
    try:
        yield
    finally:
        sys.setswitchinterval(interval)
        gc.set_threshold(*thresholds)


class _Loop:
    """What lives on the background thread."""

    def __init__(
        self,
        make_caller: Callable[[], Caller],
        next_job: Callable[[], Job | None],
        deliver: Callable[[Job | None, CaseResult], None],
        local_concurrency: int,
        overrides: Overrides,
    ) -> None:
        self._overrides = overrides
        self._make_caller = make_caller
        self._next_job = next_job
        self._deliver = deliver
        self._local_concurrency = local_concurrency
        self._samplers: dict[str, Sampler] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._crash: BaseException | None = None
        self.caller: Caller

    def main(self, ready: threading.Event) -> None:
        try:
            with _attending_to_calls():
                asyncio.run(self._main(ready))
        except BaseException as error:  # noqa: BLE001 - it is raised again where a result is asked for
            self._crash = error
        finally:
            why = "the run was stopped" if self._crash is None else f"the engine stopped: {self._crash!r}"
            self._deliver(None, CaseResult(None, GradeError("stopped", why)))
            ready.set()

    async def _main(self, ready: threading.Event) -> None:
        self._loop = asyncio.get_running_loop()
        self._stop = asyncio.Event()
        self._local = asyncio.Semaphore(self._local_concurrency)
        self._endpoint = HttpEndpoint()
        self.caller = self._make_caller()
        ready.set()
        try:
            await self._stop.wait()
        finally:
            for task in self._tasks:
                task.cancel()
            await asyncio.gather(*self._tasks, return_exceptions=True)
            await self.caller.aclose()
            await self._endpoint.aclose()

    def raise_crash(self) -> None:
        if self._crash is not None:
            raise RuntimeError(f"the engine stopped: {self._crash!r}") from self._crash

    def poke(self) -> None:
        """Lets the loop see that there is more to launch."""
        self._from_outside(self._launch)

    def stop(self) -> None:
        self._from_outside(lambda: self._stop.set())

    def run(self, job: Job, output: Output) -> CaseResult:
        """Grades an output on the loop and waits for it."""
        return asyncio.run_coroutine_threadsafe(self._graded(job, output), self._loop).result()

    def _from_outside(self, call: Callable[[], None]) -> None:
        with contextlib.suppress(RuntimeError):  # the loop may just have ended
            self._loop.call_soon_threadsafe(call)

    def _launch(self) -> None:
        while not self._stop.is_set() and (job := self._next_job()) is not None:
            task = asyncio.ensure_future(self._case(job))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    async def _case(self, job: Job) -> None:
        try:
            sampler = self._sampler(job.eval)
            result = await run_case(job, sampler, self.caller.ask, self._overrides)
        except asyncio.CancelledError:
            result = failed_case(job, GradeError("stopped", "the run was stopped before this case was done"))
        except Exception as error:  # noqa: BLE001 - the one case pays, with a name and a place
            result = failed_case(job, GradeError("internal", f"{type(error).__name__}: {error}"))
        self._deliver(job, result)

    async def _graded(self, job: Job, output: Output) -> CaseResult:
        return await grade_output(job, output, self.caller.ask, self._overrides)

    def _sampler(self, ready: Eval) -> Sampler:
        sampler = self._samplers.get(ready.id)
        if sampler is None:
            made = make_sampler(ready, self._endpoint)
            sampler = made if ready.model is not None else self._limited(made)
            self._samplers[ready.id] = sampler
        return sampler

    def _limited(self, sampler: Sampler) -> Sampler:
        """Python and HTTP targets have no endpoint's limiter: this is theirs."""

        async def sample(case: Case, index: int, ask: Ask) -> Output:
            async with self._local:
                return await sampler(case, index, ask)

        return sample
