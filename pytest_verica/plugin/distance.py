"""xdist's workers on other machines: what has to travel to them so that they work as those on this one do."""

from __future__ import annotations

import os
import warnings
from functools import partial
from typing import Any

import pytest

from pytest_verica.plugin.distant_answers import AnswersDesk
from pytest_verica.plugin.options import OPTIONS
from pytest_verica.store.folder import answers_path
from pytest_verica.store.responses import ResponseStore


def is_far(spec: str) -> bool:
    """Whether a worker of this `--tx` works in another folder than this process: on another machine, or given one."""
    kind = spec.partition("*")[2] or spec
    return not kind.startswith("popen") or "chdir=" in kind


class FarWorkers:
    """The controller's side of them. Makes sure that the folder travels; serves its store of answers."""

    def __init__(self, config: pytest.Config) -> None:
        """Raises pytest.UsageError where no path is named: a worker would collect all that stands in its own folder."""
        self._config = config
        self._desk: AnswersDesk | None = None
        self._channels: list[Any] = []  # execnet forgets a channel that nobody holds
        self._any = any(map(is_far, config.getoption("tx", None) or ()))
        if self._any and config.args_source is not pytest.Config.ArgsSource.ARGS:
            raise pytest.UsageError(
                "workers on other machines (--tx) need the tests named by an absolute path, such as "
                f"`pytest --verica {config.rootpath} …`: none was named"
            )

    def prepare(self) -> None:
        """Before xdist starts them: where nothing is said of it, the whole rootdir travels (evals, golden sets,
        conftest.py, the ini file)."""
        option = self._config.option
        # A later xdist may not copy folders any more: then they have to be there.
        if self._any and hasattr(option, "rsyncdir") and not (option.rsyncdir or self._config.getini("rsyncdirs")):
            option.rsyncdir = [str(self._config.rootpath)]

    def told(self, node: Any) -> dict[str, Any]:
        """What a worker is told besides, where it is a far one: the environment's options, and the way to the store."""
        spec = node.gateway.spec
        if spec.popen and not spec.chdir:
            return {}
        if self._desk is None:
            self._desk = AnswersDesk(ResponseStore(answers_path(self._config.rootpath)))
        channel = node.gateway.newchannel()
        self._channels.append(channel)
        channel.setcallback(partial(self._desk.serve, str(node.gateway.id), channel), endmarker=None)
        names = {option.environment for option in OPTIONS} & os.environ.keys()
        return {"answers": channel, "environment": {"VERICA": "", **{name: os.environ[name] for name in names}}}

    def close(self) -> None:
        """Ends the service. What the store has to say is told as a warning."""
        desk, self._desk = self._desk, None
        for text in [] if desk is None else desk.close():
            message = warnings.WarningMessage(pytest.PytestWarning(text), pytest.PytestWarning, "pytest-verica", 1)
            self._config.hook.pytest_warning_recorded.call_historic(
                kwargs={"warning_message": message, "when": "runtest", "nodeid": "", "location": None}
            )
