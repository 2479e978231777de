"""Programs that misbehave: each is ended, bounded, and described in a line, and no process of it is left."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner

from wireproof.cli.root import root
from wireproof.clients import program
from wireproof.clients.judged import certify_client
from wireproof.clients.program import ClientCommand, ProgramClient, ProgramError, RunningProgram, words_of
from wireproof.clients.running import SilentClientError
from wireproof.clients.stages import MOST
from wireproof.scenarios.judged_clients import CLIENT_SCENARIOS

if TYPE_CHECKING:
    from wireproof.judging.outcomes import ScenarioRun

ASKS = """
import json, os, urllib.request
def ask(n=0):
    body = {"model": "m", "messages": [{"role": "user", "content": f"Hello {n}"}]}
    headers = {"Authorization": "Bearer " + os.environ["OPENAI_API_KEY"], "Content-Type": "application/json"}
    url = os.environ["OPENAI_BASE_URL"] + "/chat/completions"
    urllib.request.urlopen(urllib.request.Request(url, json.dumps(body).encode(), headers)).read()
"""
DEAF = "import signal\nfor one in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP): signal.signal(one, signal.SIG_IGN)\n"
DAEMON = """
import os, time
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        open(os.environ["PID_FILE"], "w").write(str(os.getpid()))
        time.sleep(600)
    os._exit(0)
os.wait()
while not os.path.exists(os.environ["PID_FILE"]): time.sleep(0.01)
time.sleep(0.05)
"""


def play(script: str, timeout: float = 20.0, idle: float = 0.3, **variables: str) -> ScenarioRun:
    command = ClientCommand(words=(sys.executable, "-c", script), variables=variables)
    client = ProgramClient(command=command, timeout=timeout, idle=idle)
    return certify_client(client, scenarios=CLIENT_SCENARIOS[:1]).runs[0]


def is_there(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    # One that has ended and that nobody has waited for yet.
    return "\nState:\tZ" not in Path(f"/proc/{process}/status").read_text(encoding="utf-8")


def test_one_that_asks_and_ends_has_nothing_said_of_it() -> None:
    run = play(f"{ASKS}\nask()")
    assert run.ended == ""
    assert [len(those) for those in run.exchanges.values()] == [1]


def test_one_that_hangs_before_it_asks_is_ended_and_what_it_printed_is_quoted() -> None:
    with pytest.raises(
        SilentClientError, match=r"ended after 1 s.*OPENAI_BASE_URL.*it printed: waiting in red\\u0007$"
    ) as error:
        play("import time\nprint('waiting \\x1b[1;31min red\\x1b[0m\\x07', flush=True)\ntime.sleep(600)", timeout=1.0)
    assert "\n" not in str(error.value)


def test_one_that_never_asks_says_what_it_must_do() -> None:
    with pytest.raises(SilentClientError, match=r"it must take its base URL from OPENAI_BASE_URL.*it printed nothing"):
        play("pass")


def test_one_that_needs_a_terminal_is_quoted() -> None:
    with pytest.raises(SilentClientError, match="Inappropriate ioctl"):
        play("import os\nos.get_terminal_size()")


def test_one_that_stays_when_all_is_said_is_ended() -> None:
    assert play(f"{ASKS}\nask()\nimport time\ntime.sleep(600)").ended == "it was ended when it asked nothing more"


def test_one_that_floods_is_ended_and_its_first_requests_are_kept() -> None:
    run = play(f"{ASKS}\nfor n in range(10_000): ask(n)")
    assert run.ended == f"it was ended after {MOST} requests"
    assert [len(those) for those in run.exchanges.values()] == [MOST]


def test_one_that_prints_without_end_does_not_block() -> None:
    script = f"{ASKS}\nimport sys\nfor n in range(2000): sys.stdout.write('x' * 10_000)\nask()"
    assert play(script).ended == ""


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux shows the environment of processes")
def test_one_that_ignores_signals_is_killed(tmp_path: Path) -> None:
    file = tmp_path / "pid"
    script = (
        f"{DEAF}{ASKS}\nask()\nimport time\nopen(os.environ['PID_FILE'], 'w').write(str(os.getpid()))\ntime.sleep(600)"
    )
    assert play(script, PID_FILE=str(file)).ended
    assert not is_there(int(file.read_text(encoding="utf-8")))


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux shows the environment of processes")
def test_what_has_left_its_group_is_killed(tmp_path: Path) -> None:
    file = tmp_path / "pid"
    play(f"{ASKS}\nask()\n{DAEMON}", PID_FILE=str(file))
    until = time.monotonic() + 5
    while is_there(int(file.read_text(encoding="utf-8"))) and time.monotonic() < until:
        time.sleep(0.01)
    assert not is_there(int(file.read_text(encoding="utf-8")))


def test_one_that_does_not_exist_is_named() -> None:
    command = ClientCommand(words=("no-such-program-of-wireproof",), variables={})
    with pytest.raises(ProgramError, match="cannot start no-such-program-of-wireproof: no such file or directory"):
        certify_client(ProgramClient(command=command), scenarios=CLIENT_SCENARIOS[:1])


def test_places_are_filled_and_other_braces_stay() -> None:
    command = ClientCommand(words=("sh", "-c", "{x} {prompt} ${y}"), variables={"URL": "{base_url}/x"})
    words, variables = command.filled({"prompt": "a {key}", "base_url": "http://h/v1", "key": "k"})
    assert words[2] == "{x} a {key} ${y}"
    assert variables == {"URL": "http://h/v1/x"}
    assert command.takes_prompt
    assert not ClientCommand(words=("sh",), variables={}).takes_prompt


def test_a_command_may_be_one_text() -> None:
    assert words_of(["python 'my agent.py' {prompt}"]) == ("python", "my agent.py", "{prompt}")
    assert words_of(["python", "my agent.py"]) == ("python", "my agent.py")


@pytest.mark.parametrize(
    ("words", "why"),
    [
        ([""], "the command of the client is empty"),
        (["", "x"], "the command of the client is empty"),
        (["my 'agent"], 'the command "my \'agent" cannot be read: No closing quotation'),
    ],
)
def test_a_command_without_a_program_is_refused_in_a_line(words: list[str], why: str) -> None:
    result = CliRunner().invoke(root, ["client", "--", *words])
    assert (result.exit_code, result.output) == (2, f"wireproof: {why}\n")


def test_what_repeats_a_run_has_the_options_that_are_not_the_usual_ones() -> None:
    command = [sys.executable, "-m", "wireproof_mocks.clients", "--stream", "--fault", "half-answers-kept"]
    chosen = ["--only", "client-cut-after-call"]
    said = ["--env=A=b", "--model=m2", "--timeout=30"]
    result = CliRunner().invoke(root, ["client", *chosen, *said, "--idle", "20", "--", *command])
    assert result.exit_code == 1, result.output
    assert f"again: wireproof client {shlex.join([*said, *chosen])} -- {shlex.join(command)}" in result.output


def test_a_program_gets_its_input_and_its_environment() -> None:
    command = ClientCommand(
        words=(sys.executable, "-c", "import os,sys; print(sys.stdin.read(), os.environ['OPENAI_BASE_URL'])"),
        variables={},
    )
    with RunningProgram(command, {"base_url": "http://h/v1", "key": "k"}, "one\ntwo\n") as running:
        while running.status is None:
            time.sleep(0.01)
    assert running.said == "one\ntwo\n http://h/v1"


def test_the_last_words_of_a_program_that_has_ended_are_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(program, "_READ", 4)  # far slower than the program writes
    words = (sys.executable, "-c", "import sys; sys.stderr.write('x' * 60_000 + ' the last words')")
    with RunningProgram(ClientCommand(words=words, variables={}), {"base_url": "http://h/v1", "key": "k"}, None) as run:
        while run.status is None:
            time.sleep(0.001)
    assert run.said.endswith("x the last words")


@pytest.mark.nightly
def test_a_program_can_be_left_where_wireproof_was_started_to_ignore_interrupts() -> None:
    client = [sys.executable, "-m", "wireproof_mocks.clients", "--stream"]
    words = [sys.executable, "-m", "wireproof", "client", "--only", "client-left", "--allow-partial", "--", *client]
    ignoring = "import os, signal, sys; signal.signal(signal.SIGINT, signal.SIG_IGN)"
    code = f"{ignoring}; os.execv(sys.argv[1], sys.argv[1:])"
    done = subprocess.run([sys.executable, "-c", code, *words], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "client.closes" not in done.stdout
