"""`--output`, and the commands that work with what it wrote."""

from __future__ import annotations

import gzip
import json
import shlex
import signal
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
from commands import refused, wireproof

from wireproof.cli.results import FORMATS
from wireproof.results import folder
from wireproof.results.certificate import ExitStatus
from wireproof.results.certify import NOT_REACHED
from wireproof.results.document import Ended
from wireproof.results.folder import REPORT, TRANSCRIPTS
from wireproof.targets.launch import executable
from wireproof.targets.ports import free_port

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from click.testing import Result
    from conformance.tests.conftest import TinyExchange, TinyServer, Until

pytestmark = pytest.mark.sampled(8)

MINIATURE = shlex.join([sys.executable, "-m", "wireproof_mocks.miniatures", "id-per-chunk"])
KEY = "sk-live-0123456789abcdef"


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Result]:
    """The result of a miniature in a folder, and what was printed."""
    path = tmp_path_factory.mktemp("saved") / "new" / "result"
    return path, wireproof("certify", "--launch", MINIATURE, "--only", "text-hello", "--output", str(path))


def test_a_run_leaves_its_result(saved: tuple[Path, Result]) -> None:
    path, printed = saved
    result = folder.read(path)
    assert printed.exit_code == result.report.status == ExitStatus.FAILED
    assert "chat.stream.stable-id" in {one.requirement for one in result.report.findings}
    assert result.report.configuration.selection == ("text-hello",)
    assert result.report.configuration.command.startswith("wireproof certify --launch ")


def test_the_saved_result_is_printed_and_judged_as_it_was(saved: tuple[Path, Result]) -> None:
    path, printed = saved
    for command in ("report", "judge"):
        again = wireproof(command, str(path))
        assert (again.exit_code, again.stderr) == (ExitStatus.FAILED, "")
        assert again.stdout == printed.stdout


@pytest.mark.parametrize("form", FORMATS)
def test_every_format_is_printed_alone(saved: tuple[Path, Result], form: str) -> None:
    path, _ = saved
    shown = wireproof("report", str(path), "--format", form)
    assert (shown.exit_code, shown.stderr) == (ExitStatus.FAILED, "")
    assert "wireproof" in shown.stdout
    if form == "json":
        assert json.loads(shown.stdout) == json.loads((path / REPORT).read_text())


def test_a_run_is_printed_in_the_format_that_was_asked_for() -> None:
    result = wireproof("certify", "--launch", MINIATURE, "--only", "text-hello", "--format", "json")
    assert result.exit_code == ExitStatus.FAILED
    assert json.loads(result.stdout)["ended"] == "complete"


def test_a_key_that_the_target_repeats_stands_nowhere(
    tiny: TinyServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def respond(exchange: TinyExchange) -> None:
        said = exchange.headers.get("authorization", "none").encode()
        if exchange.streamed:
            exchange.begin(f"you are {said.decode()}")
            half = len(said) - 6
            exchange.send(b'data: {"key": "' + said[:half])
            exchange.send(said[half:] + b'"}\n\ndata: [DONE]\n\n')
        else:
            exchange.completion(f"you are {said.decode()}")

    tiny.respond = respond
    monkeypatch.setenv("THE_KEY", KEY)
    arguments = ("certify", "--url", tiny.base_url, "--model", "m", "--api-key-env", "THE_KEY", "--only", "text-hello")
    result = wireproof(*arguments, "--output", str(tmp_path / "out"))
    kept = folder.read(tmp_path / "out")
    said = gzip.decompress((tmp_path / "out" / TRANSCRIPTS).read_bytes()).decode()
    texts = [result.output, said, *(wireproof("report", str(kept.folder), "--format", form).output for form in FORMATS)]
    assert "you are Bearer key-key-" in said
    assert [text for text in texts if KEY[:-1] in text] == []
    assert any("key-key-" in text for text in texts[2:])


def test_a_target_that_cannot_be_reached_is_written_down(tiny: TinyServer, tmp_path: Path) -> None:
    tiny.close()
    result = wireproof("certify", "--url", tiny.base_url, "--output", str(tmp_path / "out"))
    report = folder.read(tmp_path / "out").report
    assert (result.exit_code, report.status, report.ended) == (
        ExitStatus.UNREACHABLE, ExitStatus.UNREACHABLE, Ended.UNREACHABLE,
    )  # fmt: skip
    assert f"nothing answers at {tiny.base_url}/models" in report.reason
    assert "it has no transcripts" not in wireproof("report", str(tmp_path / "out"), "--format", "junit").output
    assert "has no transcripts: nothing answers" in refused("judge", str(tmp_path / "out"))


@pytest.mark.usefixtures("default_signals")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_run_that_is_interrupted_leaves_what_it_had(
    tiny: TinyServer, tmp_path: Path, until: Until, number: int
) -> None:
    done: list[str] = []

    def respond(exchange: TinyExchange) -> None:
        # The second scenario hangs, so that the run is in the middle when it is interrupted.
        if exchange.body and exchange.json.get("messages") and "text/empty" in str(exchange.json["messages"]):
            done.append("hangs")
            exchange.gone()
        else:
            exchange.answer("Hello, world!")

    tiny.respond = respond
    out = tmp_path / "out"
    command = [
        executable("wireproof"), "certify", "--url", tiny.base_url, "--model", "m", "--jobs", "1", "--dialect",
        "openai-json", "--only", "text-hello", "--only", "text-empty", "--output", str(out), "--timeout", "60",
    ]  # fmt: skip
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        until(lambda: done or process.poll() is not None, "the second scenario")
        process.send_signal(number)
        printed, error = process.communicate(timeout=20)
    # The one line says what the run costs, since a model seems to answer.
    assert (process.returncode, printed.count("\n")) == (ExitStatus.INTERRUPTED, 1)
    assert error == f"wireproof: interrupted; {out} has what was driven until then\n"
    report = folder.read(out).report
    assert (report.ended, report.status) == (Ended.INTERRUPTED, ExitStatus.INTERRUPTED)
    for name in ("report", "judge"):
        again = wireproof(name, str(out))
        assert again.exit_code == ExitStatus.INTERRUPTED
        assert "no certificate: interrupted before all scenarios were driven\n" in again.stdout
        assert "certified" not in again.stdout.replace("not certified", "")
    differ = wireproof("diff", str(out), str(out)).stdout.splitlines()
    assert differ[0] == f"{out}: interrupted before all scenarios were driven"
    driven = {(one.scenario, one.reason) for one in report.driven}
    assert ("text-hello", "") in driven
    assert ("text-empty", NOT_REACHED) in driven
    assert {one.strict for one in report.outcomes if one.scenario == "text-hello"} & {"pass", "fail"}
    assert wireproof("judge", str(out)).exit_code == ExitStatus.INTERRUPTED


def test_a_folder_of_something_else_is_refused_before_anything_is_driven(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").touch()
    result = wireproof("certify", "--url", "http://127.0.0.1:1/v1", "--output", str(tmp_path))
    assert result.exit_code == ExitStatus.USAGE
    assert "holds notes.txt, which is not part of a result" in result.stderr
    result = wireproof("certify", "--output", str(tmp_path / "notes.txt"))
    assert "should be a folder, or a name that nothing has yet" in result.stderr


@pytest.mark.parametrize("command", ["report", "judge"])
def test_a_folder_without_a_result_is_refused_in_one_line(command: str, tmp_path: Path) -> None:
    assert "is not a folder; `wireproof certify --output DIR` writes one" in refused(command, str(tmp_path / "none"))
    assert "holds no result: it has no report.json" in refused(command, str(tmp_path))
    (tmp_path / REPORT).write_text('{"format": 1, "en')
    assert "is not JSON, so it was torn" in refused(command, str(tmp_path))


@pytest.fixture
def kept(tiny: TinyServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], Path]:
    """The result of a run against the tiny server as it answers now, in a folder of this name."""
    monkeypatch.setenv("THE_KEY", KEY)
    target = ("--url", tiny.base_url, "--model", "m", "--api-key-env", "THE_KEY", "--dialect", "openai-json")

    def run(name: str) -> Path:
        wireproof("certify", *target, "--only", "text-hello", "--output", str(tmp_path / name))
        return tmp_path / name

    return run


def unfinished(exchange: TinyExchange) -> None:
    """A stream without its finish; a whole answer that is right."""
    if exchange.streamed:
        exchange.begin("Hello, world!")
        exchange.send(b"data: [DONE]\n\n")
    else:
        exchange.answer("Hello, world!")


def test_two_results_differ_in_what_broke_and_on_the_wire(kept: Callable[[str], Path], tiny: TinyServer) -> None:
    good = kept("good")
    same = kept("same")
    tiny.respond = unfinished
    bad = kept("bad")
    result = wireproof("diff", str(good), str(same))
    assert (result.exit_code, result.stdout) == (ExitStatus.CERTIFIED, "nothing differs\n")
    result = wireproof("diff", str(good), str(bad))
    assert result.exit_code == ExitStatus.FAILED
    assert "broken  chat.stream.finish-once  in: text-hello\n" in result.stdout
    assert "changed on the wire  text-hello (stream)\n  - data: " in result.stdout
    assert "(whole)" not in result.stdout
    result = wireproof("diff", str(bad), str(good), "--json")
    found = json.loads(result.stdout)
    assert found["mended"]["chat.stream.finish-once"] == ["text-hello"]
    assert (found["broken"], result.exit_code) == ({}, ExitStatus.CERTIFIED)


def test_a_scenario_is_sent_again_with_the_key_and_another_nonce(kept: Callable[[str], Path], tiny: TinyServer) -> None:
    out = kept("out")
    first = list(tiny.requests)
    result = wireproof("replay", str(out), "text-hello", "--api-key-env", "THE_KEY")
    again = tiny.requests[len(first) :]
    assert (result.exit_code, result.stderr) == (ExitStatus.CERTIFIED, "")
    assert "stream: the same (HTTP 200, complete, " in result.stdout
    assert "whole: the same (HTTP 200, complete, " in result.stdout
    assert [one.headers["authorization"] for one in again] == [f"Bearer {KEY}"] * 2
    assert {one.body for one in again}.isdisjoint(one.body for one in first)
    assert {one.marker for one in again} == {"text/hello"}
    tiny.respond = unfinished
    result = wireproof("replay", str(out), "text-hello", "--api-key-env", "THE_KEY")
    assert result.exit_code == ExitStatus.FAILED
    assert "stream: differs (HTTP 200, complete, " in result.stdout
    assert "\n  - data: " in result.stdout


def test_a_proxy_that_is_gone_is_no_difference_of_its_answers(kept: Callable[[str], Path]) -> None:
    nowhere = f"http://127.0.0.1:{free_port()}/v1"
    result = wireproof("replay", str(kept("out")), "text-hello", "--api-key-env", "THE_KEY", "--url", nowhere)
    assert (result.exit_code, result.stdout) == (ExitStatus.UNREACHABLE, "")
    assert (
        result.stderr == f"wireproof: nothing answers at {nowhere}; start the proxy, and name its address with --url\n"
    )


def test_a_scenario_is_written_as_curl_commands(kept: Callable[[str], Path], tiny: TinyServer) -> None:
    out = kept("out")
    asked = len(tiny.requests)
    result = wireproof("replay", str(out), "text-hello", "--curl", "--api-key-env", "THE_KEY")
    assert (result.exit_code, len(tiny.requests)) == (0, asked)
    assert result.stdout.count(f"curl -sN {tiny.base_url}/chat/completions ") == 2
    assert '"$THE_KEY"' in result.stdout
    assert "key-key" not in result.stdout


def test_what_cannot_be_sent_again_is_said_in_one_line(kept: Callable[[str], Path]) -> None:
    out = str(kept("out"))
    assert "no result holds; name its variable with --api-key-env" in refused("replay", out, "text-hello")
    assert "the scenario text-empty is not in it" in refused("replay", out, "text-empty")
    said = refused("replay", out, "text-hello", "--api-key-env", "THE_KEY", "--url", "ftp://x")
    assert "'ftp://x' is no base URL of a proxy" in said
    assert "is not a folder" in refused("diff", out, f"{out}/none")


def test_known_failures_are_written_so_that_the_next_run_accepts_them(
    kept: Callable[[str], Path], tiny: TinyServer, tmp_path: Path
) -> None:
    tiny.respond = unfinished
    out = kept("out")
    lines = wireproof("known-failing", "write", str(out)).stdout
    assert "text-hello:chat.stream.finish-once choice 0: " in lines
    assert wireproof("known-failing", "write", str(out), "--reason", " ").stdout == lines
    ours = wireproof("known-failing", "write", str(out), "--reason", "ours").stdout
    assert ours.splitlines()[0].endswith(" ours")
    file = tmp_path / "known.txt"
    file.write_text(ours)
    target = ("--url", tiny.base_url, "--model", "m", "--api-key-env", "THE_KEY", "--dialect", "openai-json")
    again = ("certify", *target, "--only", "text-hello", "--known-failing", str(file), "--output", str(out))
    assert wireproof(*again).exit_code != ExitStatus.FAILED
    assert wireproof("known-failing", "write", str(out)).stdout == ours
    assert "is not a folder" in refused("known-failing", "write", str(tmp_path / "none"))
