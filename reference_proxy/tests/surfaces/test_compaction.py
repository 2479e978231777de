"""Conversations that are made shorter, and stand for themselves again."""

from __future__ import annotations

import base64
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wireproof_surfaces.conversation import AssistantCall, ImagePart, Message, TextPart, ToolResult
from wireproof_surfaces.errors import ApiError
from wireproof_surfaces.surfaces.input_items import LARGEST, compacted, pack, unpacked
from wireproof_surfaces.surfaces.responses_input import given as rule
from wireproof_surfaces.surfaces.responses_input import items

SAID = (
    Message(role="developer", parts=(TextPart("Be short."),)),
    Message(role="user", parts=(TextPart("Look."), ImagePart("data:image/png;base64,AA"))),
    AssistantCall(id="c1", name="f", arguments="{}"),
    ToolResult(id="c1", output="24"),
    AssistantCall(id="c2", name="f", arguments="{}"),
    ToolResult(id="c2", output="", images=(ImagePart("data:image/png;base64,BB"),)),
    Message(role="assistant", parts=(TextPart("Seen."),)),
    Message(role="user", parts=(TextPart("And now?"),)),
)


def test_what_users_said_stays_and_the_rest_is_one_item() -> None:
    answer = compacted(SAID)
    assert (answer["object"], answer["id"][:5]) == ("response.compaction", "resp_")
    assert [item["type"] for item in answer["output"]] == ["message", "message", "compaction"]
    assert [part["type"] for part in answer["output"][0]["content"]] == ["input_text", "input_image"]
    usage = answer["usage"]
    assert usage["total_tokens"] == usage["input_tokens"] + usage["output_tokens"]


def test_what_was_compacted_is_input_and_nothing_of_it_is_lost() -> None:
    output = compacted(SAID)["output"]
    rule({"input": output})
    found = list(items(output))
    assert sorted(map(repr, found)) == sorted(map(repr, SAID))
    again = compacted(found)["output"]
    assert sorted(map(repr, items(again))) == sorted(map(repr, SAID))


@given(st.lists(st.dictionaries(st.text(), st.text() | st.integers()), max_size=5))
def test_items_are_unpacked_as_they_were_packed(packed: list[dict[str, str | int]]) -> None:
    assert unpacked(pack(packed)) == packed


def _packed(text: bytes) -> str:
    return "wireproof1." + base64.urlsafe_b64encode(zlib.compress(text)).decode()


@pytest.mark.each(
    "content",
    [
        None,
        7,
        "",
        "gAAAAAB",
        "wireproof1.",
        "wireproof1.!",
        "wireproof1.AAAA",
        _packed(b"{}"),
        _packed(b"[1]"),
        _packed(b"["),
        _packed(b"[" * 100_000),
        _packed(b" " * (LARGEST + 1)),
    ],
)
def test_what_was_made_elsewhere_or_is_too_large_is_refused(content: object) -> None:
    assert unpacked(content) is None
    with pytest.raises(ApiError) as raised:
        rule({"input": [{"type": "compaction", "encrypted_content": content}]})
    assert raised.value.param == "input[0].encrypted_content"


def test_what_is_packed_is_looked_at_as_input_is() -> None:
    content = pack([{"type": "function_call_output", "call_id": "c9", "output": "1"}])
    with pytest.raises(ApiError) as raised:
        rule({"input": [{"type": "compaction", "encrypted_content": content}]})
    assert raised.value.param == "input[0].encrypted_content[0].call_id"
