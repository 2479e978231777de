"""What recordings of `codex exec` do not hold: sessions in their folders, the journal, crashes and cut bytes."""

from __future__ import annotations

import io
import json
import sys
from typing import TYPE_CHECKING, Any

import pytest

from wireproof_codex import __main__ as command

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    Run = Callable[..., tuple[int, str, str]]

_EXEC = ("exec", "--json", "--skip-git-repo-check")


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Runs the command below an empty folder: its status, stdout and stderr."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("CODEX_HOME", raising=False)
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)

    def go(*arguments: str, given: bytes = b"") -> tuple[int, str, str]:
        made = {"stdin": given, "stdout": b"", "stderr": b""}
        streams = {name: io.TextIOWrapper(io.BytesIO(it), encoding="utf-8", newline="") for name, it in made.items()}
        for name, stream in streams.items():
            monkeypatch.setattr(sys, name, stream)
        status = command.main(arguments)
        written = []
        for name in ("stdout", "stderr"):
            streams[name].flush()
            streams[name].seek(0)
            written.append(streams[name].read())
        return status, written[0], written[1]

    return go


def events(out: str) -> list[Any]:
    return [json.loads(line) for line in out.split("\n")[:-1]]


def said(out: str) -> list[str]:
    items = [event["item"] for event in events(out) if event["type"] == "item.completed"]
    return [item["text"] for item in items if item["type"] == "agent_message"]


def thread_of(out: str) -> str:
    identity: str = events(out)[0]["thread_id"]
    return identity


def test_without_a_home_of_its_own_a_session_is_found_again(run: Run, tmp_path: Path) -> None:
    _, first, _ = run(*_EXEC, "one")
    status, second, _ = run(*_EXEC, "resume", thread_of(first), "two")
    assert (status, thread_of(second), said(second)) == (0, thread_of(first), ["You said: two"])
    assert [*(tmp_path / ".cache" / "wireproof-codex" / "sessions").rglob("*.jsonl")]
    assert not (tmp_path / ".codex").exists()


def test_a_home_with_a_login_is_left_alone(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home = tmp_path / "home"
    home.mkdir()
    (home / "auth.json").write_text("{}")
    monkeypatch.setenv("CODEX_HOME", str(home))
    _, first, _ = run(*_EXEC, "one")
    assert [path.name for path in home.iterdir()] == ["auth.json"]
    assert thread_of(run(*_EXEC, "resume", "--last", "two")[1]) == thread_of(first)


def test_the_last_session_is_that_of_the_folder_unless_all_are_wanted(run: Run, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    here = thread_of(run(*_EXEC, "one")[1])
    there = thread_of(run(*_EXEC, "-C", "elsewhere", "two")[1])
    assert thread_of(run(*_EXEC, "resume", "--last", "three")[1]) == here
    assert thread_of(run(*_EXEC, "-C", "elsewhere", "resume", "--last", "four")[1]) == there
    assert thread_of(run(*_EXEC, "resume", "--last", "--all", "five")[1]) == there


def test_an_ephemeral_session_is_not_stored(run: Run, tmp_path: Path) -> None:
    run(*_EXEC, "--ephemeral", "one")
    assert not (tmp_path / ".cache").exists()


def test_a_conversation_goes_on_with_the_next_part_of_its_script(run: Run, tmp_path: Path) -> None:
    (tmp_path / "s.yaml").write_text(
        "scripts:\n  - name: two\n    title: Two turns.\n    parts:\n"
        "      - [{say: First.}, {call: {id: call_1, name: f, arguments: {}}}]\n      - [{say: Second.}]\n"
    )
    _, out, err = run("--scripts", "s.yaml", *_EXEC, "[[wireproof:two#1]]")
    assert said(out) == ["First.", "Second."]
    assert "Error" not in err


def test_the_schema_is_answered_with_a_specimen(run: Run, tmp_path: Path) -> None:
    schema = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
    (tmp_path / "schema.json").write_text(json.dumps(schema))
    status, out, _ = run(*_EXEC, "--output-schema", "schema.json", "-o", "last.txt", "Where?")
    assert status == 0
    assert isinstance(json.loads(said(out)[0])["city"], str)
    assert (tmp_path / "last.txt").read_text() == said(out)[0]


def test_instructions_reach_the_model(run: Run) -> None:
    _, out, _ = run(*_EXEC, "-c", "developer_instructions='Be kind.'", "-m", "m", "[[wireproof:reflect/received#1]]")
    received = json.loads(said(out)[0])
    assert (received["developer"], received["model"]) == ("Be kind.", "m")


def test_images_reach_the_model(run: Run) -> None:
    _, out, _ = run(*_EXEC, "-i", "a.png,b.png", "--", "[[wireproof:reflect/received#1]]")
    assert [part["type"] for part in json.loads(said(out)[0])["input"]] == ["localImage", "localImage", "text"]


def test_a_crash_ends_the_process(run: Run) -> None:
    status, out, _ = run(*_EXEC, "[[wireproof:fail/crash-text#1]]")
    assert status == 101
    assert events(out)[-1]["type"] != "turn.failed"


def test_cut_bytes_are_whole_lines_in_the_end(run: Run) -> None:
    status, out, _ = run(*_EXEC, "[[wireproof:text/cut-bytes#1]]")
    assert (status, events(out)[-1]["type"]) == (0, "turn.completed")


def test_the_journal_has_what_was_asked_and_every_event(run: Run, tmp_path: Path) -> None:
    _, out, _ = run("--journal", "j", *_EXEC, "hello")
    notes = [json.loads(line) for line in (tmp_path / "j").read_text().split("\n")[:-1]]
    assert notes[0]["message"]["prompt"] == "hello"
    assert [note["message"] for note in notes[1:]] == events(out)


@pytest.mark.parametrize(
    ("option", "unknown"), [("--ephemeral", "0.98.0"), ("--full-auto", "0.147.0"), ("--trust", "0.163.0")]
)
def test_options_are_those_of_the_version(run: Run, option: str, unknown: str) -> None:
    status, _, err = run("--codex-version", unknown, *_EXEC, option, "hello")
    assert status == 2
    assert f"error: unexpected argument '{option}' found\n" in err


def test_options_before_exec_count(run: Run) -> None:
    _, out, _ = run("-m", "m", "-a", "never", "--search", *_EXEC, "[[wireproof:reflect/received#1]]")
    assert json.loads(said(out)[0])["model"] == "m"


@pytest.mark.parametrize(
    ("login", "status", "says"),
    [
        (None, 1, "Not logged in\n"),
        ('{"OPENAI_API_KEY": "sk-proj-1234567890ABCDE"}', 0, "Logged in using an API key - sk-proj-***ABCDE\n"),
        ('{"OPENAI_API_KEY": "short"}', 0, "Logged in using an API key - ***\n"),
        ('{"auth_mode": "chatgpt", "tokens": {"access_token": "a"}}', 0, "Logged in using ChatGPT\n"),
        ("[", 1, "Error checking login status: "),
    ],
)
def test_the_login_is_that_of_the_home(run: Run, tmp_path: Path, login: str | None, status: int, says: str) -> None:
    if login is not None:
        (tmp_path / ".codex").mkdir()
        (tmp_path / ".codex" / "auth.json").write_text(login)
    done, _, err = run("--codex-version", "0.125.0", "login", "status")
    assert done == status
    assert err.startswith(says)
