"""Before the first verdict: the estimate that was asked for, the budget's prices, a look at the endpoints."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import pytest

from pytest_verica.engine.plan import Job
from pytest_verica.errors import Problem, VericaError
from pytest_verica.plugin.notice import warn
from pytest_verica.plugin.recording import Recording
from pytest_verica.plugin.roles import Role
from pytest_verica.plugin.settings import Settings
from pytest_verica.run import PreflightRecord

if TYPE_CHECKING:
    from pytest_verica.engine.caller import Caller
    from pytest_verica.plugin.answering import Answering
    from pytest_verica.preflight.estimate import Estimate
    from pytest_verica.preflight.look import Seen
    from pytest_verica.preflight.need import Use
    from pytest_verica.request import Request
    from pytest_verica.usage import Usage

REFUSED = "verica_refused"
"""Attribute of a collection report by which a worker tells the controller that the run must not begin."""

LONGEST_LOOK_S = 60.0
_EARLIER = 200
"""Stored answers from which the tokens of new questions are learned."""


class Launch:
    """Looks at a run before it begins, in the one process that is to. Modules that this needs are loaded only then."""

    def __init__(
        self, config: pytest.Config, settings: Settings, role: Role, answering: Answering, recording: Recording
    ) -> None:
        self._config = config
        self._settings = settings
        self._role = role
        self._answering = answering
        self._recording = recording
        self.jobs: Callable[[], list[Job]] = list

    def check(self) -> None:
        """Whether the run may begin.

        Raises:
            pytest.UsageError: it may not; every reason.
        """
        settings = self._settings
        nothing_runs = settings.estimate or self._config.getoption("setuponly", False)
        if settings.replay or nothing_runs or not self._role.first:
            return
        if settings.no_preflight and settings.max_cost is None:
            return
        jobs = [job for job in self.jobs() if not job.eval.offline]
        if not any(_asks(job) for job in jobs):
            return
        try:
            problems = self._problems(jobs)
        except VericaError as error:
            problems = list(getattr(error, "problems", None) or [Problem(str(error))])
        if problems:
            self._refuse("\n".join(map(str, dict.fromkeys(problems))))

    def _problems(self, jobs: list[Job]) -> list[Problem]:
        from pytest_verica.preflight.need import needed, uses_of  # deferred: as the class says

        evals = {job.eval.id: job.eval for job in jobs}
        problems: list[Problem] = []
        if self._settings.max_cost is not None:
            problems += self._unpriced([use for ready in evals.values() for use in uses_of(ready)])
        if self._settings.no_preflight:
            return problems
        import asyncio  # deferred: 30 ms

        async def look() -> list[Problem]:
            caller = self._answering.make_caller()
            try:
                uses = await needed(jobs, caller.known, self._answering.has_answers)
                if not uses:
                    return []
                seen = await self._look(caller, uses)
                self._remember(seen)
                return seen.problems
            finally:
                await caller.aclose()

        return problems + asyncio.run(look())

    async def _look(self, caller: Caller, uses: list[Use]) -> Seen:
        from pytest_verica.preflight.look import look  # deferred: as the class says

        free = self._without_price(uses)
        if self._settings.max_cost is not None:  # that is a problem of its own already
            uses = [use for use in uses if use not in free]
        else:
            for name in dict.fromkeys(str(use.model) for use in free):
                warn(self._config, f"no price is known for {name}: its cost is in no sum; give it in verica_prices")
        within = min(LONGEST_LOOK_S, self._settings.request_timeout)
        return await look(uses, self._answering.providers, caller.endpoints, caller.ask, within_s=within)

    def _unpriced(self, uses: list[Use]) -> list[Problem]:
        """A budget cannot be kept where a price is not known."""
        message = "no price is known for {}, so --verica-max-cost cannot be kept; give its price in verica_prices"
        return [Problem(message.format(use.model), use.place) for use in self._without_price(uses)]

    def _without_price(self, uses: list[Use]) -> list[Use]:
        known = self._answering.prices.known
        return [use for use in uses if not known(use.model.provider, use.model.name, base_url=use.model.base_url)]

    def _remember(self, seen: Seen) -> None:
        from pytest_verica.graders.spending import spent  # deferred: as the class says

        probes = tuple({"model": str(model), **_json(spent(model, [answer]))} for model, answer in seen.answers)
        if probes or seen.notes:
            self._recording.begin_with(PreflightRecord(probes, tuple(seen.notes)))

    def _refuse(self, text: str) -> None:
        if self._role.reports:
            raise pytest.UsageError(text)
        report = pytest.CollectReport("verica", "failed", text, [])
        setattr(report, REFUSED, True)
        self._config.hook.pytest_collectreport(report=report)

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool | None:
        """`--verica-estimate` ends the run before it begins."""
        if not self._settings.estimate or self._config.option.collectonly:
            return None
        if session.testsfailed:
            raise session.Interrupted(f"{session.testsfailed} errors while collecting: no estimate")
        from pytest_verica.preflight.said import estimate_lines  # deferred: as the class says

        try:
            found = self._estimate()
        except VericaError as error:
            raise pytest.UsageError(str(error)) from None
        reporter = self._config.pluginmanager.get_plugin("terminalreporter")
        if reporter is not None:
            reporter.section("verica estimate", "=")
            for line in estimate_lines(found):
                reporter.write_line(line)
        return True

    def _estimate(self) -> Estimate:
        import asyncio  # deferred: 30 ms

        from pytest_verica.preflight.estimate import estimate  # deferred: as the class says

        async def rehearse() -> Estimate:
            caller = self._answering.make_caller()
            try:
                return await estimate(self.jobs(), caller.known, self._earlier, self._answering.prices)
            finally:
                await caller.aclose()

        return asyncio.run(rehearse())

    def _earlier(self, request: Request) -> Iterator[tuple[int, Usage | None]]:
        """Stored answers of the model to questions of the same kind: to judges, or not."""
        for saved in self._answering.latest(request.model, _EARLIER):
            content = saved.request
            if "messages" in content and (content.get("answer") is None) == (request.answer is None):
                characters = sum(len(message.get("content") or "") for message in content["messages"])
                yield characters, saved.answer.completion.usage


class Refusals:
    """On xdist's controller: ends the run where a worker found that it must not begin."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config

    @pytest.hookimpl(tryfirst=True)
    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if getattr(report, REFUSED, False):
            reporter = self._config.pluginmanager.get_plugin("terminalreporter")
            if reporter is not None:
                for line in str(report.longrepr).splitlines():
                    reporter.write_line(f"ERROR: {line}", red=True)
            pytest.exit("the run was not begun", returncode=pytest.ExitCode.USAGE_ERROR)


def _asks(job: Job) -> bool:
    return job.eval.model is not None or any(criterion.kind.runs == "model" for criterion in job.criteria)


def _json(spent: dict[str, Any]) -> dict[str, Any]:
    """What was spent, as it stands on a grade in the journal."""
    money = {name: None if spent[name] is None else str(spent[name]) for name in ("cost", "cost_avoided")}
    usage = spent["usage"]
    return {**spent, **money, "usage": None if usage is None else usage.to_json(), "unpriced": list(spent["unpriced"])}
