"""Through `pytest --verica`: spans of traced targets and tests, traces from columns, embeddings of an endpoint."""

from __future__ import annotations

import json
import subprocess
import threading
from collections.abc import Iterator, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import ClassVar

import pytest

from tests.pytest_door.reference_eval import command, environment

pytest.importorskip("opentelemetry.sdk.trace")

SHOP = """
from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider

trace.set_tracer_provider(TracerProvider(shutdown_on_exit=False))
tracer = trace.get_tracer("shop")


def answer(question):
    with tracer.start_as_current_span("agent"):
        for word in question.split():
            with tracer.start_as_current_span(f"tool {word}", attributes={"word": word}):
                pass
    return question.upper()
"""

EVAL = """
golden_set: rows.csv
target: {python: "shop:answer"}
criteria:
  - {name: once, type: span_check, pattern: agent, count: {equals: 1}}
  - name: word
    type: span_check
    pattern: "tool *"
    attributes: {word: "{{ last }}"}
    parent: agent
    count: {equals: 1}
  - {name: sound, type: span_check, no_errors: true}
"""

MARKED = """
import pytest
from shop import answer
from pytest_verica import span_check


@pytest.mark.verica(golden_set="rows.csv", criteria=[span_check("two", pattern="tool *", count={"equals": 2})])
def test_traced(case):
    return answer(case.question)


@pytest.mark.verica(golden_set="rows.csv", criteria=[span_check("any", no_errors=True)])
def test_untraced(case):
    return case.question
"""


def run(folder: Path, *arguments: str) -> tuple[int, str]:
    done = subprocess.run(
        command("-p", "no:cacheprovider", *arguments),
        cwd=folder,
        env=environment(),
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    return done.returncode, done.stdout + done.stderr


def write(folder: Path, **files: str) -> None:
    for name, text in files.items():
        (folder / name.replace("__", ".")).write_text(text)


@pytest.mark.parametrize("arguments", [(), ("-n", "2")])
def test_a_traced_target_and_a_traced_test(tmp_path: Path, arguments: tuple[str, ...]) -> None:
    rows = "question,last\n" + "".join(f"refund q{i},q{i}\n" for i in range(8))
    write(tmp_path, shop__py=SHOP, e__eval__yaml=EVAL, rows__csv=rows, test_marked__py=MARKED)
    code, said = run(tmp_path, *arguments)
    assert code == 1, said
    # 8 rows: three criteria of the file, one of the traced test; the untraced test has no trace, and that is an error.
    assert "32 passed" in said and "8 errors" in said, said
    assert "the output has no span tree" in said


def test_a_row_without_a_trace_is_an_error(tmp_path: Path) -> None:
    tree = {"name": "agent", "children": [{"name": "llm"}]}
    rows = [
        {"answer": "a", "trace": tree},
        {"answer": "b", "trace": json.dumps([tree])},
        {"answer": "c", "trace": None},
    ]
    write(
        tmp_path,
        rows__jsonl="\n".join(map(json.dumps, rows)),
        e__eval__yaml="""
golden_set: rows.jsonl
target: {column: answer, spans: trace}
criteria: [{name: llm, type: span_check, pattern: llm, count: {equals: 1}}]
""",
    )
    code, said = run(tmp_path)
    assert code == 1 and "2 passed" in said and "1 error" in said, said


class Embeds(BaseHTTPRequestHandler):
    """An endpoint that embeds by a table: near are refund and money back (0.96). `asked`: the texts of each call."""

    vectors: Mapping[str, list[float]] = {"refund": [3, 4], "money back": [4, 3], "weather": [-3, -4]}
    asked: ClassVar[list[list[str]]] = []

    def do_POST(self) -> None:
        texts = json.loads(self.rfile.read(int(self.headers["Content-Length"])))["input"]
        self.asked.append(texts)
        data = [{"index": i, "embedding": self.vectors[text]} for i, text in enumerate(texts)]
        body = json.dumps({"data": data, "model": "embed-1", "usage": {"prompt_tokens": 4 * len(texts)}}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *arguments: object) -> None:
        return None


@pytest.fixture
def endpoint(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    monkeypatch.setenv("TEST_KEY", "k-1")
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"):
        monkeypatch.delenv(name, raising=False)
    Embeds.asked.clear()
    with ThreadingHTTPServer(("127.0.0.1", 0), Embeds) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}/v1"
        server.shutdown()
        thread.join()


def test_embeddings_are_gathered_stored_and_graded(tmp_path: Path, endpoint: str) -> None:
    write(
        tmp_path,
        rows__csv="answer,expected\nmoney back,refund\nweather,refund\nthe same,the same\nrefund,\n",
        e__eval__yaml=f"""
golden_set: rows.csv
target: {{column: answer}}
criteria:
  - name: meaning
    type: text_similarity
    expected: "{{{{ expected }}}}"
    metric: cosine
    pass_at: 0.9
    model: {{provider: openai_compatible, name: embed-1, credential: TEST_KEY, base_url: "{endpoint}"}}
""",
    )
    for _ in range(2):
        code, said = run(tmp_path, "-rs")
        assert code == 1 and "2 passed" in said and "1 failed" in said and "1 skipped" in said, said
        assert "is 0.000 (-1.000, clamped); wanted at least 0.9" in said
        # Each text once, whichever rows hold it; the second run takes them from the store.
        assert sorted(text for texts in Embeds.asked for text in texts) == ["money back", "refund", "weather"]
