"""The executable itself, on a Unix socket."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
import time
from contextlib import ExitStack, suppress
from typing import TYPE_CHECKING, Any

import pytest
from websockets.sync.client import unix_connect
from websockets.typing import Origin

from wireproof_codex.versions.version import NEWEST

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

PATIENCE = 30.0  # seconds after which a test gives up


def _command(path: Path) -> list[str]:
    return [sys.executable, "-m", "wireproof_codex", "app-server", "--listen", f"unix://{path}"]


def _answers(path: Path) -> bool:
    with socket.socket(socket.AF_UNIX) as asking, suppress(OSError):
        asking.connect(str(path))
        return True
    return False


@pytest.fixture
def listen() -> Iterator[Callable[[Path], subprocess.Popen[bytes]]]:
    """Start processes that listen at a path, and are gone at the end."""
    with ExitStack() as stack:

        def start(path: Path) -> subprocess.Popen[bytes]:
            process = stack.enter_context(subprocess.Popen(_command(path), stdin=subprocess.DEVNULL))
            stack.callback(process.kill)
            deadline = time.monotonic() + PATIENCE
            while not _answers(path):
                assert process.poll() is None
                assert time.monotonic() < deadline
                time.sleep(0.01)
            return process

        yield start


def test_clients_come_over_the_socket_which_is_gone_at_the_end(tmp_path: Path, listen: Any) -> None:
    path = tmp_path / "new" / "socket"
    process = listen(path)
    assert oct(path.stat().st_mode) == "0o140600"
    assert oct(path.parent.stat().st_mode) == "0o40700"
    with unix_connect(str(path), "ws://localhost/", origin=Origin("http://a"), open_timeout=PATIENCE) as client:
        client.send(
            json.dumps({"id": 1, "method": "initialize", "params": {"clientInfo": {"name": "x", "version": "1"}}})
        )
        assert json.loads(client.recv(PATIENCE))["result"]["userAgent"].startswith(f"x/{NEWEST.number} ")
        process.terminate()
        assert process.wait(PATIENCE) == 0
    assert not path.exists()


@pytest.mark.parametrize("said", [b'{"id":1,"method":"initialize"}\n', b"GET /readyz HTTP/1.1\r\nHost: a\r\n\r\n"])
def test_what_is_no_websocket_is_cut_off(tmp_path: Path, listen: Any, said: bytes) -> None:
    path = tmp_path / "s"
    listen(path)
    with socket.socket(socket.AF_UNIX) as asking:
        asking.settimeout(PATIENCE)
        asking.connect(str(path))
        asking.sendall(said)
        with suppress(ConnectionResetError):
            assert asking.recv(100) == b""


def _refused(path: Path) -> tuple[int, str]:
    done = subprocess.run(_command(path), capture_output=True, text=True, timeout=PATIENCE, check=False)
    return done.returncode, done.stderr


def test_a_socket_that_somebody_listens_on_is_left_alone(tmp_path: Path, listen: Any) -> None:
    path = tmp_path / "s"
    listen(path)
    assert _refused(path) == (1, f"Error: app-server control socket is already in use at {path}\n")
    assert _answers(path)


def test_what_a_killed_process_left_is_replaced(tmp_path: Path, listen: Any) -> None:
    path = tmp_path / "s"
    first = listen(path)
    first.kill()
    first.wait(PATIENCE)
    assert path.is_socket()
    listen(path)
    assert _answers(path)


def test_a_file_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "s"
    path.write_text("mine")
    assert _refused(path) == (1, f"Error: app-server control socket path exists and is not a socket: {path}\n")
    assert path.read_text() == "mine"


def test_a_place_where_no_socket_can_be_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "s").write_text("mine")
    status, refusal = _refused(tmp_path / "s" / "t")
    assert (status, refusal.count("\n")) == (2, 1)
    assert refusal.startswith("wireproof-codex: ")
