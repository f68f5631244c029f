"""The jobs: what is run against what, and which figure of it has a limit."""

from __future__ import annotations

import shutil
import statistics
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib.metadata import entry_points
from pathlib import Path
from tempfile import TemporaryDirectory

import suites
from measure import Figures, Side, in_rounds
from provider import Provider

HERE = Path(__file__).resolve().parent
QUIET_PEERS = {
    "DEEPEVAL_TELEMETRY_OPT_OUT": "YES",
    "DEEPEVAL_UPDATE_WARNING_OPT_IN": "NO",
    "DEEPEVAL_NO_INSPECT_PROMPT": "1",
    "DEEPEVAL_DISABLE_DOTENV": "1",
    "ERROR_REPORTING": "NO",
    "DO_NOT_TRACK": "1",
    "OTEL_SDK_DISABLED": "true",
}
CALLS_PER_CASE = 3
VERDICTS_PER_CASE = 4


@dataclass(frozen=True)
class Finding:
    """A figure of a job. value: a median over the rounds; limit: what it may be at most, None where it is told only."""

    job: str
    figure: str
    value: float
    unit: str = "×"
    limit: float | None = None

    @property
    def holds(self) -> bool:
        return self.limit is None or self.value <= self.limit


@dataclass(frozen=True)
class Plan:
    """What was asked for. rounds: None where each job takes its own number; cases: None where the job's own;
    deepeval: a Python that has it."""

    rounds: int | None = None
    cases: int | None = None
    deepeval: Path | None = None
    told: Callable[[str], object] = print
    runs: list[tuple[str, list[dict[str, Figures]]]] = field(default_factory=list)

    def run(self, job: str, sides: Sequence[Side], rounds: int) -> Rounds:
        self.told(f"{job}: {' against '.join(side.name for side in sides)}")
        found = in_rounds(sides, self.rounds or rounds, self.told)
        self.runs.append((job, found))
        return Rounds(job, found)


@dataclass(frozen=True)
class Rounds:
    """The rounds of one job."""

    job: str
    found: list[dict[str, Figures]]

    def ratio(self, what: str, side: str, floor: str, limit: float | None = None, note: str = "") -> Finding:
        """The median of the ratios inside each round. what: wall_s, cpu_s or peak_mb."""
        ratios = [getattr(one[side], what) / getattr(one[floor], what) for one in self.found]
        figure = f"{_WORDS[what]}, {side} / {floor}{note}"
        return Finding(self.job, figure, statistics.median(ratios), "×", limit)

    def median(self, what: str, side: str, unit: str, limit: float | None = None, *, per: float = 1) -> Finding:
        value = statistics.median(getattr(one[side], what) / per for one in self.found)
        return Finding(self.job, f"{_WORDS[what]}, {side}", value, unit, limit)


_WORDS = {"wall_s": "wall", "cpu_s": "CPU", "peak_mb": "peak memory"}
Job = Callable[[Plan], Iterator[Finding]]


def reference(plan: Plan) -> Iterator[Finding]:
    """1,000 cases: a sample, two judges, two plain checks each; every call takes 200 ms."""
    cases = plan.cases or 1000
    with _folder() as folder, Provider(latency_ms=200) as provider:
        suites.reference(folder, provider.url, cases)
        for concurrency in (64, 256):
            sides = _reference_sides(plan, folder, provider, cases, concurrency)
            rounds = plan.run(f"reference, {concurrency} in flight", sides, 3)
            yield rounds.ratio("wall_s", "verica", "aiohttp", 1.15 if concurrency == 64 else 1.7)
            yield rounds.median("wall_s", "verica", "s")
            if concurrency == 64:
                calls = cases * CALLS_PER_CASE
                yield rounds.median("cpu_s", "verica", "ms a call", 2.2, per=calls / 1000)
                yield rounds.median("peak_mb", "verica", "MB", 150)
            if "deepeval" in rounds.found[0]:
                yield rounds.ratio("wall_s", "verica", "deepeval", 0.65)
                yield rounds.ratio("cpu_s", "verica", "deepeval")


def _reference_sides(plan: Plan, folder: Path, provider: Provider, cases: int, concurrency: int) -> list[Side]:
    rows = [provider.url, str(concurrency), "rows.jsonl"]
    passed = f"{cases * VERDICTS_PER_CASE} of {cases * VERDICTS_PER_CASE}"

    def check(printed: str) -> None:
        provider.expect(cases * CALLS_PER_CASE)
        assert passed in printed, printed[-2000:]

    def fresh() -> None:
        provider.reset()
        shutil.rmtree(folder / ".verica", ignore_errors=True)

    client = [sys.executable, str(HERE / "bare_client.py"), *rows]
    verica = _pytest("--verica", "--verica-no-preflight", f"--verica-concurrency={concurrency}")
    sides = [
        Side("aiohttp", client, folder, before=fresh, check=check),
        Side("verica", verica, folder, before=fresh, check=check),
    ]
    if plan.deepeval is not None and concurrency == 64:
        job = [str(plan.deepeval), str(HERE / "deepeval_job.py"), *rows]
        environment = {**QUIET_PEERS, "OPENAI_API_KEY": "none"}
        peer_check = _prints(f"{cases} rows", lambda: provider.expect(cases * CALLS_PER_CASE))
        sides.append(Side("deepeval", job, folder, environment, fresh, check=peer_check))
    return sides


def deterministic(plan: Plan) -> Iterator[Finding]:
    """10,000 cases with three checks over a column: 30,000 verdict items against 10,000 items with three asserts."""
    cases = plan.cases or 10_000
    with _folder() as ours, _folder() as plain:
        suites.deterministic(ours, cases)
        suites.asserts(plain, cases)
        sides = [
            Side("asserts", _pytest("-p", "no:verica"), plain, check=_prints(f"{cases} passed")),
            _verica(ours, "--verica", check=_prints(f"{3 * cases} passed")),
        ]
        rounds = plan.run("deterministic", sides, 3)
        yield rounds.ratio("wall_s", "verica", "asserts", 1.15)
        yield rounds.ratio("cpu_s", "verica", "asserts")
        yield rounds.ratio("peak_mb", "verica", "asserts", 1.6)
        yield rounds.median("wall_s", "verica", "s")


def idle(plan: Plan) -> Iterator[Finding]:
    """A plain suite with the plugin installed, and without it."""
    for name, modules, tests, limit in (("one test", 1, 1, 1.03), ("2,000 tests", 20, 100, None)):
        with _folder() as folder:
            suites.trivial(folder, modules, tests)
            passed = _prints(f"{modules * tests} passed")
            sides = [
                Side("without", _pytest("-p", "no:verica"), folder, check=passed),
                Side("installed", _pytest(), folder, check=passed),
            ]
            rounds = plan.run(f"idle, {name}", sides, 25 if limit else 5)
            yield rounds.ratio("wall_s", "installed", "without", limit)
            yield rounds.ratio("cpu_s", "installed", "without")


def start(plan: Plan) -> Iterator[Finding]:
    """One case whose answer is stored, against pytest with one test."""
    with _folder() as ours, _folder() as plain, Provider(latency_ms=0) as provider:
        suites.one_case(ours, provider.url)
        suites.trivial(plain, 1, 1)
        sides = [
            Side("bare", _pytest("-p", "no:verica"), plain, check=_prints("1 passed")),
            # Not emptied before each run: the first one, which is not counted, buys the answer.
            Side(
                "verica",
                _pytest("--verica", "--verica-no-preflight"),
                ours,
                check=_prints("2 passed", lambda: provider.expect(1)),
            ),
        ]
        rounds = plan.run("start", sides, 9)
        yield rounds.ratio("wall_s", "verica", "bare", 2.0)
        yield rounds.median("wall_s", "verica", "s")


def growth(plan: Plan) -> Iterator[Finding]:
    """Ten times the cases."""
    few = (plan.cases or 10_000) // 10
    with _folder() as small, _folder() as large:
        suites.deterministic(small, few)
        suites.deterministic(large, 10 * few)
        sides = [
            _verica(small, "--verica", name="few", check=_prints(f"{3 * few} passed")),
            _verica(large, "--verica", name="many", check=_prints(f"{30 * few} passed")),
        ]
        rounds = plan.run(f"growth, {few:,} to {10 * few:,} cases", sides, 3)
        yield rounds.ratio("wall_s", "many", "few", 11)
        yield rounds.ratio("peak_mb", "many", "few")


JOBS: dict[str, Job] = {
    "reference": reference,
    "deterministic": deterministic,
    "idle": idle,
    "start": start,
    "growth": growth,
}


def _pytest(*args: str) -> list[str]:
    """pytest with no other plugin than xdist and the product, whatever else this Python has."""
    kept = {"xdist", "xdist.looponfail", "verica"}
    others = sorted({point.name for point in entry_points(group="pytest11")} - kept)
    return [sys.executable, "-m", "pytest", *suites.QUIET, *(f"-pno:{name}" for name in others), *args]


def _verica(folder: Path, *args: str, check: Callable[[str], object], name: str = "verica") -> Side:
    def fresh() -> None:
        shutil.rmtree(folder / ".verica", ignore_errors=True)

    return Side(name, _pytest(*args), folder, before=fresh, check=check)


def _prints(words: str, then: Callable[[], object] = lambda: None) -> Callable[[str], None]:
    def check(printed: str) -> None:
        assert words in printed, f"{words!r} was expected: {printed[-2000:]}"
        then()

    return check


@contextmanager
def _folder() -> Iterator[Path]:
    with TemporaryDirectory(prefix="verica-bench-") as name:
        folder = Path(name)
        (folder / "pytest.ini").write_text("[pytest]\n")
        yield folder
