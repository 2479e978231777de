"""The tool calls that an endpoint sent, read back from its answers, and what clients returned for them."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from wireproof_scripts.json_text import parse_json
from wireproof_surfaces.surfaces.responses_input import CALLS, OUTPUTS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from wireproof_endpoint.journal.entry import JournalEntry

Json = dict[str, Any]


@dataclass(frozen=True, kw_only=True)
class SentCall:
    """A call that a client got, and what it made of it."""

    id: str
    name: str
    arguments: Any
    """The JSON in its arguments; their text where they are none."""
    result: str | None
    """What the client sent as its result in a later request; None: nothing."""


def calls_in(entries: Iterable[JournalEntry]) -> list[SentCall]:
    """The calls in the answers of these requests, in order, each once."""
    entries = list(entries)
    results = {id_: text for entry in entries for id_, text in _results(entry.body)}
    found = {id_: (name, text) for entry in entries for id_, name, text in sent_in(entry)}
    return [
        SentCall(id=id_, name=name, arguments=_read(text), result=results.get(id_))
        for id_, (name, text) in found.items()
    ]


def sent_in(entry: JournalEntry) -> list[tuple[str, str, str]]:
    """Id, name and the text of the arguments of each call that an answer has, streamed or whole."""
    found: dict[object, list[str]] = {}
    for at, id_, name, text in _pieces(_objects(entry.sent)):
        call = found.setdefault(at, ["", "", ""])
        call[0], call[1] = call[0] or id_, call[1] or name
        call[2] += text
    return [(id_, name, text) for id_, name, text in found.values()]


def _objects(sent: bytes) -> Iterator[Json]:
    """The JSON objects of an answer: the whole one, or those in its frames."""
    # As bytes, which end a line as a stream of events does: a text may hold U+2028 as it is.
    lines = [line[5:] for line in sent.splitlines() if line.startswith(b"data:")] or [sent]
    for line in lines:
        value = _read(line.decode(errors="replace"))
        if isinstance(value, dict):
            yield value


def _pieces(objects: Iterable[Json]) -> Iterator[tuple[object, str, str, str]]:
    """The place of a call in its answer, its id and name if they are sent, a piece of its arguments.

    A script may write frames of any JSON: what is not as it should be is passed over.
    """
    for value in objects:
        yield from _pieces_of_message(value)
        for choice in _objects_in(value.get("choices")):
            said = _object(choice.get("delta") or choice.get("message"))
            for index, call in enumerate(_objects_in(said.get("tool_calls"))):
                at = (str(choice.get("index")), str(call.get("index", index)))
                function, custom = _object(call.get("function")), _object(call.get("custom"))
                yield at, _said(call, "id"), _said(function, "name"), _said(function, "arguments")
                yield at, "", _said(custom, "name"), _said(custom, "input")
        # Of a stream of responses the item says all when it is done; a whole one has its items in `output`.
        done = value.get("item") if value.get("type") == "response.output_item.done" else None
        for item in _objects_in([done] if done else value.get("output")):
            if holds := CALLS.get(_said(item, "type")):
                id_ = _said(item, "call_id")
                yield id_, id_, _said(item, "name"), _said(item, holds)


def _pieces_of_message(value: Json) -> Iterator[tuple[object, str, str, str]]:
    """The same of the Messages API: of an event, or of a whole message."""
    delta = _object(value.get("delta"))
    match value.get("type"):
        case "content_block_start":
            for block in _blocks([value.get("content_block")], "tool_use"):
                yield ("block", str(value.get("index"))), _said(block, "id"), _said(block, "name"), ""
        case "content_block_delta" if delta.get("type") == "input_json_delta":
            yield ("block", str(value.get("index"))), "", "", _said(delta, "partial_json")
        case "message":
            for index, block in enumerate(_blocks(value.get("content"), "tool_use")):
                said = json.dumps(block.get("input"), ensure_ascii=False)
                yield ("block", str(index)), _said(block, "id"), _said(block, "name"), said


def _results(body: object) -> Iterator[tuple[str, str]]:
    """Ids of calls and the texts of their results, in a request."""
    if not isinstance(body, dict):
        return
    for message in _objects_in(body.get("messages")):
        if message.get("role") == "tool":
            yield str(message.get("tool_call_id")), _text(message.get("content"))
        for block in _blocks(message.get("content"), "tool_result"):
            yield str(block.get("tool_use_id")), _text(block.get("content"))
    for item in _objects_in(body.get("input")):
        if item.get("type") in OUTPUTS:
            yield str(item.get("call_id")), _text(item.get("output"))


def _objects_in(value: object) -> Iterator[Mapping[str, Any]]:
    yield from (one for one in value if isinstance(one, dict)) if isinstance(value, list) else ()


def _blocks(content: object, kind: str) -> Iterator[Mapping[str, Any]]:
    return (block for block in _objects_in(content) if block.get("type") == kind)


def _said(value: Mapping[str, Any], name: str) -> str:
    return str(value.get(name) or "")


def _object(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def _text(value: object) -> str:
    parts = value if isinstance(value, list) else [{"text": value}]
    return "\n".join(str(part["text"]) for part in _objects_in(parts) if "text" in part)


def _read(text: str) -> object:
    try:
        return parse_json(text)
    except ValueError:
        return text
