from __future__ import annotations

import http.client
import os
import signal
import socket
import subprocess
import sys
import threading
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import pytest

from wireproof_mocks.miniatures import FAULTS
from wireproof_mocks.miniatures.__main__ import Miniatures, main

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = pytest.mark.sampled(8)

KEY = "key-of-the-test"
CODEX = str(Path(sys.executable).with_name("wireproof-codex"))


@pytest.fixture(autouse=True)
def _settings(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in list(os.environ):
        if name.startswith("PROXY_"):
            monkeypatch.delenv(name)
    monkeypatch.setenv("PROXY_PORT", "0")
    monkeypatch.setenv("PROXY_API_KEY", KEY)
    monkeypatch.setenv("CODEX_BIN", CODEX)


@contextmanager
def command(*arguments: str) -> Iterator[str]:
    """`python -m wireproof_mocks.miniatures`, and the root of its URLs."""
    words = [sys.executable, "-m", "wireproof_mocks.miniatures", *arguments]
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            line = process.stdout.readline()
            assert line.startswith("miniatures listening on http://127.0.0.1:"), process.communicate()[1]
            yield line.split()[-1].removesuffix("/v1")
        finally:
            process.terminate()
            _, error = process.communicate(timeout=20)
    assert (process.returncode, "Traceback" in error) == (0, False)


def models(url: str, key: str = KEY) -> tuple[int, str]:
    parts = urlsplit(f"{url}/v1/models")
    connection = http.client.HTTPConnection(parts.netloc, timeout=20)
    with closing(connection):
        connection.request("GET", parts.path, headers={"Authorization": f"Bearer {key}"})
        answer = connection.getresponse()
        return answer.status, answer.read().decode()


def test_one_miniature_has_its_fault() -> None:
    with command("models-without-object") as root:
        status, body = models(root)
        assert status == 200
        assert '"object": "list"' not in body
        assert '"data"' in body
        assert models(root, "wrong")[0] == 401


def test_several_names_are_one_proxy_with_all_these_faults() -> None:
    both = "models-without-object+any-key-will-do"
    with command(both) as root:
        status, body = models(root, "wrong")
        assert (status, '"object": "list"' in body) == (200, False)
    with command() as root:
        status, body = models(f"{root}/{both}", "wrong")
        assert (status, '"object": "list"' in body) == (200, False)
        assert models(f"{root}/{both}+no-such-name", "wrong")[0] == 404


def test_the_one_without_a_fault_has_none() -> None:
    with command("none") as root:
        status, body = models(root)
        assert status == 200
        assert '"object":"list"' in body.replace(" ", "")
        assert models(f"{root}/models-without-object")[0] == 404


def test_without_a_name_each_is_below_its_own_path() -> None:
    with command() as root:
        assert '"object":"list"' not in models(f"{root}/models-without-object")[1].replace(" ", "")
        assert '"object":"list"' in models(f"{root}/none")[1].replace(" ", "")
        assert '"object":"list"' in models(root)[1].replace(" ", "")
        assert models(f"{root}/any-key-will-do", "wrong")[0] == 200
        assert models(f"{root}/none", "wrong")[0] == 401
        assert models(f"{root}/no-such-name")[0] == 404


@pytest.mark.parametrize("names", [["no-such-name"], ["none", "no-role"], ["--help"]])
def test_an_unknown_name_gets_the_list(capsys: pytest.CaptureFixture[str], names: list[str]) -> None:
    assert main(names) == 2
    error = capsys.readouterr().err
    assert error == f"miniatures: give one of: none, {', '.join(FAULTS)}\n"


def test_names_are_taken_from_the_command_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["miniatures", "no-such-name"])
    assert main() == 2
    assert "give one of" in capsys.readouterr().err


def test_a_bad_setting_is_one_line(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("PROXY_KEEPALIVE_MS", "soon")
    assert main([]) == 2
    error = capsys.readouterr().err
    assert error.startswith("miniatures: PROXY_KEEPALIVE_MS")
    assert error.count("\n") == 1


def test_a_taken_address_is_one_line(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        monkeypatch.setenv("PROXY_PORT", str(taken.getsockname()[1]))
        assert main(["no-role"]) == 1
    error = capsys.readouterr().err
    assert error.startswith("miniatures: cannot listen on 127.0.0.1:")
    assert error.count("\n") == 1


@pytest.mark.parametrize("key", [KEY, None])
def test_serving_in_this_process_ends_with_the_signal(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], key: str | None
) -> None:
    if key is None:
        monkeypatch.delenv("PROXY_API_KEY")
    ready = threading.Event()
    write = sys.stdout.write

    def seen(text: str) -> int:
        if "listening on" in text:
            ready.set()
        return write(text)

    monkeypatch.setattr(sys.stdout, "write", seen)

    def stop() -> None:
        assert ready.wait(20)
        os.kill(os.getpid(), signal.SIGTERM)

    stopper = threading.Thread(target=stop)
    stopper.start()
    try:
        assert main([]) == 0
    finally:
        stopper.join()
    assert capsys.readouterr().out.startswith("miniatures listening on ")


@pytest.mark.parametrize(
    ("path", "then"),
    [
        ("/none/v1/models", "/v1/models"),
        ("/v1/models", "/v1/models"),
        ("/none", "/"),
        ("/", "/"),
        ("", ""),
        ("*", "*"),
        ("/nope/v1", "/nope/v1"),
    ],
)
def test_the_first_step_of_the_path_is_the_name(path: str, then: str) -> None:
    seen: list[str] = []

    def app(environ: Any, _: Any) -> Any:
        seen.append(environ["PATH_INFO"])
        return []

    served: Any = Miniatures(app, None, 64, threading.Event())
    assert served({"PATH_INFO": path}, None) == []
    assert seen == [then]
