"""Spans of traced Python targets: each case has its own, whatever runs at once, and an untraced target has none."""

from __future__ import annotations

import asyncio
import contextlib
import subprocess
import sys
import textwrap
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from pytest_verica.engine.engine import Engine
from pytest_verica.engine.plan import Job, make_eval
from pytest_verica.engine.sampling import in_thread
from pytest_verica.engine.tracing import recorded_spans
from pytest_verica.errors import Place
from pytest_verica.evals.config import EvalSpec
from pytest_verica.evals.document import Document
from pytest_verica.evals.load import validate_eval
from pytest_verica.golden import golden_set_from_rows
from pytest_verica.judge.registry import KINDS
from pytest_verica.output import Output
from pytest_verica.spans import read_trace

trace = pytest.importorskip("opentelemetry.trace")
sdk = pytest.importorskip("opentelemetry.sdk.trace")


class Nobody:
    """Stands in for the caller: no model is asked here."""

    in_flight = 0
    warnings: tuple[str, ...] = ()

    async def ask(self, request: Any) -> Any:
        raise AssertionError("a model was asked")

    async def aclose(self) -> None:
        return None


@pytest.fixture(scope="module", autouse=True)
def provider() -> Any:
    """OpenTelemetry has one global provider for the life of a process: it is set by the first test that needs one."""
    if not hasattr(trace.get_tracer_provider(), "add_span_processor"):
        trace.set_tracer_provider(sdk.TracerProvider(shutdown_on_exit=False))
    return trace.get_tracer_provider()


def names(spans: Any) -> list[str]:
    return [span["name"] for span in spans or []]


def traced(question: str) -> str:
    tracer = trace.get_tracer("shop")
    with (
        tracer.start_as_current_span(f"agent {question}"),
        tracer.start_as_current_span("llm", attributes={"q": question}),
    ):
        return question.upper()


TARGETS = """
import asyncio
import contextvars
import threading
import time
from concurrent.futures import ThreadPoolExecutor

from opentelemetry import context, trace

tracer = trace.get_tracer("shop")


def sync(q):
    with tracer.start_as_current_span("agent", attributes={"q": q}):
        time.sleep(0.005)
        with tracer.start_as_current_span(f"llm {q}"):
            time.sleep(0.005)
    return q


async def asynchronous(q):
    with tracer.start_as_current_span("agent", attributes={"q": q}):
        await asyncio.sleep(0.005)
        await asyncio.gather(*(step(f"tool {q}.{i}") for i in range(3)))
    return q


async def step(name):
    with tracer.start_as_current_span(name):
        await asyncio.sleep(0.002)


def in_threads(q):
    with tracer.start_as_current_span("agent", attributes={"q": q}):
        here = context.get_current()

        def work(name):
            token = context.attach(here)
            try:
                with tracer.start_as_current_span(name):
                    time.sleep(0.002)
            finally:
                context.detach(token)

        with ThreadPoolExecutor(3) as pool:
            list(pool.map(work, [f"tool {q}.{i}" for i in range(3)]))
    return q


def untraced(q):
    return q


def own_spans(q):
    with tracer.start_as_current_span("captured"):
        return {"text": q, "spans": [{"name": "own"}]}


def raising(q):
    with tracer.start_as_current_span("agent"):
        raise ValueError(q)


def unfinished(q):
    tracer.start_span("open")
    return q
"""


@pytest.fixture(scope="module")
def module(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    folder = tmp_path_factory.mktemp("targets")
    (folder / "verica_traced_shop.py").write_text(TARGETS)
    before = sys.path[:]
    yield folder
    sys.path[:] = before
    sys.modules.pop("verica_traced_shop", None)


def outputs(module: Path, target: str, questions: list[str]) -> list[Output | None]:
    value = {
        "name": "e",
        "target": {"python": f"verica_traced_shop:{target}"},
        "criteria": [{"name": "traced", "type": "span_check", "pattern": "agent", "count": {"equals": 1}}],
    }
    document = Document("e.eval.yaml", value, {(): Place("e.eval.yaml", 1)})
    config = validate_eval(value, document, {name: kind.config for name, kind in KINDS.items()})
    golden = golden_set_from_rows([{"q": question} for question in questions], "g")
    ready = make_eval(EvalSpec(config, module, document), golden, id="e", kinds=KINDS, providers={})
    jobs = [Job(ready, case, 0, ready.criteria) for case in golden]
    engine = Engine(Nobody, window=len(jobs), local_concurrency=8)  # type: ignore[arg-type]
    try:
        engine.feed(jobs)
        return [engine.result(job).output for job in jobs]
    finally:
        engine.close()


@pytest.mark.parametrize(
    ("target", "inner"),
    [("sync", ["llm {q}"]), *((t, ["tool {q}.0", "tool {q}.1", "tool {q}.2"]) for t in ("asynchronous", "in_threads"))],
)
def test_cases_that_run_at_once_have_their_own_spans(module: Path, target: str, inner: list[str]) -> None:
    questions = [f"q{i}" for i in range(24)]
    for question, output in zip(questions, outputs(module, target, questions), strict=True):
        assert output is not None and output.text == question
        found = read_trace(output.spans)
        assert sorted(span.name for span in found.spans) == sorted(["agent", *(n.format(q=question) for n in inner)])
        assert not found.orphans and len(found.roots) == 1
        assert found.roots[0].name == "agent" and found.roots[0].attribute("q") == question
        assert all(span.duration is not None for span in found.spans)


def test_an_untraced_target_has_no_spans(module: Path) -> None:
    [output] = outputs(module, "untraced", ["a"])
    assert output is not None and output.spans is None


def test_spans_that_a_target_returns_stay(module: Path) -> None:
    [output] = outputs(module, "own_spans", ["a"])
    assert output is not None and names(output.spans) == ["own"]


def test_a_target_that_raises_is_an_error_as_before(module: Path) -> None:
    assert outputs(module, "raising", ["a"]) == [None]


def test_a_span_that_is_still_open_is_counted_and_has_no_end(module: Path) -> None:
    [output] = outputs(module, "unfinished", ["a"])
    assert output is not None
    [span] = read_trace(output.spans).spans
    assert (span.name, span.end) == ("open", None) and span.start is not None


def fail_inside(tracer: Any, attributes: dict[str, Any]) -> None:
    with contextlib.suppress(ValueError), tracer.start_as_current_span("agent", attributes=attributes):
        raise ValueError("boom")


def test_what_is_recorded_is_json_and_complete() -> None:
    tracer = trace.get_tracer("shop")
    attributes = {"a": 1, "b": "x", "c": [1.5, 2.5], "d": float("nan"), "e": True}
    with recorded_spans() as recorder:
        fail_inside(tracer, attributes)
    spans = recorder.as_json()
    Output(spans=spans).to_json()
    assert spans is not None
    [span] = spans
    assert span["attributes"] == {"a": 1, "b": "x", "c": [1.5, 2.5], "d": "nan", "e": True}
    assert span["status"] == {"status_code": "ERROR", "description": "ValueError: boom"}
    assert span["events"][0]["attributes"]["exception.message"] == "boom"
    assert read_trace(spans).spans[0].status == "error"


def test_outside_a_case_nothing_is_recorded() -> None:
    with recorded_spans() as recorder:
        traced("in")
    traced("out")
    assert names(recorder.as_json()) == ["agent in", "llm"]


def test_what_starts_after_the_case_is_not_its_own() -> None:
    """A thread that a target left behind, with the case's context."""
    go, done = threading.Event(), threading.Event()

    def later() -> None:
        go.wait(10)
        traced("late")
        done.set()

    async def case() -> Any:
        with recorded_spans() as recorder:
            traced("in time")
            left = asyncio.ensure_future(in_thread(later, 10))
            await asyncio.sleep(0)
        go.set()
        await left
        return recorder

    recorder = asyncio.run(case())
    assert done.is_set() and names(recorder.as_json()) == ["agent in time", "llm"]


def test_two_cases_in_threads_of_a_pool_do_not_mix() -> None:
    def case(question: str) -> list[str]:
        with recorded_spans() as recorder:
            traced(question)
        return names(recorder.as_json())

    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(case, [f"q{i}" for i in range(64)]))
    assert found == [[f"agent q{i}", "llm"] for i in range(64)]


def test_without_opentelemetry_nothing_is_imported() -> None:
    script = """
    import sys
    from pytest_verica.engine.tracing import recorded_spans
    with recorded_spans() as recorder:
        pass
    assert recorder.as_json() is None
    assert not [name for name in sys.modules if name.startswith("opentelemetry")]
    """
    subprocess.run([sys.executable, "-c", textwrap.dedent(script)], check=True)


def test_without_a_provider_nothing_happens() -> None:
    script = """
    from opentelemetry import trace
    from pytest_verica.engine.tracing import recorded_spans
    with recorded_spans() as recorder, trace.get_tracer("x").start_as_current_span("agent"):
        pass
    assert recorder.as_json() is None
    assert not hasattr(trace.get_tracer_provider(), "add_span_processor")  # none was set on the way
    """
    subprocess.run([sys.executable, "-c", textwrap.dedent(script)], check=True)
