"""A toy HTTP service, in place of yours: POST /answer with {"question": …} gives {"reply": {"text": …}}."""

from __future__ import annotations

import json
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

HOURS = {"monday": "9 to 18", "saturday": "10 to 14"}


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        day = next((day for day in HOURS if day in asked["question"].lower()), None)
        text = f"We are open from {HOURS[day]} that day." if day else "We are closed that day."
        body = json.dumps({"reply": {"text": text}}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args: object) -> None:
        """Says nothing."""


def make_server() -> ThreadingHTTPServer:
    """A server on a free port of this machine, not yet serving."""
    return ThreadingHTTPServer(("127.0.0.1", 0), Handler)
