"""A history as text, for backends that take none, or only its messages. Pure.

A call becomes `[assistant called NAME:ID] ARGUMENTS`, a result `[tool:ID] OUTPUT`. Where the whole history is one text,
each message follows its role in brackets.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import takewhile
from typing import TYPE_CHECKING

from wireproof_surfaces.conversation import AssistantCall, Conversation, Item, Message, Part, TextPart, ToolResult

if TYPE_CHECKING:
    from collections.abc import Iterator


def flat(conversation: Conversation) -> Conversation:
    """The conversation with its history as text at the head of its input."""
    history = tuple(part for item in conversation.history for part in _item(item))
    return replace(conversation, history=(), input=(*history, *conversation.input))


def in_messages(conversation: Conversation) -> Conversation:
    """The conversation with a history of messages alone, and some input: calls and results become the user's."""
    return with_input(replace(conversation, history=tuple(map(_message, conversation.history))))


def with_input(conversation: Conversation) -> Conversation:
    """The conversation with some input: if it has none, the end of its history, as messages of the user."""
    if conversation.input:
        return conversation
    tail = list(takewhile(_is_of_user, reversed(conversation.history)))[::-1]
    # It ends with what another role said, which cannot be passed off as the user's: all of it becomes text.
    if not tail:
        return flat(conversation)
    parts = tuple(part for item in tail for part in _message(item).parts)
    return replace(conversation, history=conversation.history[: -len(tail)], input=parts)


def _is_of_user(item: Item) -> bool:
    return _message(item).role == "user"


def _message(item: Item) -> Message:
    match item:
        case Message():
            return item
        case AssistantCall() | ToolResult():
            return Message(role="user", parts=tuple(_item(item)))


def _item(item: Item) -> Iterator[Part]:
    match item:
        case Message():
            yield TextPart(f"[{item.role}]")
            yield from item.parts
        case AssistantCall():
            yield TextPart(f"[assistant called {item.name}:{item.id}] {item.arguments}")
        case ToolResult():
            # turn.tool-result.
            yield TextPart(f"[tool:{item.id}] {item.labelled_output}")
            yield from item.images
