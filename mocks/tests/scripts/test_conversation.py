from __future__ import annotations

from wireproof_scripts.conversation import (
    answered,
    as_message,
    input_text,
    is_result,
    is_user,
    message_text,
    result_text,
    searched_texts,
)

USER = {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "a"}, {"type": "input_image"}]}
TWO = {"type": "message", "role": "assistant", "content": [{"text": "b"}, {"text": "c"}, "odd"]}
SYSTEM = {"type": "message", "role": "developer", "content": [{"text": "s"}]}
PLAIN = {"type": "message", "role": "user", "content": "plain"}
CALL = {"type": "function_call", "call_id": "1", "name": "f", "arguments": "{}"}
RESULT = {"type": "function_call_output", "call_id": "1", "output": "r"}
LISTED = {"type": "custom_tool_call_output", "call_id": "2", "output": [{"type": "input_text", "text": "x"}, {}]}


def test_the_text_of_an_input_is_its_texts() -> None:
    given = [{"type": "text", "text": "a"}, {"type": "image", "url": "data:"}, {"type": "text", "text": "b"}]
    assert input_text(given) == "a\nb"
    assert as_message(given) == {
        "type": "message",
        "role": "user",
        "content": [
            {"type": "input_text", "text": "a"},
            {"type": "input_image", "image_url": "data:"},
            {"type": "input_text", "text": "b"},
        ],
    }
    assert as_message([{"type": "mention", "name": "n"}])["content"] == [{"type": "mention", "name": "n"}]


def test_only_messages_have_text() -> None:
    assert [message_text(item) for item in (USER, TWO, PLAIN, CALL, {})] == ["a", "b\nc", "plain", "", ""]
    assert message_text({"type": "message", "content": None}) == ""
    assert [is_user(item) for item in (USER, TWO, CALL)] == [True, False, False]


def test_a_marker_is_not_looked_for_in_developer_text() -> None:
    assert searched_texts([SYSTEM, USER, {**SYSTEM, "role": "system"}, TWO]) == ["a", "b\nc"]


def test_answered_calls_are_found_by_their_ids_and_their_tools() -> None:
    assert answered([USER, CALL, RESULT, LISTED]) == {"1", "2", "tool f"}
    assert answered([USER, CALL]) == set()


def test_a_flattened_result_is_one_when_it_begins_a_line() -> None:
    text = "user: hi\n[tool:call_1] found\nand [tool:call_2] is not"
    assert answered([{**PLAIN, "content": text}]) == {"call_1"}


def test_results_have_texts() -> None:
    assert [is_result(item) for item in (CALL, RESULT, LISTED, {"type": 5})] == [False, True, True, False]
    assert [result_text(item) for item in (RESULT, LISTED, {"output": None})] == ["r", "x", ""]
