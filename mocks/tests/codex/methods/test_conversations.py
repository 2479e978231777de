from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from wireproof_codex.threads.thread import KEPT_THREADS
from wireproof_scripts.library import LIBRARY
from wireproof_scripts.steps import Gate, Script

if TYPE_CHECKING:
    from mocks.tests.codex.conftest import Client, MakeClient

WAITS = {"a": Script(name="a", title="", parts=((Gate(timeout=1.0, late="late"),),))}
UNKNOWN = "00000000-0000-7000-8000-00000000ffff"


def _items(text: str) -> list[Any]:
    return [{"type": "text", "data": {"text": text}}]


class Conversation:
    """A conversation of an older client."""

    def __init__(self, client: Client, **params: object) -> None:
        self.client = client
        self.opened, self.received = client.ask("newConversation", params)
        self.id = self.opened["conversationId"]

    def listen(self, **params: object) -> tuple[str, Any]:
        result, received = self.client.ask("addConversationListener", {"conversationId": self.id, **params})
        return result["subscriptionId"], received

    def ask(self, method: str, **params: object) -> tuple[Any, Any]:
        return self.client.ask(method, {"conversationId": self.id, **params})

    def say(self, text: str) -> Any:
        result, received = self.ask("sendUserMessage", items=_items(text))
        assert result == {}
        return received


@pytest.fixture
def conversation(older: Client) -> Conversation:
    return Conversation(older)


def test_it_says_what_it_begins_with(older: Client) -> None:
    opened = Conversation(older, model="m", config={"model_reasoning_effort": "low"}).opened
    assert (opened["model"], opened["reasoningEffort"]) == ("m", "low")
    assert opened["rolloutPath"].endswith(f"-{opened['conversationId']}.jsonl")


def test_nothing_is_sent_before_somebody_listens_and_nothing_is_lost(conversation: Conversation) -> None:
    assert conversation.received.methods == ["response"]
    assert conversation.say("[[wireproof:text/hello#a]]").methods == ["response"]
    _, received = conversation.listen()
    assert received.methods[:3] == ["response", "codex/event/mcp_startup_complete", "codex/event/task_started"]
    assert received.methods[-2:] == ["codex/event/task_complete", "turn/completed"]
    assert received.text_deltas == ["Hello", ",", " ", "world", "!"]
    assert "turn/started" not in received.methods


def test_several_listeners_hear_each_event_once(conversation: Conversation) -> None:
    first, _ = conversation.listen()
    conversation.listen()
    assert len(conversation.say("[[wireproof:text/hello#a]]").text_deltas) == 5
    conversation.client.ask("removeConversationListener", {"subscriptionId": first})
    assert len(conversation.say("[[wireproof:text/hello#a]]").text_deltas) == 5


def test_without_the_last_listener_it_is_silent_again(conversation: Conversation) -> None:
    subscription, _ = conversation.listen()
    assert conversation.client.ask("removeConversationListener", {"subscriptionId": subscription})[0] == {}
    assert conversation.say("[[wireproof:text/hello#a]]").methods == ["response"]


def test_a_thread_listens_to_itself(older: Client) -> None:
    thread = older.start_thread()
    result, _ = older.ask("addConversationListener", {"conversationId": thread})
    older.ask("removeConversationListener", result)
    assert older.start_turn(thread, "[[wireproof:text/hello#a]]")[1].text_deltas


def test_a_listener_may_ask_for_raw_events(conversation: Conversation) -> None:
    conversation.listen(experimentalRawEvents=True)
    received = conversation.say("[[wireproof:text/hello#a]]")
    assert [item["role"] for item in received.raw] == ["user", "assistant"]
    assert received.raw[1] == {
        "type": "message",
        "role": "assistant",
        "content": [{"type": "output_text", "text": "Hello, world!"}],
    }


def test_a_user_turn_sets_what_comes_after_it(conversation: Conversation) -> None:
    conversation.listen()
    turn = {"cwd": "/", "approvalPolicy": "never", "sandboxPolicy": {"type": "read-only"}, "summary": "auto"}
    _, received = conversation.ask(
        "sendUserTurn", items=_items("[[wireproof:reflect/received#a]]"), model="other", **turn
    )
    assert '"model": "other"' in received.text_deltas[0]
    assert '"model": "other"' in conversation.say("[[wireproof:reflect/received#b]]").text_deltas[0]


def test_images_come_with_the_text(conversation: Conversation) -> None:
    conversation.listen()
    items = [
        *_items("look"),
        {"type": "image", "data": {"image_url": "https://example.invalid/x.png"}},
        {"type": "localImage", "data": {"path": "/x.png"}},
    ]
    _, received = conversation.ask("sendUserMessage", items=items)
    (message,) = received.events("user_message")
    assert (message["images"], message["local_images"]) == (["https://example.invalid/x.png"], ["/x.png"])


def test_an_interrupt_is_answered_when_the_turn_ends(make_client: MakeClient) -> None:
    client = make_client(WAITS, version="0.89.0")
    conversation = Conversation(client)
    conversation.listen()
    conversation.say("[[wireproof:a#1]]")
    answer, received = conversation.ask("interruptConversation")
    assert answer == {"abortReason": "interrupted"}
    assert received.methods == ["codex/event/turn_aborted", "response", "turn/completed"]


def test_an_idle_conversation_does_not_answer_an_interrupt(conversation: Conversation) -> None:
    asked = {"id": 1, "method": "interruptConversation", "params": {"conversationId": conversation.id}}
    assert conversation.client.send(asked) == []


def test_a_message_for_a_busy_conversation_joins_its_turn(make_client: MakeClient) -> None:
    conversation = Conversation(make_client(WAITS, version="0.89.0"))
    conversation.listen()
    conversation.say("[[wireproof:a#1]]")
    assert conversation.say("more").methods == ["response"]


def test_the_user_agent_needs_no_parameters(older: Client) -> None:
    assert older.send({"id": 1, "method": "getUserAgent"})[0]["result"]["userAgent"].startswith("test/0.89.0 ")


@pytest.mark.parametrize(
    ("method", "params", "message"),
    [
        ("sendUserMessage", {"conversationId": UNKNOWN, "items": []}, f"conversation not found: {UNKNOWN}"),
        ("removeConversationListener", {"subscriptionId": UNKNOWN}, f"subscription not found: {UNKNOWN}"),
        (
            "removeConversationListener",
            {"subscriptionId": "x"},
            (
                "Invalid request: UUID parsing failed: invalid character: expected an optional prefix of `urn:uuid:` "
                "followed by [0-9a-fA-F-], found `x` at 1"
            ),
        ),
        (
            "interruptConversation",
            {"conversationId": "ab"},
            "Invalid request: invalid length: expected length 32 for simple format, found 2",
        ),
        ("newConversation", {"modelProvider": "x"}, "error deriving config: Model provider `x` not found"),
    ],
)
def test_what_does_not_exist_is_refused(older: Client, method: str, params: object, message: str) -> None:
    assert older.ask(method, params)[0]["message"] == message


def test_the_newest_version_knows_none_of_them(client: Client) -> None:
    assert "unknown variant `newConversation`" in client.ask("newConversation", {})[0]["message"]


def test_flattened_results_lead_to_the_next_part(make_client: MakeClient) -> None:
    conversation = Conversation(make_client(LIBRARY, version="0.89.0"))
    conversation.listen()
    flattened = "[[wireproof:call/then-text#a]]\n[tool:call_search] found it"
    assert "".join(conversation.say(flattened).text_deltas) == "All clear."


def test_of_very_many_listeners_the_oldest_are_forgotten(conversation: Conversation) -> None:
    first, _ = conversation.listen()
    for _ in range(KEPT_THREADS):
        conversation.listen()
    error, _ = conversation.client.ask("removeConversationListener", {"subscriptionId": first})
    assert error["message"] == f"subscription not found: {first}"
    assert conversation.say("[[wireproof:text/hello#a]]").text_deltas
