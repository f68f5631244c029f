"""What a run's header says of where and how it was started. Reads git and the environment once, only under --verica."""

from __future__ import annotations

import datetime
import os
import platform
import subprocess
from importlib import metadata
from pathlib import Path

import pytest

from pytest_verica.canonical import text_hash
from pytest_verica.plugin.settings import Settings
from pytest_verica.run import Git, Origin, RunHeader

_CI = {
    "GITHUB_ACTIONS": ("GitHub Actions", None),
    "GITLAB_CI": ("GitLab CI", "CI_JOB_URL"),
    "JENKINS_URL": ("Jenkins", "BUILD_URL"),
    "BUILDKITE": ("Buildkite", "BUILDKITE_BUILD_URL"),
    "CIRCLECI": ("CircleCI", "CIRCLE_BUILD_URL"),
    "CI": ("CI", None),
}


def run_header(config: pytest.Config, settings: Settings, run_id: str) -> RunHeader:
    """The first line of the journal."""
    return RunHeader(
        id=run_id,
        started=datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="milliseconds"),
        origin=origin(),
        command=("pytest", *map(str, config.invocation_params.args)),
        versions={
            "pytest-verica": metadata.version("pytest-verica"),
            "pytest": pytest.__version__,
            "python": platform.python_version(),
        },
        host={"system": platform.system(), "machine": platform.machine(), "cpus": os.cpu_count()},
        git=git_state(config.rootpath),
        settings=settings.shown(),
        prices=price_hash(config, settings),
        shard=None if settings.shard is None else f"{settings.shard[0]}/{settings.shard[1]}",
    )


def price_hash(config: pytest.Config, settings: Settings) -> str | None:
    """Hash of what decides prices: the user's table and hooks, and the version of the list that is shipped."""
    try:
        table = None if settings.prices is None else settings.prices.read_text("utf-8", "surrogateescape")
        shipped = metadata.version("genai-prices")
    except (OSError, metadata.PackageNotFoundError):
        return None
    rows = [row for rows in config.hook.pytest_verica_prices() for row in rows]
    return text_hash(repr([table, shipped, rows]))


def origin() -> Origin:
    """Local, or the CI service with the address of the build."""
    for variable, (name, url) in _CI.items():
        if os.environ.get(variable):
            return Origin("ci", name, _github_url() if variable == "GITHUB_ACTIONS" else os.environ.get(url or ""))
    return Origin()


def _github_url() -> str | None:
    parts = [os.environ.get(f"GITHUB_{name}") for name in ("SERVER_URL", "REPOSITORY", "RUN_ID")]
    return f"{parts[0]}/{parts[1]}/actions/runs/{parts[2]}" if all(parts) else None


def git_state(root: Path) -> Git:
    """The commit and whether files differ from it; nothing known where git or a repository is missing."""
    status = _git(root, "status", "--porcelain=v2", "--branch", "--untracked-files=no")
    if status is None:
        return Git()
    lines = status.splitlines()
    commit = next((line.split()[-1] for line in lines if line.startswith("# branch.oid ")), None)
    dirty = any(not line.startswith("#") for line in lines)
    return Git(None if commit == "(initial)" else commit, dirty)


def _git(root: Path, *args: str) -> str | None:
    try:
        done = subprocess.run(  # noqa: S603 - fixed words, no shell
            ["git", "-C", str(root), *args],  # noqa: S607 - whichever git the user has
            capture_output=True,
            text=True,
            timeout=5,
            check=False,
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout if done.returncode == 0 else None
