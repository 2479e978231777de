"""A history as text, for backends that cannot be given one, or only its messages. Pure.

A call is told with its name and id, a result as `[tool:ID] OUTPUT`. Where all is one text, each message is told under
its role.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import takewhile
from typing import TYPE_CHECKING

from assay_proxy.conversation import Call, Conversation, Item, Message, Part, Result, TextPart

if TYPE_CHECKING:
    from collections.abc import Iterator


def flat(conversation: Conversation) -> Conversation:
    """The conversation with its history told at the head of its input."""
    history = tuple(part for item in conversation.history for part in _item(item))
    return replace(conversation, history=(), input=(*history, *conversation.input))


def in_messages(conversation: Conversation) -> Conversation:
    """The conversation with a history of messages alone, and some input.

    What is told of calls and results is told by the user, and at the end it is the input.
    """
    history = tuple(map(_message, conversation.history))
    if conversation.input:
        return replace(conversation, history=history)
    tail = list(takewhile(lambda message: message.role == "user", reversed(history)))[::-1]
    if not tail:
        return flat(conversation)
    given = tuple(part for message in tail for part in message.parts)
    return replace(conversation, history=history[: len(history) - len(tail)], input=given)


def _message(item: Item) -> Message:
    match item:
        case Message():
            return item
        case Call() | Result():
            return Message(role="user", parts=tuple(_item(item)))


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
