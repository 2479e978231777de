from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from wireproof_codex import __main__ as command
from wireproof_codex.threads.thread_store import FileThreadStore, MemoryThreadStore
from wireproof_codex.versions.version import NEWEST

if TYPE_CHECKING:
    from pathlib import Path

    from wireproof_codex.server import AppServer


def test_it_says_its_version_as_codex_does(capsys: pytest.CaptureFixture[str]) -> None:
    assert command.main(["--version"]) == 0
    assert capsys.readouterr().out == f"codex-cli {NEWEST.number}\n"
    assert command.main(["--codex-version", "0.89.0", "--version"]) == 0
    assert capsys.readouterr().out == "codex-cli 0.89.0\n"


def test_a_version_that_was_not_measured_says_what_it_is_played_as() -> None:
    hello = '{"id":1,"method":"initialize","params":{"clientInfo":{"name":"x","version":"1"}}}\n'
    arguments = [sys.executable, "-m", "wireproof_codex", "--codex-version"]
    for number, said in {
        "0.142.5": "Codex 0.142.5 was not measured: it is played as 0.142.0",
        "0.142.0": "",
    }.items():
        done = subprocess.run(
            [*arguments, number, "app-server"], input=hello, capture_output=True, text=True, check=True
        )
        assert done.stderr == (f"wireproof-codex: {said}\n" if said else "")
        assert f"x/{number} (" in done.stdout


def test_it_says_how_it_is_used(capsys: pytest.CaptureFixture[str]) -> None:
    assert command.main(["--help"]) == 0
    assert capsys.readouterr().out.startswith("usage: wireproof-codex ")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ["update"],
            "wireproof-codex does not play `codex update`, only `app-server`, `exec`, `mcp-server` and `login status`",
        ),
        (["exec", "review"], "wireproof-codex does not play `exec review`"),
        (["login"], "wireproof-codex does not play `codex login`, only `login status`"),
        (["--scripts", "/nowhere.yaml", "app-server"], "/nowhere.yaml: cannot be read: No such file or directory"),
        (["--journal", "/nowhere/x", "app-server"], "[Errno 2] No such file or directory: '/nowhere/x'"),
    ],
)
def test_what_it_cannot_follow_is_one_line_on_stderr(
    capsys: pytest.CaptureFixture[str], arguments: list[str], message: str
) -> None:
    assert command.main(arguments) == 2
    assert capsys.readouterr().err == f"wireproof-codex: {message}\n"


def test_the_handshake_needs_nothing_of_what_turns_do() -> None:
    hello = '{"id":1,"method":"initialize","params":{"clientInfo":{"name":"x","version":"1"}}}\n'
    code = f"""
import sys
before = set(sys.modules)
from wireproof_codex.__main__ import _bundled
from wireproof_codex.context import ServerContext
from wireproof_codex.server import AppServer
server = AppServer(ServerContext(_bundled))
server.receive({hello!r}.encode())
answer = server.output()
assert answer and b'"userAgent"' in answer, answer
needed = set(sys.modules) - before
server.prepare()
print(sorted({{"wireproof_codex.turns.turn", "wireproof_scripts.steps", "pathlib", "hashlib"}} & needed))
print("wireproof_codex.turns.turn" in sys.modules)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == ("[]\nTrue\n", "")


def test_a_broken_script_file_is_reported_before_anything_is_served(tmp_path: Path) -> None:
    path = tmp_path / "scripts.yaml"
    path.write_text("- {name: a, parts: [[{sey: x}]]}")
    done = subprocess.run(
        [sys.executable, "-m", "wireproof_codex", f"--scripts={path}", "app-server"],
        input="",
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert (
        done.stderr == f"wireproof-codex: {path}: line 1, column 22, [0].parts[0][0] in the script a: "
        'there is no step "sey"; did you mean say?\n'
    )


def _serves(monkeypatch: pytest.MonkeyPatch) -> AppServer:
    """The server of a process that serves nobody."""
    served: list[AppServer] = []

    def serve(server: AppServer, _journal: object) -> int:
        served.append(server)
        return 0

    monkeypatch.setattr(command, "serve", serve)
    assert command.main(["app-server"]) == 0
    return served[0]


def test_threads_are_stored_below_codex_home_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("CODEX_HOME", raising=False)
    assert type(_serves(monkeypatch).context.thread_store) is MemoryThreadStore
    monkeypatch.setenv("CODEX_HOME", str(tmp_path))
    assert type(_serves(monkeypatch).context.thread_store) is FileThreadStore
