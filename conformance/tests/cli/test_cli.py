from __future__ import annotations

import json
import os
import re
import shlex
import signal
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner, Result

from wireproof.cli.root import root
from wireproof.driving import restarting
from wireproof.model.catalogue import load
from wireproof.model.dialect import Dialect
from wireproof.results.certificate import MEANINGS, ExitStatus
from wireproof.scenarios import SCENARIOS
from wireproof.scenarios.live import LIVE
from wireproof.targets.bundled import proxy
from wireproof.targets.launch import executable
from wireproof.targets.options import RunOptions, TargetOptions

if TYPE_CHECKING:
    from pathlib import Path

    from conformance.tests.conftest import TinyExchange, TinyServer, Until

pytestmark = pytest.mark.sampled(16)

MINIATURE = shlex.join([sys.executable, "-m", "wireproof_mocks.miniatures", "id-per-chunk"])
SELECTION = r"selection: [1-9]\d* of \d+ requirements looked at; not a certificate: "


@pytest.fixture(autouse=True)
def _wide(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "200")


def wireproof(*arguments: str) -> Result:
    return CliRunner().invoke(root, arguments)


def refused(*arguments: str) -> str:
    """The one line on stderr about a target that cannot be reached or driven."""
    result = wireproof("certify", "--timeout", "0.5", *arguments)
    assert (result.exit_code, result.stdout) == (ExitStatus.UNREACHABLE, "")
    assert result.stderr.startswith("wireproof: ")
    assert result.stderr.count("\n") == 1
    return result.stderr


def misused(*arguments: str) -> str:
    """The last line on stderr about wrong usage."""
    result = wireproof(*arguments)
    assert (result.exit_code, result.stdout) == (ExitStatus.USAGE, "")
    assert "Traceback" not in result.stderr
    return result.stderr.splitlines()[-1]


def test_a_server_that_is_not_there(tiny: TinyServer) -> None:
    tiny.close()
    assert f"nothing answers at {tiny.base_url}/models" in refused("--url", tiny.base_url)


def test_a_server_that_is_no_proxy(tiny: TinyServer) -> None:
    tiny.respond = lambda exchange: exchange.whole(b"<h1>Not Found", "404 Not Found", "text/html")
    line = refused("--url", tiny.root, "--model", "m")
    assert "is no OpenAI-compatible API: POST /chat/completions: HTTP 404 with text/html; POST /responses: " in line
    assert line.endswith(f"; did you mean {tiny.base_url}?\n")


def test_a_server_that_answers_html(tiny: TinyServer) -> None:
    tiny.respond = lambda exchange: exchange.whole(b"<h1>Welcome", "200 OK", "text/html")
    assert "answers HTTP 200 with text/html, and that is no OpenAI-compatible API" in refused("--url", tiny.base_url)


def test_a_server_that_speaks_no_http(tiny: TinyServer) -> None:
    tiny.respond = lambda exchange: exchange.send(b"SSH-2.0-OpenSSH_9.6\r\n")
    assert "does not speak HTTP as it should" in refused("--url", tiny.base_url)


def test_a_server_that_hangs(tiny: TinyServer) -> None:
    tiny.respond = lambda exchange: exchange.gone()
    assert "gave no answer within 0.5 s (--timeout sets the limit)" in refused("--url", tiny.base_url)


@pytest.mark.parametrize(
    ("option", "value", "said"),
    [
        ("--url", "127.0.0.1:8787", "'127.0.0.1:8787' is no base URL of a proxy: it should begin with http:// or"),
        ("--url", "http://[::1/v1", "'http://[::1/v1' is no base URL of a proxy: "),
        (
            "--url",
            "http://h/v1?a=b",
            "before the query and the fragment; one is http://127.0.0.1:8787/v1; --query NAME=VALUE is",
        ),
        ("--url", "http:///v1", "'http:///v1' is no base URL of a proxy: it names no host; one is http://127.0.0.1:"),
        ("--launch", "", "the command of --launch is empty"),
        ("--gateway", "", "the command of --gateway is empty"),
        ("--upstream", "8787", "--upstream is for a gateway that runs already: name it with --url, without a command"),
        ("--upstream", "70000", "'70000' should be a port, from 1 to 65535."),
        ("--env", "NAME", "'NAME' should be the name of a variable, = and its value."),
        ("--launch", "node 'server.js", "cannot be read: No closing quotation"),
        (
            "--timeout",
            "nan",
            "value for '--timeout': 'nan' should be a time in seconds, from 0.01 to 1000000000.",
        ),
        ("--timeout", "inf", "'inf' should be a time in seconds"),
        ("--dialect", "xml", f"'xml' should be one of {', '.join(Dialect)}."),
        ("--slots", "0", "'0' should be a whole number, from 1 to 10000."),
    ],
)
def test_what_cannot_be_meant_is_wrong_usage(option: str, value: str, said: str) -> None:
    assert said in misused("certify", option, value)


def test_a_command_that_does_not_exist() -> None:
    assert "/no/such/proxy cannot be started: No such file" in refused("--launch", "/no/such/proxy {port}")


def test_a_proxy_that_wants_a_key_or_another_or_another_model(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WRONG_KEY", "wrong")
    with proxy() as target:
        monkeypatch.setenv("RIGHT_KEY", target.api_key or "")
        line = refused("--url", target.base_url)
        assert "refuses with 401: it wants a key; name its variable with --api-key-env" in line
        line = refused("--url", target.base_url, "--api-key-env", "WRONG_KEY")
        assert "refuses with 401: it wants another key than the one given" in line
        line = refused("--url", target.base_url, "--api-key-env", "RIGHT_KEY", "--model", "gpt-nope")
        assert "answers HTTP 404 (The model `gpt-nope` is not served here.) to a plain request for the model" in line


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (
            ["--only", "text-helo"],
            "wireproof: no scenario and no requirement is named 'text-helo'; did you mean text-hello",
        ),
        (["--only", "chat.stream.role"], "did you mean chat.stream.role-"),
        (["--api-key-env", "WIREPROOF_NO_SUCH"], "WIREPROOF_NO_SUCH, which should hold the key, is not set"),
        (["--known-failing", "/no/such/file"], "'/no/such/file' should be a file that exists."),
        (["--known-failing", "/"], "'/' should be a file that exists."),
        (["--timeout", "0"], "Invalid value for '--timeout'"),
        (["--jobs", "none"], "Invalid value for '--jobs'"),
        (["--nonsense"], "No such option"),
    ],
)
def test_wrong_usage_of_certify(arguments: list[str], line: str) -> None:
    assert line in misused("certify", "--url", "http://127.0.0.1:1/v1", *arguments)


@pytest.mark.parametrize(
    ("content", "line"),
    [
        (b"text-hello:chat.stream.no-such it is so\n", "line 1: 'text-hello:chat.stream.no-such' is no"),
        (b"# why\n\ntext-hello:chat.stream.text\n", "line 3: text-hello:chat.stream.text needs a reason behind it"),
        (b"\xff\xfe", "cannot be read"),
    ],
)
def test_a_known_failing_file_that_cannot_be_used(tmp_path: Path, content: bytes, line: str) -> None:
    file = tmp_path / "known-failing.txt"
    file.write_bytes(content)
    assert line in misused("certify", "--known-failing", str(file))


@pytest.mark.parametrize("command", ["explain", "show"])
def test_an_unknown_name_gets_suggestions(command: str) -> None:
    name = "chat.stream.role-fist" if command == "explain" else "text-helo"
    close = "chat.stream.role-first" if command == "explain" else "text-hello"
    assert close in misused(command, name)


def test_a_requirement_is_not_shown_as_a_scenario() -> None:
    line = misused("show", "chat.stream.text")
    assert line == "Error: chat.stream.text is a requirement, not a scenario; see: wireproof explain chat.stream.text"


@pytest.mark.nightly
def test_the_bundled_proxy_is_certified() -> None:
    result = wireproof("certify")
    assert result.exit_code == ExitStatus.CERTIFIED
    # Piped, so how far it is stands in plain lines beside the report.
    steps = result.stderr.splitlines()
    assert [line for line in steps if not re.fullmatch(r"driving: \d+ of \d+, about \d+ s left", line)] == []
    assert len(steps) == 9
    assert result.stdout.splitlines()[-2:] == [
        "compat: certified; strict: certified", "certified at level strict",
    ]  # fmt: skip
    assert "This is the proxy that comes with Wireproof" in result.stdout
    assert " fail" not in result.stdout
    assert "not observed" not in result.stdout


def test_a_proxy_at_a_url_is_certified_with_the_model_of_its_list(monkeypatch: pytest.MonkeyPatch) -> None:
    with proxy() as target:
        monkeypatch.setenv("RIGHT_KEY", target.api_key or "")
        result = wireproof("certify", "--url", target.base_url, "--api-key-env", "RIGHT_KEY", "--only", "text-hello")
    assert result.exit_code == ExitStatus.CERTIFIED
    assert result.stdout.startswith(f"{target.base_url}  model codex, mock backend")
    assert "This is the proxy that comes with Wireproof" not in result.stdout
    assert re.fullmatch(SELECTION + "no requirements broken", result.stdout.splitlines()[-1])


def test_a_live_endpoint_is_not_certified_by_what_could_not_be_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    with proxy() as target:
        monkeypatch.setenv("RIGHT_KEY", target.api_key or "")
        monkeypatch.setattr("wireproof.targets.preflight.SIGNATURE", "what no backend says")
        live = ("certify", "--url", target.base_url, "--api-key-env", "RIGHT_KEY", "--only", "text-hello")
        result = wireproof(*live)
    assert (result.exit_code, result.stderr) == (ExitStatus.PARTIAL, "")
    assert "live backend" in result.stdout
    assert "the right answer is not known: a live model is behind the target" in result.stdout
    assert "chat.stream.text" in result.stdout


@pytest.mark.nightly
def test_what_a_selection_could_not_observe_is_exit_status_4_unless_that_is_accepted() -> None:
    unseen = ("certify", "--launch", shlex.quote(executable("wireproof-proxy")), "--only", "chat.stream.keepalive")
    result = wireproof(*unseen)
    assert (result.exit_code, result.stderr) == (ExitStatus.PARTIAL, "")
    assert "declare it with --keepalive SECONDS" in " ".join(result.stdout.split())
    assert result.stdout.splitlines()[-1] == "exit status 4; --allow-partial accepts this result"
    assert wireproof(*unseen, "--allow-partial").exit_code == ExitStatus.CERTIFIED


def test_a_miniature_is_not_certified_and_the_requirement_is_named() -> None:
    result = wireproof("certify", "--launch", MINIATURE, "--only", "text-hello")
    assert (result.exit_code, result.stderr) == (ExitStatus.FAILED, "")
    assert "FAIL chat.stream.stable-id" in result.stdout
    assert re.fullmatch(SELECTION + "1 requirement broken", result.stdout.splitlines()[-1])
    assert "--only text-hello" in result.stdout


def test_a_known_failure_does_not_fail_the_run_but_one_that_passes_does(tmp_path: Path) -> None:
    file = tmp_path / "known-failing.txt"
    line = "text-hello:chat.stream.stable-id ours changes\n"
    file.write_text(line)
    arguments = ["certify", "--launch", MINIATURE, "--only", "text-hello", "--known-failing", str(file)]
    arguments.append("--allow-partial")  # the known failure hides other requirements of the one scenario
    result = wireproof(*arguments)
    assert result.exit_code == ExitStatus.CERTIFIED
    assert "ours changes" in result.stdout
    file.write_text(line + "text-hello:chat.stream.text not so\n")
    result = wireproof(*arguments)
    assert result.exit_code == ExitStatus.FAILED
    assert "it passes, but is declared as known failing (not so)" in " ".join(result.stdout.split())


def test_a_target_that_goes_away_fails_for_that_and_for_nothing_else(
    tiny: TinyServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(restarting, "PAUSES", (0.01,))

    def respond(exchange: TinyExchange) -> None:
        exchange.completion("I am a model.")
        tiny.close()

    tiny.respond = respond
    result = wireproof(
        "certify", "--url", tiny.base_url, "--model", "m", "--only", "text-hello", "--only", "text-empty"
    )
    assert result.exit_code == ExitStatus.FAILED
    assert re.findall(r"^(?:FAIL|WARN) \S+", result.stdout, re.MULTILINE) == ["FAIL target.alive"]
    assert "1 requirement broken" in result.stdout


@pytest.mark.usefixtures("default_signals")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_who_interrupts_a_run_leaves_nothing_behind(tmp_path: Path, until: Until, number: int) -> None:
    note = tmp_path / "pid"
    code = f"import os, time; open({str(note)!r}, 'w').write(f'{{os.getpid()}} '); time.sleep(1000)"
    command = [executable("wireproof"), "certify", "--launch", shlex.join([sys.executable, "-c", code])]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        until(lambda: note.exists() and note.read_text().endswith(" "), "the launched proxy")
        process.send_signal(number)
        out, error = process.communicate(timeout=20)
    assert (process.returncode, out, error) == (ExitStatus.INTERRUPTED, "", "wireproof: interrupted\n")
    with pytest.raises(ProcessLookupError):
        os.kill(int(note.read_text()), 0)


def test_the_requirements_are_listed_for_people_and_programs() -> None:
    rows = [row.id for row in load().requirements]
    listed = wireproof("list").stdout
    assert [row for row in rows if row not in listed] == []
    assert [row["id"] for row in json.loads(wireproof("list", "--json").stdout)] == rows


def test_the_scenarios_are_listed_for_people_and_programs() -> None:
    names = [scenario.name for scenario in (*SCENARIOS, *LIVE)]
    listed = wireproof("list", "--scenarios").stdout
    assert [name for name in names if name not in listed] == []
    assert [one["name"] for one in json.loads(wireproof("list", "--scenarios", "--json").stdout)] == names


def test_a_requirement_is_explained() -> None:
    out = wireproof("explain", "chat.stream.role-first").stdout
    assert out.startswith("chat.stream.role-first  MUST")
    assert "Scenarios: text-hello" in out


def test_bytes_that_no_text_has_are_shown_escaped() -> None:
    out = wireproof("show", "garbled").stdout
    assert "\\udcff" in out
    assert json.loads(out)["script"]["parts"][0][1]["raw"]


def test_a_scenario_is_shown_with_its_script() -> None:
    data = json.loads(wireproof("show", "text-hello").stdout)
    assert (data["name"], data["script"]["name"]) == ("text-hello", "text/hello")


def test_the_version_the_help_and_every_option_and_exit_status_are_printed() -> None:
    assert wireproof("--version").stdout.startswith("wireproof, version ")
    helped = wireproof("certify", "-h").stdout
    assert [line for line in MEANINGS.values() if line not in helped] == []
    flat = " ".join(helped.split())
    for option in (*TargetOptions.options(), *RunOptions.options()):
        names = ", ".join(f"--{name}" for name in option.names)
        assert f"{names} {option.kind.metavar}".strip() in flat
        assert option.full_help in flat
