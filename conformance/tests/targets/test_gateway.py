from __future__ import annotations

import json
import re
import shlex
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import httpx
import pytest

from wireproof.cli.plan import plan
from wireproof.model.dialect import Dialect, Surface
from wireproof.model.target import Backend, Login, Target
from wireproof.model.verdict import HarnessError, Verdict
from wireproof.targets.gateway import RunningUpstream, asks_for_key, fill, gateway, upstream, variables
from wireproof.targets.kinds import OptionError, header
from wireproof.targets.options import RunOptions, TargetOptions
from wireproof.targets.ports import free_port
from wireproof.targets.reach import reach
from wireproof.targets.validity import check

if TYPE_CHECKING:
    from conformance.tests.conftest import Served, TinyExchange, TinyServer

pytestmark = pytest.mark.sampled(8)

PASSTHROUGH = f"{shlex.quote(sys.executable)} {shlex.quote(str(Path(__file__).with_name('passthrough.py')))} {{port}}"
KEY = "key-of-the-gateway"
ENV = ("UPSTREAM_HOST={upstream_host}", "UPSTREAM_KEY={upstream_key}", f"GATEWAY_KEY={KEY}")
MIRROR = """
import http.server, json, os, sys
class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        body = json.dumps({"argv": sys.argv[1:], "env": dict(os.environ), "config": open(sys.argv[1]).read()}).encode()
        self.send_response(200); self.send_header("Content-Length", str(len(body))); self.end_headers()
        self.wfile.write(body)
http.server.HTTPServer(("127.0.0.1", int(sys.argv[2])), Handler).serve_forever()
"""
"""A program that answers with its arguments, its environment, and the file that the first argument names."""
BEHIND = RunningUpstream(base_url="http://127.0.0.1:9/v1", key="up-key")


def ask(base_url: str, key: str, **body: Any) -> httpx.Response:
    message = {"role": "user", "content": "[[wireproof:text/hello#g]] Hi."}
    with httpx.Client(trust_env=False, timeout=20, headers={"authorization": f"Bearer {key}"}) as client:
        return client.post(f"{base_url}/chat/completions", json={"model": "m", "messages": [message], **body})


# The upstream


def test_the_upstream_plays_scripts_for_any_model_but_one() -> None:
    with upstream() as up:
        answer = ask(up.base_url, up.key, model="some/other-model").json()
        assert (answer["model"], answer["choices"][0]["message"]["content"]) == ("some/other-model", "Hello, world!")
        refused = ask(up.base_url, up.key, model="wireproof-no-such-model")
        assert (refused.status_code, refused.json()["error"]["code"]) == (404, "model_not_found")
        assert ask(up.base_url, "wrong").status_code == 401


def test_the_upstream_says_of_which_surface_alone_it_was_asked() -> None:
    hello = {"model": "m", "max_tokens": 9, "messages": [{"role": "user", "content": "Hi."}]}
    with upstream() as up, upstream() as other:
        assert up.asked_alone() is None
        ask(up.base_url, up.key)
        assert up.asked_alone() is Surface.CHAT
        ask(up.base_url.replace("/v1", "/v1/responses?"), up.key)  # a path that is nowhere
        assert up.asked_alone() is Surface.CHAT
        said, key = {"model": "m", "input": "Hi."}, {"authorization": f"Bearer {up.key}"}
        httpx.post(f"{up.base_url}/responses", json=said, headers=key, trust_env=False)
        assert up.asked_alone() is None
        key = {"authorization": f"Bearer {other.key}", "anthropic-version": "2023-06-01"}
        httpx.post(f"{other.base_url}/messages?beta=true", json=hello, headers=key, trust_env=False)
        assert other.asked_alone() is Surface.MESSAGES
    assert BEHIND.asked_alone() is None


def test_two_upstreams_have_ports_and_keys_of_their_own() -> None:
    with upstream() as one, upstream() as other:
        assert one.host != other.host
        assert one.key != other.key


def test_an_upstream_at_a_port_has_the_key_of_wireproof_serve_and_is_used_where_it_runs() -> None:
    port = free_port()
    with upstream(port) as up:
        assert up == RunningUpstream(base_url=f"http://127.0.0.1:{port}/v1", key="wireproof")
        assert ask(up.base_url, "wireproof").status_code == 200
        with upstream(port) as same:
            assert same == up
        assert ask(up.base_url, "wireproof").status_code == 200
    with pytest.raises(httpx.ConnectError):
        ask(up.base_url, "wireproof")


# What is filled in


def test_placeholders_are_filled_in_and_other_braces_stay() -> None:
    values = BEHIND.placeholders()
    assert fill('{"url": "{upstream_url}", "key": "{upstream_key}"}', values) == (
        '{"url": "http://127.0.0.1:9/v1", "key": "up-key"}'
    )
    assert fill("{upstream_host} {upstream} {other}", values) == "127.0.0.1:9 {upstream} {other}"


def test_variables_keep_all_behind_the_first_equals_sign() -> None:
    assert variables(("A=b=c", "B=", "C={upstream_host}"), BEHIND.placeholders()) == {
        "A": "b=c", "B": "", "C": "127.0.0.1:9",
    }  # fmt: skip


def test_the_command_the_variables_and_the_configuration_say_where_the_upstream_is(tmp_path: Path) -> None:
    template = tmp_path / "our gateway.yaml"
    template.write_text("url: {upstream_url}\nport: {port}\n", encoding="utf-8")
    command = shlex.join([sys.executable, "-c", MIRROR, "{config}", "{port}", "{upstream_host}"])
    options = TargetOptions(env=("KEY={upstream_key}", "CONFIG={config}"), config_template=template)
    with gateway(command, options, BEHIND) as launched:
        said = json.loads(httpx.get(launched.base_url, trust_env=False).content)
        config, port, host = said["argv"]
        assert launched.base_url == f"http://127.0.0.1:{port}/v1"
        assert said["config"] == f"url: http://127.0.0.1:9/v1\nport: {port}\n"
        assert host == "127.0.0.1:9"
        assert {name: said["env"][name] for name in ("KEY", "CONFIG", "PORT")} == {
            "KEY": "up-key", "CONFIG": config, "PORT": port,
        }  # fmt: skip
        assert Path(config).name == "our gateway.yaml"
    assert not Path(config).exists()


def test_a_template_that_is_no_text_is_named(tmp_path: Path) -> None:
    template = tmp_path / "config.bin"
    template.write_bytes(b"\xff")
    with pytest.raises(OptionError, match=r"config\.bin cannot be read"):
        gateway("x", TargetOptions(config_template=template), BEHIND).__enter__()


# Gateways


NOT_BEHIND_A_GATEWAY = {"shape-a", "sentinel-plain", "crash-in-text", "not-ready"}
SAMPLE = NOT_BEHIND_A_GATEWAY | {
    "calls-burst", "choices-text", "fail-after-text", "history", "input-items", "models", "previous-response",
    "settings-passed-on", "silence", "text-hello", "text-utf8", "tool-choice-none", "tool-loop", "tool-registry",
    "usage-asked",
}  # fmt: skip
"""Of every subject one; with `--whole` all scenarios are played."""


def test_a_gateway_that_passes_everything_on_breaks_nothing(
    monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    monkeypatch.setenv("GATEWAY", KEY)
    whole = request.config.getoption("whole")
    options = TargetOptions(gateway=PASSTHROUGH, env=ENV, api_key_env="GATEWAY", default_mode=Dialect.OPENAI_JSON)
    certificate = plan(options, RunOptions(only=() if whole else tuple(sorted(SAMPLE)))).certify()
    assert [o for o in certificate.outcomes if o.verdict in {Verdict.FAIL, Verdict.WARN, Verdict.ERROR}] == []
    assert certificate.counts[Verdict.PASS] > (2000 if whole else 300)
    # Also the keep-alives of its upstream, whose interval nobody has declared.
    assert certificate.unobserved == {}
    assert certificate.target.backend is Backend.ENDPOINT
    behind = {o.scenario for o in certificate.outcomes if o.verdict is Verdict.NOT_APPLICABLE}
    assert behind >= NOT_BEHIND_A_GATEWAY


def test_a_gateway_that_sends_requests_again_breaks_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GATEWAY", KEY)
    command = PASSTHROUGH.replace("passthrough.py", "resending.py")
    options = TargetOptions(gateway=command, env=ENV, api_key_env="GATEWAY", model="m")
    # Scripts of several parts, and one of several choices.
    scenarios = ("tool-loop", "many-steps", "choices-text", "text-hello")
    certificate = plan(options, RunOptions(only=scenarios)).certify()
    broken = {o.key: o.findings[:1] for o in certificate.outcomes if o.verdict in {Verdict.FAIL, Verdict.ERROR}}
    assert broken == {}
    assert certificate.counts[Verdict.PASS] > 50


def test_a_model_that_a_gateway_has_asked_for_is_listed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GATEWAY", KEY)
    options = TargetOptions(gateway=PASSTHROUGH, env=ENV, api_key_env="GATEWAY", model="a-model/of-its-own")
    certificate = plan(options, RunOptions(only=("models",))).certify()
    assert {o.requirement: o.verdict for o in certificate.outcomes}["http.models.list"] is Verdict.PASS


def test_a_gateway_that_runs_already_is_certified_over_the_port_that_it_calls(
    served: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Here a second gateway is none: `wireproof serve` itself stands where one would.
    port = int(served.base_url.removesuffix("/v1").rpartition(":")[2])
    monkeypatch.setenv("SERVED", served.key)
    with reach(TargetOptions(url=served.base_url, upstream=port, api_key_env="SERVED")) as target:
        assert (target.backend, target.model, target.api_key) == (Backend.ENDPOINT, "codex", served.key)


def test_a_gateway_without_a_key_of_its_own_is_sent_the_upstreams(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("GATEWAY", raising=False)
    passes_on = (*ENV[:2], "GATEWAY_KEY=no-key-is-like-this")
    with reach(TargetOptions(gateway=PASSTHROUGH, env=passes_on)) as target:
        assert target.api_key not in {None, KEY}


def test_a_gateway_that_takes_any_key_is_sent_none() -> None:
    command = PASSTHROUGH.replace("{port}", "{port} any-key")
    with reach(TargetOptions(gateway=command, env=ENV)) as target:
        assert target.api_key is None


def test_a_gateway_without_chat_is_asked_for_its_key_where_it_answers(tiny: TinyServer) -> None:
    def respond(exchange: TinyExchange) -> None:
        there = exchange.path.endswith("/responses")
        exchange.whole({"output": []} if there else {"error": {}}, status="200 OK" if there else "404 Not Found")

    tiny.respond = respond
    target = Target(base_url=tiny.base_url, model="m", api_key="theirs", dialects=(Dialect.RESPONSES,))
    assert not asks_for_key(target), "any key will do"
    assert not asks_for_key(replace(target, dialects=(Dialect.OPENAI_JSON,))), "the right key is refused as well"


def test_a_gateway_may_learn_from_a_header_where_its_upstream_is() -> None:
    headers = (header("x-upstream={upstream_url}"), header("x-other={port}"))
    with reach(TargetOptions(gateway=PASSTHROUGH, env=ENV, header=headers)) as target:
        named = dict(target.headers)
        assert named["x-upstream"].startswith("http://127.0.0.1:")
        assert named["x-upstream"] != target.base_url
        assert named["x-other"] == "{port}"


def test_a_gateway_that_calls_no_upstream_of_ours_is_refused(tiny: TinyServer) -> None:
    tiny.respond = lambda exchange: exchange.completion("I am a model.")
    where = "UPSTREAM_HOST=" + tiny.base_url.removeprefix("http://").removesuffix("/v1")
    options = TargetOptions(gateway=PASSTHROUGH, env=(where, *ENV[1:]), model="m")
    with pytest.raises(HarnessError, match="does it call http://127"), reach(options):
        pass


def test_what_the_upstream_refused_of_a_gateway_is_named() -> None:
    # Its upstream's key is not the one that it sends, so nothing gets through.
    command = PASSTHROUGH.replace("{port}", "{port} any-key")
    options = TargetOptions(gateway=command, env=(ENV[0], "UPSTREAM_KEY=another", ENV[2]))
    with pytest.raises(HarnessError) as failed, reach(options):
        pass
    assert re.search(r"\(the upstream refused .*GET /v1/models \(HTTP 401\)", str(failed.value))


def test_nothing_is_known_of_what_another_program_refused(tiny: TinyServer) -> None:
    tiny.respond = lambda exchange: exchange.completion("I am a model.")
    assert RunningUpstream(base_url=tiny.base_url, key="k").refused() == ""
    assert BEHIND.refused() == ""


def test_a_gateway_that_does_not_start_is_named() -> None:
    options = TargetOptions(gateway=shlex.join([sys.executable, "-c", "print('no upstream'); raise SystemExit(3)"]))
    with pytest.raises(HarnessError, match=r"(?s)ended with status 3 before it was ready.*no upstream"), reach(options):
        pass


# A login


SIGNED_IN = """
import http.server, json, os, pathlib, sys, urllib.request
class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        home = pathlib.Path(os.environ["CODEX_HOME"])
        files = [json.loads(file.read_text()) for file in (home / "auth.json", home / ".codex" / "auth.json")]
        body = json.dumps({"files": files, "argv": sys.argv[1:], "env": dict(os.environ)}).encode()
        self.send_response(200); self.send_header("Content-Length", str(len(body))); self.end_headers()
        self.wfile.write(body)
http.server.HTTPServer(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()
"""
"""A program that answers with the auth files that it finds, its arguments, and its environment."""


def test_a_login_is_written_into_a_scratch_home_and_works_at_the_upstream(tmp_path: Path) -> None:
    program = tmp_path / "signed_in.py"
    program.write_text(SIGNED_IN)
    command = shlex.join([sys.executable, str(program), "{port}", "{login_url}", "{login_account}", "{login_token}"])
    options = TargetOptions(gateway=command, login=Login.CHATGPT, env=("MINE={login_refresh_url}",))
    with upstream() as up, gateway(command, options, up) as started:
        seen = httpx.get(f"{started.base_url}/models", trust_env=False).json()
        file, again = seen["files"]
        _, url, account, token = seen["argv"]
        assert file == again
        assert (file["tokens"]["account_id"], file["tokens"]["access_token"]) == (account, token)
        assert seen["env"]["CHATGPT_LOCAL_HOME"] == seen["env"]["CODEX_HOME"]
        assert seen["env"]["CODEX_REFRESH_TOKEN_URL_OVERRIDE"] == seen["env"]["MINE"]
        refresh = {"grant_type": "refresh_token", "refresh_token": file["tokens"]["refresh_token"]}
        renewed = httpx.post(seen["env"]["MINE"], json=refresh, trust_env=False).json()["access_token"]
        for one in (token, renewed):
            models = httpx.get(f"{url}/models", headers={"authorization": f"Bearer {one}"}, trust_env=False)
            assert models.status_code == 200
        home = Path(seen["env"]["CODEX_HOME"])
        assert (home / "auth.json").stat().st_mode & 0o077 == 0
    assert not home.exists()


def test_a_login_is_for_a_gateway() -> None:
    with pytest.raises(OptionError, match="--login is for a gateway that Wireproof starts, with --gateway"):
        check(TargetOptions(command="proxy", login=Login.CHATGPT))
