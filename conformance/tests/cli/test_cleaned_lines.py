"""What commands print of a target: no secret of its owner, and nothing that would steer a terminal."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import pytest
from commands import wireproof

from wireproof.results.certificate import ExitStatus

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from conformance.tests.conftest import TinyExchange, TinyServer

KEY, PASSWORD = "sk-live-0123456789abcdef", "correct-horse-battery"
STEER = "\x1b[31m\u202egnp\x07\x9b2J"
SAID = f"{STEER} your key {KEY} of http://user:{PASSWORD}@127.0.0.1/"
_STEERING = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e]")


def _error(exchange: TinyExchange) -> None:
    exchange.whole({"error": {"message": SAID, "type": STEER, "code": KEY}}, "401 Unauthorized")


def _broken(exchange: TinyExchange) -> None:
    exchange.whole({"error": {"message": SAID, "type": STEER, "code": KEY}}, "500 Oh")


def _text(exchange: TinyExchange) -> None:
    exchange.whole(SAID.encode(), "400 Bad Request", "text/plain")


def _models(exchange: TinyExchange) -> None:
    if exchange.path.endswith("/models"):
        exchange.whole({"object": "list", "data": [{"id": f"{STEER}{KEY}", "object": "model"}]})
    else:
        exchange.completion(SAID)


def _head(exchange: TinyExchange) -> None:
    said = f"HTTP/1.1 401 {KEY}\x1b[31m\r\nWWW-Authenticate: {KEY} {PASSWORD}\x1b\r\nContent-Length: 0\r\n\r\n"
    exchange.send(said.encode("latin-1"))


def _elsewhere(exchange: TinyExchange) -> None:
    said = f"HTTP/1.1 302 Found\r\nLocation: http://user:{PASSWORD}@x/?key={KEY}\x9b\r\nContent-Length: 0\r\n\r\n"
    exchange.send(said.encode("latin-1"))


def _no_head(exchange: TinyExchange) -> None:
    exchange.send(f"HTTP/1.1 200 OK\r\n{KEY} {PASSWORD} \x1b[31m is no field\r\n\r\n".encode("latin-1"))


TARGETS: Mapping[str, Callable[[Any], None]] = {
    one.__name__.removeprefix("_"): one for one in (_error, _broken, _text, _models, _head, _elsewhere, _no_head)
}
BOUNDS = ("--timeout", "1", "--max-wait", "1")
COMMANDS: Mapping[str, Callable[[Path], list[str | Path]]] = {
    "certify": lambda _: ["certify", *BOUNDS],
    "certify of a model": lambda _: ["certify", "--model", "m", *BOUNDS],
    "init": lambda there: ["init", "--file", there / "wireproof.toml", *BOUNDS],
    "persona": lambda _: ["persona", "opencode", "--timeout", "1"],
    "persona of a model": lambda _: ["persona", "opencode", "--model", "m", "--timeout", "1"],
    "replay": lambda there: ["replay", there / "saved", "text-hello", "--timeout", "1"],
}


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a result whose requests can be sent again."""
    there = tmp_path_factory.mktemp("kept")
    wireproof("certify", "--only", "text-hello", "--allow-partial", "--output", there / "saved")
    return there


@pytest.mark.sampled(7)
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("command", COMMANDS)
def test_no_line_has_a_secret_or_steers_a_terminal(
    command: str, target: str, tiny: TinyServer, saved: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("A_KEY", KEY)
    tiny.respond = TARGETS[target]
    url = tiny.base_url.replace("http://", f"http://user:{PASSWORD}@")
    words = COMMANDS[command](saved if command == "replay" else tmp_path)
    done = wireproof(*words, "--url", url, "--api-key-env", "A_KEY")
    assert done.exit_code in {ExitStatus.FAILED, ExitStatus.UNREACHABLE, ExitStatus.USAGE}
    for secret in (KEY, PASSWORD):
        assert secret not in done.output
    assert not _STEERING.search(done.output)
    assert "Traceback" not in done.output
