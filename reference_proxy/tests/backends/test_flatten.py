from __future__ import annotations

from wireproof_proxy.backends.codex.abilities import flat, in_messages, with_input
from wireproof_surfaces.conversation import AssistantCall, Conversation, ImagePart, Message, TextPart, ToolResult


def test_the_history_is_sent_at_the_head_of_the_input() -> None:
    history = (
        Message(role="user", parts=(TextPart("see"), ImagePart("data:x"))),
        AssistantCall(id="c", name="f", arguments="{ }"),
        ToolResult(id="c", output="done", images=(ImagePart("data:y"),)),
        Message(role="assistant", parts=(TextPart("So."),)),
    )
    sent = flat(Conversation(developer="d", history=history, input=(TextPart("and?"),)))
    assert sent == Conversation(
        developer="d",
        input=(
            TextPart("[user]"),
            TextPart("see"),
            ImagePart("data:x"),
            TextPart("[assistant called f:c] { }"),
            TextPart("[tool:c] done"),
            ImagePart("data:y"),
            TextPart("[assistant]"),
            TextPart("So."),
            TextPart("and?"),
        ),
    )


def test_without_a_history_the_input_stays() -> None:
    conversation = Conversation(input=(TextPart("hi"),))
    assert flat(conversation) == conversation


USER = Message(role="user", parts=(TextPart("see"), ImagePart("data:x")))
SAID = Message(role="assistant", parts=(TextPart("So."),))
CALL = AssistantCall(id="c", name="f", arguments="{ }")
RESULT = ToolResult(id="c", output="done", images=(ImagePart("data:y"),))


def test_calls_and_results_are_sent_by_the_user_in_their_places() -> None:
    history = (USER, SAID, CALL, RESULT, SAID)
    sent = in_messages(Conversation(developer="d", history=history, input=(TextPart("and?"),)))
    called = Message(role="user", parts=(TextPart("[assistant called f:c] { }"),))
    answered = Message(role="user", parts=(TextPart("[tool:c] done"), ImagePart("data:y")))
    assert sent == Conversation(developer="d", history=(USER, SAID, called, answered, SAID), input=(TextPart("and?"),))


def test_calls_and_results_at_the_end_are_the_input() -> None:
    sent = in_messages(Conversation(history=(USER, SAID, CALL, RESULT)))
    assert sent.history == (USER, SAID)
    assert sent.input == (TextPart("[assistant called f:c] { }"), TextPart("[tool:c] done"), ImagePart("data:y"))


def test_a_history_that_ends_with_what_another_said_is_all_input() -> None:
    conversation = Conversation(history=(USER, SAID))
    assert in_messages(conversation) == flat(conversation)


def test_without_input_the_end_of_the_history_is_sent_and_the_rest_stays() -> None:
    sent = with_input(Conversation(history=(USER, CALL, RESULT, SAID, CALL, RESULT)))
    assert sent.history == (USER, CALL, RESULT, SAID)
    assert sent.input == (TextPart("[assistant called f:c] { }"), TextPart("[tool:c] done"), ImagePart("data:y"))
    assert with_input(sent) is sent
