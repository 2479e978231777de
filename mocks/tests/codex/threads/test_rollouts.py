from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from wireproof_codex.context import Ids
from wireproof_codex.versions.version import NEWEST

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from mocks.tests.codex.conftest import Client

HELLO = "[[wireproof:text/hello#a]]"
TOOL = "localSearch"


@pytest.fixture
def start(tmp_path: Path, make_client: Callable[..., Any]) -> Callable[..., Any]:
    """Begins a process with this home."""

    def begin(version: str = NEWEST.number) -> Any:
        client = make_client(version=version, home=str(tmp_path), stores=True)
        client.context.ids = Ids()  # no process gives the ids of another
        return client

    return begin


def _files(home: Path) -> list[str]:
    return sorted(str(path.relative_to(home)) for path in home.rglob("*.jsonl"))


def _turns(client: Client, thread: str) -> list[Any]:
    read = client.ask("thread/read", {"threadId": thread, "includeTurns": True})[0]
    return [(turn["status"], [item["type"] for item in turn["items"]]) for turn in read["thread"]["turns"]]


def test_a_thread_is_found_by_the_processes_that_come_after(start: Callable[..., Any], tmp_path: Path) -> None:
    first = start()
    thread = first.start_thread(TOOL, ephemeral=False, model="m", cwd="/x", developerInstructions="dev")
    assert _files(tmp_path) == []
    first.start_turn(thread, HELLO)
    first.ask("thread/name/set", {"threadId": thread, "name": "N"})
    text = {"type": "text", "text": HELLO}
    first.ask("turn/start", {"threadId": thread, "input": [text], "effort": "high"})
    found = first.ask("thread/read", {"threadId": thread, "includeTurns": True})[0]
    assert _files(tmp_path) == [f"sessions/2027/01/15/rollout-2027-01-15T08-00-00-{thread}.jsonl"]
    second = start()
    assert second.ask("thread/read", {"threadId": thread, "includeTurns": True})[0] == {
        **found,
        "thread": {
            **found["thread"],
            "status": {"type": "notLoaded"},
            "environments": None,
            "canAcceptDirectInput": None,
        },
    }
    resumed, received = second.ask("thread/resume", {"threadId": thread})
    assert (resumed["model"], resumed["cwd"], resumed["reasoningEffort"]) == ("m", "/x", "high")
    assert (resumed["thread"]["name"], resumed["thread"]["turns"]) == ("N", found["thread"]["turns"])
    assert received.params_of("thread/tokenUsage/updated")[0]["turnId"] == found["thread"]["turns"][-1]["id"]
    reflected = json.loads(second.start_turn(thread, "[[wireproof:reflect/received#b]]")[1].text_deltas[0])
    assert [tool["name"] for tool in reflected["tools"]] == [TOOL]
    assert (reflected["developer"], len(reflected["history"])) == ("dev", 4)
    assert len(_turns(start(), thread)) == 3


def test_items_of_a_resumed_thread_have_ids_of_their_own(start: Callable[..., Any]) -> None:
    client = start()
    thread = client.start_thread(ephemeral=False)
    client.start_turn(thread, HELLO)
    client = start()
    client.ask("thread/resume", {"threadId": thread})
    client.start_turn(thread, HELLO)
    read = client.ask("thread/read", {"threadId": thread, "includeTurns": True})[0]
    ids = [item["id"] for turn in read["thread"]["turns"] for item in turn["items"] if item["type"] == "agentMessage"]
    assert len(set(ids)) == 2


def test_nothing_is_written_of_ephemeral_threads(start: Callable[..., Any], tmp_path: Path) -> None:
    client = start()
    client.start_turn(client.start_thread(), HELLO)
    assert _files(tmp_path) == []


def test_a_turn_that_was_running_when_the_process_died_was_interrupted(start: Callable[..., Any]) -> None:
    client = start()
    thread = client.start_thread(ephemeral=False)
    client.start_turn(thread, "[[wireproof:text/silent#a]]")
    assert _turns(start(), thread) == [("interrupted", ["userMessage"])]
    assert _turns(client, thread) == [("inProgress", ["userMessage"])]


def test_half_a_line_that_a_killed_process_left_is_overwritten(start: Callable[..., Any], tmp_path: Path) -> None:
    client = start()
    thread = client.start_thread(ephemeral=False)
    client.start_turn(thread, HELLO)
    [file] = tmp_path.rglob("*.jsonl")
    with file.open("a") as rollout:
        rollout.write('{"type": "response_it')
    client = start()
    client.ask("thread/resume", {"threadId": thread})
    client.start_turn(thread, HELLO)
    assert _turns(start(), thread) == [("completed", ["userMessage", "agentMessage"])] * 2


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (b"", "it is empty"),
        (b'{"type": "name", "payload": ""}\n', "line 1 is not what it must be: ValueError('expected session_meta"),
        (b'{"type": "session_meta", "payload": {}}\n', "line 1 is not what it must be: KeyError('id')"),
        (b"nonsense\n", "line 1 is not what it must be: JSONDecodeError("),
        (b"[]\n", "line 1 is not what it must be: TypeError("),
        (b"\xff\n", "'utf-8' codec can't decode byte 0xff"),
    ],
)
def test_a_damaged_file_is_reported_with_its_name(
    text: bytes, why: str, start: Callable[..., Any], tmp_path: Path
) -> None:
    client = start()
    thread = client.start_thread(ephemeral=False)
    client.start_turn(thread, HELLO)
    [file] = tmp_path.rglob("*.jsonl")
    file.write_bytes(text)
    client = start()
    error, _ = client.ask("thread/resume", {"threadId": thread})
    assert error["code"] == -32603
    assert error["message"].startswith(f"failed to load rollout `{file}`: {why}")
    assert client.ask("thread/list", {})[0]["data"] == []
    assert client.notes[0].startswith(f"a rollout is passed over: `{file}`: {why}")


def test_a_line_in_the_midst_is_named(start: Callable[..., Any], tmp_path: Path) -> None:
    client = start()
    thread = client.start_thread(ephemeral=False)
    client.start_turn(thread, HELLO)
    [file] = tmp_path.rglob("*.jsonl")
    with file.open("a") as rollout:
        rollout.write('{"type": "no such", "payload": 1}\n')
    error, _ = start().ask("thread/read", {"threadId": thread})
    lines = len(file.read_text().splitlines())
    assert error["message"].endswith(f": line {lines} is not what it must be: KeyError('no such')")


def test_a_home_that_cannot_be_written_stores_nothing_and_says_so_once(
    start: Callable[..., Any], tmp_path: Path
) -> None:
    (tmp_path / "sessions").write_text("in the way")
    client = start()
    for thread in [client.start_thread(ephemeral=False) for _ in range(2)]:
        assert client.start_turn(thread, HELLO)[1].text_deltas
    assert len(client.notes) == 1
    assert client.notes[0].startswith("threads are not stored: ")
    assert _turns(client, thread) == [("completed", ["userMessage", "agentMessage"])]


def test_a_home_with_a_login_is_left_alone(start: Callable[..., Any], tmp_path: Path) -> None:
    (tmp_path / "auth.json").write_text("{}")
    client = start()
    thread = client.start_thread(ephemeral=False)
    client.start_turn(thread, HELLO)
    assert _files(tmp_path) == []
    assert client.notes == [f"threads are not stored: {tmp_path} has a login, so it is that of a real codex"]
    client.ask("thread/archive", {"threadId": thread})
    assert client.ask("thread/resume", {"threadId": thread})[0]["message"].startswith("no rollout found")


def test_an_archived_thread_moves_and_comes_back(start: Callable[..., Any], tmp_path: Path) -> None:
    client = start()
    thread = client.start_thread(ephemeral=False)
    client.start_turn(thread, HELLO)
    client.ask("thread/archive", {"threadId": thread})
    name = f"rollout-2027-01-15T08-00-00-{thread}.jsonl"
    assert _files(tmp_path) == [f"archived_sessions/{name}"]
    client = start()
    assert client.ask("thread/list", {})[0]["data"] == []
    assert [it["id"] for it in client.ask("thread/list", {"archived": True})[0]["data"]] == [thread]
    client.ask("thread/unarchive", {"threadId": thread})
    assert _files(tmp_path) == [f"sessions/2027/01/15/{name}"]
    client.ask("thread/resume", {"threadId": thread})
    client.start_turn(thread, HELLO)
    client.ask("thread/delete", {"threadId": thread})
    assert _files(tmp_path) == []


def test_a_thread_without_turns_can_be_archived(start: Callable[..., Any], tmp_path: Path) -> None:
    client = start()
    thread = client.start_thread(ephemeral=False)
    assert client.ask("thread/archive", {"threadId": thread})[0] == {}
    assert _files(tmp_path) == []


def test_a_fork_has_a_file_of_its_own(start: Callable[..., Any], tmp_path: Path) -> None:
    client = start()
    thread = client.start_thread(ephemeral=False)
    client.start_turn(thread, HELLO)
    fork = client.ask("thread/fork", {"threadId": thread})[0]["thread"]["id"]
    client.start_turn(fork, HELLO)
    assert len(_files(tmp_path)) == 2
    client = start()
    assert (len(_turns(client, thread)), len(_turns(client, fork))) == (1, 2)
    resumed, received = client.ask("thread/resume", {"threadId": fork})
    assert resumed["thread"]["forkedFromId"] == thread
    assert received.params_of("thread/tokenUsage/updated") == []
    assert client.start_turn(fork, HELLO)[1].params_of("thread/tokenUsage/updated")[0]["tokenUsage"]["total"] != {}


def test_a_fork_of_a_thread_that_has_cost_nothing_has_cost_nothing(start: Callable[..., Any]) -> None:
    client = start()
    thread = client.start_thread(ephemeral=False)
    client.start_turn(thread, "[[wireproof:no-counts#a]]")
    fork = client.ask("thread/fork", {"threadId": thread})[0]["thread"]["id"]
    assert start().ask("thread/resume", {"threadId": fork})[1].params_of("thread/tokenUsage/updated") == []


def test_turns_that_were_rolled_back_are_gone_afterwards(start: Callable[..., Any]) -> None:
    client = start("0.150.0")
    thread = client.start_thread(ephemeral=False)
    for text in (HELLO, "[[wireproof:text/empty#b]]"):
        client.start_turn(thread, text)
    client.ask("thread/rollback", {"threadId": thread, "numTurns": 1})
    client = start("0.150.0")
    client.ask("thread/resume", {"threadId": thread})
    assert len(_turns(client, thread)) == 1
    reflected = json.loads(client.start_turn(thread, "[[wireproof:reflect/received#c]]")[1].text_deltas[0])
    assert [item["role"] for item in reflected["history"]] == ["user", "assistant"]


def test_what_is_put_before_the_first_turn_is_stored_too(start: Callable[..., Any]) -> None:
    client = start()
    thread = client.start_thread(ephemeral=False)
    item = {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "before"}]}
    client.ask("thread/inject_items", {"threadId": thread, "items": [item]})
    client.start_turn(thread, HELLO)
    client = start()
    assert [it["preview"] for it in client.ask("thread/list", {})[0]["data"]] == [HELLO]
    client.ask("thread/resume", {"threadId": thread})
    reflected = json.loads(client.start_turn(thread, "[[wireproof:reflect/received#c]]")[1].text_deltas[0])
    assert reflected["history"][0] == item
