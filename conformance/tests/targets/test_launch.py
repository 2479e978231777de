from __future__ import annotations

import json
import os
import shlex
import shutil
import signal
import subprocess
import sys
import textwrap
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import httpx
import pytest

from wireproof.model.transcript import Death
from wireproof.model.verdict import HarnessError
from wireproof.targets import launch as launching
from wireproof.targets.launch import executable, launch, launched_at, stop

if TYPE_CHECKING:
    from conformance.tests.conftest import Until

PROXY = """
    import http.server, json, os, subprocess, sys
    status, note = int(sys.argv[1]), sys.argv[2]
    child = subprocess.Popen([sys.executable, "-c", {sleeper!r}], stdout=subprocess.PIPE)
    child.stdout.readline()
    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(status); self.send_header("Content-Length", "0"); self.end_headers()
    server = http.server.HTTPServer(("127.0.0.1", int(os.environ["PORT"])), Handler)
    with open(note, "w") as file:
        json.dump({{"argv": sys.argv[3:], "env": dict(os.environ), "pids": [os.getpid(), child.pid]}}, file)
    print("waiting for requests", flush=True)
    server.serve_forever()
"""
SLEEPER = """
import signal, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
print("deaf to SIGTERM", flush=True)
time.sleep(1000)
"""


class Proxy:
    """A command that notes its arguments, environment and process ids; its child ignores SIGTERM."""

    def __init__(self, folder: Path) -> None:
        self.note = folder / "note.json"
        self._file = folder / "proxy.py"
        self._file.write_text(textwrap.dedent(PROXY).format(sleeper=SLEEPER))

    def command(self, *arguments: str, status: int = 200) -> str:
        return shlex.join([sys.executable, str(self._file), str(status), str(self.note), *arguments])

    @property
    def noted(self) -> Any:
        return json.loads(self.note.read_text())


@pytest.fixture
def proxy(tmp_path: Path) -> Proxy:
    return Proxy(tmp_path)


def python(code: str) -> str:
    return shlex.join([sys.executable, "-c", code])


def gone(pids: list[int]) -> bool:
    """Whether none of the processes runs any more (a zombie that no process waits for does not)."""
    for pid in pids:
        stat = Path(f"/proc/{pid}/stat")
        if stat.exists() and stat.read_text().rpartition(") ")[2][0] != "Z":
            return False
    return True


def test_the_port_is_reported_in_every_way(proxy: Proxy) -> None:
    with launch(proxy.command("--port={port}", "{port}"), env={"OWN": "1", "CODEX_HOME": "x"}) as launched:
        port = launched.base_url.removeprefix("http://127.0.0.1:").removesuffix("/v1")
        assert proxy.noted["argv"] == [f"--port={port}", port]
        environment = proxy.noted["env"]
        assert (environment["PORT"], environment["PROXY_PORT"]) == (port, port)
        assert (environment["OWN"], environment["CODEX_HOME"]) == ("1", "x")
        assert environment["CODEX_BIN"] == executable("wireproof-codex")
        ours, _, theirs = environment["PATH"].partition(os.pathsep)
        assert theirs == os.environ["PATH"]
        assert shutil.which("codex", path=ours)
        assert launched.pid == proxy.noted["pids"][0]
        assert httpx.get(f"{launched.base_url}/models", trust_env=False).status_code == 200


def test_the_port_is_replaced_in_the_url(proxy: Proxy) -> None:
    with launch(proxy.command(), env={}, url="http://localhost:{port}/api") as launched:
        assert launched.base_url == f"http://localhost:{proxy.noted['env']['PORT']}/api"


def test_a_refusal_is_an_answer(proxy: Proxy) -> None:
    with launch(proxy.command(status=401), env={}) as launched:
        assert launched.pid


def test_the_whole_process_group_is_gone_after_the_block(proxy: Proxy, until: Until) -> None:
    with launch(proxy.command(), env={}):
        pids = proxy.noted["pids"]
        assert not gone(pids[:1])
        assert not gone(pids[1:])
    until(lambda: gone(pids), "the end of the process group")


def test_the_whole_process_group_is_gone_when_the_block_raises(proxy: Proxy, until: Until) -> None:
    with pytest.raises(ZeroDivisionError), launch(proxy.command(), env={}):
        raise ZeroDivisionError
    until(lambda: gone(proxy.noted["pids"]), "the end of the process group")


def test_children_of_a_dead_proxy_are_stopped_too(proxy: Proxy, until: Until) -> None:
    with launch(proxy.command(), env={}) as launched:
        os.kill(launched.pid, signal.SIGKILL)
        until(lambda: gone([launched.pid]))
    until(lambda: gone(proxy.noted["pids"]), "the end of the process group")


def test_a_proxy_that_has_died_says_how_and_is_started_again_at_its_address(proxy: Proxy, until: Until) -> None:
    with launch(proxy.command(), env={}) as launched:
        assert launched.death() is None
        first = proxy.noted["pids"]
        os.kill(launched.pid, signal.SIGKILL)
        until(launched.death, "the end of the proxy")
        death = launched.death()
        assert death is not None
        # The server of this test writes a line to stderr for each request.
        assert (death.status, '"GET /v1/models HTTP/1.1" 200' in death.last_words) == (-signal.SIGKILL, True)
        launched.restart()
        assert (launched.death(), launched.starts) == (None, 2)
        assert httpx.get(f"{launched.base_url}/models", trust_env=False).status_code == 200
        until(lambda: gone(first), "the end of the first process group")
        assert launched.pid == proxy.noted["pids"][0]
    until(lambda: gone(proxy.noted["pids"]), "the end of the second process group")
    launched.restart()
    assert gone([launched.pid]), "after the block nothing is started any more"


def test_a_death_quotes_nothing_that_an_earlier_life_has_written(tmp_path: Path, until: Until) -> None:
    program = f"""
        import pathlib, sys
        lived = pathlib.Path({str(tmp_path / "lived")!r})
        if lived.exists():
            sys.exit(3)
        lived.touch()
        sys.exit("no memory")
    """
    with launch(shlex.join([sys.executable, "-c", textwrap.dedent(program)]), env={}, at_need=True) as launched:
        launched.begin()
        until(launched.death, "its first death")
        assert launched.death() == Death(status=1, last_words="no memory")
        for _ in range(2):  # the first waits for the one that was begun
            with pytest.raises(HarnessError):
                launched.restart()
        assert launched.death() == Death(status=3, last_words="")


def test_one_that_is_launched_at_need_is_started_by_the_first_who_needs_it(proxy: Proxy, until: Until) -> None:
    with launch(proxy.command(), env={}, at_need=True) as launched:
        assert (launched.asleep, launched.pid, launched.death()) == (True, 0, None)
        assert launched_at(launched.base_url) is launched
        with pytest.raises(httpx.ConnectError):
            httpx.get(f"{launched.base_url}/models", trust_env=False)
        launched.restart()
        assert (launched.asleep, launched.death()) == (False, None)
        assert httpx.get(f"{launched.base_url}/models", trust_env=False).status_code == 200
    until(lambda: gone(proxy.noted["pids"]), "the end of the process group")
    assert launched_at(launched.base_url) is None


def test_one_that_is_begun_is_started_once(proxy: Proxy, until: Until) -> None:
    with launch(proxy.command(), env={}, at_need=True) as launched:
        launched.begin()
        first = launched.pid
        assert (first > 0, launched.asleep) == (True, True), "nobody has waited for it"
        launched.begin()
        launched.restart()
        assert (launched.pid, launched.asleep, launched.starts) == (first, False, 1)
        assert httpx.get(f"{launched.base_url}/models", trust_env=False).status_code == 200
        launched.restart()
        assert launched.pid != first
    until(lambda: gone(proxy.noted["pids"]), "the end of the process group")


def test_one_that_is_begun_and_never_needed_is_stopped(proxy: Proxy, until: Until) -> None:
    with launch(proxy.command(), env={}, at_need=True) as launched:
        launched.begin()
        until(lambda: proxy.note.exists() and proxy.note.read_text(), "the start of the process")
    until(lambda: gone(proxy.noted["pids"]), "the end of the process group")
    launched.begin()
    assert gone([launched.pid]), "after the block nothing is started any more"


def test_one_that_nobody_needed_never_ran(proxy: Proxy) -> None:
    with launch(proxy.command(), env={}, at_need=True) as launched:
        assert launched.asleep
    launched.restart()
    assert launched.asleep, "after the block nothing is started any more"


def test_a_running_proxy_is_found_by_any_url_of_its_server(proxy: Proxy) -> None:
    with launch(proxy.command(), env={}) as launched:
        assert launched_at(launched.base_url.replace("/v1", "/other/v1")) is launched
        assert launched_at("http://127.0.0.1:1/v1") is None
        assert launched_at(None) is None
    assert launched_at(launched.base_url) is None


def test_who_does_not_receive_is_killed_after_the_grace(
    monkeypatch: pytest.MonkeyPatch, proxy: Proxy, until: Until
) -> None:
    monkeypatch.setattr(launching, "GRACE", 0.1)
    code = "import signal, runpy, sys; signal.signal(signal.SIGTERM, signal.SIG_IGN); sys.argv = sys.argv[1:]; "
    deaf = f"{code}runpy.run_path(sys.argv[0])"
    with launch(shlex.join([sys.executable, "-c", deaf]) + proxy.command().removeprefix(sys.executable), env={}):
        pids = proxy.noted["pids"]
    until(lambda: gone(pids), "the end of the process group")


@pytest.mark.parametrize(
    ("command", "message"),
    [
        ("/no/such/command", "/no/such/command cannot be started: No such file or directory"),
        ("/", "/ cannot be started: Permission denied"),
        ("  ", "the command to launch is empty"),
        ("proxy 'x", "the command to launch cannot be read: No closing quotation: proxy 'x"),
        (
            python("import sys; print('no luck'); print('at all', file=sys.stderr); sys.exit(7)"),
            "the proxy ended with status 7 before it was ready; it said:\n",
        ),
        (python("pass"), "the proxy ended with status 0 before it was ready; it said nothing"),
    ],
)
def test_a_command_that_does_not_come_up_is_reported(command: str, message: str) -> None:
    with pytest.raises(HarnessError) as raised, launch(command, env={}):
        pass
    assert str(raised.value).startswith(message)
    if "luck" in command:
        assert {"no luck", "at all"} <= set(str(raised.value).splitlines())


def test_only_the_end_of_a_long_complaint_is_quoted() -> None:
    with pytest.raises(HarnessError) as raised, launch(python("print('x' * 9000 + 'the end')"), env={}):
        pass
    assert str(raised.value).endswith("the end")
    assert len(str(raised.value)) < launching.SHOWN + 200


def test_a_command_that_is_never_ready_is_reported_and_stopped(tmp_path: Path, until: Until) -> None:
    note = tmp_path / "pid"
    code = f"import os, time; open({str(note)!r}, 'w').write(str(os.getpid())); print('thinking', flush=True)"
    with pytest.raises(HarnessError) as raised, launch(python(f"{code}; time.sleep(1000)"), env={}, timeout=1.5):
        pass
    assert "did not answer at http://127.0.0.1:" in str(raised.value)
    assert str(raised.value).endswith("/v1/models within 1.5 s; it said:\nthinking")
    until(lambda: gone([int(note.read_text())]))


def test_a_proxy_that_fails_is_not_ready(proxy: Proxy) -> None:
    with pytest.raises(HarnessError, match=r"within 1\.5 s"), launch(proxy.command(status=503), env={}, timeout=1.5):
        pass


@pytest.mark.usefixtures("default_signals")
def test_who_interrupts_a_start_leaves_no_one_behind(monkeypatch: pytest.MonkeyPatch) -> None:
    running: list[subprocess.Popen[bytes]] = []
    start = subprocess.Popen

    def interrupted(*arguments: Any, **options: Any) -> subprocess.Popen[bytes]:
        os.kill(os.getpid(), signal.SIGINT)
        running.append(start(*arguments, **options))
        return running[0]

    monkeypatch.setattr(subprocess, "Popen", interrupted)
    with pytest.raises(KeyboardInterrupt), launch(python("import time; time.sleep(1000)"), env={}):
        pytest.fail("it was interrupted")
    assert running[0].returncode == -signal.SIGTERM


@pytest.mark.usefixtures("default_signals")
def test_an_interrupt_that_does_not_wake_the_main_thread_ends_a_start(
    monkeypatch: pytest.MonkeyPatch, until: Until
) -> None:
    # Taken by another thread, it wakes the main one as little as one that comes just before it begins to wait.
    def interrupted(*arguments: Any, **options: Any) -> subprocess.Popen[bytes]:
        until(lambda: sys._current_frames()[main].f_code is threading.Condition.wait.__code__)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
        os.kill(os.getpid(), signal.SIGINT)
        return start(*arguments, **options)

    start, main = subprocess.Popen, threading.get_ident()
    monkeypatch.setattr(subprocess, "Popen", interrupted)
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    began = time.monotonic()
    try:
        with pytest.raises(KeyboardInterrupt), launch(python("import time; time.sleep(1000)"), env={}, timeout=60):
            pytest.fail("it was interrupted")
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
    assert time.monotonic() - began < 30


def test_who_interrupts_the_grace_insists_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    with subprocess.Popen([sys.executable, "-c", SLEEPER], stdout=subprocess.PIPE, start_new_session=True) as process:
        assert process.stdout is not None
        process.stdout.readline()

        def interrupted(_: float) -> None:
            monkeypatch.undo()
            raise KeyboardInterrupt

        monkeypatch.setattr(process, "wait", interrupted)
        with pytest.raises(KeyboardInterrupt):
            stop(process)
        assert process.returncode == -signal.SIGKILL


@pytest.mark.parametrize("url", ["http://127.0.0.1:{prt}/v1", "127.0.0.1/v1", "http://127.0.0.1:99999/v1"])
def test_a_url_that_is_none_is_reported_at_once(proxy: Proxy, url: str) -> None:
    with pytest.raises(HarnessError, match="is no usable URL"), launch(proxy.command(), env={}, url=url):
        pass


def test_commands_are_found_beside_this_python(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    assert Path(executable("wireproof-codex")).parent == Path(sys.executable).parent
    with pytest.raises(HarnessError, match="the command wireproof-no-such is not installed in "):
        executable("wireproof-no-such")


def test_commands_are_found_on_the_path_too(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    command = tmp_path / "wireproof-elsewhere"
    command.write_text("")
    command.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert executable("wireproof-elsewhere") == str(command)


KILLED = """
import sys, time
from wireproof.targets.launch import launch
with launch(sys.argv[1], env={}) as launched:
    print(launched.pid, flush=True)
    time.sleep(1000)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere there is no signal at the death of a parent")
def test_a_proxy_ends_with_an_wireproof_that_is_killed(proxy: Proxy) -> None:
    words = [sys.executable, "-c", KILLED, proxy.command()]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as wireproof:
        assert wireproof.stdout is not None
        pid = int(wireproof.stdout.readline())
        wireproof.kill()
    # No child of ours, but of the killed one: it cannot be waited for.
    deadline = time.monotonic() + 30
    while Path(f"/proc/{pid}").exists() and "Z" not in Path(f"/proc/{pid}/stat").read_text().split()[2]:
        assert time.monotonic() < deadline
        time.sleep(0.01)
    os.kill(proxy.noted["pids"][1], signal.SIGKILL)  # what a stranger's proxy has started is its own affair
