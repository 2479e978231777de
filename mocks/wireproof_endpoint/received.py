"""What a request says, in the words of scripts: items of the Responses API, and what a `reflect` step reports of it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from wireproof_scripts.asked.request import AskedTurn
from wireproof_scripts.conversation import as_message
from wireproof_surfaces.conversation import FilePart, ImagePart, Item, Message, Part, TextPart, Tool, ToolResult
from wireproof_surfaces.surfaces.input_items import content_part, input_item

if TYPE_CHECKING:
    from collections.abc import Mapping

    from wireproof_surfaces.conversation import Conversation

Json = dict[str, Any]


class Received:
    """A conversation as scripts see it."""

    def __init__(self, conversation: Conversation, settings: Mapping[str, Any] | None = None) -> None:
        self.conversation = conversation
        self._settings = settings
        self.history: list[Json] = list(map(_item, conversation.history))
        """What was said before the input."""
        self.given: list[Json] = list(map(_input, conversation.input))
        """The input of the turn: what the user said last."""
        self.tools: list[Json] = list(map(_tool, conversation.tools))
        """The tools that the client declared."""
        self.developer = conversation.developer or ""
        """The instructions; empty where there are none."""

    @property
    def items(self) -> list[Json]:
        """All of the conversation: what was said before the input, and the input as a message."""
        return [*self.history, as_message(self.given)] if self.given else self.history

    @property
    def asked(self) -> AskedTurn:
        """What conditions look at, as far as the conversation says it."""
        return AskedTurn(conversation=self.items, developer=self.developer, tools=self.tools)

    def report(self) -> Json:
        """What `reflect` says was received."""
        return {
            "developer": self.conversation.developer,
            "base": None,  # an endpoint has no instructions of its own
            "model": self.conversation.model,
            "history": self.history,
            "input": self.given,
            "tools": self.tools,
            "schema": self.conversation.schema,
            **({} if self._settings is None else {"settings": self._settings}),
        }


def _tool(tool: Tool) -> Json:
    if tool.format is not None:
        return {"type": "custom", "name": tool.name, "description": tool.description, "format": tool.format}
    return {"type": "function", "name": tool.name, "description": tool.description, "inputSchema": tool.parameters}


def _item(item: Item) -> Json:
    match item:
        # As one role, whatever a client calls it: scripts of the suite compare what arrives.
        case Message(role="system"):
            return input_item(replace(item, role="developer"))
        case ToolResult(failed=True):
            return {**input_item(item), "is_error": True}
        case _:
            return input_item(item)


def _input(part: Part) -> Json:
    match part:
        case TextPart(text):
            return {"type": "text", "text": text}
        case ImagePart(url):
            return {"type": "image", "url": url}
        case FilePart():
            return content_part(part, "text")
