"""Conversations that clients have flattened into one text: what is read of them, and which result is of which call."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wireproof_cursor.runs.flattened import written_in
from wireproof_cursor.runs.pairing import call_item, message_item, result_item, unfolded
from wireproof_cursor.runs.written import WrittenCall, WrittenMessage, WrittenResult

Json = dict[str, Any]

ARGUMENTS = '{"filePath": "a.txt"}'
CALL_JSON = json.dumps({"role": "assistant", "content": None, "tool_calls": [
    {"id": "c1", "type": "function", "function": {"name": "read", "arguments": ARGUMENTS}},
]})  # fmt: skip
RESULT_JSON = json.dumps({"role": "tool", "tool_call_id": "c1", "content": "alpha"})

SPELLINGS = {
    "own line": f"User: go\n\nAssistant: I look.\n[Called tool: read({ARGUMENTS})]\n\n[Tool result for c1]: alpha",
    "behind a role": f"User: go\nAssistant: [Called tool: read({ARGUMENTS})]\nUser: [Tool result for c1]: alpha",
    "behind a text": f"User: go\nAssistant: I look. [Called tool: read({ARGUMENTS})]\nTool: alpha",
    "tool as a role": f"User: go\nAssistant: [tool_call id=c1 name=read arguments={ARGUMENTS}]\nTool (c1): alpha",
    "by name and id": f"User: go\nAssistant: Tool call: read({ARGUMENTS})\nTool result for read(c1): alpha",
    "with its arguments": f"User: go\nTool call: read({ARGUMENTS})\nTool result for read({ARGUMENTS}): alpha",
    "an id before the name": f"User: go\nAssistant: [Tool call c1: read({ARGUMENTS})]\n[Tool result c1]\nalpha",
    "words": f"Human: go\n\nAssistant: Calling tool read with {ARGUMENTS}\n\nTool read returned: alpha",
    "more words": f"User: go\nAssistant called tool read with arguments: {ARGUMENTS}\nResult of tool read (c1): alpha",
    "two lines": f"User: go\nAssistant: Tool call: read\nArguments: {ARGUMENTS}\nTool result: alpha",
    "headings": f"### User\ngo\n\n### Tool call (c1)\nread\n```json\n{ARGUMENTS}\n```\n\n"
    "### Tool result (c1)\n```\nalpha\n```",
    "bold": f"**User:** go\n**Tool call:** read({ARGUMENTS})\n**Tool result (c1):** alpha",
    "capitals": f"USER: go\nTOOL_CALL (id: c1, name: read): {ARGUMENTS}\nTOOL_RESULT (name: read, call_id: c1): alpha",
    "elements": f'<user>go</user>\n<tool_call id="c1" name="read">{ARGUMENTS}</tool_call>\n'
    '<tool_result id="c1">\nalpha\n</tool_result>',
    "elements of JSON": f'go\n<tool_call>{{"name": "read", "arguments": {ARGUMENTS}}}</tool_call>\n'
    "<tool_response>alpha</tool_response>",
    "elements of roles": f'USER: go\nASSISTANT: <tool_use id="c1" name="read">{ARGUMENTS}</tool_use>\n'
    'USER: <tool_result tool_use_id="c1">alpha</tool_result>',
    "lines of JSON": f'{{"role": "user", "content": "go"}}\n{CALL_JSON}\n{RESULT_JSON}',
    "an array": f'Conversation: [{{"role": "user", "content": "go"}}, {CALL_JSON}, {RESULT_JSON}]',
    "JSON behind roles": f"User: go\nAssistant: {CALL_JSON}\nTool: {RESULT_JSON}",
}  # fmt: skip


@pytest.mark.parametrize("spelling", SPELLINGS)
def test_a_call_and_its_result_are_found_in_every_spelling(spelling: str) -> None:
    found = [item for item in unfolded([message_item("user", SPELLINGS[spelling])]) if item["type"] != "message"]
    assert [item["type"] for item in found] == ["function_call", "function_call_output"]
    call, result = found
    assert (call["name"], json.loads(call["arguments"])) == ("read", json.loads(ARGUMENTS))
    assert (result["output"], result["call_id"]) == ("alpha", call["call_id"])
    if "c1" in SPELLINGS[spelling]:
        assert call["call_id"] == "c1"


@pytest.mark.parametrize("text", [
    "go\n[tool:c1] alpha", "go\n[Tool Result]\nalpha", "[Tool Result]\nalpha", "User: go\nObservation: alpha",
    "go\n\n<tool_output>alpha</tool_output>", "User: go\nAssistant: I look.\nTool: alpha\nAssistant:",
])  # fmt: skip
def test_a_result_without_its_call_is_found(text: str) -> None:
    (found,) = [item for item in unfolded([message_item("user", text)]) if item["type"] != "message"]
    assert found["output"] == "alpha"


@pytest.mark.parametrize("text", [
    "", "go", "Tool results are nice: they help.", "The function result: nothing.", "Use the tool read: it reads.",
    'What does "[Tool result for c9]: x" mean?', "I saw `[Called tool: read({})]` in a log.", "What is [tool:a] here?",
    "Call tools when you must.", "User: hi\nAssistant: hello\nUser: which tools have you?",
    '{"role": "tool"', "<tool_call>no",
])  # fmt: skip
def test_what_is_neither_call_nor_result_is_a_message(text: str) -> None:
    assert all(isinstance(one, WrittenMessage) for one in written_in(text))
    assert unfolded([message_item("user", text)]) == [message_item("user", text)]


def test_an_output_goes_on_to_the_next_head() -> None:
    text = "[Tool result for a]: one\n\ntwo\n\n[Tool result for b]: three\n\nPlease continue."
    assert written_in(text) == [
        WrittenResult(names=("a",), output="one\n\ntwo"),
        WrittenResult(names=("b",), output="three"),
    ]


def test_nothing_within_arguments_or_an_element_is_a_head() -> None:
    text = (
        'Tool call: write({"text": "[Tool result for x]: y"})\n'
        '<tool_result id="c1">\nUser: [Called tool: f({})]\n</tool_result>'
    )
    assert written_in(text) == [
        WrittenCall(name="write", arguments='{"text": "[Tool result for x]: y"}'),
        WrittenResult(names=("c1",), output="User: [Called tool: f({})]"),
    ]


def test_a_call_without_arguments_has_none() -> None:
    assert written_in("Assistant: [Called tool: now()]") == [WrittenCall(name="now")]


def test_results_belong_to_calls_by_id_then_by_arguments_then_by_name_then_by_order() -> None:
    text = (
        'Tool call: f({"a": 1})\nTool call: f({"a": 2})\nTool call: g({})\nTool call (c9): h({})\n'
        'Tool result (c9): by id\nTool result for f({"a":2}): by arguments\nTool result for g: by name\nTool: by order'
    )
    items = unfolded([message_item("user", text)])
    calls = {item["call_id"]: (item["name"], item["arguments"]) for item in items if item["type"] == "function_call"}
    results = {item["output"]: calls[item["call_id"]] for item in items if item["type"] == "function_call_output"}
    assert results == {
        "by id": ("h", "{}"),
        "by arguments": ("f", '{"a": 2}'),
        "by name": ("g", "{}"),
        "by order": ("f", '{"a": 1}'),
    }


CALL = call_item("c1", "read", "{}")


def test_a_result_in_a_text_belongs_to_a_call_of_the_history() -> None:
    said = message_item("user", "[Tool Result]\nalpha")
    assert unfolded([CALL, said]) == [CALL, said, CALL, result_item("c1", "alpha")]


@pytest.mark.parametrize("quoted", ["[Tool result for c9]: x", "Tool result for read(c9): x"])
def test_a_quoted_result_with_another_id_answers_no_call(quoted: str) -> None:
    said = message_item("user", f"What is this?\n{quoted}")
    assert unfolded([CALL, said]) == [CALL, said]


def test_a_call_that_has_its_result_gets_no_other() -> None:
    said = message_item("user", "What is this?\n[Tool result for read]: x")
    given = [CALL, result_item("c1", "alpha"), said]
    assert unfolded(given) == given


def test_what_the_user_says_after_a_result_is_asked_now() -> None:
    text = "User: go\n[Called tool: f({})]\n[Tool result for c1]: out\nAssistant: done\nUser: thanks"
    assert unfolded([message_item("user", text)])[-1] == message_item("user", "thanks")


HEADS = [
    "User: ", "Assistant: ", "Tool: ", "[Called tool: f({", '[Called tool: f({"a": "', "[Tool result for ", "[tool:",
    "<tool_result>", "<tool_result id=", "</tool_result>", "<tool_call>", '<tool_call>{"name":', '{"id":[', '{"role":"',
    '{"role":{"role":', "Tool call: a (", "Tool result (", "tool_call (id: c, name: r): ", "\n", "\n\n", "**", "> ",
    '{"n": ' + "1" * 5000 + "}",
    "```\n", "[", "(", "{", '"', "\\", " ", "c1", "tool ", "\n\n please", "\nUser: [called tool",
]  # fmt: skip


@given(st.lists(st.sampled_from(HEADS) | st.text(max_size=5)).map("".join))
def test_any_text_is_read(text: str) -> None:
    unfolded([message_item("user", text)])
    texts = "".join(one.text for one in written_in(text) if isinstance(one, WrittenMessage))
    assert len(texts) <= len(text)


@given(st.text(st.characters(exclude_characters="\n\r"), min_size=1), st.text("abc_123", min_size=1))
def test_a_result_in_an_element_comes_back_whole(output: str, id_: str) -> None:
    text = f'User: use a tool\n<tool_result id="x{id_}">{output}</tool_result>'
    if "</tool_result>" not in output:
        assert written_in(text)[-1] == WrittenResult(names=(f"x{id_}",), output=output.rstrip())


@pytest.mark.sampled(3)
@pytest.mark.parametrize("unit", HEADS)
def test_hostile_text_takes_no_longer_than_its_length(unit: str) -> None:
    def seconds(size: int) -> float:
        text = "use a tool\n" + unit * (size // len(unit))
        begin = time.process_time()  # not the clock: others use the machine, too
        unfolded([message_item("user", text)])
        return time.process_time() - begin

    # A quadratic reader takes 64 times as long for a text of 8 times the length.
    assert min(seconds(1_000_000) for _ in range(2)) < max(24 * seconds(125_000), 0.5)
