"""Targets and machines that would break a program: no traceback, whatever comes, in any format."""

from __future__ import annotations

import json
import tempfile
from typing import TYPE_CHECKING, Any

import pytest
from click.testing import CliRunner, Result

from wireproof.cli.results import FORMATS
from wireproof.cli.root import root
from wireproof.results.certificate import ExitStatus

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from conformance.tests.conftest import TinyExchange, TinyServer

HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n"
DEEP = b"[" * 200_000 + b"]" * 200_000
LONE = "\ud800 and \udfff"
CHUNK = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": LONE}


def deep(exchange: TinyExchange) -> None:
    exchange.whole(DEEP)


def deep_inside(exchange: TinyExchange) -> None:
    exchange.whole(b'{"id": "c", "object": "chat.completion", "choices": ' + DEEP + b"}")


def deep_frame(exchange: TinyExchange) -> None:
    exchange.send(HEAD, b"data: " + DEEP + b"\n\n", b"data: [DONE]\n\n")


def deep_error(exchange: TinyExchange) -> None:
    exchange.whole(b'{"error": ' + DEEP + b"}", "400 Bad Request")


def lone_error(exchange: TinyExchange) -> None:
    exchange.whole({"error": {"message": LONE, "type": LONE, "param": None, "code": LONE}}, "400 Bad Request")


def lone_text(exchange: TinyExchange) -> None:
    choice = {"index": 0, "delta": {"role": "assistant", "content": LONE}, "finish_reason": LONE}
    exchange.send(HEAD, b"data: " + json.dumps({**CHUNK, "choices": [choice]}).encode() + b"\n\n", b"data: [DONE]\n\n")


def lone_calls(exchange: TinyExchange) -> None:
    call = {"index": 0, "id": LONE, "type": "function", "function": {"name": LONE, "arguments": f'{{"{LONE}": 1}}'}}
    choice = {"index": 0, "delta": {"tool_calls": [call]}, "finish_reason": "tool_calls"}
    exchange.send(HEAD, b"data: " + json.dumps({**CHUNK, "choices": [choice]}).encode() + b"\n\n")


def numbers(exchange: TinyExchange) -> None:
    exchange.whole(b'{"id": 1e999, "created": -0.0, "n": ' + b"9" * 5000 + b', "choices": NaN}')


def headers(exchange: TinyExchange) -> None:
    exchange.send(b"HTTP/1.1 200 \xff\xfe\r\nContent-Type: \xff\r\nX-\x80: \x1b[31m\r\nContent-Length: 2\r\n\r\n{}")


NASTY: Mapping[str, Callable[[Any], None]] = {
    one.__name__: one
    for one in (deep, deep_inside, deep_frame, deep_error, lone_error, lone_text, lone_calls, numbers, headers)
}


def wireproof(*arguments: str) -> Result:
    result = CliRunner().invoke(root, arguments)
    # click keeps what a command raised.
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result


@pytest.mark.sampled(4)
@pytest.mark.parametrize("name", NASTY)
def test_what_a_target_sends_is_reported_in_every_format(tiny: TinyServer, tmp_path: Path, name: str) -> None:
    def respond(exchange: TinyExchange) -> None:
        if exchange.method == "POST" and exchange.marker == "probe":
            exchange.answer("scripted backend")
        else:
            NASTY[name](exchange)

    tiny.respond = respond
    only = [word for name in ("text-hello", "call-one", "models") for word in ("--only", name)]
    target = ("--url", tiny.base_url, "--model", "m", "--dialect", "openai-json", "--timeout", "2")
    done = wireproof("certify", *target, *only, "--output", str(tmp_path))
    assert done.exit_code == ExitStatus.FAILED, done.output
    said = {form: wireproof("report", str(tmp_path), "--format", form) for form in FORMATS}
    assert {form: one.exit_code for form, one in said.items()} == dict.fromkeys(FORMATS, ExitStatus.FAILED)
    for one in said.values():
        assert one.stdout.encode()
    assert wireproof("judge", str(tmp_path)).exit_code == ExitStatus.FAILED


@pytest.mark.parametrize("name", NASTY)
def test_a_target_that_sends_nothing_else_is_one_line_or_judged(tiny: TinyServer, name: str) -> None:
    tiny.respond = NASTY[name]
    done = wireproof("certify", "--url", tiny.base_url, "--timeout", "2", "--only", "text-hello")
    assert done.exit_code in {ExitStatus.UNREACHABLE, ExitStatus.FAILED}
    assert "Traceback" not in done.output


def test_a_machine_without_a_folder_for_temporary_files(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "none"))
    done = wireproof("certify", "--only", "text-hello", "--output", str(tmp_path / "result"))
    assert done.exit_code == ExitStatus.UNREACHABLE
    assert done.stderr.startswith(
        "wireproof: this machine refuses what the run needs: [Errno 2] No such file or directory"
    )
    assert done.stderr.count("\n") == 1
    assert json.loads((tmp_path / "result" / "report.json").read_text())["ended"] == "unreachable"
