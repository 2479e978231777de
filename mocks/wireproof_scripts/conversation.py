"""Reads what a client sent: the texts of input and history, tool results, and the form in which both are kept.

Input items are the app-server's (`{"type": "text", "text"}`), history items are the Responses API's
(`{"type": "message", "role", "content": [{"type": "input_text", "text"}]}`, `function_call`, `function_call_output`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

Item = Mapping[str, Any]

_UNSEARCHED_ROLES = ("developer", "system")


def input_text(items: Iterable[Item]) -> str:
    """The texts of a turn's input, joined by line breaks."""
    return "\n".join([item["text"] for item in items if item.get("type") == "text"])


def as_message(items: Sequence[Item]) -> dict[str, Any]:
    """A turn's input as the history keeps it."""
    return {"type": "message", "role": "user", "content": [_part(item) for item in items]}


def _part(item: Item) -> dict[str, Any]:
    # No pattern: it is asked for each part of each request.
    if item.get("type") == "text" and "text" in item:
        return {"type": "input_text", "text": item["text"]}
    if item.get("type") == "image" and "url" in item:
        return {"type": "input_image", "image_url": item["url"]}
    return dict(item)


def message_text(item: Item) -> str:
    """The text of a message in the history; empty for every other item."""
    content = item.get("content") if item.get("type") == "message" else None
    if isinstance(content, str):  # not Codex's form, but any client may send it so
        return content
    parts = content if isinstance(content, list) else []
    # A list: it is asked for each message of each request.
    return "\n".join([part["text"] for part in parts if isinstance(part, dict) and isinstance(part.get("text"), str)])


def is_user(item: Item) -> bool:
    """Whether it is a message of the user."""
    return item.get("type") == "message" and item.get("role") == "user"


def searched_texts(history: Iterable[Item]) -> list[str]:
    """The texts in which a marker counts: every message but developer and system text."""
    return [message_text(item) for item in history if item.get("role") not in _UNSEARCHED_ROLES]


# turn.tool-result, where a backend takes text alone.
_FLATTENED_RESULT = re.compile(r"^\[tool:([^\]\n]+)\]", re.MULTILINE)


def answered(conversation: Sequence[Item]) -> set[str]:
    """The call ids whose results are in the conversation, and `tool NAME` for every tool of such a call.

    A result is an item, or a line `[tool:<call id>] <output>` where a client flattened its history.
    """
    ids = {str(item.get("call_id")) for item in conversation if is_result(item)}
    tools = {f"tool {item.get('name')}" for item in conversation if is_call(item) and str(item.get("call_id")) in ids}
    flattened = {found for text in searched_texts(conversation) for found in _FLATTENED_RESULT.findall(text)}
    return ids | tools | flattened


def is_call(item: Item) -> bool:
    """Whether it is a tool call."""
    # function_call, and the custom_tool_call of models that Codex knows.
    return str(item.get("type", "")).endswith("_call")


def is_result(item: Item) -> bool:
    """Whether it is the result of a tool call."""
    return str(item.get("type", "")).endswith("_call_output")


def result_text(item: Item) -> str:
    """The text of a tool result."""
    return text_of(item.get("output"))


def text_of(content: object) -> str:
    """A text, or those of its parts."""
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else []
    return "\n".join(part["text"] for part in parts if isinstance(part, dict) and isinstance(part.get("text"), str))
