"""The fake provider of the tests as a process of its own, for as long as a job runs."""

from __future__ import annotations

import json
import subprocess
import sys
import urllib.request
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent


class Provider:
    """`with Provider(latency_ms=200) as provider: … provider.url …`; on 127.0.0.1 and a free port."""

    def __init__(self, latency_ms: float) -> None:
        self._latency_ms = latency_ms

    def __enter__(self) -> Provider:
        command = [sys.executable, "-m", "tests.fake_provider", "--port", "0", "--latency-ms", str(self._latency_ms)]
        self._process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)
        assert self._process.stdout is not None
        ready = self._process.stdout.readline().split()
        if ready[:1] != ["READY"]:
            raise RuntimeError("the fake provider did not start")
        self._root = f"http://127.0.0.1:{ready[1]}"
        return self

    def __exit__(self, *exc: object) -> None:
        self._process.terminate()
        self._process.wait(10)
        assert self._process.stdout is not None
        self._process.stdout.close()

    @property
    def url(self) -> str:
        return f"{self._root}/v1"

    def reset(self) -> None:
        self._control("/reset", b"{}")

    def expect(self, calls: int) -> None:
        """Raises AssertionError where another number of calls was made since the reset, or one was made twice."""
        stats = self._control("/stats", None)
        assert (stats["requests"], stats["bought_twice"]) == (calls, 0), stats

    def _control(self, path: str, body: bytes | None) -> Any:
        with urllib.request.urlopen(self._root + path, body, timeout=10) as reply:
            return json.load(reply)
