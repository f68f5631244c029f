"""Every option, declared once. Read by the plugin's thin entry, so it imports next to nothing."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any, NamedTuple


class Option(NamedTuple):
    """One row. flag: None where there is only an ini key; kind: `flag`, `text`, `int`, `rate`, `path`, `run`,
    `seconds`, `dollars`, `list` or `pairs` (may be repeated); default: what holds where nothing is said."""

    name: str
    flag: str | None
    kind: str
    default: Any
    help: str
    metavar: str | None = None

    @property
    def ini(self) -> str:
        return "verica" if self.name == "on" else f"verica_{self.name}"

    @property
    def environment(self) -> str:
        return self.ini.upper()

    @property
    def dest(self) -> str:
        return self.ini


OPTIONS: tuple[Option, ...] = (
    Option("on", "--verica", "flag", False, "run evals: *.eval.yaml files and tests marked verica"),
    Option("report", "--verica-report", "path", None, "where to write the JSON report", "PATH"),
    Option("html", "--verica-html", "path", None, "where to write the HTML report", "PATH"),
    Option("gate", "--verica-gate", "rate", None, "one more gate, over the whole run: the pass rate to reach", "RATE"),
    Option("concurrency", "--verica-concurrency", "int", 16, "model calls in flight per endpoint", "N"),
    Option("fresh", "--verica-fresh", "flag", False, "do not reuse stored answers"),
    Option("replay", "--verica-replay", "flag", False, "stored answers only; a missing one is an error"),
    Option("strict", "--verica-strict", "flag", False, "every failing verdict fails, whatever the gates"),
    Option("shard", "--verica-shard", "text", None, "run one part of the cases, such as 2/5", "I/N"),
    Option("sample", "--verica-sample", "int", None, "run a seeded sample of N cases of each eval", "N"),
    Option("repeat", "--verica-repeat", "int", None, "samples of each case, in place of each eval's `repeat`", "N"),
    Option("model", "--verica-model", "pairs", (), "run an eval with another model", "EVAL=PROVIDER/NAME"),
    Option("criterion", "--verica-criterion", "text", None, "only criteria whose name matches", "GLOB"),
    Option("request_timeout", "--verica-request-timeout", "seconds", 120.0, "limit for one model call", "SECONDS"),
    Option(
        "baseline",
        "--verica-baseline",
        "run",
        None,
        "the earlier run that gates compare with: its number or id, `last`, a path, or `none`",
        "RUN",
    ),
    Option("reuse", "--verica-reuse", "flag", False, "take over the verdicts of evals unchanged since they passed"),
    Option("max_attempts", "--verica-max-attempts", "int", 5, "calls for one request, repeated ones included", "N"),
    Option("max_wait", "--verica-max-wait", "seconds", 60.0, "longest wait before a call is repeated", "SECONDS"),
    Option("max_cost", "--verica-max-cost", "dollars", None, "make no call that would cost more than this", "USD"),
    Option("estimate", "--verica-estimate", "flag", False, "say what calls the run would make and cost, and stop"),
    Option("no_preflight", "--verica-no-preflight", "flag", False, "do not ask the endpoints before the first call"),
    Option("prices", "--verica-prices", "path", None, "a table of prices of your own (TOML)", "PATH"),
    Option("recorded", None, "list", (), "exported answers that are looked up before the store"),
)


def add_options(parser: Any) -> None:
    """Adds every row to pytest's parser, as a flag and as an ini key."""
    group = parser.getgroup("verica", "evaluations of LLM applications (pytest-verica)")
    for option in OPTIONS:
        text = f"{option.help} (ini: {option.ini})"
        parser.addini(option.ini, option.help, type="linelist" if option.kind in ("list", "pairs") else "string")
        if option.flag is None:
            continue
        if option.kind == "flag":
            group.addoption(option.flag, dest=option.dest, action="store_true", default=None, help=text)
        else:
            action = "append" if option.kind == "pairs" else "store"
            group.addoption(
                option.flag, dest=option.dest, action=action, default=None, metavar=option.metavar, help=text
            )


WORKER_KEY = "verica"
"""Where xdist's controller puts what it tells a worker, in the worker's input."""


def environment_of(config: Any) -> Mapping[str, str]:
    """The environment that options are read from: of the controller's machine, for a worker on another one."""
    told: Mapping[str, Any] = getattr(config, "workerinput", {}).get(WORKER_KEY, {})
    return told.get("environment") or os.environ


def switched_on(config: Any) -> bool:
    """Whether evals were asked for: on the command line, else in the environment, else in the ini file."""
    switch = OPTIONS[0]
    if config.getoption(switch.dest, None):
        return True
    return is_true(environment_of(config).get(switch.environment) or str(config.getini(switch.ini) or ""))


def is_true(text: str) -> bool:
    return text.strip().lower() in ("1", "true", "yes", "on")
