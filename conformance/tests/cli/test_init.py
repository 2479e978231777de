from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click
import pytest
from commands import wireproof

from wireproof.cli import init
from wireproof.model.dialect import ArgumentsMode, Dialect, Surface
from wireproof.model.target import Backend, SurfaceReport, SurfaceState, Target
from wireproof.results.certificate import ExitStatus
from wireproof.targets.bundled import proxy
from wireproof.targets.kinds import Pair
from wireproof.targets.options import TargetOptions
from wireproof.targets.target_file import load, merged

if TYPE_CHECKING:
    from pathlib import Path

    from conformance.tests.conftest import TinyServer

TARGET = Target(
    base_url="http://x/v1", model='some "model"\x7f', backend=Backend.LIVE, dialects=(Dialect.OPENAI_JSON,),
    arguments=ArgumentsMode.CUMULATIVE,
    surfaces={
        Surface.CHAT: SurfaceReport(state=SurfaceState.JUDGED),
        Surface.RESPONSES: SurfaceReport(state=SurfaceState.ABSENT, reason='HTTP 404\nmodel = "evil"'),
    },
    unspoken={Dialect.OBSIDIAN_XML: "it is not served"},
)  # fmt: skip


def test_what_is_written_is_read_again_as_it_was_meant(tmp_path: Path) -> None:
    said = TargetOptions(url="http://x/v1", header=(Pair("x-a", "env:A"), Pair("x-b", "c=d")), keepalive=1.5)
    path = tmp_path / "wireproof.toml"
    path.write_text(init.target_file(said, TARGET), encoding="utf-8")
    target, _ = merged(load(path), {})
    assert (target.url, target.header, target.keepalive) == (said.url, said.header, said.keepalive)
    assert (target.model, target.dialects, target.wanted) == (TARGET.model, TARGET.dialects, (Surface.CHAT,))
    assert target.arguments is ArgumentsMode.CUMULATIVE


def test_what_the_target_said_stays_in_comments() -> None:
    text = init.target_file(TargetOptions(url="http://x/v1"), TARGET)
    assert "# Behind it: a model.\n# chat: judged\n" in text
    assert '# responses: absent, HTTP 404 model = "evil"\n# obsidian-xml: it is not served\n' in text
    assert "# idle-timeout = SECONDS: " in text


def test_a_running_proxy_is_asked_and_the_file_certifies_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "wireproof.toml"
    with proxy() as target:
        monkeypatch.setenv("ITS_KEY", target.api_key or "")
        made = wireproof("init", "--url", target.base_url, "--api-key-env", "ITS_KEY", "--file", str(path))
        assert (made.exit_code, made.stdout) == (0, f"{path} written; next: wireproof certify --target {path}\n")
        assert (target.api_key or "no key") not in path.read_text()
        assert 'surface = ["chat", "responses", "messages"]\n' in path.read_text()
        done = wireproof("certify", "--target", str(path), "--only", "text-hello", "--dialect", "openai-json")
    assert done.exit_code == ExitStatus.CERTIFIED
    assert "model codex, mock backend, openai-json, catalogue" in done.stdout


def test_a_file_that_is_there_is_kept_unless_that_is_forced(tmp_path: Path) -> None:
    path = tmp_path / "wireproof.toml"
    path.write_text("mine")
    refused = wireproof("init", "--url", "http://127.0.0.1:1/v1", "--file", str(path))
    assert (refused.exit_code, refused.stderr) == (
        ExitStatus.USAGE, f"wireproof: {path} exists; --force replaces it, --file names another\n"
    )  # fmt: skip
    unreachable = wireproof("init", "--url", "http://127.0.0.1:1/v1", "--file", str(path), "--force")
    assert unreachable.exit_code == ExitStatus.UNREACHABLE
    assert unreachable.stderr.startswith("wireproof: nothing answers at http://127.0.0.1:1/v1/models")
    # What could not be written anew is not lost.
    assert path.read_text() == "mine"


def test_a_forced_file_is_replaced(tmp_path: Path, tiny: TinyServer) -> None:
    path = tmp_path / "wireproof.toml"
    path.write_text("mine")
    tiny.respond = lambda exchange: exchange.completion("I am a model.")
    made = wireproof("init", "--url", tiny.base_url, "--model", "m", "--file", str(path), "--force")
    assert made.exit_code == 0, made.stderr
    assert load(path).values["url"] == tiny.base_url


def test_without_a_terminal_the_target_has_to_be_named(tmp_path: Path) -> None:
    refused = wireproof("init", "--file", str(tmp_path / "wireproof.toml"))
    assert refused.exit_code == ExitStatus.USAGE
    assert "name the target with --url, --launch or --gateway" in refused.stderr


@pytest.mark.parametrize(
    ("said", "asked"),
    [("http://x/v1\n", {"url": "http://x/v1"}), ("node x.js\n", {"command": "node x.js"})],
)
def test_a_terminal_is_asked_for_the_target(monkeypatch: pytest.MonkeyPatch, said: str, asked: dict[str, str]) -> None:
    monkeypatch.setattr(sys.stdin, "isatty", lambda: True, raising=False)
    monkeypatch.setattr(click, "prompt", lambda *_: said)
    assert init._asked() == asked


def test_a_secret_is_refused_before_anything_is_sent(tmp_path: Path) -> None:
    path = tmp_path / "wireproof.toml"
    refused = wireproof("init", "--url", "http://a:s3cr3t@127.0.0.1:1/v1", "--file", str(path))
    assert refused.exit_code == ExitStatus.USAGE
    assert "url holds a password" in refused.stderr
    refused = wireproof("init", "--url", "http://127.0.0.1:1/v1", "--header", "cookie=s3cr3t", "--file", str(path))
    assert "header cookie holds a value" in refused.stderr
    assert not path.exists()
