from __future__ import annotations

import json
import socket
import subprocess
import sys
import threading
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

import httpx
import pytest

from wireproof_mocks.upstream.__main__ import main
from wireproof_mocks.upstream.reply import ModelReply
from wireproof_mocks.upstream.serving import serving
from wireproof_scripts.library import LIBRARY
from wireproof_scripts.steps import Gate, Hang, Open, Reflect, Say, Script

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from wireproof_endpoint.play import Output
    from wireproof_mocks.upstream.service import ModelService


def _script(name: str, *steps: Any) -> Script:
    return Script(name=name, title="", parts=(steps,))


SCRIPTS = {
    script.name: script
    for script in (
        _script("gate", Say(("a",)), Gate(timeout=60), Open("second"), Gate("never", timeout=60), Say(("b",))),
        _script("pass", Open(), Gate("second", timeout=60), Say(("second",)), Open("never")),
        _script("hang", Say(("a",)), Hang()),
        _script("turns", Reflect("turns", wait=60)),
        _script("late", Gate(timeout=0.05)),
    )
}


@pytest.fixture(scope="module")
def upstream() -> Iterator[ModelService]:
    with serving({**LIBRARY, **SCRIPTS}) as served:
        yield served


def _request(text: str) -> bytes:
    item = {"type": "message", "role": "user", "content": [{"type": "input_text", "text": text}]}
    return json.dumps({"model": "m", "stream": True, "input": [item]}).encode()


def _port(upstream: ModelService) -> int:
    return httpx.URL(upstream.url).port or 0


def _ask(upstream: ModelService, text: str) -> httpx.Response:
    return httpx.post(f"{upstream.url}/responses", content=_request(text), timeout=10)


def _text(answer: str) -> str:
    events = [json.loads(line[6:]) for line in answer.splitlines() if line.startswith("data: ")]
    return "".join(event["delta"] for event in events if event["type"] == "response.output_text.delta")


def test_an_answer_is_a_stream(upstream: ModelService) -> None:
    answer = _ask(upstream, "[[wireproof:text/hello#a]]")
    assert (answer.status_code, answer.headers["content-type"]) == (200, "text/event-stream")
    assert _text(answer.text) == "Hello, world!"
    assert answer.text.startswith("event: response.created\ndata: ")
    assert upstream.bodies[-1] == _request("[[wireproof:text/hello#a]]")


def test_errors_have_their_status_and_the_envelope(upstream: ModelService) -> None:
    for text, status in (
        ("[[wireproof:fail/rate#b]]", 429),
        ("[[wireproof:nowhere#b]]", 404),
        ("[[wireproof:fail/notice#b]]", 501),
    ):
        answer = _ask(upstream, text)
        assert (answer.status_code, answer.headers["content-type"]) == (status, "application/json")
        assert answer.json()["error"]["message"]


@pytest.mark.parametrize("method", ["GET", "POST"])
def test_there_is_one_path(upstream: ModelService, method: str) -> None:
    answer = httpx.request(method, f"{upstream.url}/models")
    assert (answer.status_code, answer.json()["error"]["message"]) == (404, "there is no /v1/models here")


def test_a_stream_that_is_cut_has_no_end(upstream: ModelService) -> None:
    answer = _ask(upstream, "[[wireproof:fail/after-text#c]]")
    assert _text(answer.text) == "Half an answer"
    assert "response.completed" not in answer.text


def test_requests_wait_for_each_other(upstream: ModelService) -> None:
    said: list[str] = []
    thread = threading.Thread(target=lambda: said.append(_text(_ask(upstream, "[[wireproof:gate#d]]").text)))
    thread.start()
    assert _text(_ask(upstream, "[[wireproof:pass#d]]").text) == "second"
    thread.join(10)
    assert said == ["ab"]


def test_silence_ends_when_its_time_has_come(upstream: ModelService) -> None:
    assert _text(_ask(upstream, "[[wireproof:late#e]]").text) == "(the gate was not opened in time)"


def test_a_client_that_leaves_ends_its_turn(upstream: ModelService) -> None:
    with httpx.stream("POST", f"{upstream.url}/responses", content=_request("[[wireproof:hang#f]]")) as answer:
        assert any("output_text.delta" in line for line in answer.iter_lines())
    reported = json.loads(_text(_ask(upstream, "[[wireproof:turns#f]]").text))
    assert reported["turns"] == [{"script": "hang", "part": 0, "state": "interrupted"}]


def test_a_client_that_disconnects_within_a_stream_ends_its_turn(upstream: ModelService) -> None:
    # A script without an end: one that is played to its end before the server sees the reset would be complete.
    body = _request("[[wireproof:text/hang#g]]")
    with socket.create_connection(("127.0.0.1", _port(upstream))) as client:
        client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\x01\x00\x00\x00\x00\x00\x00\x00")
        client.sendall(
            b"POST /v1/responses HTTP/1.1\r\nhost: localhost\r\ncontent-length: %d\r\n\r\n%b" % (len(body), body)
        )
        client.recv(10)
    reported = json.loads(_text(_ask(upstream, "[[wireproof:turns#g]]").text))
    assert reported["turns"] == [{"script": "text/hang", "part": 0, "state": "interrupted"}]


def test_a_mistake_of_ours_breaks_off_the_answer_and_is_logged(
    upstream: ModelService, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def mistaken(_: ModelReply, __: float) -> Iterator[Output]:
        raise LookupError("a mistake")

    monkeypatch.setattr(ModelReply, "outputs", mistaken)
    assert _ask(upstream, "[[wireproof:text/hello#i]]").status_code == 500
    assert "LookupError: a mistake" in caplog.text


def test_what_waits_ends_with_the_server() -> None:
    with ExitStack() as stack:
        served = stack.enter_context(serving(SCRIPTS))
        with httpx.stream("POST", f"{served.url}/responses", content=_request("[[wireproof:hang#h]]")) as answer:
            lines = answer.iter_lines()
            assert any("output_text.delta" in line for line in lines)
            stack.close()
            with pytest.raises(httpx.TransportError):
                list(lines)


def test_the_command_serves_a_users_scripts(tmp_path: Path) -> None:
    scripts = tmp_path / "scripts.yaml"
    scripts.write_text("- {name: mine, parts: [[{say: My own.}]]}")
    command = [sys.executable, "-m", "wireproof_mocks.upstream", "--scripts", str(scripts)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        url = process.stdout.readline().strip()
        try:
            answer = httpx.post(f"{url}/responses", content=_request("[[wireproof:mine#i]]"))
        finally:
            process.terminate()
        assert _text(answer.text) == "My own."
        assert process.wait(10) == 0


def test_the_command_says_what_is_wrong(capsys: pytest.CaptureFixture[str], upstream: ModelService) -> None:
    assert main(["--scripts", "/nowhere.yaml"]) == 2
    assert (
        capsys.readouterr().err
        == "python -m wireproof_mocks.upstream: /nowhere.yaml: cannot be read: No such file or directory\n"
    )
    assert main(["--port", str(_port(upstream))]) == 2
    assert "Address already in use" in capsys.readouterr().err
    with pytest.raises(SystemExit) as stopped:
        main(["--port", "65536"])
    assert stopped.value.code == 2
    assert "--port: expected a port from 0 to 65535, found 65536" in capsys.readouterr().err
