"""Faults of `<use_tool>` blocks: how calls are written into the content of obsidian-xml, and into its streams.

A change of blocks shows in streams and in whole answers alike. It leaves alone the blocks that the backend itself wrote
into its text: a proxy that writes blocks badly still forwards those.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from wireproof_mocks.miniatures.chunks import (
    TEXT,
    arguments_of,
    call_of,
    choice_of,
    delta_of,
    each,
    halves,
    opens,
    with_delta,
)
from wireproof_mocks.miniatures.fault import OBSIDIAN_XML, Fault
from wireproof_mocks.miniatures.rewriting import at, in_body

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from wireproof_mocks.miniatures.fault import Bodies, FaultHead, Frame, Frames, Json, SentRequest

BLOCK = re.compile(r"<use_tool>.*?</use_tool>", re.DOTALL)
# With the line break before it, so that an element can be taken out or moved with its line.
ARGUMENT = re.compile(r"\n  <(?!name>)([\w.-]+)>.*?</\1>", re.DOTALL)
# Only numbers with a fraction change when they are written again (1.50 becomes 1.5).
NUMBER = re.compile(r">(-?\d+\.\d+)<")
FORWARDED = ("textual/", "shapes/h")
"""Scripts whose blocks are the backend's own."""


def _of_blocks(change: Callable[[str], str | None]) -> Callable[[str], str | None]:
    return lambda text: change(text) if BLOCK.search(text) else text


def in_stream(change: Callable[[str], str]) -> Frames:
    """A change of the content deltas that hold a block."""
    return each(at(TEXT, _of_blocks(change)))


def in_whole(change: Callable[[str], str | None]) -> Bodies:
    """A change of the contents that hold a block, in every choice."""
    return in_body(at("choices[].message.content", _of_blocks(change)))


def _written(name: str, breaks: str, change: Callable[[str], str]) -> Fault:
    """A fault by which the proxy writes blocks otherwise."""

    def every(text: str) -> str:
        return BLOCK.sub(lambda block: change(block[0]), text)

    def frames(frames_: Iterable[Any], request: SentRequest) -> Iterator[Frame]:
        return iter(frames_) if request.script.startswith(FORWARDED) else in_stream(every)(frames_, request)

    def whole(body: Json, request: SentRequest, head: FaultHead) -> Json:
        return body if request.script.startswith(FORWARDED) else in_whole(every)(body, request, head)

    return Fault(name=name, breaks=breaks, frames=frames, whole=whole, dialects=(OBSIDIAN_XML,))


def _one_line(block: str) -> str:
    return re.sub(r"\n *(?=<)", "", block)  # before tags only: line breaks within values stay


def _not_indented(block: str) -> str:
    return block.replace("\n  <", "\n<")


def _reordered(block: str, order: Callable[[list[str]], list[str]]) -> str:
    elements = [match[0] for match in ARGUMENT.finditer(block)]
    return ARGUMENT.sub("", block).replace("</name>", "</name>" + "".join(order(elements)), 1)


def _one_tool_turned(block: str) -> str:
    """The canonical order of one tool is not known."""
    # One tool is enough to show that the order of each is looked at (xml.order).
    return _reordered(block, lambda them: them[::-1]) if "<name>replaceInFile</name>" in block else block


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


def _has_block(chunk: Json) -> bool:
    return BLOCK.search(delta_of(chunk).get("content") or "") is not None


def _in_pieces(chunk: Json) -> Iterable[Frame]:
    if not _has_block(chunk):
        return (chunk,)
    return (with_delta(chunk, {"content": piece}) for piece in delta_of(chunk)["content"].splitlines(keepends=True))


def _incremental(frames: Iterable[Any], _: SentRequest) -> Iterator[Frame]:
    """Each delta has only the new part of the arguments, in two halves."""
    sent: dict[Any, str] = {}
    for frame in frames:
        call = call_of(frame)
        # The delta that opens a call is as it should be in either argument mode.
        if not call or opens(frame):
            yield frame
            continue
        key = (choice_of(frame)["index"], call["index"])
        # From the mode of the reference proxy, where each delta has all so far, to fragments.
        new, sent[key] = arguments_of(frame)[len(sent.get(key, "")) :], arguments_of(frame)
        # In halves: a single delta would be right in either mode.
        for half in halves(new):
            yield with_delta(frame, {"tool_calls": [{**call, "function": {"arguments": half}}]})


BLOCK_FAULTS: tuple[Fault, ...] = (
    _written("blocks-on-one-line", "xml.shape", _one_line),
    _written("blocks-not-indented", "xml.shape", _not_indented),
    _written("keys-sorted", "xml.order", lambda block: _reordered(block, sorted)),
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
          frames=each(lambda chunk: () if _has_block(chunk) else chunk), dialects=(OBSIDIAN_XML,)),
    Fault(name="fragments-instead-of-all", breaks="chat.stream.arguments-cumulative",
          frames=_incremental, dialects=(OBSIDIAN_XML,)),
    Fault(name="whole-without-blocks", breaks="chat.whole.content-xml",
          whole=in_whole(lambda _: None), scripts=("call/after-text",), dialects=(OBSIDIAN_XML,)),
    Fault(name="whole-text-after-block", breaks="chat.whole.tail-dropped",
          whole=in_whole(lambda text: f"{text}\nI have called the tool."), dialects=(OBSIDIAN_XML,)),
)  # fmt: skip
"""Each is the reference proxy with one thing wrong in its blocks."""
