"""Calls in the answers of the Messages API, and results in its requests, as `calls` reads them of every surface.

A script may write frames of any JSON: what is not as it should be is passed over.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping


def pieces(value: Mapping[str, Any]) -> Iterator[tuple[object, str, str, str]]:
    """Of an event or a whole message: the place of a call, its id and name if they are sent, a piece of its input."""
    at, delta = ("block", str(value.get("index"))), value.get("delta")
    match value.get("type"):
        case "content_block_start":
            for block in _blocks([value.get("content_block")], "tool_use"):
                yield at, str(block.get("id") or ""), str(block.get("name") or ""), ""
        case "content_block_delta" if isinstance(delta, dict) and delta.get("type") == "input_json_delta":
            yield at, "", "", str(delta.get("partial_json") or "")
        case "message":
            for index, block in enumerate(_blocks(value.get("content"), "tool_use")):
                said = json.dumps(block.get("input"), ensure_ascii=False)
                yield ("block", str(index)), str(block.get("id") or ""), str(block.get("name") or ""), said
        case _:
            return


def results(message: Mapping[str, Any]) -> Iterator[tuple[str, object]]:
    """Of a message of a request: the ids of the calls that it answers, and the contents of the results."""
    for block in _blocks(message.get("content"), "tool_result"):
        yield str(block.get("tool_use_id")), block.get("content")


def _blocks(content: object, kind: str) -> Iterator[Mapping[str, Any]]:
    blocks = content if isinstance(content, list) else []
    return (block for block in blocks if isinstance(block, dict) and block.get("type") == kind)
