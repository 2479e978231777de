from __future__ import annotations

import shlex
import subprocess
import sys
from typing import TYPE_CHECKING

import httpx

from wireproof.targets.launch import LOCAL
from wireproof.targets.unready_instance import MUTE, unready_instance

if TYPE_CHECKING:
    from pathlib import Path

SHOW = """
import http.server, os, sys
class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        body = f"{os.environ['CODEX_BIN']} {os.environ['NAME']}".encode()
        self.send_response(503)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
http.server.HTTPServer(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()
"""


def test_a_twin_is_the_same_command_with_a_backend_that_is_mute(tmp_path: Path) -> None:
    script = tmp_path / "proxy.py"
    script.write_text(SHOW)
    command = shlex.join([sys.executable, str(script)]) + " {port}"
    with unready_instance(command, env={"NAME": "unready"}, url=LOCAL) as base_url:
        assert base_url is not None
        backend, name = httpx.get(f"{base_url}/models", trust_env=False).text.split()
        with open(backend, encoding="utf-8") as file:  # noqa: PTH123 (a path that another process wrote)
            assert file.read() == MUTE
    assert name == "unready"


def test_a_proxy_that_does_not_start_without_its_backend_has_no_twin() -> None:
    with unready_instance(shlex.join([sys.executable, "-c", "raise SystemExit(1)"]), env={}, url=LOCAL) as base_url:
        assert base_url is None


def test_at_a_fixed_port_there_is_no_room_for_a_twin() -> None:
    with unready_instance("no-such-command", env={}, url="http://127.0.0.1:8787/v1") as base_url:
        assert base_url is None


def test_the_mute_backend_says_nothing_until_its_input_ends(tmp_path: Path) -> None:
    backend = tmp_path / "mute"
    backend.write_text(MUTE)
    said = subprocess.run(["/bin/sh", str(backend), "app-server"], input=b"{}\n", capture_output=True, check=True)
    assert (said.stdout, said.stderr) == (b"", b"")
