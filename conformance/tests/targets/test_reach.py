from __future__ import annotations

import shlex
import sys
from dataclasses import fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from wireproof.model.dialect import ArgumentsMode, Dialect, Surface
from wireproof.model.target import Agent, Backend, KeyStyle, Missing, Target
from wireproof.model.verdict import HarnessError
from wireproof.targets.bundled import KEEPALIVE
from wireproof.targets.kinds import OptionError, Pair
from wireproof.targets.launch import executable
from wireproof.targets.options import TargetOptions
from wireproof.targets.reach import reach, target_of

if TYPE_CHECKING:
    from conformance.tests.conftest import TinyServer

pytestmark = pytest.mark.sampled(8)

PROXY = shlex.quote(executable("wireproof-proxy"))
"""The bundled proxy, as the line of a command."""
MOCK = "Wireproof: the scripted backend is here."
MUTE = """
import http.server, json, os
class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        body = json.dumps({"choices": [{"message": {"content": "I am no mock."}}], "data": []}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json"); self.send_header("Content-Length", str(len(body)))
        self.end_headers(); self.wfile.write(body)
    do_POST = do_GET
http.server.HTTPServer(("127.0.0.1", int(os.environ["PORT"])), Handler).serve_forever()
"""


def test_a_url_is_reached_with_all_that_was_said(tiny: TinyServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_KEY", "k")
    monkeypatch.setenv("MY_TEAM", "blue")
    tiny.respond = lambda e: e.completion(MOCK) if "/chat/" in e.path else e.whole({}, "404 Not Found")
    options = TargetOptions(
        url=f"{tiny.base_url}/", agent=Agent.CODEX, model="m", api_key_env="MY_KEY", keepalive=2.0, timeout=3.0,
        key_style=KeyStyle.X_API_KEY, header=(Pair("x-team", "env:MY_TEAM"),), parameters=(Pair("v", "1"),),
    )  # fmt: skip
    with reach(options) as target:
        found = replace(target, surfaces={}, unspoken={}, pace=None)
        assert found == Target(
            base_url=tiny.base_url, model="m", api_key="k", key_variable="MY_KEY", timeout=3.0, keepalive=2.0,
            dialects=(Dialect.OPENAI_JSON,), key_style=KeyStyle.X_API_KEY, headers=(("x-team", "blue"),),
            query=(("v", "1"),),
        )  # fmt: skip
    sent = tiny.requests[0]
    assert (sent.path, sent.headers["x-api-key"], sent.headers["x-team"]) == ("/v1/chat/completions?v=1", "k", "blue")


def test_dialects_and_arguments_that_were_declared_are_kept(tiny: TinyServer) -> None:
    tiny.respond = lambda exchange: exchange.completion(MOCK)
    declared = {"dialects": (Dialect.OBSIDIAN_XML,), "arguments": ArgumentsMode.INCREMENTAL}
    with reach(TargetOptions(url=tiny.base_url, model="m", **declared)) as target:  # type: ignore[arg-type]  # of two types
        assert (target.dialects, target.arguments) == tuple(declared.values())


def test_a_url_may_have_a_live_model_behind_it(tiny: TinyServer) -> None:
    tiny.respond = lambda exchange: exchange.completion("I am a model.")
    with reach(TargetOptions(url=tiny.base_url, model="m")) as target:
        assert target.backend is Backend.LIVE


def test_a_command_is_reached_at_its_own_url() -> None:
    with reach(TargetOptions(command=PROXY, url="http://localhost:{port}/v1")) as target:
        assert target.base_url.startswith("http://localhost:")
        assert (target.backend, target.model, target.api_key, target.keepalive) == (Backend.MOCK, "codex", None, None)


def test_a_launched_proxy_without_the_mock_behind_it_is_refused() -> None:
    command = shlex.join([sys.executable, "-c", MUTE])
    with pytest.raises(HarnessError, match="does it start CODEX_BIN"), reach(TargetOptions(command=command, model="m")):
        pass


def test_the_bundled_proxy_is_reached_when_nothing_is_named() -> None:
    with reach(TargetOptions(timeout=7.0)) as target:
        assert (target.backend, target.timeout, target.keepalive) == (Backend.MOCK, 7.0, KEEPALIVE)
        assert target.dialects == tuple(Dialect)
        assert target.api_key


@pytest.mark.parametrize("command", [None, PROXY])
def test_a_proxy_is_started_with_a_codex_of_ones_own(command: str | None) -> None:
    with reach(TargetOptions(command=command, codex=Path(executable("wireproof-codex")))) as target:
        assert (target.backend, target.missing) == (Backend.CODEX, frozenset())
        assert Dialect.OBSIDIAN_XML in target.dialects


def test_a_codex_that_takes_no_tools_is_asked_for_calls_in_its_text(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WIREPROOF_CODEX_VERSION", "0.89.0")
    with reach(TargetOptions(codex=Path(executable("wireproof-codex")))) as target:
        assert target.backend is Backend.CODEX
        assert Missing.TOOLS in target.missing
        assert target.dialects == tuple(Dialect)


@pytest.mark.parametrize("command", [None, PROXY])
def test_the_mock_of_an_older_codex_lacks_what_that_does(command: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WIREPROOF_CODEX_VERSION", "0.89.0")
    with reach(TargetOptions(command=command)) as target:
        assert target.backend is Backend.MOCK
        assert target.missing == {Missing.TOOLS, Missing.REASONS, Missing.COUNTS}


def test_a_proxy_that_runs_already_has_its_backend(tiny: TinyServer) -> None:
    options = TargetOptions(url=tiny.base_url, codex=Path("codex"))
    with pytest.raises(OptionError, match="--codex is for one that Wireproof starts"), reach(options):
        pass


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (None, "the environment variable MY_KEY, which should hold the key, is not set"),
        ("", "the environment variable MY_KEY, which should hold the key, is not set"),
        ("schlüssel", "the key in the environment variable MY_KEY is not printable ASCII"),
        ("key\n", "the key in the environment variable MY_KEY is not printable ASCII"),
    ],
)
@pytest.mark.parametrize("how", [{"url": "http://127.0.0.1:1/v1"}, {"command": "/no/such/command"}])
def test_a_key_that_cannot_be_sent_is_reported_before_anything_is_tried(
    monkeypatch: pytest.MonkeyPatch, value: str | None, message: str, how: Any
) -> None:
    monkeypatch.delenv("MY_KEY", raising=False)
    if value is not None:
        monkeypatch.setenv("MY_KEY", value)
    with pytest.raises(OptionError) as raised, reach(TargetOptions(api_key_env="MY_KEY", **how)):
        pass
    assert str(raised.value) == message


def test_every_option_with_the_name_of_a_field_of_a_target_becomes_it() -> None:
    declared = {
        "model": "m", "pace": 0.5, "timeout": 1.0, "keepalive": 2.0, "idle_timeout": 3.0, "body_limit": 4, "slots": 5,
        "dialects": (Dialect.RESPONSES,), "arguments": ArgumentsMode.CUMULATIVE, "default_mode": Dialect.OBSIDIAN_XML,
        "key_style": KeyStyle.API_KEY, "answer_seconds": 6.0, "answer_bytes": 7, "wanted": (Surface.RESPONSES,),
    }  # fmt: skip
    names = {one.name for one in fields(Target)}
    assert {option.field for option in TargetOptions.options()} & names == declared.keys()
    target = target_of(TargetOptions(**declared), base_url="http://x/v1/", api_key="k")  # type: ignore[arg-type]  # of several types
    assert target == Target(base_url="http://x/v1", api_key="k", **declared)  # type: ignore[arg-type]  # of several types


def test_the_bundled_proxy_is_judged_in_the_dialects_that_are_asked_for() -> None:
    with reach(TargetOptions(dialects=(Dialect.RESPONSES,))) as target:
        assert target.dialects == (Dialect.RESPONSES,)
