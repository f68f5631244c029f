"""Tests marked verica: their cases and criteria as two axes of parametrization, their returned value as the output."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Generator, Mapping
from typing import Any, TypeGuard

import pytest

from pytest_verica.canonical import canonical_json
from pytest_verica.case import Case
from pytest_verica.engine.plan import load_golden
from pytest_verica.engine.tracing import recorded_spans
from pytest_verica.errors import ConfigError
from pytest_verica.evals.config import EvalSpec
from pytest_verica.evals.load import criterion_id
from pytest_verica.evals.marker import eval_from_marker
from pytest_verica.golden import GoldenSet, golden_set_from_rows
from pytest_verica.graders.configs import Configs
from pytest_verica.plugin.evals import Evals, place_of
from pytest_verica.plugin.ticket import TICKET, Ticket, ticket_of

CASE_AXIS = "_verica_case"
CRITERION_AXIS = "_verica_criterion"
ONLY_CASE = "row-0001"
_CAPTURES = "_verica_captures"


class Functions:
    """Turns marked tests into verdict items."""

    def __init__(self, evals: Evals) -> None:
        self._evals = evals
        self._specs: dict[str, EvalSpec] = {}
        self._made: dict[str, dict[str, Case]] = {}
        self._elsewhere: set[str] = set()  # tests whose cases are all in other shards

    @pytest.fixture(name=CRITERION_AXIS)
    def criterion_axis(self, request: pytest.FixtureRequest) -> Any:
        return request.param

    @pytest.fixture(name=CASE_AXIS)
    def case_axis(self, request: pytest.FixtureRequest) -> Any:
        return request.param

    @pytest.hookimpl(trylast=True)
    def pytest_generate_tests(self, metafunc: pytest.Metafunc) -> None:
        definition = metafunc.definition
        marker = definition.get_closest_marker("verica")
        if marker is None:
            return
        try:
            spec, golden = self._eval_of(metafunc, marker)
        except ConfigError as error:
            raise pytest.Collector.CollectError(str(error)) from None
        self._specs[definition.nodeid] = spec
        if golden is not None:
            self._case_axis(metafunc, golden)
        elif not getattr(metafunc, "_calls", []):
            _hidden_axis(metafunc, CASE_AXIS, [None], [ONLY_CASE])
        names = [criterion_id(c.name) for c in spec.config.criteria if self._evals.wants(c.name)]
        _hidden_axis(metafunc, CRITERION_AXIS, names, names)

    def _eval_of(self, metafunc: pytest.Metafunc, marker: pytest.Mark) -> tuple[EvalSpec, GoldenSet | None]:
        definition = metafunc.definition
        spec = eval_from_marker(
            marker.args,
            marker.kwargs,
            test=definition.nodeid,
            place=place_of(definition),
            base_dir=definition.path.parent,
            kinds=Configs(self._evals.kinds),
        )
        if spec.config.golden_set is None:
            return spec, None
        golden = load_golden(spec)
        if not getattr(metafunc, "_calls", []):
            # With parameters of the test's own beside it, the cases are known only when all are combined.
            self._evals.add(spec, golden, definition.nodeid, test=metafunc.function)
        return spec, golden

    def _case_axis(self, metafunc: pytest.Metafunc, golden: GoldenSet) -> None:
        cases = self._evals.narrowed(golden, self._specs[metafunc.definition.nodeid].config.name)
        if not cases:
            self._elsewhere.add(metafunc.definition.nodeid)
        ids = [case.id for case in cases]
        if "case" in metafunc.fixturenames:
            metafunc.parametrize("case", cases, ids=ids)
        else:
            _hidden_axis(metafunc, CASE_AXIS, cases, ids)

    @pytest.hookimpl(wrapper=True)
    def pytest_pycollect_makeitem(self) -> Generator[None, Any, Any]:
        """Here all verdicts of a test stand together, before node ids, `--lf` or `-k` choose among them: where its
        parameters are its golden set, this is the whole of it."""
        made = yield
        functions = [item for item in made if _is_verdict(item)] if isinstance(made, list) else []
        if not functions:
            return made
        test = _test_of(functions[0])
        if test in self._elsewhere:  # pytest makes an item of no parameters too, and skips it
            return [item for item in made if not _is_verdict(item)]
        if test not in self._evals.by_id:
            try:
                self._made[test] = self._from_parameters(test, functions)
            except ConfigError as error:
                raise pytest.Collector.CollectError(str(error)) from None
        cases = self._made.get(test)
        return made if cases is None else [item for item in made if not _is_verdict(item) or _case_id(item) in cases]

    def _from_parameters(self, test: str, functions: list[pytest.Function]) -> dict[str, Case]:
        """The golden set that a test's own parametrization is: the cases that the options leave, by what pytest calls
        their parameters."""
        rows: dict[str, dict[str, Any]] = {}
        for item in functions:
            params = item.callspec.params
            case = params.get("case", params.get(CASE_AXIS))
            of_case = case.columns if isinstance(case, Case) else {}
            own = {name: value for name, value in params.items() if value is not case or not of_case}
            rows.setdefault(_case_id(item), {**of_case, **columns_of(own)})
        named = [{**columns, "id": case_id} for case_id, columns in rows.items()]
        spec = self._specs[test]
        narrowed = spec.config.golden_set is not None  # the cases beside the parameters are what the options leave
        golden = golden_set_from_rows(named, test)
        ready = self._evals.add(spec, golden, test, test=functions[0].obj, whole=narrowed)
        left = {case.id for case in (golden if narrowed else self._evals.cases_of(ready))}
        return {name: case for name, case in zip(rows, golden, strict=True) if case.id in left}

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection_modifyitems(self, config: pytest.Config, items: list[pytest.Item]) -> None:
        elsewhere = []
        for item in items:
            if ticket_of(item) is not None:
                continue  # of an eval file
            if _is_verdict(item):
                item.stash[TICKET] = self._ticket(item)
            elif item.get_closest_marker("verica") is not None:
                raise pytest.UsageError(
                    f"{item.nodeid} is marked verica and would check nothing: the marker works on test functions and "
                    "methods of plain classes, and has to be there when they are collected"
                )
            elif "verica" in getattr(item, "fixturenames", ()) and not self._evals.in_shard(item.nodeid):
                elsewhere.append(item)
        if elsewhere:
            config.hook.pytest_deselected(items=elsewhere)
            gone = set(map(id, elsewhere))
            items[:] = [item for item in items if id(item) not in gone]

    def _ticket(self, item: pytest.Function) -> Ticket:
        test, params = _test_of(item), item.callspec.params
        ready = self._evals.by_id[test]
        made = self._made.get(test)
        case: Any = params.get("case", params.get(CASE_AXIS)) if made is None else made[_case_id(item)]
        return Ticket.of(ready, case, ready.criterion_by_id[str(params[CRITERION_AXIS])])


def _is_verdict(item: Any) -> TypeGuard[pytest.Function]:
    """Whether an item is one verdict of a marked test."""
    callspec = getattr(item, "callspec", None)
    return isinstance(item, pytest.Function) and callspec is not None and CRITERION_AXIS in callspec.params


def _hidden_axis(metafunc: pytest.Metafunc, name: str, values: list[Any], ids: list[str]) -> None:
    metafunc.fixturenames.append(name)
    metafunc.parametrize(name, values, ids=ids, indirect=True)


def _test_of(item: pytest.Function) -> str:
    """The node id of the test, without its parameters."""
    return item.nodeid.removesuffix(item.name) + item.originalname


def _case_id(item: pytest.Function) -> str:
    """The parameters of an item without its criterion."""
    criterion = item.callspec.params[CRITERION_AXIS]
    return item.callspec.id.removesuffix(f"-{criterion}")


def columns_of(params: Mapping[str, Any]) -> dict[str, Any]:
    """Parameters of a test as the columns of a case: JSON as it is, anything else as its text."""
    columns: dict[str, Any] = {}
    for name, value in params.items():
        if name in (CASE_AXIS, CRITERION_AXIS):
            continue
        try:
            canonical_json(value)
            columns[name] = value
        except (TypeError, ValueError):
            columns[name] = str(value)
    return columns


def capturing(function: Callable[..., Any], capture: Callable[[Any, Any], None]) -> Callable[..., Any]:
    """The test's function, sync or async as it was, whose returned value goes to `capture` and not to pytest, with the
    spans that it recorded (JSON, None where it is not traced). One that does so already (another plugin runs its item
    again) stays as it is."""
    if hasattr(function, _CAPTURES):
        return function
    if inspect.iscoroutinefunction(function):

        @functools.wraps(function)
        async def run_async(*args: Any, **kwargs: Any) -> None:
            with recorded_spans() as recorder:
                value = await function(*args, **kwargs)
            capture(value, recorder.as_json())

        setattr(run_async, _CAPTURES, True)
        return run_async

    @functools.wraps(function)
    def run(*args: Any, **kwargs: Any) -> None:
        with recorded_spans() as recorder:
            value = function(*args, **kwargs)
        capture(value, recorder.as_json())

    setattr(run, _CAPTURES, True)
    return run
