from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from wireproof_codex.versions.version import NEWEST

if TYPE_CHECKING:
    from collections.abc import Callable

    from mocks.tests.codex.conftest import Client

NOWHERE = "00000000-0000-7000-8000-999999999999"
HELLO = "[[wireproof:text/hello#a]]"
NONE_FOUND = f"no rollout found for thread id {NOWHERE}"


@pytest.fixture
def thread(client: Client) -> str:
    """A thread in which something was said."""
    identity: str = client.start_thread(ephemeral=False)
    client.start_turn(identity, HELLO)
    return identity


def _turns(client: Client, thread: str) -> Any:
    return client.ask("thread/read", {"threadId": thread, "includeTurns": True})[0]["thread"]["turns"]


@pytest.mark.parametrize(
    ("method", "params", "message"),
    [
        ("thread/read", {}, f"thread not loaded: {NOWHERE}"),
        ("thread/resume", {}, NONE_FOUND),
        ("thread/fork", {}, NONE_FOUND),
        ("thread/archive", {}, NONE_FOUND),
        ("thread/unarchive", {}, f"no archived rollout found for thread id {NOWHERE}"),
        ("thread/delete", {}, NONE_FOUND),
        ("thread/name/set", {"name": "N"}, NONE_FOUND),
    ],
)
def test_a_thread_must_be_known(client: Client, method: str, params: dict[str, Any], message: str) -> None:
    error, _ = client.ask(method, {"threadId": NOWHERE, **params})
    assert error == {"code": -32600, "message": message}


@pytest.mark.parametrize(
    ("method", "params", "message"),
    [
        ("thread/read", {"includeTurns": True}, "ephemeral threads do not support includeTurns"),
        ("thread/resume", {}, "no rollout found for thread id {}"),
        ("thread/fork", {}, "no rollout found for thread id {}"),
        ("thread/archive", {}, "no rollout found for thread id {}"),
        ("thread/delete", {}, "thread is not persisted and cannot be deleted: {}"),
        ("thread/name/set", {"name": "N"}, "ephemeral thread does not support metadata updates: {}"),
    ],
)
def test_what_is_kept_in_memory_alone_is_not_stored(
    client: Client, method: str, params: dict[str, Any], message: str
) -> None:
    thread = client.start_thread()
    error, _ = client.ask(method, {"threadId": thread, **params})
    assert error["message"] == message.format(thread)
    assert client.ask("thread/read", {"threadId": thread})[0]["thread"]["ephemeral"] is True


def test_a_thread_is_read_and_resumed_with_its_turns(client: Client, thread: str) -> None:
    read, received = client.ask("thread/read", {"threadId": thread, "includeTurns": True})
    assert received.methods == ["deprecationNotice", "response"]
    [turn] = read["thread"]["turns"]
    assert [item["type"] for item in turn["items"]] == ["userMessage", "agentMessage"]
    assert (turn["itemsView"], turn["status"]) == ("full", "completed")
    resumed, received = client.ask("thread/resume", {"threadId": thread})
    assert resumed["thread"]["turns"] == [turn]
    assert received.methods == [
        "deprecationNotice", "response", "thread/tokenUsage/updated", "thread/goal/cleared",
    ]  # fmt: skip
    resumed, received = client.ask("thread/resume", {"threadId": thread, "excludeTurns": True})
    assert (resumed["thread"]["turns"], received.methods) == ([], ["response", "thread/goal/cleared"])


def test_how_a_turn_failed_is_found_again_by_newer_versions(make_client: Callable[..., Any]) -> None:
    ends = []
    for version in ("0.142.0", "0.150.0"):
        client = make_client(version=version)
        thread = client.start_thread(ephemeral=False)
        client.start_turn(thread, "[[wireproof:cause/quota#a]]")
        [turn] = _turns(client, thread)
        ends.append((turn["status"], turn["error"] is None, [item["id"] for item in turn["items"]]))
    assert ends == [("completed", True, ["item-1"]), ("failed", False, ["item-1"])]


def test_turns_without_words_of_the_model_are_sent_only_where_there_are_any(make_client: Callable[..., Any]) -> None:
    texts = []
    for version in ("0.89.0", "0.105.0", NEWEST.number):
        client = make_client(version=version)
        thread = client.start_thread(ephemeral=False)
        answer, _ = client.ask("thread/read", {"threadId": thread, "includeTurns": True})
        texts.append(answer.get("message") or answer["thread"]["turns"])
    assert texts[0] == []
    assert texts[1].endswith("is not materialized yet; includeTurns is unavailable before first user message")
    assert texts[2] == "list_turns is not supported yet"


def test_older_versions_start_a_thread_anew_when_it_is_resumed(older: Client) -> None:
    thread = older.start_thread()
    for _ in range(2):
        older.start_turn(thread, HELLO)
    resumed, received = older.ask("thread/resume", {"threadId": thread})
    assert received.methods == ["codex/event/mcp_startup_complete", "response"]
    assert [turn["id"] for turn in resumed["thread"]["turns"]] == ["turn-1", "turn-2"]
    assert older.start_turn(thread, HELLO)[0] == "0"
    assert [turn["id"] for turn in _turns(older, thread)] == ["turn-1", "turn-2", "turn-3"]
    assert [item["id"] for turn in _turns(older, thread) for item in turn["items"]][-1] == "item-6"


def test_a_fork_goes_on_from_where_its_thread_is(client: Client, thread: str) -> None:
    params = {"threadId": thread, "model": "m", "sandbox": "danger-full-access", "cwd": "/y"}
    forked, received = client.ask("thread/fork", params)
    fork = forked["thread"]["id"]
    assert received.methods == ["deprecationNotice", "response", "thread/tokenUsage/updated", "thread/started"]
    assert (forked["model"], forked["sandbox"], forked["cwd"]) == ("m", {"type": "dangerFullAccess"}, "/y")
    assert (forked["thread"]["forkedFromId"], forked["thread"]["turns"]) == (thread, _turns(client, thread))
    assert received.params_of("thread/started")[0]["thread"]["turns"] == []
    client.start_turn(fork, HELLO)
    assert (len(_turns(client, fork)), len(_turns(client, thread))) == (2, 1)
    listed = client.ask("thread/list", {})[0]["data"]
    assert [(it["id"], it["forkedFromId"]) for it in listed] == [(fork, None), (thread, None)]


def test_a_fork_in_memory_alone_leaves_its_turns_out(client: Client, thread: str) -> None:
    error, _ = client.ask("thread/fork", {"threadId": thread, "ephemeral": True})
    assert error["message"] == "ephemeral paginated thread/fork requires `excludeTurns: true`"
    forked, received = client.ask("thread/fork", {"threadId": thread, "ephemeral": True, "excludeTurns": True})
    assert (forked["thread"]["ephemeral"], forked["thread"]["turns"]) == (True, [])
    assert received.methods == ["response", "thread/started"]


def test_forks_of_older_versions_are_stored_and_tell_their_turns(make_client: Callable[..., Any]) -> None:
    client = make_client(version="0.105.0")
    thread = client.start_thread(ephemeral=False)
    error, _ = client.ask("thread/fork", {"threadId": thread})
    assert error["message"] == f"no rollout found for thread id {thread}"
    client.start_turn(thread, HELLO)
    forked, received = client.ask("thread/fork", {"threadId": thread, "ephemeral": True})
    assert received.methods == [
        "codex/event/mcp_startup_complete", "thread/status/changed", "response", "thread/started",
    ]  # fmt: skip
    assert forked["thread"]["path"]
    assert len(received.params_of("thread/started")[0]["thread"]["turns"]) == 1


def test_what_was_put_away_is_brought_back(client: Client, thread: str) -> None:
    client.ask("thread/archive", {"threadId": thread})
    archived = client.ask("thread/read", {"threadId": thread})[0]["thread"]
    assert (archived["status"], archived["environments"]) == ({"type": "notLoaded"}, None)
    error, _ = client.ask("thread/resume", {"threadId": thread})
    assert error["message"].startswith(f"session {thread} is archived. Run `codex unarchive")
    assert client.ask("thread/archive", {"threadId": thread})[0]["message"].startswith("no rollout found")
    assert client.ask("thread/list", {})[0]["data"] == []
    assert [it["id"] for it in client.ask("thread/list", {"archived": True})[0]["data"]] == [thread]
    brought, received = client.ask("thread/unarchive", {"threadId": thread})
    assert brought["thread"]["path"] != archived["path"]
    assert received.params_of("thread/unarchived") == [{"threadId": thread}]
    error, _ = client.ask("thread/unarchive", {"threadId": thread})
    assert error["message"] == f"no archived rollout found for thread id {thread}"
    _, received = client.ask("thread/resume", {"threadId": thread})
    assert received.params_of("thread/status/changed") == [{"threadId": thread, "status": {"type": "idle"}}]
    assert client.start_turn(thread, HELLO)[1].text_deltas


def test_older_versions_do_not_read_what_was_put_away(older: Client) -> None:
    thread = older.start_thread()
    older.start_turn(thread, HELLO)
    _, received = older.ask("thread/archive", {"threadId": thread})
    assert received.methods == ["response"]
    error, _ = older.ask("thread/read", {"threadId": thread})
    assert error["message"] == f"no rollout found for thread id {thread}"


def test_the_older_family_reports_that_a_thread_has_ended(make_client: Callable[..., Any]) -> None:
    client = make_client(version="0.105.0")
    thread = client.start_thread(ephemeral=False)
    client.start_turn(thread, HELLO)
    _, received = client.ask("thread/archive", {"threadId": thread})
    assert received.methods == [
        "codex/event/shutdown_complete", "thread/status/changed", "response", "thread/archived",
    ]  # fmt: skip


def test_a_thread_with_a_fork_is_not_deleted(client: Client, thread: str) -> None:
    fork = client.ask("thread/fork", {"threadId": thread})[0]["thread"]["id"]
    error, received = client.ask("thread/delete", {"threadId": thread})
    assert error["message"] == f"cannot delete thread {thread}: forked history still references it"
    assert received.methods == ["thread/status/changed", "response"]
    client.ask("thread/delete", {"threadId": fork})
    assert client.ask("thread/delete", {"threadId": thread})[0] == {}
    assert client.ask("thread/delete", {"threadId": thread})[0]["message"].startswith("no rollout found")


def test_a_thread_can_be_named(client: Client, thread: str) -> None:
    _, received = client.ask("thread/name/set", {"threadId": thread, "name": " N "})
    assert received.params_of("thread/name/updated") == [{"threadId": thread, "threadName": "N"}]
    assert client.ask("thread/read", {"threadId": thread})[0]["thread"]["name"] == "N"
    error, _ = client.ask("thread/name/set", {"threadId": thread, "name": "  "})
    assert error["message"] == "thread name must not be empty"


def test_the_older_family_sends_a_name_too(make_client: Callable[..., Any]) -> None:
    client = make_client(version="0.99.0")
    thread = client.start_thread(ephemeral=False)
    _, received = client.ask("thread/name/set", {"threadId": thread, "name": "N"})
    assert received.methods == ["response", "codex/event/thread_name_updated", "thread/name/updated"]
    assert received.events("thread_name_updated")[0]["thread_name"] == "N"
    error, _ = client.ask("thread/name/set", {"threadId": NOWHERE, "name": "N"})
    assert error["message"] == f"thread not found: {NOWHERE}"


def test_the_last_turns_can_be_rolled_back(make_client: Callable[..., Any]) -> None:
    client = make_client(version="0.150.0")
    thread = client.start_thread(ephemeral=False)
    for _ in range(3):
        client.start_turn(thread, HELLO)
    result, received = client.ask("thread/rollback", {"threadId": thread, "numTurns": 1})
    assert received.methods == [
        "deprecationNotice", "thread/tokenUsage/updated", "account/rateLimits/updated", "response",
    ]  # fmt: skip
    assert len(result["thread"]["turns"]) == 2
    assert received.params_of("thread/tokenUsage/updated")[0]["tokenUsage"]["last"]["totalTokens"] > 0
    assert client.ask("thread/rollback", {"threadId": thread, "numTurns": 9})[0]["thread"]["turns"] == []
    assert client.ask("thread/rollback", {"threadId": thread, "numTurns": 1})[0]["thread"]["turns"] == []
    error, _ = client.ask("thread/rollback", {"threadId": thread, "numTurns": 0})
    assert error["message"] == "numTurns must be >= 1"
    client.start_turn(thread, "[[wireproof:text/silent#a]]")
    error, _ = client.ask("thread/rollback", {"threadId": thread, "numTurns": 1})
    assert error["message"] == "wireproof-codex does not play thread/rollback while a turn runs"


def test_the_older_family_sends_a_rollback_too(make_client: Callable[..., Any]) -> None:
    client = make_client(version="0.99.0")
    thread = client.start_thread(ephemeral=False)
    client.start_turn(thread, HELLO)
    _, received = client.ask("thread/rollback", {"threadId": thread, "numTurns": 1})
    assert received.events("thread_rolled_back") == [{"type": "thread_rolled_back", "num_turns": 1}]


def test_who_resumes_a_thread_that_nobody_was_left_in_finds_it(make_client: Callable[..., Any]) -> None:
    client = make_client(version="0.115.0")
    thread = client.start_thread(ephemeral=False)
    client.start_turn(thread, HELLO)
    client.ask("thread/unsubscribe", {"threadId": thread})
    assert client.ask("thread/loaded/list", {})[0]["data"] == []
    client.ask("thread/resume", {"threadId": thread})
    assert client.ask("thread/loaded/list", {})[0]["data"] == [thread]
    assert client.start_turn(thread, HELLO)[1].text_deltas
