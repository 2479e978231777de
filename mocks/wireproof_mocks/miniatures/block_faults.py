"""Faults of `<use_tool>` blocks: how calls are written into the content of obsidian-xml, and into its streams.

A change of blocks shows in streams and in whole answers alike. It leaves alone the blocks that the backend itself wrote
into its text: a proxy that writes blocks badly still forwards those.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from wireproof_mocks.miniatures.chunks import call_of, delta_of, each, with_delta
from wireproof_mocks.miniatures.fault import OBSIDIAN_XML, Fault, FaultHead, Frame, Json, SentRequest

BLOCK = re.compile(r"<use_tool>.*?</use_tool>", re.DOTALL)
# With the line break before it, so that an element can be taken out or moved with its line.
ARGUMENT = re.compile(r"\n  <(?!name>)([\w.-]+)>.*?</\1>", re.DOTALL)
# Only numbers with a fraction change when they are written again (1.50 becomes 1.5).
NUMBER = re.compile(r">(-?\d+\.\d+)<")
FORWARDED = ("textual/", "shapes/h")
"""Scripts whose blocks are the backend's own."""

Write = Callable[[str], str]


def forwards(request: SentRequest) -> bool:
    """Whether the blocks of an answer are the backend's own."""
    return request.script.startswith(FORWARDED)


def in_stream(change: Write) -> Callable[[Iterable[Frame], SentRequest], Iterator[Frame]]:
    """A change of the content deltas that hold a block."""

    def changed(chunk: Json) -> Iterable[Frame]:
        text = delta_of(chunk).get("content") or ""
        yield with_delta(chunk, {"content": change(text)}) if BLOCK.search(text) else chunk

    return each(changed)


def in_whole(change: Callable[[str], str | None]) -> Callable[[Json, SentRequest, FaultHead], Json]:
    """A change of the contents that hold a block, in every choice."""

    def choice(entry: Json) -> Json:
        text = entry["message"]["content"] or ""
        return {**entry, "message": {**entry["message"], "content": change(text)}} if BLOCK.search(text) else entry

    return lambda body, _, __: {**body, "choices": [*map(choice, body["choices"])]} if "choices" in body else body


def _written(name: str, breaks: str, change: Write) -> Fault:
    """A fault by which the proxy writes blocks otherwise."""

    def every(text: str) -> str:
        return BLOCK.sub(lambda block: change(block[0]), text)

    def frames(frames_: Iterable[Frame], request: SentRequest) -> Iterator[Frame]:
        return iter(frames_) if forwards(request) else in_stream(every)(frames_, request)

    def whole(body: Json, request: SentRequest, head: FaultHead) -> Json:
        return body if forwards(request) else in_whole(every)(body, request, head)

    return Fault(name=name, breaks=breaks, frames=frames, whole=whole, dialects=(OBSIDIAN_XML,))


def _one_line(block: str) -> str:
    return re.sub(r"\n *(?=<)", "", block)  # before tags only: line breaks within values stay


def _not_indented(block: str) -> str:
    return block.replace("\n  <", "\n<")


def _keys_sorted(block: str) -> str:
    elements = [match[0] for match in ARGUMENT.finditer(block)]
    return ARGUMENT.sub("", block).replace("</name>", "</name>" + "".join(sorted(elements)), 1)


def _one_tool_turned(block: str) -> str:
    """The canonical order of one tool is not known."""
    # One tool is enough to show that the order of each is looked at (xml.order).
    if "<name>replaceInFile</name>" not in block:
        return block
    elements = [match[0] for match in ARGUMENT.finditer(block)]
    return ARGUMENT.sub("", block).replace("</name>", "</name>" + "".join(elements[::-1]), 1)


def _quotes_escaped(block: str) -> str:
    return block.replace('"', "&quot;").replace("'", "&apos;")


def _not_escaped(block: str) -> str:
    # The ampersand last, or `&amp;lt;` would be undone twice.
    return block.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")


def _capital_booleans(block: str) -> str:
    return block.replace(">true<", ">True<").replace(">false<", ">False<")


def _numbers_respelled(block: str) -> str:
    return NUMBER.sub(lambda number: f">{float(number[1])}<", block)


def _empty_args(block: str) -> str:
    return block if ARGUMENT.search(block) else block.replace("</name>", "</name>\n  <args></args>", 1)


def _last_argument_lost(block: str) -> str:
    # Not of a call whose arguments are no JSON: all of them stand in one element.
    last = [match[0] for match in ARGUMENT.finditer(block) if match[1] != "args"][-1:]
    return block.replace(last[0], "") if last else block


# streams


def _in_pieces(chunk: Json) -> Iterable[Frame]:
    text = delta_of(chunk).get("content") or ""
    pieces = text.splitlines(keepends=True) if BLOCK.search(text) else ()
    yield from (with_delta(chunk, {"content": piece}) for piece in pieces)
    if not pieces:
        yield chunk


def _blocks_lost(chunk: Json) -> Iterable[Frame]:
    if not BLOCK.search(delta_of(chunk).get("content") or ""):
        yield chunk


def _incremental(frames: Iterable[Frame], _: SentRequest) -> Iterator[Frame]:
    """Each delta has only the new part of the arguments, in two halves."""
    sent: dict[Any, str] = {}
    for frame in frames:
        call = call_of(frame) if isinstance(frame, dict) and "error" not in frame else None
        # The delta that opens a call is as it should be in either argument mode.
        if call is None or not isinstance(frame, dict) or "id" in call:
            yield frame
            continue
        key = (frame["choices"][0]["index"], call["index"])
        text = call["function"]["arguments"]
        # From the mode of the reference proxy, where each delta has all so far, to fragments.
        new, sent[key] = text[len(sent.get(key, "")) :], text
        middle = len(new) // 2
        # In halves: a single delta would be right in either mode.
        for half in filter(None, (new[:middle], new[middle:])):
            yield with_delta(frame, {"tool_calls": [{**call, "function": {"arguments": half}}]})


BLOCK_FAULTS: tuple[Fault, ...] = (
    _written("blocks-on-one-line", "xml.shape", _one_line),
    _written("blocks-not-indented", "xml.shape", _not_indented),
    _written("keys-sorted", "xml.order", _keys_sorted),
    _written("order-of-one-tool-unknown", "xml.order", _one_tool_turned),
    _written("quotes-escaped", "xml.escape", _quotes_escaped),
    _written("nothing-escaped", "xml.escape", _not_escaped),
    _written("booleans-of-python", "xml.values", _capital_booleans),
    _written("numbers-respelled", "xml.values", _numbers_respelled),
    _written("empty-args-element", "xml.no-arguments", _empty_args),
    _written("last-argument-lost", "xml.round-trip", _last_argument_lost),
    Fault(name="block-in-pieces", breaks="chat.stream.xml-single-delta",
          frames=each(_in_pieces), dialects=(OBSIDIAN_XML,)),
    Fault(name="stream-without-blocks", breaks="chat.stream.xml-single-delta",
          frames=each(_blocks_lost), dialects=(OBSIDIAN_XML,)),
    Fault(name="fragments-instead-of-all", breaks="chat.stream.arguments-cumulative",
          frames=_incremental, dialects=(OBSIDIAN_XML,)),
    Fault(name="whole-without-blocks", breaks="chat.whole.content-xml",
          whole=in_whole(lambda _: None), scripts=("call/after-text",), dialects=(OBSIDIAN_XML,)),
    Fault(name="whole-text-after-block", breaks="chat.whole.tail-dropped",
          whole=in_whole(lambda text: f"{text}\nI have called the tool."), dialects=(OBSIDIAN_XML,)),
)  # fmt: skip
"""Each is the reference proxy with one thing wrong in its blocks."""
