"""Runs the benchmarks and prints each figure beside its limit.

python benchmarks/run.py [reference|deterministic|idle|start|growth|all] [--rounds N] [--deepeval PYTHON]
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import os
import platform
import sys
import time
from importlib.metadata import version
from pathlib import Path

from jobs import JOBS, Finding, Plan
from measure import Failed

RESULTS = Path(__file__).resolve().parent / "results"


def main() -> int:
    parser = argparse.ArgumentParser(description="Ratios to floors that are measured in the same run.")
    parser.add_argument("jobs", nargs="*", metavar="JOB", default=["all"], help=f"{', '.join(JOBS)}, or all (default)")
    parser.add_argument("--rounds", type=int, help="rounds of each job; default: the job's own number")
    parser.add_argument(
        "--cases", type=int, help="another number of cases: for trying, the limits are not meant for it"
    )
    parser.add_argument("--deepeval", type=Path, metavar="PYTHON", help="a Python that has deepeval, to compare with")
    given = parser.parse_args()
    unknown = sorted(set(given.jobs) - {*JOBS, "all"})
    if unknown:
        parser.error(f"no job {unknown[0]!r}; the jobs are {', '.join(JOBS)}, all")
    names = [name for name in JOBS if name in given.jobs or "all" in given.jobs]
    plan = Plan(given.rounds, given.cases, given.deepeval, lambda text: print(text, flush=True))
    print(_machine())
    try:
        findings = [finding for name in names for finding in JOBS[name](plan)]
    except (Failed, AssertionError) as error:
        print(f"not measured: {error}", file=sys.stderr)
        return 2
    print()
    for line in table(findings):
        print(line)
    print(f"\nevery run: {_keep(plan, findings)}")
    return 0 if all(finding.holds for finding in findings) else 1


def table(findings: list[Finding]) -> list[str]:
    rows = [("job", "figure", "median", "limit", "")]
    for finding in findings:
        limit = "" if finding.limit is None else f"≤ {finding.limit:g}"
        told = "" if finding.limit is None else "holds" if finding.holds else "OVER"
        rows.append((finding.job, finding.figure, f"{finding.value:.3g} {finding.unit}", limit, told))
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]


def _machine() -> str:
    packages = ", ".join(f"{name} {version(name)}" for name in ("pytest-verica", "pytest", "pytest-xdist", "openai"))
    load = ", ".join(f"{share:.1f}" for share in os.getloadavg())
    return f"Python {platform.python_version()}, {packages}; {os.cpu_count()} CPUs, load before {load}"


def _keep(plan: Plan, findings: list[Finding]) -> Path:
    RESULTS.mkdir(exist_ok=True)
    path = RESULTS / f"{time.strftime('%Y%m%d-%H%M%S')}.json"
    runs = [
        {"job": job, "round": number, **dataclasses.asdict(figures)}
        for job, rounds in plan.runs
        for number, one in enumerate(rounds, 1)
        for figures in one.values()
    ]
    kept = {"machine": _machine(), "findings": [dataclasses.asdict(finding) for finding in findings], "runs": runs}
    path.write_text(json.dumps(kept, indent=1, ensure_ascii=False) + "\n")
    return path


if __name__ == "__main__":
    sys.exit(main())
