"""What the messages of a request mean to a backend."""

from __future__ import annotations

from contextlib import nullcontext
from typing import Any

import pytest

from wireproof_surfaces.conversation import AssistantCall, ImagePart, Message, TextPart, ToolResult, converse
from wireproof_surfaces.errors import ApiError
from wireproof_surfaces.messages import content_blocks, messages_input

CALL = {"role": "assistant", "content": [{"type": "tool_use", "id": "c1", "name": "f", "input": {"a": [1, "é"]}}]}
CALLED = AssistantCall(id="c1", name="f", arguments='{"a":[1,"é"]}')


def said(role: Any, *texts: str) -> Message:
    return Message(role=role, parts=tuple(map(TextPart, texts)))


def message(role: str, *blocks: Any) -> dict[str, Any]:
    return {"role": role, "content": list(blocks)}


def result(**more: Any) -> dict[str, Any]:
    return {"type": "tool_result", "tool_use_id": "c1", **more}


def text(said: str) -> dict[str, Any]:
    return {"type": "text", "text": said}


IMAGE = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "eA=="}}
SHOWN = ImagePart("data:image/png;base64,eA==")
LINKED = {"type": "image", "source": {"type": "url", "url": "http://x/y.png"}}
AT = ImagePart("http://x/y.png")
SPOKEN = [message("assistant", text("a"), *CALL["content"], text("b"))]
THOUGHT = {"type": "thinking", "thinking": "x", "signature": ""}
DOCUMENT = {"type": "document", "source": {"type": "text", "media_type": "text/plain", "data": "Once."}}
FOUND = {"type": "search_result", "source": "s", "title": "t", "content": [text("Twice.")]}


@pytest.mark.parametrize(
    ("sent", "meant"),
    [
        ([message("user", text("a"), IMAGE, LINKED)], [Message(role="user", parts=(TextPart("a"), SHOWN, AT))]),
        ([message("user", DOCUMENT, FOUND)], [said("user", "Once.", "Twice.")]),
        (SPOKEN, [said("assistant", "a"), CALLED, said("assistant", "b")]),
        ([message("assistant", THOUGHT, text("a"))], [said("assistant", "a")]),
        ([message("assistant", {"type": "redacted_thinking", "data": "x"})], []),
        ([message("user", text("a"), result(content="r"))], [ToolResult(id="c1", output="r"), said("user", "a")]),
        ([message("user", result())], [ToolResult(id="c1", output="")]),
        ([message("user", result(content="no", is_error=True))], [ToolResult(id="c1", output="no", failed=True)]),
        (
            [message("user", result(content=[text("a"), IMAGE, text("b")]))],
            [ToolResult(id="c1", output="a\nb", images=(SHOWN,))],
        ),
        ([{"role": "user", "content": "a"}, {"role": "user", "content": "b"}], [said("user", "a"), said("user", "b")]),
    ],
)  # fmt: skip
def test_blocks_are_items_in_order_and_results_come_first(sent: Any, meant: Any) -> None:
    assert list(messages_input.items({"messages": sent})) == meant


@pytest.mark.parametrize("system", ["Be brief.", [text("Be brief.")]])
@pytest.mark.parametrize("later", [False, True])
def test_system_texts_are_the_developers_wherever_they_stand_before_the_answer(system: Any, *, later: bool) -> None:
    sent = [{"role": "user", "content": "Hi"}, *([{"role": "system", "content": "Use f."}] if later else [])]
    conversation = converse(messages_input.items({"system": system, "messages": sent}))
    assert conversation.developer == ("Be brief.\n\nUse f." if later else "Be brief.")
    assert (conversation.history, conversation.input) == ((), (TextPart("Hi"),))


def test_a_system_message_in_the_middle_keeps_its_place() -> None:
    sent = [
        {"role": "user", "content": "Hi"},
        {"role": "system", "content": "Use f."},
        CALL,
        message("user", result(content="r")),
    ]
    assert list(messages_input.items({"messages": sent})) == [
        said("user", "Hi"),
        said("system", "Use f."),
        CALLED,
        ToolResult(id="c1", output="r"),
    ]


def test_a_result_that_failed_says_so_where_a_backend_has_no_other_place() -> None:
    assert ToolResult(id="c1", output="no", failed=True).labelled_output == "Error: no"
    assert ToolResult(id="c1", output="yes").labelled_output == "yes"


@pytest.mark.parametrize(
    ("thought", "given", "fits"),
    [
        ("a", content_blocks.signature("a"), True),
        ("b", content_blocks.signature("a"), False),
        # It was not shown.
        ("", content_blocks.signature("a"), True),
        ("a", content_blocks.signature("a")[:-4] + "AAA=", False),
        ("a", content_blocks.signature("a")[:-8], False),
        ("a", content_blocks.signature("a") + "!", False),
        ("a", "", True),
        ("a", "EqoBCkgIARABGAIiQ", True),
    ],
)
def test_a_signature_is_checked_if_it_was_made_here(thought: str, given: str, fits: bool) -> None:  # noqa: FBT001 - a case
    assert content_blocks.fits(thought, given) is fits
    sent = [message("assistant", {"type": "thinking", "thinking": thought, "signature": given})]
    refusal = nullcontext() if fits else pytest.raises(ApiError)
    with refusal as refused:
        messages_input.signed(sent)
    found = refused.value.message if refused else None
    assert found == (None if fits else "messages.0.content.0: Invalid `signature` in `thinking` block")
