from __future__ import annotations

from typing import Any

import pytest

from wireproof_mocks.miniatures.fault import FaultHead, SentRequest
from wireproof_mocks.miniatures.turn_faults import REMEMBERED, TURN_FAULTS

FAULTS = {fault.name: fault for fault in TURN_FAULTS}
SYSTEM = {"role": "system", "content": "Be kind."}
DEVELOPER = {"role": "developer", "content": "Be brief."}
PARTS = {"role": "user", "content": [{"type": "text", "text": "One"}]}
IMAGE = {"role": "user", "content": [{"type": "text", "text": "One"}, {"type": "image_url", "image_url": {}}]}
SAID = {"role": "assistant", "content": "Well."}
CALLED = {"role": "assistant", "content": None, "tool_calls": [{"id": "a"}]}
LAST = {"role": "user", "content": "Two"}


def result(id_: str, content: Any) -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": id_, "content": content}


def function(content: str) -> dict[str, Any]:
    return {"role": "function", "name": "readNote", "content": content}


def called(arguments: str) -> dict[str, Any]:
    return {"tool_calls": [{"id": "a", "type": "function", "function": {"name": "readNote", "arguments": arguments}}]}


def says(text: str) -> dict[str, Any]:
    return {"role": "user", "content": text}


def declared(**members: Any) -> dict[str, Any]:
    return {"type": "function", "function": {"name": "readNote", **members}}


SPOKEN = {"role": "assistant", "content": "I look.", **called('{"n":1.50}')}
TWO = [{"type": "text", "text": "One"}, {"type": "text", "text": "Two"}]


def user(asked: dict[str, Any]) -> dict[str, Any]:
    return {**asked, "role": "user"}


@pytest.mark.parametrize(
    ("name", "asked", "received"),
    [
        ("message-lost", {"messages": [SYSTEM, PARTS, LAST]}, {"messages": [SYSTEM, LAST]}),
        ("message-lost", {"messages": [SYSTEM, LAST, PARTS]}, {"messages": [SYSTEM, LAST, PARTS]}),
        ("assistant-as-user", {"messages": [SAID, CALLED, LAST]}, {"messages": [user(SAID), CALLED, LAST]}),
        ("system-as-user", {"messages": [SYSTEM, LAST]}, {"messages": [user(SYSTEM), LAST]}),
        ("developer-text-lost", {"messages": [SYSTEM, DEVELOPER, LAST]}, {"messages": [SYSTEM, LAST]}),
        (
            "results-swapped",
            {"messages": [LAST, result("a", "A"), result("b", "B")]},
            {"messages": [LAST, result("b", "A"), result("a", "B")]},
        ),
        ("results-swapped", {"messages": [LAST]}, {"messages": [LAST]}),
        ("images-lost", {"messages": [LAST, IMAGE]}, {"messages": [LAST, PARTS]}),
        ("message-lost", {"messages": [IMAGE, SAID, LAST]}, {"messages": [IMAGE, SAID, LAST]}),
        ("last-of-the-user-only", {"messages": [LAST, PARTS, SAID, LAST]}, {"messages": [PARTS, SAID, LAST]}),
        ("tool-choice-ignored", {"tool_choice": "none"}, {}),
        ("tool-choice-ignored", {"tool_choice": "auto"}, {"tool_choice": "auto"}),
        ("forced-calls-forgotten", {"tool_choice": "required"}, {}),
        ("forced-calls-forgotten", {"tool_choice": {"type": "function"}}, {}),
        ("forced-calls-forgotten", {"tool_choice": "none"}, {"tool_choice": "none"}),
        ("any-call-for-the-named-one", {"tool_choice": {"type": "function"}}, {"tool_choice": "required"}),
        ("any-call-for-the-named-one", {"tool_choice": "auto"}, {"tool_choice": "auto"}),
        ("schema-of-the-answer-dropped", {"response_format": {"type": "json_schema"}}, {}),
        ("schema-of-the-answer-dropped", {"n": 1}, {"n": 1}),
        ("any-json-is-any-text", {"response_format": {"type": "json_object"}}, {}),
        ("user-text-trimmed", {"messages": [says(" a \n")]}, {"messages": [says("a")]}),
        ("user-text-trimmed", {"messages": [PARTS, result("a", " A ")]}, {"messages": [PARTS, result("a", " A ")]}),
        ("blanks-at-line-ends-lost", {"messages": [says("a  \n b ")]}, {"messages": [says("a\n b")]}),
        ("line-ends-translated", {"messages": [says("a\r\nb\n")]}, {"messages": [says("a\nb\n")]}),
        ("letters-composed", {"messages": [says("e\u0301")]}, {"messages": [says("\u00e9")]}),
        ("long-texts-cut", {"messages": [says("a" * 5000)]}, {"messages": [says("a" * 4096)]}),
        ("results-cut", {"messages": [result("a", "a" * 5000)]}, {"messages": [result("a", "a" * 4096)]}),
        (
            "results-trimmed",
            {"messages": [result("a", "A\n"), function(" B")]},
            {"messages": [result("a", "A"), function("B")]},
        ),
        (
            "history-doubled",
            {"messages": [SYSTEM, PARTS, SAID, LAST]},
            {"messages": [PARTS, SAID, SYSTEM, PARTS, SAID, LAST]},
        ),
        (
            "history-doubled",
            {"messages": [CALLED, result("a", "A"), LAST]},
            {"messages": [CALLED, result("a", "A"), LAST]},
        ),
        ("repeats-of-the-user-dropped", {"messages": [LAST, SAID, LAST, SAID]}, {"messages": [LAST, SAID, SAID]}),
        ("tools-beyond-the-fourth-dropped", {"tools": list(range(6))}, {"tools": list(range(4))}),
        ("tools-beyond-the-fourth-dropped", {"messages": []}, {"messages": []}),
        (
            "tool-schemas-emptied",
            {"tools": [declared(parameters={"type": "string"})]},
            {"tools": [declared(parameters={"type": "object", "properties": {}})]},
        ),
        (
            "tool-descriptions-lost",
            {"tools": [declared(description="It reads.")]},
            {"tools": [declared(description="")]},
        ),
        (
            "tool-descriptions-in-one-line",
            {"tools": [declared(description="It\n  reads. ")]},
            {"tools": [declared(description="It reads.")]},
        ),
        (
            "late-instructions-as-user",
            {"messages": [SYSTEM, LAST, DEVELOPER, SYSTEM]},
            {"messages": [SYSTEM, LAST, user(DEVELOPER), user(SYSTEM)]},
        ),
        ("late-instructions-as-user", {"messages": [SYSTEM, DEVELOPER]}, {"messages": [SYSTEM, DEVELOPER]}),
        ("earlier-images-lost", {"messages": [IMAGE, SAID, IMAGE]}, {"messages": [PARTS, SAID, IMAGE]}),
        ("words-beside-calls-lost", {"messages": [SPOKEN, SAID]}, {"messages": [{**SPOKEN, "content": None}, SAID]}),
        (
            "earlier-calls-respelt",
            {"messages": [SAID, SPOKEN]},
            {"messages": [SAID, {**SPOKEN, **called('{"n": 1.5}')}]},
        ),
        ("later-parts-of-results-lost", {"messages": [result("a", TWO)]}, {"messages": [result("a", TWO[:1])]}),
        (
            "later-parts-of-results-lost",
            {"messages": [result("a", "A"), PARTS]},
            {"messages": [result("a", "A"), PARTS]},
        ),
        (
            "function-results-swapped",
            {"messages": [function("A"), SAID, function("B")]},
            {"messages": [function("B"), SAID, function("A")]},
        ),
        ("tools-reversed", {"tools": [{"a": 1}, {"a": 2}]}, {"tools": [{"a": 2}, {"a": 1}]}),
        ("tools-reversed", {"functions": [{"a": 1}, {"a": 2}]}, {"functions": [{"a": 2}, {"a": 1}]}),
        ("tools-reversed", {"tools": [{"type": "x"}, {}]}, {"tools": [{"type": "x"}, {}]}),
        ("tools-stripped-after-result", {"messages": [LAST], "tools": [1]}, {"messages": [LAST], "tools": [1]}),
        (
            "tools-stripped-after-result",
            {"messages": [result("a", "A")], "tools": [1], "functions": [2]},
            {"messages": [result("a", "A")]},
        ),
        ("result-needs-tools", {"messages": [result("a", "A")]}, {"messages": []}),
        (
            "result-needs-tools",
            {"messages": [result("a", "A")], "functions": [1]},
            {"messages": [result("a", "A")], "functions": [1]},
        ),
        ("tool-choice-ignored", {"tool_choice": "none", "tools": [1]}, {"tools": [1]}),
    ],
)
def test_the_backend_receives_something_else(name: str, asked: Any, received: Any) -> None:
    change = FAULTS[name].request
    assert change is not None
    assert change({"model": "m", **asked}) == {"model": "m", **received}


def said(nonce: str, text: str) -> dict[str, Any]:
    return {"messages": [{"role": "user", "content": f"[[wireproof:text/hello#{nonce}]] {text}"}]}


def test_an_earlier_request_of_the_conversation_stands_before_the_later_one() -> None:
    change = FAULTS["session-used-again"].request
    assert change is not None
    first, other, second = said("n", "One"), said("other", "Else"), said("n", "Two")
    assert change(first) == first
    assert change(other) == other
    assert change(second) == {"messages": [*first["messages"], *second["messages"]]}
    assert change({"messages": [LAST]}) == {"messages": [LAST]}
    assert change({"messages": [LAST, *second["messages"]]}) == {"messages": [LAST, *second["messages"]]}


def test_old_conversations_are_forgotten() -> None:
    change = FAULTS["session-used-again"].request
    assert change is not None
    for number in range(REMEMBERED + 1):
        change(said(f"old-{number}", "One"))
    again = said("old-0", "Two")
    assert change(again) == again


def test_what_others_receive_is_inserted_once() -> None:
    fault = FAULTS["others-overheard"]
    request = SentRequest(method="POST", path="/v1/chat/completions", body=b"", key="")
    chunk = {"choices": [{"index": 0, "delta": {"content": "Mine"}, "finish_reason": None}]}
    strange = {"choices": [{"index": 0, "delta": {"content": "opened"}, "finish_reason": None}]}
    assert fault.frames is not None
    assert [*fault.frames(["x", {"error": {}}, chunk, chunk], request)] == ["x", {"error": {}}, chunk, strange, chunk]


def test_long_prompts_are_mixed_with_the_one_before() -> None:
    change = FAULTS["prompts-share-a-buffer"].request
    assert change is not None
    first, second = says("1" * 5000), says("2" * 5000)
    assert change({"messages": [LAST]}) == {"messages": [LAST]}
    change({"messages": [first]})
    assert change({"messages": [LAST, second]}) == {"messages": [LAST, says("1" * 200 + "\n" + "2" * 5000)]}
    assert change({"messages": [PARTS]}) == {"messages": [PARTS]}


@pytest.mark.parametrize(
    ("body", "code"),
    [
        (b'{"tool_choice": "required", "said": "[[wireproof:call#0123456789ab]]"}', 502),
        (b'{"tool_choice": "none", "said": "[[wireproof:call#0123456789ab]]"}', 400),
        (b'{"tool_choice": "required"}', 400),
        (b"{}", 400),
    ],
    ids=["a script was to call", "none was asked for", "no script", "nothing asked"],
)
def test_a_call_that_is_missing_is_blamed_on_the_backend(body: bytes, code: int) -> None:
    change = FAULTS["missing-call-is-502"].head
    assert change is not None
    request = SentRequest(method="POST", path="/v1/chat/completions", body=body, key="")
    assert change(FaultHead(status="400 Bad Request", headers=[]), request).code == code
    assert change(FaultHead(status="200 OK", headers=[]), request).code == 200


def test_calls_get_the_name_of_a_namespace() -> None:
    change, request = FAULTS["calls-in-a-namespace"].whole, SentRequest(method="POST", path="", body=b"", key="")
    assert change is not None
    head = FaultHead(status="200 OK", headers=[])
    body = {"choices": [{"message": called("{}")}, {"message": SAID}]}
    changed = change(body, request, head)
    assert changed["choices"][0]["message"]["tool_calls"][0]["function"]["name"] == "client.readNote"
    assert changed["choices"][1] == body["choices"][1]
    assert change({"data": []}, request, head) == {"data": []}
