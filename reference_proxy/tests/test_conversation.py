from __future__ import annotations

from wireproof_surfaces.conversation import (
    AssistantCall,
    ImagePart,
    Item,
    Message,
    TextPart,
    Tool,
    ToolResult,
    converse,
)


def say(role: str, text: str) -> Message:
    return Message(role=role, parts=(TextPart(text),))  # type: ignore[arg-type]


CALL = AssistantCall(id="c", name="f", arguments="{}")
RESULT = ToolResult(id="c", output="done")


def test_leading_instructions_are_developer_text_and_trailing_questions_the_input() -> None:
    sent = converse(
        [say("system", "a"), say("developer", "b"), say("user", "1"), say("assistant", "2"), say("user", "3")]
    )
    assert sent.developer == "a\n\nb"
    assert sent.history == (say("user", "1"), say("assistant", "2"))
    assert sent.input == (TextPart("3"),)


def test_several_trailing_questions_are_one_input_in_order() -> None:
    sent = converse([say("assistant", "0"), say("user", "1"), say("user", "2")])
    assert sent.input == (TextPart("1"), TextPart("2"))
    assert sent.developer is None


def test_a_conversation_that_ends_with_a_result_has_no_input() -> None:
    items: list[Item] = [say("user", "1"), CALL, RESULT]
    sent = converse(items)
    assert sent.history == tuple(items)
    assert sent.input == ()


def test_later_instructions_stay_where_they_were() -> None:
    items: list[Item] = [say("user", "1"), say("system", "2")]
    assert converse(items).history == tuple(items)


def test_instructions_alone_leave_nothing_else() -> None:
    sent = converse([say("system", "a")])
    assert (sent.developer, sent.history, sent.input) == ("a", (), ())


def test_tools_model_and_schema_are_passed_on() -> None:
    tool = Tool(name="f", description="", parameters={})
    sent = converse([say("user", "1")], tools=(tool,), model="m", schema={"type": "object"})
    assert (sent.tools, sent.model, sent.schema) == ((tool,), "m", {"type": "object"})


def test_the_size_counts_bytes_of_every_text() -> None:
    message = Message(role="user", parts=(TextPart("é"), ImagePart("data:x")))
    sent = converse([say("system", "ab"), message, CALL, RESULT, say("user", "\ud800")])
    assert sent.size() == 2 + 2 + len("f{}") + len("done") + 1
