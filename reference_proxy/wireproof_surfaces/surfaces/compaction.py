"""`POST /v1/responses/compact`: a conversation made shorter, as items that go on from it. Pure.

What users said stays as it is. All else (answers, calls, results) becomes one `compaction` item, whose content is for
the server that made it alone: here that is those items themselves, packed, so that nothing is lost and no model is
needed. Sent as input, it stands for them again.
"""

from __future__ import annotations

import base64
import binascii
import json
import time
import zlib
from typing import TYPE_CHECKING, Any

from wireproof_surfaces.conversation import AssistantCall, FilePart, ImagePart, Message, TextPart, ToolResult
from wireproof_surfaces.random_ids import random_hex

if TYPE_CHECKING:
    from collections.abc import Iterable

    from wireproof_surfaces.conversation import Item, Part
    from wireproof_surfaces.surfaces.json_text import Json

TYPES = ("compaction", "compaction_summary")
"""The item's type, and what Codex has called it."""
_MARK = "wireproof1."
LARGEST = 8 * 2**20
"""Bytes that a compaction may unpack to."""
_TOKEN = 4
"""Bytes, about."""
_ID = 12


def compacted(items: Iterable[Item]) -> Json:
    """The answer: the items that are to be sent in the place of these."""
    kept, packed = [], []
    for item in items:
        if isinstance(item, Message) and item.role == "user":
            kept.append({"id": f"msg_{random_hex(_ID)}", "type": "message", "status": "completed", **input_item(item)})
        else:
            packed.append(input_item(item))
    content = pack(packed)
    compaction = {"id": f"cmp_{random_hex(_ID)}", "type": "compaction", "encrypted_content": content}
    read, left = len(json.dumps([kept, packed])) // _TOKEN, len(content) // _TOKEN
    return {
        "id": f"resp_{random_hex(_ID)}",
        "object": "response.compaction",
        "created_at": int(time.time()),
        "output": [*kept, compaction],
        "usage": {
            "input_tokens": read,
            "input_tokens_details": {"cached_tokens": 0, "cache_write_tokens": 0},
            "output_tokens": left,
            "output_tokens_details": {"reasoning_tokens": 0},
            "total_tokens": read + left,
        },
    }


def pack(items: list[Json]) -> str:
    """The content of a compaction of these items."""
    return _MARK + base64.urlsafe_b64encode(zlib.compress(json.dumps(items).encode())).decode()


def unpacked(content: object) -> list[Json] | None:
    """The items of a compaction; None: it was not made here."""
    if not isinstance(content, str) or not content.startswith(_MARK):
        return None
    try:
        data = base64.b64decode(content.removeprefix(_MARK), altchars=b"-_", validate=True)
        unpacking = zlib.decompressobj()
        text = unpacking.decompress(data, LARGEST)
        items: Any = json.loads(text) if unpacking.eof else None
    except (binascii.Error, zlib.error, ValueError, RecursionError):
        return None
    return items if isinstance(items, list) and all(isinstance(item, dict) for item in items) else None


def input_item(item: Item) -> Json:
    """An item of a conversation as an item of the input."""
    match item:
        case Message():
            kind = "output_text" if item.role == "assistant" else "input_text"
            return {"type": "message", "role": item.role, "content": [_part(part, kind) for part in item.parts]}
        case AssistantCall():
            return {"type": "function_call", "call_id": item.id, "name": item.name, "arguments": item.arguments}
        case ToolResult():
            parts: list[Part] = [TextPart(item.output), *item.images]
            # Text alone stays a plain string, as Codex passes it on to its model.
            output = [_part(part, "input_text") for part in parts] if item.images else item.output
            return {"type": "function_call_output", "call_id": item.id, "output": output}


def _part(part: Part, kind: str) -> Json:
    match part:
        case TextPart():
            return {"type": kind, "text": part.text}
        case ImagePart():
            return {"type": "input_image", "image_url": part.url}
        case FilePart():
            return {"type": "input_file", part.member: part.url, "filename": part.name}
