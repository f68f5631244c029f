"""How the memory of a run grows with its cases: outputs of 10 kB each, 2,000 cases and ten times as many.

What is in memory per case must not be the output: it goes to the journal, and from there to the report, as a stream.

Usage: python benchmarks/memory.py [CASES [CHARACTERS]]     prints the peaks; the exit code is 1 where ten times the
                                                            cases take more than twice the memory
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

CASES = 2_000
CHARACTERS = 10_000
LIMIT = 2.0

BOT = """
def answer(case):
    return f"{case.id} " + "x" * CHARACTERS
"""
EVAL = """
golden_set: rows.csv
target: {python: "bot:answer"}
criteria: [{name: begins, type: text_check, contains: "{{ id }}"}]
"""


def peak(cases: int, characters: int) -> tuple[float, int]:
    """The peak memory of a whole run (MB, of its largest process), and the bytes of its report."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "bot.py").write_text(f"CHARACTERS = {characters}\n{BOT}")
        (folder / "long.eval.yaml").write_text(EVAL)
        (folder / "rows.csv").write_text("id,n\n" + "".join(f"case-{n:06},{n}\n" for n in range(cases)))
        (folder / "pytest.ini").write_text("[pytest]\npythonpath = .\n")
        report = folder / "report.json"
        command = [sys.executable, "-m", "pytest", "-p", "verica", "--verica", "-q", f"--verica-report={report}"]
        environment = {**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
        code = "import resource, subprocess, sys; done = subprocess.run(sys.argv[1:], stdout=sys.stderr);"
        code += "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss, done.returncode)"
        done = subprocess.run(
            [sys.executable, "-c", code, *command],
            cwd=folder,
            env=environment,
            capture_output=True,
            text=True,
            check=True,
        )
        kilobytes, exit_code = map(int, done.stdout.split())
        if exit_code != 0:
            raise SystemExit(f"the run failed:\n{done.stderr[-3000:]}")
        assert _cases_in(report) == cases
        return kilobytes / 1024, report.stat().st_size


def _cases_in(report: Path) -> int:
    """Valid JSON, with every case."""
    with report.open(encoding="utf-8") as file:
        return sum(len(each["cases"]) for each in json.load(file)["evals"])


def main() -> int:
    few = int(sys.argv[1]) if len(sys.argv) > 1 else CASES
    characters = int(sys.argv[2]) if len(sys.argv) > 2 else CHARACTERS
    small, _ = peak(few, characters)
    large, size = peak(10 * few, characters)
    print(f"{few:,} cases: {small:.0f} MB; {10 * few:,} cases: {large:.0f} MB, whose report has {size / 1e6:.0f} MB")
    print(f"ratio {large / small:.2f}, {LIMIT:g} at most")
    return int(large / small > LIMIT)


if __name__ == "__main__":
    sys.exit(main())
