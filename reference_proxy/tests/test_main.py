from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import threading
from typing import TYPE_CHECKING, Any

import pytest

from wireproof_proxy.__main__ import main

if TYPE_CHECKING:
    from reference_proxy.tests.conftest import FakeCodex, Until


@pytest.fixture(autouse=True)
def _no_environment(make_settings: object) -> None:
    """Start from nothing."""


def test_help_names_every_variable(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as raised:
        main(["--help"])
    assert raised.value.code == 0
    out = capsys.readouterr().out
    for name in ("PROXY_PORT", "PROXY_KEEPALIVE_MS", "CODEX_BIN"):
        assert name in out


def test_a_bad_setting_is_one_line_and_status_2(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PROXY_OUTPUT_MODE", "yaml")
    assert main([]) == 2
    error = capsys.readouterr().err
    assert error.startswith("wireproof-proxy: PROXY_OUTPUT_MODE: ")
    assert error.count("\n") == 1


def test_a_taken_address_is_one_line_and_status_1(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        monkeypatch.setenv("PROXY_PORT", str(taken.getsockname()[1]))
        assert main([]) == 1
    said = capsys.readouterr().err
    assert "cannot listen on 127.0.0.1:" in said
    assert said.endswith(": address already in use; name another with PROXY_PORT\n")


def test_serving_in_this_process_ends_with_the_signal(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    fake_codex: FakeCodex,
    until: Until,
    tmp_path: Any,
) -> None:
    monkeypatch.setenv("PROXY_PORT", "0")
    monkeypatch.setenv("CODEX_BIN", str(fake_codex.bin))
    monkeypatch.setenv("CODEX_HOME", str(tmp_path))

    def stop() -> None:
        until(lambda: "initialized" in fake_codex.journal, "the handshake")
        os.kill(os.getpid(), signal.SIGTERM)

    stopper = threading.Thread(target=stop)
    stopper.start()
    try:
        assert main([]) == 0
    finally:
        stopper.join()
    assert capsys.readouterr().out.startswith("wireproof-proxy listening on http://127.0.0.1:")
    with pytest.raises(ProcessLookupError):
        os.kill(fake_codex.pids[0], 0)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_the_command_prints_its_url_and_leaves_no_child_behind(
    fake_codex: FakeCodex, until: Until, number: int
) -> None:
    environment = {**os.environ, "PROXY_PORT": "0", "CODEX_BIN": str(fake_codex.bin)}
    with subprocess.Popen(
        [sys.executable, "-m", "wireproof_proxy"],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        line = process.stdout.readline()
        assert line.startswith("wireproof-proxy listening on http://127.0.0.1:")
        assert line.endswith("/v1\n")
        until(lambda: fake_codex.pids, "the backend")
        process.send_signal(number)
        out, error = process.communicate(timeout=20)
    assert (process.returncode, out) == (0, "")
    assert "Traceback" not in error
    with pytest.raises(ProcessLookupError):
        os.kill(fake_codex.pids[0], 0)
