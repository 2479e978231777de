from __future__ import annotations

from wireproof_proxy.backends.codex.v1 import new_conversation, send_user_message
from wireproof_surfaces.conversation import AssistantCall, Conversation, ImagePart, Message, TextPart, Tool, ToolResult


def test_a_conversation_is_read_only_and_has_the_developers_words() -> None:
    plain = {"approvalPolicy": "never", "sandbox": "read-only"}
    assert new_conversation(Conversation(tools=(Tool(name="f", description="", parameters={}),))) == plain
    sent = new_conversation(Conversation(developer="Be terse.", model="m"))
    assert sent == {**plain, "developerInstructions": "Be terse.", "model": "m"}


def test_what_was_said_before_is_sent_before_what_is_said_now() -> None:
    history = (
        Message(role="user", parts=(TextPart("find it"), ImagePart("data:x"))),
        AssistantCall(id="c", name="f", arguments="{ }"),
        ToolResult(id="c", output="found"),
        Message(role="assistant", parts=(TextPart("There."),)),
    )
    sent = send_user_message("t", Conversation(history=history, input=(TextPart("thanks"),)))
    assert sent["conversationId"] == "t"
    image = {"type": "image", "data": {"image_url": "data:x"}}
    texts = [
        "[user]",
        "find it",
        image,
        "[assistant called f:c] { }",
        "[tool:c] found",
        "[assistant]",
        "There.",
        "thanks",
    ]
    assert sent["items"] == [
        {"type": "text", "data": {"text": text}} if isinstance(text, str) else text for text in texts
    ]
