from __future__ import annotations

import json
from typing import Any

import pytest

from wireproof.model.dialect import Carrier, Surface
from wireproof.targets.recognition import Recognised, error_of, is_over, recognise, shown

CHAT, RESPONSES = Surface.CHAT, Surface.RESPONSES
FUNCTION = {"name": "f", "arguments": "{}"}


def frames(*payloads: Any) -> bytes:
    return b"".join(
        b"data: " + (one if isinstance(one, bytes) else json.dumps(one).encode()) + b"\n\n" for one in payloads
    )


def delta(**members: Any) -> dict[str, Any]:
    return {"choices": [{"index": 0, "delta": members}]}


def message(**members: Any) -> bytes:
    return json.dumps({"choices": [{"index": 0, "message": members}]}).encode()


@pytest.mark.parametrize(
    ("body", "text", "carriers"),
    [
        (message(content="Hi."), "Hi.", set()),
        (message(content=[{"type": "text", "text": "H"}, {"type": "text", "text": "i"}]), "Hi", set()),
        (message(content=None, tool_calls=[{"function": FUNCTION}]), "", {Carrier.TOOL_CALLS}),
        (message(content=None, function_call=FUNCTION), "", {Carrier.FUNCTION_CALL}),
        (message(content="<use_tool>"), "<use_tool>", {Carrier.BLOCKS}),
        (b'{"choices": []}', "", set()),
        (b'{"choices": [7, {"message": null}, {"delta": "x"}]}', "", set()),
        (frames(delta(content="H"), delta(content="i"), b"[DONE]"), "Hi", set()),
        (frames(json.dumps(delta(content="H\u2028i"), ensure_ascii=False).encode()), "H\u2028i", set()),
        (frames(delta(content="<use_"), delta(content="tool>")), "<use_tool>", {Carrier.BLOCKS}),
        (frames(delta(tool_calls=[{"index": 0}])), "", {Carrier.TOOL_CALLS}),
        # Frames that cannot be read are a stream all the same.
        (b"data: Hello\r\n\r\ndata: {broken", "", set()),
        (b": comment\n\ndata:[DONE]\n\n", "", set()),
    ],
)
def test_an_answer_of_chat_is_recognised_whatever_its_form(body: bytes, text: str, carriers: set[Carrier]) -> None:
    assert recognise(body, CHAT) == Recognised(text=text, carriers=frozenset(carriers))


RESPONSE = {
    "object": "response",
    "output": [
        {"type": "message", "content": [{"type": "output_text", "text": "Hi."}]},
        {"type": "function_call", "name": "f"},
    ],
}
DELTA = {"type": "response.output_text.delta", "delta": "Hi."}


@pytest.mark.parametrize(
    ("body", "text", "carriers"),
    [
        (json.dumps(RESPONSE).encode(), "Hi.", {Carrier.ITEMS}),
        (b'{"object": "response"}', "", set()),
        (b'{"object": "response", "output": [1, null]}', "", set()),
        (b'{"object": "response", "output": true}', "", set()),
        (frames(DELTA, {"type": "response.completed", "response": RESPONSE}), "Hi.", {Carrier.ITEMS}),
        (frames({"type": "response.created"}), "", set()),
    ],
)
def test_a_response_is_recognised_whatever_its_form(body: bytes, text: str, carriers: set[Carrier]) -> None:
    assert recognise(body, RESPONSES) == Recognised(text=text, carriers=frozenset(carriers))


@pytest.mark.parametrize(
    ("body", "surface"),
    [
        (b"", CHAT),
        (b"Hello", CHAT),
        (b"{}", CHAT),
        (b"[]", CHAT),
        (b'{"choices": null}', CHAT),
        (b'{"error": {"message": "No."}}', CHAT),
        (frames({"error": {"message": "No."}}), CHAT),
        (frames(DELTA), CHAT),
        (b"<html>data: [DONE]", CHAT),
        (b"[" * 100_000, CHAT),
        (message(content="Hi."), RESPONSES),
        (frames(delta(content="Hi.")), RESPONSES),
        (b"data: Hello\n\n", RESPONSES),
    ],
)
def test_what_is_no_answer_is_not_recognised(body: bytes, surface: Surface) -> None:
    assert recognise(body, surface) is None


@pytest.mark.parametrize(
    ("body", "over"),
    [
        (frames(delta(content="Hi."), b"[DONE]"), True),
        (frames({"type": "response.completed"}), True),
        (frames({"type": "response.failed"}), True),
        (frames({"type": "error"}), True),
        (frames(delta(content="[DONE]")), False),
        (frames({"type": "response.created"}), False),
        (frames({"type": ["error"]}), False),
        (b"data: [DO", False),
        (b"", False),
        (b'{"type": "error"}', False),
    ],
)
def test_a_stream_is_over_when_it_says_so(body: bytes, *, over: bool) -> None:
    assert is_over(body) is over


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (b'{"error": {"message": "No."}}', "No."),
        (b'{"error": "No."}', "No."),
        (b'{"detail": "No."}', "No."),
        (b'{"detail": [{"loc": ["body"]}]}', '[{"loc": ["body"]}]'),
        (frames({"error": {"message": "No."}}), "No."),
        (frames({"type": "error", "message": "No."}), "No."),
        (b'{"error": null, "choices": []}', None),
        (b'{"error": {}}', None),
        (b'{"choices": [], "detail": "x"}', None),
        (b"No.", None),
    ],
)
def test_an_error_is_found_in_every_usual_spelling(body: bytes, message: str | None) -> None:
    found = error_of(body)
    assert (found and found["message"]) == message


def test_the_beginning_of_a_body_is_one_line() -> None:
    assert shown(b"  a\n\n b\xff" + b"c" * 1000) == "a b\ufffd" + "c" * 196
