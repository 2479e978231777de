"""A history as text, for backends that cannot be given one. Pure.

Each message is told under its role, a call with its name and id, a result as `[tool:ID] OUTPUT`.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from assay_proxy.conversation import Call, Conversation, Item, Message, Part, Result, TextPart

if TYPE_CHECKING:
    from collections.abc import Iterator


def flat(conversation: Conversation) -> Conversation:
    """The conversation with its history told at the head of its input."""
    history = tuple(part for item in conversation.history for part in _item(item))
    return replace(conversation, history=(), input=(*history, *conversation.input))


def _item(item: Item) -> Iterator[Part]:
    match item:
        case Message():
            yield TextPart(f"[{item.role}]")
            yield from item.parts
        case Call():
            yield TextPart(f"[assistant called {item.name}:{item.id}] {item.arguments}")
        case Result():
            yield TextPart(f"[tool:{item.id}] {item.output}")
            yield from item.images
