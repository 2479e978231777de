"""A conversation as the requests that start a turn of `codex app-server`, v2. Pure.

The developer text and the tools belong to the thread; the history is injected, or the thread resumed with it, as the
Responses items that the model will see; the input starts the turn. `baseInstructions` is never sent: it is the
backend's own.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from wireproof_surfaces.conversation import FilePart, ImagePart, Message, TextPart, ToolResult
from wireproof_surfaces.surfaces.compaction import input_item

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from wireproof_surfaces.conversation import Conversation, Item, Part, Tool
    from wireproof_surfaces.surfaces.json_text import Json


INITIALIZE: Json = {
    "clientInfo": {"name": "wireproof-proxy", "title": "Wireproof reference proxy", "version": "0.1.0"},
    # 0.169.0 refuses `dynamicTools`, `environments` and `experimentalRawEvents` without it; 0.89.0 ignores it.
    "capabilities": {"experimentalApi": True},
}

THREAD: Json = {
    "ephemeral": True,  # from 0.90.0 on; ignored before
    "environments": [],  # no folder of this machine is the model's
    "approvalPolicy": "never",
    "sandbox": "read-only",
    "experimentalRawEvents": True,  # the model's own characters are in the raw items alone
}

RESUMED: Json = {
    "threadId": "00000000-0000-0000-0000-000000000000",
    "approvalPolicy": "never",
    "sandbox": "read-only",
}
"""A thread that is resumed with a history is a new one: the id must be there, and names none."""


def thread_start(conversation: Conversation, config: Mapping[str, Any]) -> Json:
    """Params of thread/start; `config` overrides what codex is configured with."""
    params = {**THREAD, **_settings(conversation, config)}
    if not conversation.tools_in_text:
        params["dynamicTools"] = [_tool(tool) for tool in conversation.tools]
    return params


def thread_resume(conversation: Conversation, config: Mapping[str, Any]) -> Json:
    """Params of thread/resume for a new thread with the conversation's history; `config` as in `thread_start`."""
    history = [_item(item) for item in conversation.history]
    return {**RESUMED, "history": history, **_settings(conversation, config)}


def _settings(conversation: Conversation, config: Mapping[str, Any]) -> Json:
    params: Json = {}
    if config:
        params["config"] = dict(config)
    # Not "if there is any": Codex honours an empty text.
    if conversation.developer is not None:
        params["developerInstructions"] = conversation.developer
    if conversation.model is not None:
        params["model"] = conversation.model
    return params


def inject_items(thread_id: str, history: Sequence[Item]) -> Json:
    """Params of thread/inject_items."""
    return {"threadId": thread_id, "items": [_item(item) for item in history]}


def turn_start(thread_id: str, conversation: Conversation) -> Json:
    """Params of turn/start."""
    params: Json = {"threadId": thread_id, "input": [_input(part) for part in conversation.input]}
    if conversation.schema is not None:
        # Codex asks its model for it, and does not check the answer.
        params["outputSchema"] = conversation.schema
    return params


def _tool(tool: Tool) -> Json:
    return {
        "type": "function",
        "name": tool.name,
        "description": tool.description,
        "inputSchema": tool.parameters,
    }


def _item(item: Item) -> Json:
    match item:
        # From a history Codex drops what the system says, without a word.
        case Message(role="system"):
            return input_item(replace(item, role="developer"))
        case ToolResult(failed=True):
            return input_item(replace(item, output=item.labelled_output))
        case _:
            return input_item(item)


def _input(part: Part) -> Json:
    match part:
        case TextPart():
            return {"type": "text", "text": part.text}
        case ImagePart():
            return {"type": "image", "url": part.url}
        case FilePart():
            raise AssertionError("files are refused where requests are read")
