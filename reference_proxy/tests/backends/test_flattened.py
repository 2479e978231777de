from __future__ import annotations

from assay_proxy.backends.flattened import flat
from assay_proxy.conversation import Call, Conversation, ImagePart, Message, Result, TextPart


def test_the_history_is_told_at_the_head_of_the_input() -> None:
    history = (
        Message(role="user", parts=(TextPart("see"), ImagePart("data:x"))),
        Call(id="c", name="f", arguments="{ }"),
        Result(id="c", output="done", images=(ImagePart("data:y"),)),
        Message(role="assistant", parts=(TextPart("So."),)),
    )
    told = flat(Conversation(developer="d", history=history, input=(TextPart("and?"),)))
    assert told == Conversation(
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
