from __future__ import annotations

import pytest

from wireproof.wire.events import ToolCall
from wireproof.wire.sentinel import read, split

BLOCK = '<tool_call>{"id": "c", "name": "f", "arguments": "{ }"}</tool_call>'
TAGGED = r'<tool_call>{"id": "c", "name": "f", "arguments": "</tool_call>\n<tool_call>"}</tool_call>'
CALL = ToolCall(id="c", name="f", arguments="{ }")


@pytest.mark.parametrize(
    ("text", "kept", "calls"),
    [
        ("", "", ()),
        ("No call.\n", "No call.\n", ()),
        (BLOCK, "", (CALL,)),
        (f"Look:\n{BLOCK}", "Look:\n", (CALL,)),
        (f"Look:\n{BLOCK}\nDone.\n", "Look:\n", (CALL,)),
        (f"{BLOCK}\nand\n{BLOCK}", "", (CALL, CALL)),
        (f"a {BLOCK}\n", f"a {BLOCK}\n", ()),
        (f" {BLOCK}", f" {BLOCK}", ()),
        (f"```\n{BLOCK}\n```\n", f"```\n{BLOCK}\n```\n", ()),
        (f"  ~~~ json\n{BLOCK}\n~~~\n{BLOCK}", f"  ~~~ json\n{BLOCK}\n~~~\n", (CALL,)),
        ("<tool_call>{}</tool_call>\n", "<tool_call>{}</tool_call>\n", ()),
        ("<tool_call>no\nJSON</tool_call>", "<tool_call>no\nJSON</tool_call>", ()),
        (TAGGED, "", (ToolCall(id="c", name="f", arguments="</tool_call>\n<tool_call>"),)),
        (f"{TAGGED}\n{BLOCK}", "", (ToolCall(id="c", name="f", arguments="</tool_call>\n<tool_call>"), CALL)),
        (TAGGED[:-12], TAGGED[:-12], ()),
        (f"{BLOCK[:-12]} x</tool_call>", f"{BLOCK[:-12]} x</tool_call>", ()),
        (f"<tool_call> \n{BLOCK[11:-12]}\t\n</tool_call>", "", (CALL,)),
        (f"<tool_call>{{\n{BLOCK[:-12]}", f"<tool_call>{{\n{BLOCK[:-12]}", ()),
    ],
)
def test_text_and_calls_are_distinguished(text: str, kept: str, calls: tuple[ToolCall, ...]) -> None:
    assert split(text) == (kept, calls)


@pytest.mark.parametrize(
    ("inner", "wanted"),
    [
        ('{"call_id": "c", "name": "f", "arguments": "{ }"}', CALL),
        (
            '{"id": "c", "name": "f", "arguments": {"a" : [1, "é"]}}',
            ToolCall(id="c", name="f", arguments='{"a":[1,"é"]}'),
        ),
        ('{"id": "c", "name": "f"}', ToolCall(id="c", name="f", arguments="{}")),
        ('{"name": "f", "arguments": "{}"}', None),
        ('{"id": "c", "arguments": "{}"}', None),
        ('{"id": "", "name": "f"}', None),
        ('{"id": 7, "name": "f"}', None),
        ('["c", "f"]', None),
        ("{", None),
    ],
)
def test_a_call_needs_an_id_and_a_name(inner: str, wanted: ToolCall | None) -> None:
    block = f"<tool_call>{inner}</tool_call>"
    assert read(block) == (None if wanted is None else (wanted, len(block)))


@pytest.mark.parametrize(
    ("text", "called"),
    [
        ("````\n```\n{}\n```\n{}\n````\n", False),
        ("````\n```\n````\n{}", True),
        ("```\n~~~\n{}\n```\n", False),
        ("```\n``` json\n{}\n```\n", False),
        ("```\n`````\n{}", True),
        ("```a `b` c\n{}", True),
        ("~~~a `b`\n{}\n~~~", False),
    ],
)
def test_a_fence_is_closed_by_as_many_marks_or_more(text: str, *, called: bool) -> None:
    block = '<tool_call>{"id": "c", "name": "f"}</tool_call>'
    kept, calls = split(text.replace("{}", block))
    assert bool(calls) is called
    assert (block in kept) is not called
