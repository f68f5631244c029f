"""The engine: the window, what is waited for, stopping, time limits; with a model that answers when it is told to."""

from __future__ import annotations

import asyncio
import gc
import sys
import threading
import time
from collections.abc import Callable, Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from pytest_verica.case import Case
from pytest_verica.completion import Answer, Completion
from pytest_verica.engine.engine import SWITCH_S, YOUNG, Engine
from pytest_verica.engine.overrides import Overrides
from pytest_verica.engine.plan import Eval, Job, make_eval
from pytest_verica.errors import Place, ProviderError
from pytest_verica.evals.config import EvalSpec
from pytest_verica.evals.document import Document
from pytest_verica.evals.load import validate_eval
from pytest_verica.golden import golden_set_from_rows
from pytest_verica.grade import Grade
from pytest_verica.judge.registry import KINDS
from pytest_verica.providers.registry import PROVIDERS
from pytest_verica.request import Request

MODEL = {"provider": "scripted", "name": "any:thing"}


class Gated:
    """Stands in for the caller: each question is answered when its case's gate is opened."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.open_all = False
        self.opened: set[str] = set()
        self.cancelled: list[str] = []
        self.in_flight = 0
        self.warnings: list[str] = []

    async def ask(self, request: Request) -> Answer:
        question = request.messages[-1].content or ""
        self.asked.append(question)
        self.in_flight += 1
        try:
            while not self.open_all and question not in self.opened:  # noqa: ASYNC110 - opened from another thread
                await asyncio.sleep(0.001)
        except asyncio.CancelledError:
            self.cancelled.append(question)
            raise
        finally:
            self.in_flight -= 1
        if question == "raise":
            raise ProviderError("server", "the server is on fire", raw="500", attempts=5)
        return Answer(Completion(f"re: {question}", stop_reason="stop"), Decimal("0.5"), Decimal(0), False, 1, 0.1)

    async def aclose(self) -> None:
        return None


def prepared(questions: list[str], **more: Any) -> tuple[Eval, list[Job]]:
    value = {
        "name": "e",
        "prompt": {"user": "{{ q }}"},
        "model": MODEL,
        "criteria": [{"name": "re", "type": "text_check", "contains": "re:"}],
        **more,
    }
    document = Document("e.eval.yaml", value, {(): Place("e.eval.yaml", 1)})
    config = validate_eval(value, document, {name: kind.config for name, kind in KINDS.items()})
    golden = golden_set_from_rows([{"q": question} for question in questions], "g")
    ready = make_eval(EvalSpec(config, Path.cwd(), document), golden, id="e", kinds=KINDS, providers=PROVIDERS)
    return ready, [Job(ready, case, 0, ready.criteria) for case in golden]


@pytest.fixture
def model() -> Gated:
    return Gated()


@pytest.fixture
def engine(model: Gated) -> Iterator[Engine]:
    made = Engine(lambda: model, window=3, local_concurrency=2)  # type: ignore[arg-type, return-value]
    yield made
    model.open_all = True
    made.close()


def eventually(holds: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 10
    while not holds():
        assert time.monotonic() < deadline, "it never came to hold"
        time.sleep(0.002)


@pytest.mark.parametrize(("own", "while_it_runs"), [(700, YOUNG), (0, 0), (2 * YOUNG, 2 * YOUNG)])
def test_the_interpreters_settings_are_its_own_while_it_runs(
    model: Gated, engine: Engine, request: pytest.FixtureRequest, own: int, while_it_runs: int
) -> None:
    before = gc.get_threshold()
    request.addfinalizer(lambda: gc.set_threshold(*before))
    gc.set_threshold(own, 11, 12)
    interval = sys.getswitchinterval()
    model.open_all = True
    _, [job] = prepared(["q"])
    engine.result(job)
    assert gc.get_threshold() == (while_it_runs, 11, 12)
    assert sys.getswitchinterval() == pytest.approx(SWITCH_S)
    engine.close()
    assert gc.get_threshold() == (own, 11, 12)
    assert sys.getswitchinterval() == interval


def test_runs_ahead_by_the_window_and_no_further(model: Gated, engine: Engine) -> None:
    _, jobs = prepared([f"q{i}" for i in range(9)])
    engine.feed(jobs)
    eventually(lambda: len(model.asked) == 3)
    time.sleep(0.05)
    assert model.asked == ["q0", "q1", "q2"]
    model.opened |= {"q0"}
    assert engine.result(jobs[0]).grades["re"].outcome == "pass"
    eventually(lambda: len(model.asked) == 4)
    assert model.asked == ["q0", "q1", "q2", "q3"]


def test_a_case_asked_for_out_of_order_is_not_kept_out_by_the_window(model: Gated, engine: Engine) -> None:
    _, jobs = prepared([f"q{i}" for i in range(9)])
    engine.feed(jobs)
    model.opened |= {"q8"}
    assert engine.result(jobs[8]).output.text == "re: q8"  # type: ignore[union-attr]
    assert "q7" not in model.asked


def test_a_job_is_run_once_however_often_it_is_fed(model: Gated, engine: Engine) -> None:
    model.open_all = True
    _, jobs = prepared(["a", "b"])
    engine.feed(jobs)
    engine.feed(jobs)
    assert [engine.result(job).output.text for job in jobs] == ["re: a", "re: b"]  # type: ignore[union-attr]
    assert sorted(model.asked) == ["a", "b"]


def test_a_forgotten_job_is_run_again(model: Gated, engine: Engine) -> None:
    model.open_all = True
    _, [job] = prepared(["a"])
    engine.result(job)
    engine.forget(job)
    engine.result(job)
    assert model.asked == ["a", "a"]


def test_closing_cancels_what_is_in_flight_at_once(model: Gated) -> None:
    engine = Engine(lambda: model, window=3, local_concurrency=2)  # type: ignore[arg-type, return-value]
    _, jobs = prepared([f"q{i}" for i in range(5)])
    engine.feed(jobs)
    eventually(lambda: model.in_flight == 3)
    engine.close()
    assert sorted(model.cancelled) == ["q0", "q1", "q2"]
    assert model.in_flight == 0
    assert engine.result(jobs[4]).grades["re"].error.kind == "stopped"  # type: ignore[union-attr]
    assert not [thread for thread in threading.enumerate() if thread.name == "verica-engine"]


def test_who_waits_when_the_engine_stops_gets_an_error(model: Gated) -> None:
    engine = Engine(lambda: model, window=3, local_concurrency=2)  # type: ignore[arg-type, return-value]
    _, jobs = prepared(["q"])
    engine.feed(jobs)
    eventually(lambda: model.in_flight == 1)
    threading.Timer(0.05, engine.close).start()
    result = engine.result(jobs[0])
    assert result.output is None and result.target_error.kind == "stopped"  # type: ignore[union-attr]


def test_a_failed_sample_is_an_error_of_every_criterion(model: Gated, engine: Engine) -> None:
    model.open_all = True
    criteria = [
        {"name": "plain", "type": "text_check", "contains": "re:"},
        {"name": "negated", "type": "text_check", "contains": "zzz", "negate": True},
    ]
    _, [job] = prepared(["raise"], criteria=criteria)
    result = engine.result(job)
    assert {grade.outcome for grade in result.grades.values()} == {"error"}
    assert result.target_error.kind == "server"  # type: ignore[union-attr]
    assert "the server is on fire (after 5 attempts)" in result.grades["negated"].explanation


def test_a_case_past_its_time_is_an_error_and_the_others_finish(model: Gated, engine: Engine) -> None:
    _, jobs = prepared(["slow", "quick"], timeout=0.2)
    model.opened |= {"quick"}
    engine.feed(jobs)
    slow, quick = (engine.result(job).grades["re"] for job in jobs)
    assert slow.error is not None and slow.error.kind == "timeout" and "0.2 s" in slow.explanation
    assert quick.outcome == "pass"
    assert model.cancelled == ["slow"], "its place is free again"


def test_a_crash_of_the_engine_is_told_and_nobody_waits_for_ever() -> None:
    def broken() -> Any:
        raise RuntimeError("no disk")

    engine = Engine(broken, window=3, local_concurrency=2)
    _, jobs = prepared(["q"])
    with pytest.raises(RuntimeError, match="the engine stopped: RuntimeError\\('no disk'\\)"):
        engine.feed(jobs)
    engine.close()


def test_overrides_come_before_target_and_grader(model: Gated) -> None:
    def grade(criterion: Any, case: Case, output: Any) -> Grade | None:
        return Grade.of(False, "house rules") if case["q"] == "b" else None

    overrides = Overrides(sample=lambda ready, case: "re: own" if case["q"] == "a" else None, grade=grade)
    engine = Engine(lambda: model, window=3, local_concurrency=2, overrides=overrides)  # type: ignore[arg-type, return-value]
    model.open_all = True
    _, jobs = prepared(["a", "b"])
    own, other = map(engine.result, jobs)
    engine.close()
    assert own.output is not None and own.output.text == "re: own" and own.grades["re"].passed
    assert other.grades["re"].explanation == "house rules"
    assert model.asked == ["b"]


def test_what_a_case_had_when_its_time_was_up_stands(model: Gated, engine: Engine) -> None:
    """The output and the verdicts that were paid for are not lost with the one that came too late."""
    judge = {"type": "score_model", "min": 0, "max": 1, "pass_at": 0.5, "model": MODEL}
    criteria = [
        {"name": "plain", "type": "text_check", "contains": "re:"},
        {"name": "slow", **judge, "prompt": "slow {{ output.text }}", "samples": 2},
    ]
    _, [job] = prepared(["a"], criteria=criteria, timeout=0.5)
    model.opened |= {"a"}
    result = engine.result(job)
    assert result.output is not None and result.output.cost == Decimal("0.5") and result.target_error is None
    assert result.grades["plain"].outcome == "pass"
    late = result.grades["slow"]
    assert late.error is not None and late.error.kind == "timeout" and "0.5 s" in late.explanation


def test_a_judge_cut_short_tells_what_it_paid(model: Gated, engine: Engine) -> None:
    judge = {"type": "score_model", "min": 0, "max": 1, "pass_at": 0.5, "model": MODEL, "prompt": "{{ output.text }}"}
    _, [job] = prepared(["a"], criteria=[{"name": "good", **judge}], timeout=0.4)
    model.opened |= {"a", "re: a"}  # its first answer is no verdict: it is asked again, and that is not answered
    grade = engine.result(job).grades["good"]
    assert grade.error is not None and grade.error.kind == "timeout"
    assert (grade.cost, grade.calls) == (Decimal("0.5"), 1)


def test_an_endpoint_that_does_not_answer_holds_no_other_back(model: Gated, engine: Engine) -> None:
    _, silent = prepared([f"s{i}" for i in range(9)])
    other_model = {**MODEL, "base_url": "http://other"}
    _, other = prepared([f"o{i}" for i in range(9)], model=other_model, name="other")
    other = [Job(job.eval, job.case, 1, job.criteria) for job in other]  # the two evals share an id here
    engine.feed(silent)
    engine.feed(other)
    eventually(lambda: len(model.asked) == 6)
    assert sorted(model.asked) == ["o0", "o1", "o2", "s0", "s1", "s2"]
