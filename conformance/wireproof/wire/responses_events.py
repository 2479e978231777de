"""The published events of a Responses stream, and the signs that they are to the grammar.

All types that OpenAI has published are here, also those of items that a proxy for Codex never makes: an event of such a
type is no violation. Each type is about the stream as a whole or about an item.

https://platform.openai.com/docs/api-reference/responses-streaming
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from wireproof.wire.fields import JsonObject, object_of, text_of
from wireproof.wire.responses_grammar import ItemSign, ResponseStreamSign

if TYPE_CHECKING:
    from collections.abc import Mapping

OF_THE_STREAM: Mapping[str, ResponseStreamSign] = {
    "response.created": ResponseStreamSign.CREATED,
    "response.queued": ResponseStreamSign.QUEUED,
    "response.in_progress": ResponseStreamSign.IN_PROGRESS,
    "error": ResponseStreamSign.ERROR,
    "response.completed": ResponseStreamSign.FINISH,
    "response.incomplete": ResponseStreamSign.FINISH,
    "response.failed": ResponseStreamSign.FAILURE,
}
"""Type → sign, of the events of the stream as a whole."""

TERMINAL: Mapping[str, str] = {
    "response.completed": "completed",
    "response.incomplete": "incomplete",
    "response.failed": "failed",
}
"""Type of a terminal event → the status of the response in it."""

STATUSES: Mapping[str, str] = {
    "response.created": "in_progress",
    "response.in_progress": "in_progress",
    **TERMINAL,
}
"""Type of an event → the status of the response in it; a response that waits (`response.queued`) is left out."""

ADDED, ITEM_DONE = "response.output_item.added", "response.output_item.done"
PART_ADDED, PART_DONE = "response.content_part.added", "response.content_part.done"
TEXT_DELTA, TEXT_DONE = "response.output_text.delta", "response.output_text.done"
REFUSAL_DELTA, REFUSAL_DONE = "response.refusal.delta", "response.refusal.done"
ARGUMENTS_DELTA, ARGUMENTS_DONE = "response.function_call_arguments.delta", "response.function_call_arguments.done"

OF_AN_ITEM: Mapping[str, ItemSign] = {
    ITEM_DONE: ItemSign.ITEM_DONE,
    PART_ADDED: ItemSign.PART,
    PART_DONE: ItemSign.PART_DONE,
    TEXT_DELTA: ItemSign.DELTA,
    TEXT_DONE: ItemSign.TEXT_DONE,
    REFUSAL_DELTA: ItemSign.DELTA,
    REFUSAL_DONE: ItemSign.TEXT_DONE,
    "response.output_text.annotation.added": ItemSign.NOTE,
    ARGUMENTS_DELTA: ItemSign.ARGUMENTS,
    ARGUMENTS_DONE: ItemSign.ARGUMENTS_DONE,
}
"""Type → sign, of the events of messages and calls. That of an added item depends on the item's type, see `_KINDS`."""

_KINDS: Mapping[str, ItemSign] = {"message": ItemSign.MESSAGE, "function_call": ItemSign.CALL}
"""Type of an added item → sign; the other types are `OTHER`."""

_ELSEWHERE: Mapping[str, tuple[str, ...]] = {
    "audio": ("delta", "done"),
    "audio.transcript": ("delta", "done"),
    "code_interpreter_call_code": ("delta", "done"),
    "code_interpreter_call": ("completed", "in_progress", "interpreting"),
    "compaction": ("compacting",),
    "file_search_call": ("completed", "in_progress", "searching"),
    "shell_call_command": ("added", "delta", "done"),
    "shell_call_output_content": ("delta", "done"),
    "reasoning_summary_part": ("added", "done"),
    "reasoning_summary_text": ("delta", "done"),
    "reasoning_text": ("delta", "done"),
    "web_search_call": ("completed", "in_progress", "searching"),
    "image_generation_call": ("completed", "generating", "in_progress", "partial_image"),
    "mcp_call_arguments": ("delta", "done"),
    "mcp_call": ("completed", "failed", "in_progress"),
    "mcp_list_tools": ("completed", "failed", "in_progress"),
    "custom_tool_call_input": ("delta", "done"),
}
ELSEWHERE = frozenset(f"response.{stem}.{end}" for stem, ends in _ELSEWHERE.items() for end in ends)
"""The types of events of items of other kinds."""

# openai-node's `.stream` raises at any other type.
PUBLISHED = frozenset(OF_THE_STREAM) | frozenset(OF_AN_ITEM) | {ADDED} | ELSEWHERE
"""All types that OpenAI has published."""


def item_sign(type_: str, event: JsonObject) -> ItemSign | None:
    """What an event says to the open item; None when its type is not published, or not one of items."""
    if type_ == ADDED:
        kind = text_of(object_of(event.get("item")).get("type")) or ""
        # An item of a type that is not known here is for the schema, so its events are read as those of any other kind.
        return _KINDS.get(kind, ItemSign.OTHER)
    return ItemSign.PUBLISHED if type_ in ELSEWHERE else OF_AN_ITEM.get(type_)
