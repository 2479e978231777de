"""What a model's answer shows of its reasoning, as clients send it back with the next request.

In chat completions it is a member of the message that OpenAI does not publish and most servers of open models have; in
Responses it is an item of its own before the text or the call.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from wireproof.wire.fields import list_of, object_of, text_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from wireproof.reading.exchange import Exchange
    from wireproof.wire.fields import JsonObject

MEMBERS = ("reasoning_content", "reasoning")
"""The members of a message, or of the deltas of a stream, in which servers send the text."""
ITEMS = "reasoning_items"
"""The member of a kept message that has the items; no request of chat completions has it."""
_ITEM = "reasoning"


def thoughts(exchange: Exchange) -> dict[str, Any]:
    """What an assistant's message has besides its text and calls; empty where the answer shows no reasoning."""
    payloads = [payload for _, payload in exchange.reading.payloads] if exchange.reading else []
    items = [item for payload in payloads for item in _items(payload) if item.get("type") == _ITEM]
    if items:
        return {ITEMS: items}
    messages = [message for payload in payloads for message in _messages(payload)]
    said = {name: "".join(text_of(one.get(name)) or "" for one in messages) for name in MEMBERS}
    # A server that writes it under both names means the same text.
    return next(({name: text} for name, text in said.items() if text), {})


def _items(payload: JsonObject) -> Iterator[JsonObject]:
    """The items of a whole response, or the one that an event of a stream completes."""
    if payload.get("type") == "response.output_item.done":
        yield object_of(payload.get("item"))
    yield from map(object_of, list_of(payload.get("output")))


def _messages(payload: JsonObject) -> Iterable[JsonObject]:
    """The message of a first choice, or its delta."""
    choices = (object_of(one) for one in list_of(payload.get("choices")))
    # An index may be anything, also what no set takes.
    return (object_of(one.get("message") or one.get("delta")) for one in choices if one.get("index") in (0, None))
