from __future__ import annotations

from typing import Any

import pytest

from wireproof_mocks.miniatures.fault import FaultHead, SentRequest
from wireproof_mocks.miniatures.shape_faults import SHAPE_FAULTS

FAULTS = {fault.name: fault for fault in SHAPE_FAULTS}
ASKED = SentRequest(method="POST", path="/v1/chat/completions", body=b"{}", key="")
HEAD = FaultHead(status="200 OK", headers=[])
BLOCK = "<use_tool>\n\n\t<name>f</name>  <a>1   2</a>\n</use_tool>"
DONE = "[DONE]"
ERROR = {"error": {"message": "No."}}


def chunk(delta: Any, finish: str | None = None) -> dict[str, Any]:
    return {"choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}


def say(text: str) -> dict[str, Any]:
    return chunk({"content": text})


def sent(arguments: str, index: int = 0, **more: Any) -> dict[str, Any]:
    return chunk({"tool_calls": [{"index": index, **more, "function": {"arguments": arguments}}]})


def call(call_id: str, arguments: str) -> dict[str, Any]:
    return {"id": call_id, "type": "function", "function": {"name": "f", "arguments": arguments}}


def completion(content: str | None, *calls: Any) -> dict[str, Any]:
    message = {"role": "assistant", "content": content} | ({"tool_calls": [*calls]} if calls else {})
    return {"choices": [{"index": 0, "message": message}]}


def streamed(name: str, *frames: Any) -> list[Any]:
    change = FAULTS[name].frames
    assert change is not None
    return [*change(frames, ASKED)]


def whole(name: str, body: Any) -> Any:
    change = FAULTS[name].whole
    assert change is not None
    return change(body, ASKED, HEAD)


def test_each_is_about_certain_scripts() -> None:
    assert all(fault.scripts for fault in SHAPE_FAULTS)


@pytest.mark.parametrize("name", [name for name, fault in FAULTS.items() if fault.request])
def test_a_proxy_that_does_not_know_a_shape_takes_no_call(name: str) -> None:
    change = FAULTS[name].request
    assert change is not None
    assert change({"tools": []}) == {"tools": [], "tool_choice": "none"}
    assert change({"functions": []}) == {"functions": [], "function_call": "none"}


@pytest.mark.parametrize("name", [name for name, fault in FAULTS.items() if fault.whole])
def test_what_is_no_answer_passes(name: str) -> None:
    assert whole(name, ERROR) == ERROR


def test_a_late_id_cuts_a_call() -> None:
    cut = [call("call_0", '{"a"'), call("late", ": 1}")]
    assert whole("late-id-opens-a-call", completion(None, call("late", '{"a": 1}'))) == completion(None, *cut)
    assert whole("late-id-opens-a-call", completion("Text")) == completion("Text")


def test_an_id_is_made_up_where_it_is_sent() -> None:
    frames: list[Any] = [say("a"), sent("", id="late", type="function"), sent('{"a": 1}'), DONE]
    frames[1]["choices"][0]["delta"]["tool_calls"][0]["function"]["name"] = "f"
    opened = streamed("late-id-made-up", *frames)
    assert opened[1]["choices"][0]["delta"]["tool_calls"][0]["id"] == "call_of_f"
    assert [opened[0], *opened[2:]] == [frames[0], *frames[2:]]
    made_up = completion(None, call("call_of_f", '{"a": 1}'))
    assert whole("late-id-made-up", completion(None, call("late", '{"a": 1}'))) == made_up


def test_an_equal_fragment_is_lost() -> None:
    frames = [sent("", id="a"), sent('{"n": 1'), sent("1"), sent("}"), ERROR, DONE]
    assert streamed("equal-fragment-lost", *frames) == [*frames[:2], *frames[3:]]


def test_text_is_sent_twice() -> None:
    assert streamed("both-families-forwarded", say("a"), say(BLOCK), DONE) == [say("a"), say("a"), say(BLOCK), DONE]


def test_spaces_are_tidied() -> None:
    tidy = "<use_tool>\n\n  <name>f</name>  <a>1 2</a>\n</use_tool>"
    assert streamed("blocks-tidied", say("a   b"), say(BLOCK)) == [say("a   b"), say(tidy)]
    assert whole("blocks-tidied", completion(BLOCK)) == completion(tidy)


def test_text_is_lost() -> None:
    assert streamed("text-before-block-lost", say("a"), say(BLOCK), DONE) == [say(BLOCK), DONE]
    # A call or a finish that another fault sends beside a text is not lost with it.
    both = chunk({**sent("{}")["choices"][0]["delta"], "content": "a"})
    assert streamed("text-before-block-lost", both, chunk({"content": "b"}, "stop")) == [sent("{}"), chunk({}, "stop")]
    assert streamed("held-back-text-lost", say("a"), say("b"), chunk({}, "stop")) == [say("a"), chunk({}, "stop")]
    frames = [say("a"), say("b <use_tool>"), say("c"), chunk({}, "stop"), ERROR, DONE]
    assert streamed("unclosed-block-swallowed", *frames) == [say("a"), *frames[3:]]


def test_text_after_a_block_is_sent() -> None:
    assert whole("text-after-block-sent", completion(None)) == completion(" and then some more words.")


def test_a_call_is_sent_twice() -> None:
    frames = [sent("", id="a"), sent("{}")]
    again = [sent("", 1, id="a_again"), sent("{}", 1)]
    finish = chunk({}, "tool_calls")
    assert streamed("call-sent-twice", *frames, finish, ERROR, DONE) == [*frames, *again, finish, ERROR, DONE]
    assert streamed("call-sent-twice", *frames, finish, finish) == [*frames, *again, finish, finish]
    twice = completion(None, call("a", "{}"), call("a_again", "{}"))
    assert whole("call-sent-twice", completion(None, call("a", "{}"))) == twice
