"""A Messages stream folded to the message that it is: what the stream helpers of the SDKs make of it.

Lenient: what is out of place is passed over, since the grammar has named it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from wireproof.wire.fields import JsonObject, integer_of, json_of, object_of
from wireproof.wire.messages_events import BLOCK_DELTA, BLOCK_START, DELTA, START

if TYPE_CHECKING:
    from collections.abc import Iterable

_ADDED = {"text_delta": "text", "thinking_delta": "thinking"}
"""Type of a delta → the member of the delta and of its block that it adds to."""


def fold(payloads: Iterable[JsonObject]) -> JsonObject:
    """The message of these events; {} where none starts."""
    message: JsonObject = {}
    blocks: dict[int | None, dict[str, Any]] = {}
    for event in payloads:
        index = integer_of(event.get("index"))
        match event.get("type"):
            case str(type_) if type_ == START:
                message = {**object_of(event.get("message"))}
            case str(type_) if type_ == BLOCK_START:
                # A later one of the same index is a block of its own.
                number = index if index not in blocks else len(blocks)
                blocks[number] = {**object_of(event.get("content_block"))}
            case str(type_) if type_ == BLOCK_DELTA and index in blocks:
                _add(blocks[index], object_of(event.get("delta")))
            case str(type_) if type_ == DELTA:
                message |= object_of(event.get("delta"))
                usage = {name: count for name, count in object_of(event.get("usage")).items() if count is not None}
                message["usage"] = {**object_of(message.get("usage")), **usage}
            case _:
                pass
    return {**message, "content": [_closed(block) for block in blocks.values()]} if message else {}


def _add(block: dict[str, Any], delta: JsonObject) -> None:
    type_ = str(delta.get("type"))
    if type_ in _ADDED:
        name = _ADDED[type_]
        block[name] = f"{block.get(name) or ''}{delta.get(name) or ''}"
    elif type_ == "input_json_delta":
        block["fragments"] = f"{block.get('fragments', '')}{delta.get('partial_json') or ''}"
    elif type_ == "signature_delta":
        # The SDKs replace it.
        block["signature"] = delta.get("signature")


def _closed(block: dict[str, Any]) -> JsonObject:
    """A block with the input that its fragments join to; text where they join to none."""
    fragments = block.pop("fragments", "")
    if not fragments:
        return block
    joined = json_of(fragments)
    return {**block, "input": fragments if joined is None else joined}
