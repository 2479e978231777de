"""The `messages` and the `system` of a request: what is acceptable, and the conversation that they are. Pure.

That calls have results is a matter of its own (`pairing`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from wireproof_surfaces.conversation import Message, TextPart
from wireproof_surfaces.messages import content_blocks, signatures
from wireproof_surfaces.messages.content_blocks import BY_ROLE, blocks
from wireproof_surfaces.messages.faults import EXTRA, RequestFault, listed, missing

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from wireproof_surfaces.conversation import Item

MOST = 100_000
MOST_CACHED = 4
_NO_PREFILL = "This model does not support assistant message prefill. The conversation must end with a user message."


def messages(sent: object) -> Iterator[RequestFault]:
    """The rule of `messages`, each by itself."""
    if sent is None:
        yield missing("messages")
    elif not isinstance(sent, list):
        yield RequestFault("messages", "Input should be a valid list")
    elif not sent:
        yield RequestFault("messages", "at least one message is required")
    elif len(sent) > MOST:
        yield RequestFault("messages", f"at most {MOST} messages are allowed")
    else:
        for index, message in enumerate(sent):
            last = index == len(sent) - 1
            yield from _message(message, f"messages.{index}", last=last)


def _message(message: object, path: str, *, last: bool) -> Iterator[RequestFault]:
    if not isinstance(message, dict):
        yield RequestFault(path, "Input should be a valid dictionary")
        return
    role, content = message.get("role"), message.get("content")
    if role is None:
        yield missing(f"{path}.role")
    elif role not in tuple(BY_ROLE):
        yield RequestFault(f"{path}.role", f"Input should be {listed(tuple(BY_ROLE))}")
    elif content is None:
        yield missing(f"{path}.content")
    elif not isinstance(content, str | list):
        yield RequestFault(f"{path}.content", "Input should be a valid string or list")
    elif not content and not (last and role == "assistant"):
        yield RequestFault(
            path, "all messages must have non-empty content except for the optional final assistant message"
        )
    else:
        for index, block in enumerate(content if isinstance(content, list) else ()):
            yield from content_blocks.block(block, f"{path}.content.{index}", BY_ROLE[role])


def system(sent: object, path: str) -> Iterator[RequestFault]:
    """The rule of `system`."""
    if isinstance(sent, str):
        return
    if not isinstance(sent, list):
        yield RequestFault(path, "Input should be a valid string or list")
        return
    for index, block in enumerate(sent):
        if isinstance(block, dict) and block.get("text") == "":
            yield RequestFault(path, "text content blocks must be non-empty")
        yield from content_blocks.block(block, f"{path}.{index}", BY_ROLE["system"])


def cached(body: Mapping[str, Any]) -> Iterator[RequestFault]:
    """The rule of all `cache_control` together, in an acceptable body."""
    said = [*blocks(body.get("system") or []), *(body.get("tools") or []), body]
    for message in body["messages"]:
        for block in blocks(message["content"]):
            inner = block.get("content")
            said += [block, *(inner if isinstance(inner, list) else ())]
    count = sum(isinstance(one, dict) and one.get("cache_control") is not None for one in said)
    if count > MOST_CACHED:
        text = f"A maximum of {MOST_CACHED} blocks with cache_control may be provided. Found {count}."
        yield RequestFault("cache_control", text, whole=True)


def signed(sent: Sequence[Mapping[str, Any]]) -> Iterator[RequestFault]:
    """The rule of thoughts that come back: what is signed here is as it was."""
    for index, message in enumerate(sent):
        for at, block in enumerate(blocks(message["content"])):
            if block["type"] == "thinking" and not signatures.fits(block["thinking"], block["signature"]):
                yield RequestFault(f"messages.{index}.content.{at}", "Invalid `signature` in `thinking` block")


def newest(sent: Sequence[Mapping[str, Any]]) -> Iterator[RequestFault]:
    """What the newest version refuses of messages, and those before it take."""
    for index, message in enumerate(sent):
        for at, block in enumerate(blocks(message["content"])):
            path = f"messages.{index}.content.{at}"
            if message["role"] == "assistant" and block["type"] == "document":
                kinds = [kind for kind in BY_ROLE["assistant"] if kind != "document"]
                yield RequestFault(f"{path}.type", f"Input should be {listed(kinds)}")
            inner = block["content"] if block["type"] == "search_result" else ()
            if message["role"] == "user" and any(one.get("citations") for one in (block, *inner) if _is_text(one)):
                yield RequestFault(f"{path}.{block['type']}.citations", EXTRA)


def _is_text(block: Mapping[str, Any]) -> bool:
    return bool(block["type"] == "text")


def ending(sent: Sequence[Mapping[str, Any]], *, prefill: bool) -> Iterator[RequestFault]:
    """The rule of the last message: an assistant's begins the answer, where that is served."""
    if sent[-1]["role"] != "assistant":
        return
    if not prefill:
        # The service leaves the path out here; with it the refusal names its field as all others do.
        yield RequestFault("messages", _NO_PREFILL)
    said = blocks(sent[-1]["content"])
    if said and said[-1]["type"] == "text" and said[-1]["text"] != said[-1]["text"].rstrip():
        yield RequestFault("messages", "final assistant content cannot end with trailing whitespace")


def items(body: Mapping[str, Any]) -> tuple[Item, ...]:
    """The conversation of an acceptable body: its system texts, then its messages.

    System messages behind the user's last words come before them: those words are what is answered.
    """
    system = blocks(body.get("system") or [])
    found: list[Item] = [Message(role="system", parts=(TextPart(block["text"]),)) for block in system]
    for message in body["messages"]:
        found += content_blocks.items(message["role"], message["content"])
    end = len(found)
    while end and _says(found[end - 1], "system"):
        end -= 1
    begin = end
    while begin and _says(found[begin - 1], "user"):
        begin -= 1
    return (*found[:begin], *found[end:], *found[begin:end]) if begin < end else tuple(found)


def _says(item: Item, role: str) -> bool:
    return isinstance(item, Message) and item.role == role
