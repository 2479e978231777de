"""The command, its options and its journal."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from cursor_agents import WAIT, Connection, Run, RunSSE, run_request, text_of

from wireproof_cursor.__main__ import main
from wireproof_cursor.settings import CursorMockSettings, CursorUsageError, read_settings

if TYPE_CHECKING:
    from collections.abc import Iterator


@contextmanager
def command(*arguments: str) -> Iterator[str]:
    """The command as a process; its base URL. It must end well when it is interrupted."""
    process = subprocess.Popen(
        [sys.executable, "-m", "wireproof_cursor", *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    with process:
        assert process.stdout is not None
        assert process.stderr is not None
        try:
            yield process.stdout.readline().strip()
        finally:
            process.send_signal(signal.SIGINT)
            assert process.wait(WAIT) == 0
            assert process.stderr.read() == ""


def test_it_prints_its_url_and_serves_until_it_is_interrupted() -> None:
    with command() as url:
        assert url.startswith("http://127.0.0.1:")
        with Connection(url) as connection:
            run = Run(connection)
            run.send(run_request("[[wireproof:probe#1]]"))
            assert text_of(run.rest()) == "Wireproof: the scripted backend is here."


def test_an_edited_file_of_scripts_counts_at_once(tmp_path: Path) -> None:
    scripts = tmp_path / "scripts.yaml"
    scripts.write_text("scripts:\n- name: own\n  when: go\n  parts: [[{say: one}]]\n", encoding="utf-8")
    with command("--scripts", str(scripts)) as url, Connection(url) as connection:
        assert answer(connection) == "one"
        scripts.write_text("scripts:\n- name: own\n  when: go\n  parts: [[{say: second}]]\n", encoding="utf-8")
        assert answer(connection) == "second"
        scripts.write_text("scripts: [", encoding="utf-8")
        run = Run(connection)
        run.send(run_request("go"))
        run.rest()
        assert "scripts.yaml" in run.ended()["error"]["message"]


def answer(connection: Connection) -> str:
    run = Run(connection)
    run.send(run_request("go"))
    return text_of(run.rest())


def test_the_journal_has_every_message_and_every_fault(tmp_path: Path) -> None:
    journal = tmp_path / "journal.jsonl"
    with command("--journal", str(journal), "--lenient") as url, RunSSE(url, token="secret") as client:
        client.append(run_request("[[wireproof:probe#1]]"), 0)
        client.number = 0
        client.rest()
    entries = [json.loads(line) for line in journal.read_text(encoding="utf-8").splitlines()]
    assert {entry["request_id"] for entry in entries} == {client.request_id}
    assert {entry["rpc"] for entry in entries} == {"RunSSE"}
    received = [entry for entry in entries if entry.get("direction") == "received"]
    assert [entry["headers"]["x-request-id"] for entry in received if "headers" in entry] == [client.request_id]
    assert [entry["append_seqno"] for entry in received if "message" in entry] == [0, 0, 1]
    texts = [
        entry["message"].get("interaction_update", {}).get("text_delta") for entry in entries if "message" in entry
    ]
    assert "".join(text["text"] for text in texts if text) == "Wireproof: the scripted backend is here."
    assert [entry["fault"] for entry in entries if "fault" in entry] == ["append_seqno 0 comes a second time"]
    assert entries[-1]["end"] == {}
    assert "secret" not in journal.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--port", "x"], "invalid int value"),
        (["--scripts"], "expected one argument"),
        (["--scripts", "/no/such.yaml"], "/no/such.yaml"),
        (["--journal", "/no/such/folder/journal"], "No such file or directory"),
        (["serve"], "unrecognized arguments: serve"),
        (["--port", "70000"], "port"),
    ],
)
def test_what_cannot_be_followed_is_said_in_one_line(
    arguments: list[str], words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(arguments) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("wireproof-cursor: ")
    assert words in line


def test_options_come_before_the_environment() -> None:
    environment = {"WIREPROOF_SCRIPTS": "env.yaml", "WIREPROOF_JOURNAL": "env.jsonl"}
    assert read_settings([], {}) == CursorMockSettings()
    assert read_settings([], environment) == CursorMockSettings(scripts=Path("env.yaml"), journal=Path("env.jsonl"))
    given = read_settings(["--scripts", "own.yaml", "--journal", "own.jsonl", "--port", "1", "--lenient"], environment)
    assert given == CursorMockSettings(port=1, scripts=Path("own.yaml"), journal=Path("own.jsonl"), lenient=True)
    with pytest.raises(CursorUsageError, match="--port"):
        read_settings(["--port"], {})
