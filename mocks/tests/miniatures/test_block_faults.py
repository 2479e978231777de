from __future__ import annotations

from typing import Any

import pytest

from wireproof_mocks.miniatures.block_faults import BLOCK_FAULTS
from wireproof_mocks.miniatures.fault import OBSIDIAN_XML, FaultHead, SentRequest

FAULTS = {fault.name: fault for fault in BLOCK_FAULTS}
HEAD = FaultHead(status="200 OK", headers=[])
BLOCK = "<use_tool>\n  <name>f</name>\n  <z>\"1\" &amp; '2'</z>\n  <b>true</b>\n  <a>1.50</a>\n  <l>&lt;x&gt;</l>\n</use_tool>"  # noqa: E501 (a block as it is written)
BARE = "<use_tool>\n  <name>f</name>\n</use_tool>"
WRITTEN = {
    "blocks-on-one-line": BLOCK.replace("\n  ", "").replace("\n", ""),
    "blocks-not-indented": BLOCK.replace("\n  ", "\n"),
    "keys-sorted": (
        "<use_tool>\n  <name>f</name>\n  <a>1.50</a>\n  <b>true</b>\n  <l>&lt;x&gt;</l>\n  <z>\"1\" &amp; '2'</z>\n"
        "</use_tool>"
    ),
    "quotes-escaped": BLOCK.replace('"', "&quot;").replace("'", "&apos;"),
    "nothing-escaped": BLOCK.replace("&amp;", "&").replace("&lt;x&gt;", "<x>"),
    "booleans-of-python": BLOCK.replace("true", "True"),
    "numbers-respelled": BLOCK.replace("1.50", "1.5"),
    "empty-args-element": BLOCK,
    "last-argument-lost": BLOCK.replace("\n  <l>&lt;x&gt;</l>", ""),
}


def asked(script: str = "call/one") -> SentRequest:
    return SentRequest(method="POST", path="/v1/chat/completions", body=f"[[wireproof:{script}#n]]".encode(), key="")


def chunk(delta: Any) -> dict[str, Any]:
    return {"choices": [{"index": 0, "delta": delta, "finish_reason": None}]}


def say(text: str) -> dict[str, Any]:
    return chunk({"content": text})


def completion(content: str | None) -> dict[str, Any]:
    return {"choices": [{"index": 0, "message": {"content": content}}]}


def streamed(name: str, *frames: Any, script: str = "call/one") -> list[Any]:
    change = FAULTS[name].frames
    assert change is not None
    return [*change(frames, asked(script))]


def whole(name: str, body: Any, script: str = "call/one") -> Any:
    change = FAULTS[name].whole
    assert change is not None
    return change(body, asked(script), HEAD)


def test_all_are_about_blocks_alone() -> None:
    assert {fault.dialects for fault in BLOCK_FAULTS} == {(OBSIDIAN_XML,)}


@pytest.mark.parametrize("name", list(WRITTEN))
def test_a_block_is_written_otherwise(name: str) -> None:
    assert streamed(name, say("Text"), say(BLOCK)) == [say("Text"), say(WRITTEN[name])]
    assert whole(name, completion(BLOCK)) == completion(WRITTEN[name])
    assert whole(name, completion(None)) == completion(None)
    assert whole(name, {"error": {}}) == {"error": {}}


@pytest.mark.parametrize("name", list(WRITTEN))
def test_a_block_of_the_backend_is_left_alone(name: str) -> None:
    assert streamed(name, say(BLOCK), script="textual/verbatim") == [say(BLOCK)]
    assert whole(name, completion(BLOCK), script="shapes/h") == completion(BLOCK)


def test_a_call_without_arguments() -> None:
    filled = BARE.replace("</name>", "</name>\n  <args></args>")
    assert streamed("empty-args-element", say(BARE)) == [say(filled)]
    for whole_in_one in (BARE, BARE.replace("</name>", "</name>\n  <args>{half</args>")):
        assert streamed("last-argument-lost", say(whole_in_one)) == [say(whole_in_one)]


def test_a_block_comes_in_pieces() -> None:
    lines = [say(line) for line in BARE.splitlines(keepends=True)]
    assert streamed("block-in-pieces", say("<use_tool"), say(BARE)) == [say("<use_tool"), *lines]


def test_a_block_does_not_come() -> None:
    assert streamed("stream-without-blocks", say("Text"), say(BARE)) == [say("Text")]
    assert whole("whole-without-blocks", completion(BARE)) == completion(None)
    assert whole("whole-text-after-block", completion(BARE)) == completion(f"{BARE}\nI have called the tool.")


def test_arguments_come_in_fragments() -> None:
    def sent(arguments: str) -> dict[str, Any]:
        return chunk({"tool_calls": [{"index": 0, "function": {"arguments": arguments}}]})

    opening = chunk({"tool_calls": [{"index": 0, "id": "a", "function": {"name": "f", "arguments": ""}}]})
    got = streamed("fragments-instead-of-all", opening, sent("ab"), sent("abcd"), "[DONE]")
    assert got == [opening, sent("a"), sent("b"), sent("c"), sent("d"), "[DONE]"]
