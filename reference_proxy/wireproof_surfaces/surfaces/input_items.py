"""Items of the input of responses: as a conversation is written in them, made shorter, and listed page by page. Pure.

`POST /v1/responses/compact` makes a conversation shorter, as items that go on from it. What users said stays as it is.
All else (answers, calls, results) becomes one `compaction` item, whose content is for the server that made it alone:
here that is those items themselves, packed, so that nothing is lost and no model is needed. Sent as input, it stands
for them again.
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
from wireproof_surfaces.surfaces.rules import fault
from wireproof_surfaces.whole_number import whole_number

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from wireproof_surfaces.conversation import Item, Part
    from wireproof_surfaces.surfaces.json_text import Json


TYPES = ("compaction", "compaction_summary")
"""The type of a compaction, and what Codex has called it."""
_MARK = "wireproof1."
LARGEST = 8 * 2**20
"""Bytes that a compaction may unpack to."""
_TOKEN = 4
"""Bytes, about."""
_ID = 12
# OpenAI's own limits of a page.
MOST = 100
USUAL = 20
PREFIXES: Mapping[str, str] = {
    "message": "msg",
    "function_call": "fc",
    "function_call_output": "fco",
    "custom_tool_call": "ctc",
    "custom_tool_call_output": "ctco",
    "reasoning": "rs",
    "compaction": "cmp",
    "compaction_summary": "cmp",
}
"""Type → what ids begin with."""


def compacted(items: Iterable[Item]) -> Json:
    """The answer of the route: the items that are to be sent in the place of these."""
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
            return {"type": "message", "role": item.role, "content": [content_part(part, kind) for part in item.parts]}
        case AssistantCall():
            return {"type": "function_call", "call_id": item.id, "name": item.name, "arguments": item.arguments}
        case ToolResult():
            parts: list[Part] = [TextPart(item.output), *item.images]
            # Text alone stays a plain string, as Codex passes it on to its model.
            output = [content_part(part, "input_text") for part in parts] if item.images else item.output
            return {"type": "function_call_output", "call_id": item.id, "output": output}


def content_part(part: Part, kind: str) -> Json:
    """A part of a message's content; `kind` is the type of one of text."""
    match part:
        case TextPart():
            return {"type": kind, "text": part.text}
        case ImagePart():
            return {"type": "input_image", "image_url": part.url}
        case FilePart():
            return {"type": "input_file", part.member: part.url, "filename": part.name}


def listed(given: str | Sequence[Mapping[str, Any]], response_id: str) -> Iterator[Json]:
    """Acceptable input as items: each with a type and an id, most with a status, a message's content in parts."""
    items = [{"role": "user", "content": given}] if isinstance(given, str) else given
    token = response_id.partition("_")[2]
    for index, item in enumerate(items):
        kind = item.get("type") or "message"
        # The `i` keeps these ids apart from those of output items, which hold the same token.
        entry: Json = {"type": kind, "id": f"{PREFIXES[kind]}_{token}i{index:04x}"}
        if kind not in TYPES:
            entry["status"] = "completed"
        # What the client sent wins, its own id too; null says nothing.
        entry |= {name: value for name, value in item.items() if value is not None}
        if kind == "message" and isinstance(item["content"], str):
            part = "output_text" if item["role"] == "assistant" else "input_text"
            more: Json = {"annotations": []} if part == "output_text" else {}
            entry["content"] = [{"type": part, "text": item["content"], **more}]
        yield entry


def page(items: Sequence[Mapping[str, Any]], query: Mapping[str, str]) -> Json:
    """The page that `order`, `limit` and `after` ask for; the newest items come first unless `order` is asc.

    Raises:
        ApiError: 400, `param` naming the one that is not acceptable.
    """
    order, after = query.get("order", "desc"), query.get("after")
    limit = whole_number(query.get("limit", str(USUAL)))
    if order not in {"asc", "desc"}:
        raise fault("order", "asc or desc")
    if limit is None or not 1 <= limit <= MOST:
        raise fault("limit", f"an integer from 1 to {MOST}")
    ordered = list(items) if order == "asc" else list(reversed(items))
    ids = [item["id"] for item in ordered]
    if after is not None and after not in ids:
        raise fault("after", "the id of an item of this list")
    start = 0 if after is None else ids.index(after) + 1
    data = ordered[start : start + limit]
    return {
        "object": "list",
        "data": data,
        "first_id": data[0]["id"] if data else None,
        "last_id": data[-1]["id"] if data else None,
        "has_more": start + limit < len(ordered),
    }
