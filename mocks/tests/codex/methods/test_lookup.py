from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from wireproof_codex.methods.lookup import check_uuid
from wireproof_codex.protocol.params import Refused

if TYPE_CHECKING:
    from mocks.tests.codex.conftest import Client

NAMED = "11111111-0000-7000-8000-000000000001"
HISTORY = [
    {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "[[wireproof:call/then-text#a]]"}]},
    {"type": "function_call", "call_id": "call_search", "name": "localSearch", "arguments": "{}"},
    {"type": "function_call_output", "call_id": "call_search", "output": "found"},
]


def test_an_id_must_be_a_uuid() -> None:
    check_uuid(NAMED, "bad")
    for text, problem in (("x1", "found `x` at 1"), ("1" * 31, "found 31")):
        with pytest.raises(Refused, match=rf"^bad: invalid .*{problem}$"):
            check_uuid(text, "bad")


def test_what_a_version_does_not_know_is_overlooked(older: Client) -> None:
    messages = older.play("[[wireproof:call/one#a]]", "localSearch")
    assert messages.tool_requests == []
    assert "".join(messages.text_deltas).startswith("The tool said: unsupported call: localSearch")
    assert older.ask("thread/start", {"dynamicTools": [{"name": "no good"}], "ephemeral": True})[0]["thread"]["path"]


def test_a_thread_may_begin_with_a_history(client: Client, older: Client) -> None:
    for who in (client, older):
        result, messages = who.ask("thread/resume", {"threadId": NAMED, "history": HISTORY})
        thread = result["thread"]["id"]
        assert thread != NAMED
        assert "thread/started" not in messages.methods
        assert "".join(who.start_turn(thread, "go on")[1].text_deltas) == "All clear."


def test_what_the_system_says_in_a_history_is_dropped(client: Client) -> None:
    system, user = (
        {"type": "message", "role": role, "content": [{"type": "input_text", "text": text}]}
        for role, text in (("system", "no"), ("user", "[[wireproof:reflect/received#a]]"))
    )
    result, _ = client.ask("thread/resume", {"threadId": NAMED, "history": [system, user]})
    assert result["thread"]["preview"] == "[[wireproof:reflect/received#a]]"
    injected = client.start_thread()
    client.ask("thread/inject_items", {"threadId": injected, "items": [system, user]})
    for thread in (result["thread"]["id"], injected):
        received = json.loads("".join(client.start_turn(thread, "go on")[1].text_deltas))
        assert received["history"] == [user]


def test_a_history_is_not_put_into_a_loaded_thread(client: Client, older: Client) -> None:
    thread = client.start_thread()
    error, _ = client.ask("thread/resume", {"threadId": thread, "history": []})
    assert error["message"] == f"cannot resume thread {thread} with history while it is already running"
    thread = older.start_thread()
    assert older.ask("thread/resume", {"threadId": thread, "history": []})[0]["thread"]["id"] != thread


def test_a_history_must_be_one(client: Client) -> None:
    error, _ = client.ask("thread/resume", {"threadId": NAMED, "history": [{"type": "message"}]})
    assert error["message"] == "Invalid request: missing field `role`"
