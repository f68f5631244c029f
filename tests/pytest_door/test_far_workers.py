"""Workers of xdist on other machines: two servers for `--tx socket=…`, each in a network namespace of its own."""

from __future__ import annotations

import contextlib
import importlib.util
import os
import shutil
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.fake_provider import FakeProvider
from tests.pytest_door.conftest import Suite
from tests.pytest_door.reference_eval import CALLS_PER_CASE, environment, run, write_sums

pytestmark = pytest.mark.slow
CASES = 12
RELAY = """
import socket, sys, threading
path, port = sys.argv[1], int(sys.argv[2])
def pump(a, b):
    while data := a.recv(65536):
        b.sendall(data)
    b.shutdown(socket.SHUT_WR)
server = socket.create_server(("127.0.0.1", port))
print("ready", flush=True)
while True:
    near, _ = server.accept()
    far = socket.socket(socket.AF_UNIX)
    far.connect(path)
    for pair in ((near, far), (far, near)):
        threading.Thread(target=pump, args=pair, daemon=True).start()
"""
"""In a namespace: its own 127.0.0.1 leads to the provider's through a socket file, which all namespaces share."""


def ip(*words: str) -> None:
    subprocess.run(["ip", *words], check=True, capture_output=True, timeout=20)


@pytest.fixture(scope="module")
def machines() -> Iterator[list[tuple[str, str]]]:
    """Two (namespace, address there)."""
    if not (sys.platform == "linux" and os.geteuid() == 0 and shutil.which("ip")):
        pytest.skip("network namespaces need Linux, root and the command `ip`")
    found = []
    with contextlib.ExitStack() as stack:
        for number in (1, 2):
            tag = f"{os.getpid() % 10_000}{number}"
            name, net = f"verica{tag}", f"10.{os.getpid() % 250}.{number}"
            try:
                ip("netns", "add", name)
                stack.callback(ip, "netns", "del", name)
                ip("link", "add", f"vh{tag}", "type", "veth", "peer", "name", f"vn{tag}", "netns", name)
                ip("addr", "add", f"{net}.1/24", "dev", f"vh{tag}")
                ip("link", "set", f"vh{tag}", "up")
                for words in (("addr", "add", f"{net}.2/24", "dev", f"vn{tag}"), ("link", "set", f"vn{tag}", "up")):
                    ip("-n", name, *words)
                ip("-n", name, "link", "set", "lo", "up")
            except (OSError, subprocess.SubprocessError) as error:
                pytest.skip(f"no network namespaces can be made here: {error}")
            found.append((name, f"{net}.2"))
        yield found


def bridge(stack: contextlib.ExitStack, fake: FakeProvider, path: Path) -> None:
    """The provider's door behind a socket file."""
    host, port = fake.root.removeprefix("http://").split(":")
    server = socket.socket(socket.AF_UNIX)
    server.bind(str(path))
    server.listen()
    stack.callback(server.close)
    stack.callback(server.shutdown, socket.SHUT_RDWR)

    def pump(near: socket.socket, far: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while data := near.recv(65536):
                far.sendall(data)
            far.shutdown(socket.SHUT_WR)

    def serve() -> None:
        with contextlib.suppress(OSError):
            while True:
                near, _ = server.accept()
                far = socket.create_connection((host, int(port)))
                stack.callback(near.close)
                stack.callback(far.close)
                for pair in ((near, far), (far, near)):
                    threading.Thread(target=pump, args=pair, daemon=True).start()

    threading.Thread(target=serve, daemon=True).start()


def start(stack: contextlib.ExitStack, machine: str, home: Path, *words: str) -> None:
    """Starts a program on a machine, in a folder there, and waits for its first line."""
    home.mkdir(exist_ok=True)
    said = home / f"said-{Path(words[0]).name}.txt"
    with said.open("wb") as out:
        process = subprocess.Popen(
            ["ip", "netns", "exec", machine, sys.executable, "-u", *words],
            cwd=home,
            env=environment(),
            stdout=out,
            stderr=subprocess.STDOUT,
        )
    stack.callback(process.wait)
    stack.callback(process.kill)
    limit = time.monotonic() + 60
    while not said.stat().st_size and process.poll() is None and time.monotonic() < limit:
        time.sleep(0.02)
    assert said.stat().st_size and process.poll() is None, said.read_text()


def test_two_machines_give_the_run_of_one(tmp_path: Path, machines: list[tuple[str, str]]) -> None:
    server = importlib.util.find_spec("execnet.script.socketserver")
    assert server is not None and server.origin is not None
    project, alone = tmp_path / "project", tmp_path / "alone"
    project.mkdir()
    alone.mkdir()
    with FakeProvider(wrong_rate=0.2, fail_rate=0.2) as fake, contextlib.ExitStack() as stack:
        write_sums(alone, fake.url, CASES)
        wanted = run(alone)
        paid = fake.stats()["requests"]
        write_sums(project, fake.url, CASES)
        bridge(stack, fake, tmp_path / "provider.sock")
        port = fake.root.rpartition(":")[2]
        for name, address in machines:
            home = tmp_path / name
            start(stack, name, home, "-c", RELAY, str(tmp_path / "provider.sock"), port)
            start(stack, name, home, server.origin, f"{address}:8888")
        tx = ["--dist=load", *(f"--tx=socket={address}:8888" for _, address in machines), str(project)]
        found = run(project, *tx)
        assert found.code == 0, found.text
        assert fake.stats()["requests"] == 2 * paid == 2 * CASES * CALLS_PER_CASE
        assert found.verdicts == wanted.verdicts
        for part in ("pass", "fail", "na", "error", "graded", "missed", "rate", "criteria", "cost", "calls", "outputs"):
            assert found.totals[part] == wanted.totals[part], part
        # Evals and golden sets have come to both; no answer stayed there.
        for name, _ in machines:
            assert list((tmp_path / name).rglob("sums.eval.yaml"))
            assert not list((tmp_path / name).rglob("*.sqlite"))
        again = run(project, *tx)
        assert again.totals["calls"] == {"made": 0, "reused": CASES * CALLS_PER_CASE, "retried": 0}
        assert run(project).totals["calls"]["made"] == 0, "the answers are in the controller's own store"
        assert fake.stats()["requests"] == 2 * paid
        assert "Deprecat" not in found.text


def test_options_of_the_environment_travel(
    suite: Suite, monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """A worker in a folder of its own stands for another machine."""
    suite.eval(cases=[{"id": f"c{n}", "answer": "please"} for n in range(8)], gate=0.5)
    monkeypatch.setenv("VERICA_SAMPLE", "3")
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    run = suite.run("--dist=load", f"--tx=popen//chdir={elsewhere}", str(suite.path))
    assert len(run.verdicts) == 3, run.out


def test_the_tests_have_to_be_named(suite: Suite) -> None:
    suite.eval()
    run = suite.run("--dist=load", "--tx=socket=127.0.0.1:9")
    assert run.exit == 4
    assert "need the tests named by an absolute path, such as" in run.out
