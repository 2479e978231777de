from __future__ import annotations

import json
from typing import Any

import pytest

from wireproof_mocks.miniatures.chunks import call_of, delta_of, each, finish_of, halves, opens, text_of, with_delta
from wireproof_mocks.miniatures.fault import SentRequest

ASKED = SentRequest(method="POST", path="/v1/chat/completions", body=b"{}", key="")
COUNTS: dict[str, Any] = {"choices": [], "usage": {}}


def chunk(delta: Any, finish: str | None = None) -> dict[str, Any]:
    return {"choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}


SAY, END = chunk({"content": "a"}), chunk({}, "stop")
OPEN = chunk({"tool_calls": [{"index": 0, "id": "c", "function": {"name": "f", "arguments": ""}}]})
GROW = chunk({"tool_calls": [{"index": 0, "function": {"arguments": "{}"}}]})
FAILED = {"error": {"message": "No."}}


@pytest.mark.parametrize(
    ("sent", "text", "finish", "call", "opened"),
    [(SAY, "a", None, False, False), (END, "", "stop", False, False), (OPEN, "", None, True, True),
     (GROW, "", None, True, False), (COUNTS, "", None, False, False), (FAILED, "", None, False, False),
     ("[DONE]", "", None, False, False), (b": hm\n\n", "", None, False, False)],
)  # fmt: skip
def test_a_frame_is_read(sent: Any, text: str, finish: str | None, *, call: bool, opened: bool) -> None:
    assert (text_of(sent) or "", finish_of(sent)) == (text, finish)
    assert (bool(call_of(sent)), opens(sent)) == (call, opened)


def test_copies_are_changed_and_what_they_were_stays() -> None:
    before = json.dumps(SAY)
    assert delta_of(with_delta(SAY, {"content": "b"}, "stop")) == {"content": "b"}
    assert json.dumps(SAY) == before


def test_errors_and_comments_pass_what_takes_chunks() -> None:
    frames: list[Any] = [SAY, {"error": {}}, b": hm\n\n", "[DONE]"]
    assert list(each(lambda _: [])(frames, ASKED)) == frames[1:]


def test_a_text_in_two() -> None:
    assert [halves(text) for text in ("", "a", "abc")] == [[], ["a"], ["a", "bc"]]
