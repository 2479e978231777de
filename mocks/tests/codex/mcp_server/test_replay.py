"""What recorded sessions of `codex mcp-server` had is what the mock has: results, errors, elicitations, and events."""

from __future__ import annotations

import gzip
import json
import re
from pathlib import Path
from typing import Any

import pytest
from wireproof_fidelity.scripts import SCRIPTS

from wireproof_codex.__main__ import main
from wireproof_codex.context import ServerContext
from wireproof_codex.mcp_server.server import McpServer
from wireproof_codex.server import AppServer
from wireproof_codex.versions.version import VERSIONS
from wireproof_scripts.steps import Command, Patch, Say, Script

RECORDINGS = Path(__file__).parent / "recordings"
NAMES = sorted(file.name.removesuffix(".jsonl.gz") for file in RECORDINGS.iterdir())
_RAN = Command(id="call_1", command="touch x; echo hi", output="hi\n", reason="wants it", asks="always")
_LIBRARY = {
    **SCRIPTS,
    "shell": Script(name="shell", title="", parts=((_RAN,), (Say(("Done.",)),))),
    "patch": Script(
        name="patch",
        title="",
        parts=((Patch(id="call_p", path="a.txt", content="one\n", asks="always"),), (Say(("Patched.",)),)),
    ),
}
_ID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_AGENT = re.compile(r'codex_cli_rs/[^"]*')
_UNLIKE = {
    # 0.89.0 has no exec_command, which the recorded model called.
    "0.89.0_calls": frozenset({6}),
    # What is wrong in `config` is said with the place in a file.
    "0.121.0_arguments": frozenset({13}),
    # And what was declined once is not asked for again.
    "0.149.1_arguments": frozenset({13, 16, 17, 18}),
}
"""Calls that are not compared, by their ids."""
_COMMANDS = {
    # These have a command, which is an item, too, in later versions; a file is written with the output of its program.
    "0.149.1_calls": frozenset({6}),
    "0.149.1_arguments": frozenset({15, 19}),
    "0.121.0_arguments": frozenset({19}),
}
"""Calls of which the events are not compared."""
Message = dict[str, Any]


def _recorded(name: str) -> list[tuple[str, Message]]:
    """The lines of either side, without the calls that are unlike."""
    text = gzip.decompress((RECORDINGS / f"{name}.jsonl.gz").read_bytes()).decode()
    lines = [next(iter(json.loads(line).items())) for line in text.splitlines()]
    unlike = _UNLIKE.get(name, frozenset())
    return [(side, message) for side, message in lines if _call(message) not in unlike]


def _played(name: str, lines: list[tuple[str, Message]]) -> list[Message]:
    """What the mock says to the client of a recording, whose ids of threads become the mock's."""
    version = VERSIONS[name.partition("_")[0]]
    context = ServerContext(_LIBRARY, cwd="/srv/workspace", version=version, clock=lambda: 1_800_000_000.0)
    server = McpServer(AppServer(context))
    said: list[Message] = []
    threads = iter(_threads([message for side, message in lines if side == "S"]))
    known: dict[str, str] = {}
    for message in (message for side, message in lines if side == "C"):
        sent = json.dumps(message)
        for theirs, ours in known.items():
            sent = sent.replace(theirs, ours)
        server.receive(sent.encode())
        while (output := server.output()) is not None:
            assert isinstance(output, bytes)
            said.append(json.loads(output))
            known |= {next(threads): thread for thread in _threads(said[-1:])}
    return said


def _threads(messages: list[Message]) -> list[str]:
    """The ids of the threads that begin."""
    events = [message["params"]["msg"] for message in messages if message.get("method") == "codex/event"]
    return [msg["session_id"] for msg in events if msg["type"] == "session_configured"]


def _comparable(messages: list[Message]) -> list[str]:
    """All but the events, with ids by the order in which they come."""
    names: dict[str, str] = {}
    kept = [message for message in messages if message.get("method") != "codex/event"]
    for message in kept:
        message.get("params", {}).pop("codex_event_id", None)  # the number of the call or the id of its turn
    lines = [_AGENT.sub("agent", json.dumps(message, sort_keys=True, ensure_ascii=False)) for message in kept]
    return [_ID.sub(lambda found: names.setdefault(found[0], f"<{len(names)}>"), line) for line in lines]


def _call(message: Message) -> int | None:
    """The call of a tool that a message is about; the answer to an elicitation is about none."""
    params = message.get("params", {})
    if "codex_mcp_tool_call_id" in params:
        return int(params["codex_mcp_tool_call_id"])
    return params["_meta"]["requestId"] if "_meta" in params else message.get("id")


def _events(messages: list[Message], unlike: frozenset[int]) -> dict[int | None, list[str]]:
    """The types of the events of each call; not what the tokens are, which races, nor the model's own items."""
    found: dict[int | None, list[str]] = {}
    for message in messages:
        if message.get("method") == "codex/event" and _call(message) not in unlike:
            kind = message["params"]["msg"]["type"]
            if kind != "token_count" and not kind.startswith("raw_"):
                found.setdefault(_call(message), []).append(kind)
    return found


@pytest.mark.parametrize("line", [b"\xff", b"{", b"[" * 100_000, b'{"id":1,"params":' + b"[" * 900 + b"]" * 900 + b"}"])
def test_a_line_that_is_no_message_is_passed_over(line: bytes) -> None:
    server = McpServer(AppServer(ServerContext(_LIBRARY, version=VERSIONS["0.125.0"])))
    server.receive(line)
    assert server.output() is None
    server.receive(b'{"id":1,"method":"ping"}')
    assert server.output() is not None


@pytest.mark.parametrize("name", NAMES)
def test_results_errors_and_elicitations_are_those_of_the_recording(name: str) -> None:
    lines = _recorded(name)
    theirs = [message for side, message in lines if side == "S"]
    assert _comparable(_played(name, lines)) == _comparable(theirs)


@pytest.mark.parametrize("name", NAMES)
def test_the_events_of_a_call_are_those_of_the_recording(name: str) -> None:
    lines, unlike = _recorded(name), _COMMANDS.get(name, frozenset())
    theirs = [message for side, message in lines if side == "S"]
    assert _events(_played(name, lines), unlike) == _events(theirs, unlike)


def test_versions_without_the_command_take_it_for_a_prompt(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("WIREPROOF_CODEX_VERSION", raising=False)
    assert main(["mcp-server"]) == 1
    assert capsys.readouterr().err == "Error: stdin is not a terminal\n"
