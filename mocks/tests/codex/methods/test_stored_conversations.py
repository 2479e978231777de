from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from mocks.tests.codex.conftest import Client

NOWHERE = "00000000-0000-7000-8000-999999999999"
HELLO = "[[wireproof:text/hello#a]]"


def _say(client: Client, conversation: str, text: str = HELLO) -> Any:
    items = [{"type": "text", "data": {"text": text}}]
    return client.ask("sendUserMessage", {"conversationId": conversation, "items": items})[1]


def _begin(client: Client, *texts: str) -> Any:
    """A conversation with a listener in which this was said."""
    opened, _ = client.ask("newConversation", {})
    client.ask("addConversationListener", {"conversationId": opened["conversationId"]})
    for text in texts:
        _say(client, opened["conversationId"], text)
    return opened


def test_conversations_are_listed_in_pages(older: Client) -> None:
    conversations = [_begin(older, HELLO)["conversationId"] for _ in range(2)][::-1]
    page, _ = older.ask("listConversations", {"pageSize": 1})
    rest, _ = older.ask("listConversations", {"cursor": page["nextCursor"]})
    assert [it["conversationId"] for it in page["items"] + rest["items"]] == conversations
    summary, _ = older.ask("getConversationSummary", {"conversationId": conversations[0]})
    assert summary["summary"] == page["items"][0]
    assert summary["summary"]["preview"] == HELLO
    by_path, _ = older.ask("getConversationSummary", {"rolloutPath": summary["summary"]["path"]})
    assert by_path == summary
    assert older.ask("listConversations", {"modelProviders": ["none"]})[0]["items"] == []


@pytest.mark.parametrize(
    ("method", "params", "message"),
    [
        (
            "resumeConversation",
            {},
            "either path, conversation id or non empty history must be provided",
        ),
        ("forkConversation", {}, "either path or conversation id must be provided"),
        (
            "getConversationSummary",
            {},
            "Invalid request: data did not match any variant of untagged enum GetConversationSummaryParams",
        ),
        ("resumeConversation", {"conversationId": NOWHERE}, f"no rollout found for conversation id {NOWHERE}"),
        (
            "forkConversation",
            {"path": "/nope"},
            "failed to load rollout `/nope`: No such file or directory (os error 2)",
        ),
        (
            "archiveConversation",
            {"conversationId": NOWHERE, "rolloutPath": "/nope"},
            "rollout path `/nope` must be in sessions directory",
        ),
    ],
)
def test_a_conversation_must_be_known(older: Client, method: str, params: dict[str, Any], message: str) -> None:
    assert older.ask(method, params)[0] == {"code": -32600, "message": message}


def test_a_resumed_conversation_begins_with_what_was_said(older: Client) -> None:
    opened = _begin(older, HELLO, "[[wireproof:text/thinking#b]]")
    resumed, received = older.ask("resumeConversation", {"path": opened["rolloutPath"]})
    assert received.methods == ["sessionConfigured", "response", "codex/event/mcp_startup_complete"]
    assert [msg["type"] for msg in resumed["initialMessages"]] == [
        "user_message", "token_count", "agent_message", "token_count",
        "user_message", "token_count", "agent_reasoning", "agent_message", "token_count",
    ]  # fmt: skip
    assert received.params_of("sessionConfigured")[0]["initialMessages"] == resumed["initialMessages"]
    assert _say(older, opened["conversationId"]).events("task_started")
    assert older.ask("resumeConversation", {"conversationId": opened["conversationId"]})[0]["rolloutPath"]


def test_counts_and_interrupts_are_among_what_was_said(older: Client) -> None:
    opened = _begin(older, "[[wireproof:text/usage#a]]", "[[wireproof:text/silent#b]]")
    older.ask("interruptConversation", {"conversationId": opened["conversationId"]})
    resumed, _ = older.ask("resumeConversation", {"conversationId": opened["conversationId"]})
    messages = [(msg["type"], bool(msg.get("info"))) for msg in resumed["initialMessages"]]
    assert [it for it in messages if it[0] != "agent_message"] == [
        ("user_message", False), ("token_count", False), ("token_count", True),
        ("user_message", False), ("token_count", True), ("turn_aborted", False),
    ]  # fmt: skip


def test_a_turn_that_runs_goes_on_when_its_conversation_is_resumed(older: Client) -> None:
    opened = _begin(older, "[[wireproof:text/silent#b]]")
    older.ask("resumeConversation", {"conversationId": opened["conversationId"]})
    _, received = older.ask("interruptConversation", {"conversationId": opened["conversationId"]})
    assert received.events("turn_aborted")


def test_a_conversation_can_begin_with_a_history(older: Client) -> None:
    history = [{"type": "message", "role": "user", "content": [{"type": "input_text", "text": "old"}]}]
    resumed, _ = older.ask("resumeConversation", {"history": history})
    assert resumed["initialMessages"] == []
    assert older.ask("addConversationListener", {"conversationId": resumed["conversationId"]})[0]["subscriptionId"]
    assert _say(older, resumed["conversationId"]).events("task_complete")


def test_a_fork_is_a_conversation_of_its_own(older: Client) -> None:
    opened = _begin(older, HELLO)
    params = {"conversationId": opened["conversationId"], "overrides": {"model": "m"}}
    forked, received = older.ask("forkConversation", params)
    assert received.methods == ["sessionConfigured", "response"]
    assert (forked["model"], len(forked["initialMessages"])) == ("m", 4)
    older.ask("addConversationListener", {"conversationId": forked["conversationId"]})
    assert _say(older, forked["conversationId"]).events("task_complete")


def test_a_conversation_is_put_away_by_its_file(older: Client) -> None:
    opened, other = _begin(older, HELLO), _begin(older, HELLO)
    params = {"conversationId": opened["conversationId"], "rolloutPath": other["rolloutPath"]}
    error, _ = older.ask("archiveConversation", params)
    assert error["message"].endswith(f" does not match thread id {opened['conversationId']}")
    params["rolloutPath"] = opened["rolloutPath"]
    assert older.ask("archiveConversation", params)[0] == {}
    assert older.ask("archiveConversation", params)[0]["message"].endswith(" must be in sessions directory")
    error, _ = older.ask("resumeConversation", {"conversationId": opened["conversationId"]})
    assert error["message"].startswith("no rollout found for conversation id ")


def test_a_conversation_that_was_left_is_loaded_again(older: Client) -> None:
    opened = _begin(older, HELLO)
    thread = older.thread(opened["conversationId"])
    older.context.threads.remove(thread)
    older.context.thread_store.put(thread)
    resumed, _ = older.ask("resumeConversation", {"conversationId": opened["conversationId"]})
    assert resumed["conversationId"] == opened["conversationId"]


@pytest.mark.parametrize("method", ["userInfo", "getUserSavedConfig"])
def test_nobody_is_known_and_nothing_is_saved(older: Client, method: str) -> None:
    answer, _ = older.ask(method, None)
    assert answer.get("allegedUserEmail") is None
    assert answer.get("config", {"model": "mock-model"})["model"] == "mock-model"
    error, _ = older.ask(method, {"x": 1})
    assert error["message"] == "Invalid request: invalid type: map, expected unit"
