"""Producing the output of a case: by a prompt, a column, a callable or an HTTP endpoint."""

from __future__ import annotations

import asyncio
import contextvars
import copy
import functools
import inspect
import json
import os
import threading
import traceback
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from typing import Any

from pytest_verica.case import Case
from pytest_verica.completion import Answer
from pytest_verica.engine.callables import arguments_for, import_target
from pytest_verica.engine.environment import EnvironmentTemplate
from pytest_verica.engine.plan import Eval
from pytest_verica.engine.tracing import recorded_spans
from pytest_verica.errors import MissingPath, TargetError
from pytest_verica.evals.target import (
    ColumnTarget,
    HttpRequest,
    HttpTarget,
    PythonTarget,
    RecordTarget,
)
from pytest_verica.graders.protocol import Ask
from pytest_verica.output import Output, output_of
from pytest_verica.path import parse_path
from pytest_verica.providers.http_endpoint import HttpEndpoint
from pytest_verica.request import Request
from pytest_verica.template import Scope, compile_template, is_missing

Sampler = Callable[[Case, int, Ask], Awaitable[Output]]


def make_sampler(ready: Eval, endpoint: HttpEndpoint) -> Sampler:
    """How this eval's outputs are produced.

    Raises:
        ConfigError: a Python target cannot be imported or asks for a column that does not exist.
    """
    target = ready.config.target
    if isinstance(target, PythonTarget):
        return _python_sampler(target, ready)
    if isinstance(target, HttpTarget):
        return HttpSampler(target.http, endpoint)
    if isinstance(target, (ColumnTarget, RecordTarget)):
        return functools.partial(_sample_column, target)
    return functools.partial(_sample_prompt, ready)


async def _sample_prompt(ready: Eval, case: Case, sample: int, ask: Ask) -> Output:
    assert ready.prompt is not None and ready.model is not None
    messages = ready.prompt.render(Scope(case))
    answer = await ask(Request(ready.model, messages, ready.prompt.tools, repeat=sample))
    return _output_of_answer(answer, str(ready.model))


def _output_of_answer(answer: Answer, model: str) -> Output:
    completion = answer.completion
    return Output(
        text=completion.text if completion.text is not None else completion.refusal,
        tool_calls=completion.tool_calls,
        tool_calls_recorded=True,
        stop_reason=completion.stop_reason,
        usage=completion.usage,
        cost=answer.cost,
        cost_avoided=answer.cost_avoided,
        latency_s=answer.latency_s,
        reused=answer.reused,
        calls=answer.attempts,
        retries=max(0, answer.attempts - 1),
        reused_calls=int(answer.reused),
        unpriced=(model,) if answer.cost is None else (),
        model=completion.model,
    )


async def _sample_column(target: ColumnTarget | RecordTarget, case: Case, sample: int, ask: Ask) -> Output:
    return recorded_output(target, case)


def recorded_output(target: ColumnTarget | RecordTarget, case: Case) -> Output:
    """The output that the golden set already holds.

    Raises:
        TargetError: the cell is empty, or is not what its column should hold.
    """
    if isinstance(target, RecordTarget):
        record = _cell_json(case, target.record, "record")
        if not isinstance(record, dict):
            raise TargetError("column", f"the column {target.record!r} holds no output record (a JSON object)")
        return output_of(record, record=True)
    value = case[target.column]
    others = {part: column for part, column in target.columns().items() if part != "column"}
    if is_missing(value) and not {"tool_calls", "steps", "state"} & set(others):
        raise TargetError("column", f"the column {target.column!r} is empty: there is no output to look at")
    if not others:
        return Output(text=value) if isinstance(value, str) else output_of(value)
    parts = {part: _cell_json(case, column, part) for part, column in others.items()}
    return output_of({"text" if isinstance(value, str) or value is None else "data": value, **parts}, record=True)


def _cell_json(case: Case, column: str, part: str) -> Any:
    value = case[column]
    if not isinstance(value, str) or part == "stop_reason":
        return value
    if is_missing(value):
        return None
    try:
        return json.loads(value)
    except ValueError as error:
        raise TargetError("column", f"the column {column!r} should hold {part} as JSON: {error}", value) from None


class HttpSampler:
    """Asks an HTTP endpoint for each case."""

    def __init__(self, config: HttpRequest, endpoint: HttpEndpoint) -> None:
        self._config = config
        self._endpoint = endpoint
        self._url = EnvironmentTemplate(config.url)
        self._headers = {name: EnvironmentTemplate(text) for name, text in config.headers.items()}
        self._secrets = [os.environ[name] for name in config.environment() if os.environ.get(name)]

    async def __call__(self, case: Case, sample: int, ask: Ask) -> Output:
        config, scope = self._config, Scope(case)
        headers = {name: template.render(scope)[0] for name, template in self._headers.items()}
        url, shown = self._url.render(scope)
        body = _rendered(config.json_body, scope)
        started = asyncio.get_running_loop().time()
        answer = await self._endpoint.send(
            config.method, url, headers, body, config.timeout, shown=shown, secrets=self._secrets
        )
        latency = asyncio.get_running_loop().time() - started
        if config.output is None:
            return Output(text=answer.text, latency_s=latency, calls=1)
        try:
            value = parse_path(config.output).find(answer.json())
        except MissingPath as error:
            raise TargetError("http_path", f"the response of {shown} has {error}", answer.text[:2000]) from None
        return output_of(value, latency_s=latency, calls=1)


def _rendered(body: Any, scope: Scope) -> Any:
    if isinstance(body, str):
        return compile_template(body).value(scope)
    if isinstance(body, Mapping):
        return {key: _rendered(value, scope) for key, value in body.items()}
    if isinstance(body, list):
        return [_rendered(value, scope) for value in body]
    return body


def _python_sampler(target: PythonTarget, ready: Eval) -> Sampler:
    function = import_target(target.python, ready.base_dir)
    arguments = arguments_for(function, target.python, ready.golden.columns)

    async def sample(case: Case, index: int, ask: Ask) -> Output:
        fresh = copy.deepcopy(case)
        call = functools.partial(function, **arguments(fresh))
        with recorded_spans() as recorder:
            try:
                if inspect.iscoroutinefunction(function):
                    value = await asyncio.wait_for(call(), target.timeout)
                else:
                    value = await in_thread(call, target.timeout)
                if inspect.isawaitable(value):
                    value = await asyncio.wait_for(value, target.timeout)
            except (asyncio.TimeoutError, TimeoutError):
                message = f"{target.python} gave no answer within {target.timeout:g} s"
                raise TargetError("timeout", message) from None
            except Exception as error:  # noqa: BLE001 - whatever the user's code raises is the case's error
                detail = f"{target.python} raised {type(error).__name__}: {error}"
                raise TargetError("target_raised", detail, traceback.format_exc()) from None
        if value is None:
            raise TargetError("no_output", f"{target.python} returned nothing; return a text, a mapping or an Output")
        output = output_of(value)
        return replace(output, spans=recorder.as_json()) if output.spans is None else output

    return sample


async def in_thread(call: Callable[[], Any], timeout_s: float) -> Any:
    """Runs a blocking call off the loop, in a daemon thread: one that hangs cannot keep the process alive.

    Raises:
        TimeoutError: it took longer; the thread is left behind.
    """
    loop = asyncio.get_running_loop()
    future: asyncio.Future[Any] = loop.create_future()

    def deliver(value: Any, error: BaseException | None) -> None:
        if future.done():
            return
        if error is None:
            future.set_result(value)
        else:
            future.set_exception(error)

    def run() -> None:
        value: Any = None
        error: BaseException | None = None
        try:
            value = call()
        except StopIteration as stop:
            error = RuntimeError(f"StopIteration: {stop}")
        except BaseException as raised:  # noqa: BLE001 - it is raised again on the loop
            error = raised
        try:
            loop.call_soon_threadsafe(deliver, value, error)
        except RuntimeError:
            return  # the loop is gone: nobody waits any more

    context = contextvars.copy_context()  # the case's own, which its spans are known by
    threading.Thread(target=context.run, args=(run,), name="verica-target", daemon=True).start()
    return await asyncio.wait_for(future, timeout_s)
