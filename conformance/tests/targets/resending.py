"""A gateway that sends each request upstream twice, one after the other, and passes on the second answer."""

from __future__ import annotations

import http.client
import os
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

UPSTREAM, UPSTREAM_KEY = (os.environ[name] for name in ("UPSTREAM_HOST", "UPSTREAM_KEY"))
ITS_OWN = {"connection", "transfer-encoding", "content-length", "date", "server"}
"""Headers of one connection, which the next one writes for itself."""


class Gateway(BaseHTTPRequestHandler):
    """One request."""

    def do_GET(self) -> None:
        """Pass it on."""
        self._answer(self._ask(b""))

    def do_POST(self) -> None:
        """Send it twice."""
        body = self.rfile.read(int(self.headers["content-length"]))
        self._ask(body).read()
        self._answer(self._ask(body))

    def _ask(self, body: bytes) -> http.client.HTTPResponse:
        upstream = http.client.HTTPConnection(UPSTREAM)
        kept = {name: value for name, value in self.headers.items() if name.lower() not in {"host", "content-length"}}
        upstream.request(self.command, self.path, body, {**kept, "authorization": f"Bearer {UPSTREAM_KEY}"})
        return upstream.getresponse()

    def _answer(self, answer: http.client.HTTPResponse) -> None:
        self.send_response(answer.status)
        for name, value in answer.getheaders():
            if name.lower() not in ITS_OWN:
                self.send_header(name, value)
        # As streams must say. The end of the body is that of the connection all the same.
        self.send_header("Connection", "keep-alive")
        self.end_headers()
        while piece := answer.read1():
            self.wfile.write(piece)
        self.close_connection = True

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 (the name that it has there)
        """Nothing."""


ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Gateway).serve_forever()
