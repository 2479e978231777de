from __future__ import annotations

import json
from typing import Any

import pytest

from wireproof_mocks.miniatures.chunks import (
    call_of,
    changed,
    delta_of,
    each,
    finish_of,
    opens,
    rewritten,
    text_of,
    with_call,
    with_delta,
    written,
)
from wireproof_mocks.miniatures.fault import SentRequest

ASKED = SentRequest(method="POST", path="/v1/chat/completions", body=b"{}", key="")
COUNTS: dict[str, Any] = {"choices": [], "usage": {}}


def chunk(delta: Any, finish: str | None = None) -> dict[str, Any]:
    return {"choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}


SAY, END = chunk({"content": "a"}), chunk({}, "stop")
OPEN = chunk({"tool_calls": [{"index": 0, "id": "c", "function": {"name": "f", "arguments": ""}}]})
GROW = chunk({"tool_calls": [{"index": 0, "function": {"arguments": "{}"}}]})


@pytest.mark.parametrize(
    ("sent", "text", "finish", "call", "opened"),
    [(SAY, "a", None, False, False), (END, "", "stop", False, False), (OPEN, "", None, True, True),
     (GROW, "", None, True, False), (COUNTS, "", None, False, False)],
)  # fmt: skip
def test_a_chunk_is_read(sent: Any, text: str, finish: str | None, *, call: bool, opened: bool) -> None:
    assert (text_of(sent) or "", finish_of(sent)) == (text, finish)
    assert (call_of(sent) is not None, opens(sent)) == (call, opened)


def test_copies_are_changed_and_what_they_were_stays() -> None:
    before = json.dumps([SAY, OPEN])
    assert delta_of(with_delta(SAY, {"content": "b"}, "stop")) == {"content": "b"}
    assert call_of(with_call(OPEN, lambda call: {**call, "id": "d"})) == {**(call_of(OPEN) or {}), "id": "d"}
    assert with_call(SAY, dict) == SAY
    assert changed(SAY, model="m")["model"] == "m"
    assert json.dumps([SAY, OPEN]) == before


def test_errors_and_comments_pass_what_takes_chunks() -> None:
    frames: list[Any] = [SAY, {"error": {}}, b": hm\n\n", "[DONE]"]
    assert list(each(lambda _: [])(frames, ASKED)) == frames[1:]


def test_arguments_are_spelled_again_where_they_are_json() -> None:
    assert json.loads(rewritten('{"a" :  1}')) == {"a": 1}
    assert rewritten('{"a" :  1}') != '{"a" :  1}'
    assert rewritten("no") == "no"


def test_a_frame_is_written_as_it_is_or_as_data() -> None:
    assert written(b": hm\n\n") == b": hm\n\n"
    assert written("[DONE]") == b"data: [DONE]\n\n"
    assert written({"a": 1}).startswith(b"data: {")
