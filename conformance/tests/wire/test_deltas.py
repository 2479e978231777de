from __future__ import annotations

from typing import Any

import pytest

from wireproof.wire.choice import CallDelta, Delta, read_deltas
from wireproof.wire.grammar import CallSign, ChoiceSign


def delta_of(delta: Any, **choice: Any) -> Delta:
    (read,) = read_deltas({"choices": [{"index": 0, "delta": delta, **choice}]})
    return read


def call_of(call: Any) -> CallDelta:
    (read,) = delta_of({"tool_calls": [call]}).calls
    return read


HEAD = {"index": 0, "id": "a", "type": "function", "function": {"name": "f", "arguments": ""}}

SAID: dict[str, tuple[Any, dict[str, Any], list[ChoiceSign]]] = {
    "role": ({"role": "assistant"}, {}, [ChoiceSign.ROLE]),
    "role with empty content": ({"role": "assistant", "content": ""}, {}, [ChoiceSign.ROLE]),
    "role with null content": ({"role": "assistant", "content": None}, {}, [ChoiceSign.ROLE]),
    "another role": ({"role": "tool"}, {}, [ChoiceSign.STRANGER]),
    "no role": ({"role": None}, {}, [ChoiceSign.EMPTY]),
    "role with a call": ({"role": "assistant", "tool_calls": [HEAD]}, {}, [ChoiceSign.ROLE, ChoiceSign.CALL]),
    "text": ({"content": "a"}, {}, [ChoiceSign.TEXT]),
    "text that is a list": ({"content": ["a"]}, {}, [ChoiceSign.EMPTY]),
    "call": ({"tool_calls": [HEAD]}, {}, [ChoiceSign.CALL]),
    "no calls": ({"content": "a", "tool_calls": []}, {}, [ChoiceSign.TEXT]),
    "legacy call": ({"function_call": {"name": "f"}}, {}, [ChoiceSign.CALL]),
    "text and call": ({"content": "a", "tool_calls": [HEAD]}, {}, [ChoiceSign.MIXED]),
    "text and legacy call": ({"content": "a", "function_call": {"arguments": "{"}}, {}, [ChoiceSign.MIXED]),
    "half a character": ({"content": "\ud83d"}, {}, [ChoiceSign.TORN, ChoiceSign.TEXT]),
    "half a character in arguments": (
        {"tool_calls": [{"index": 0, "function": {"arguments": "\ude00"}}]},
        {},
        [ChoiceSign.TORN, ChoiceSign.CALL],
    ),
    "a whole character": ({"content": "\U0001f600"}, {}, [ChoiceSign.TEXT]),
    "nothing": ({}, {}, [ChoiceSign.EMPTY]),
    "no delta": (None, {}, [ChoiceSign.EMPTY]),
    "refusal": ({"refusal": "no"}, {}, [ChoiceSign.EMPTY]),
    "finish": ({}, {"finish_reason": "stop"}, [ChoiceSign.FINISH]),
    "finish with empty content": ({"content": ""}, {"finish_reason": "stop"}, [ChoiceSign.FINISH]),
    "finish that is empty": ({"content": "a"}, {"finish_reason": ""}, [ChoiceSign.TEXT]),
    "finish that is no string": ({}, {"finish_reason": 1}, [ChoiceSign.FINISH]),
    "no finish": ({"content": "a"}, {"finish_reason": None}, [ChoiceSign.TEXT]),
    "finish with text": ({"content": "a"}, {"finish_reason": "stop"}, [ChoiceSign.TEXT, ChoiceSign.FULL]),
    "finish with role": ({"role": "assistant"}, {"finish_reason": "stop"}, [ChoiceSign.ROLE, ChoiceSign.FULL]),
}


@pytest.mark.parametrize(("delta", "choice", "signs"), SAID.values(), ids=SAID)
def test_a_delta_says_its_signs(delta: Any, choice: dict[str, Any], signs: list[ChoiceSign]) -> None:
    assert delta_of(delta, **choice).signs() == signs


# An entry of tool_calls, the ids opened before it, and what it says.
CALLS: dict[str, tuple[Any, list[str], CallSign]] = {
    "the first head": (HEAD, [], CallSign.HEAD),
    "a head without arguments": (HEAD | {"function": {"name": "f"}}, [], CallSign.HEAD),
    "the next head": (HEAD | {"index": 1, "id": "b"}, ["a"], CallSign.HEAD),
    "no id": (HEAD | {"id": None}, [], CallSign.PART),
    "an empty id": (HEAD | {"id": ""}, [], CallSign.PART),
    "no type": (HEAD | {"type": None}, [], CallSign.PART),
    "another type": (HEAD | {"type": "custom"}, [], CallSign.PART),
    "no name": (HEAD | {"function": {"arguments": ""}}, [], CallSign.PART),
    "no function": (HEAD | {"function": None}, [], CallSign.PART),
    "no index": (HEAD | {"index": None}, [], CallSign.ASTRAY),
    "a string as index": (HEAD | {"index": "0"}, [], CallSign.ASTRAY),
    "a boolean as index": (HEAD | {"index": False}, [], CallSign.ASTRAY),
    "a negative index": (HEAD | {"index": -1}, [], CallSign.ASTRAY),
    "a gap": (HEAD | {"index": 1}, [], CallSign.ASTRAY),
    "the id of another call": (HEAD | {"index": 1}, ["a"], CallSign.ASTRAY),
    "no entry": (None, [], CallSign.ASTRAY),
    "an object as arguments": (HEAD | {"function": {"name": "f", "arguments": {}}}, [], CallSign.NO_TEXT),
    "a fragment": ({"index": 0, "function": {"arguments": "{"}}, ["a"], CallSign.GROWTH),
    "a fragment with type": ({"index": 0, "type": "function", "function": {"arguments": "{"}}, ["a"], CallSign.GROWTH),
    "a fragment with empty id": (
        {"index": 0, "id": "", "function": {"name": "", "arguments": "{"}},
        ["a"],
        CallSign.GROWTH,
    ),
    "the name again": ({"index": 0, "function": {"name": "f", "arguments": "{"}}, ["a"], CallSign.PART),
    "an empty fragment": ({"index": 0, "function": {"arguments": ""}}, ["a"], CallSign.SAME),
    "nothing": ({"index": 0}, ["a"], CallSign.SAME),
}


@pytest.mark.parametrize(("call", "ids", "sign"), CALLS.values(), ids=CALLS)
def test_a_call_delta_says_its_sign(call: Any, ids: list[str], sign: CallSign) -> None:
    assert call_of(call).sign(dict(enumerate(ids))) is sign


@pytest.mark.parametrize("choices", [None, {}, "x", []])
def test_a_chunk_without_choices_has_no_deltas(choices: Any) -> None:
    assert read_deltas({"choices": choices}) == ()


def test_a_choice_that_is_no_object_or_has_no_index_is_choice_0() -> None:
    assert [delta.index for delta in read_deltas({"choices": [None, {"delta": {}}, {"index": 2}]})] == [0, 0, 2]
