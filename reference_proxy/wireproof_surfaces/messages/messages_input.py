"""The `messages` and the `system` of a request: what is acceptable, and the conversation that they are. Pure."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING, Any, NamedTuple

from wireproof_surfaces.conversation import Message, TextPart
from wireproof_surfaces.messages import content_blocks
from wireproof_surfaces.messages.content_blocks import BY_ROLE, blocks
from wireproof_surfaces.messages.error_form import (
    EXTRA,
    array,
    fault,
    fault_of_several,
    listed,
    mapping,
    missing,
    string_or_array,
    word,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from wireproof_surfaces.conversation import Item


MOST = 100_000
MOST_CACHED = 4
_NO_PREFILL = "This model does not support assistant message prefill. The conversation must end with a user message."


def messages(sent: object) -> None:
    """The rule of `messages`, each by itself."""
    if sent is None:
        raise missing("messages")
    found = array(sent, "messages")
    if not found:
        raise fault("messages", "at least one message is required")
    if len(found) > MOST:
        raise fault("messages", f"at most {MOST} messages are allowed")
    for index, message in enumerate(found):
        _message(message, f"messages.{index}", last=index == len(found) - 1)


def _message(message: object, path: str, *, last: bool) -> None:
    found = mapping(message, path)
    role, content = found.get("role"), found.get("content")
    if role is None:
        raise missing(f"{path}.role")
    word(*BY_ROLE)(role, f"{path}.role")
    if content is None:
        raise missing(f"{path}.content")
    string_or_array(content, f"{path}.content")
    if not content and not (last and role == "assistant"):
        raise fault(path, "all messages must have non-empty content except for the optional final assistant message")
    for index, block in enumerate(content if isinstance(content, list) else ()):
        content_blocks.block(block, f"{path}.content.{index}", BY_ROLE[role])


def system(sent: object, path: str) -> None:
    """The rule of `system`."""
    string_or_array(sent, path)
    for index, block in enumerate(sent if isinstance(sent, list) else ()):
        if isinstance(block, dict) and block.get("text") == "":
            raise fault(path, "text content blocks must be non-empty")
        content_blocks.block(block, f"{path}.{index}", BY_ROLE["system"])


def cached(body: Mapping[str, Any]) -> None:
    """The rule of all `cache_control` together, in an acceptable body."""
    said = [*blocks(body.get("system") or []), *(body.get("tools") or []), body]
    for message in body["messages"]:
        for block in blocks(message["content"]):
            inner = block.get("content")
            said += [block, *(inner if isinstance(inner, list) else ())]
    count = sum(isinstance(one, dict) and one.get("cache_control") is not None for one in said)
    if count > MOST_CACHED:
        raise fault_of_several(f"A maximum of {MOST_CACHED} blocks with cache_control may be provided. Found {count}.")


class _Placed(NamedTuple):
    """A block, and where it is."""

    message: str
    """The path of its message."""
    path: str
    role: str
    block: Mapping[str, Any]


def _placed(sent: Sequence[Mapping[str, Any]]) -> Iterator[_Placed]:
    """Every block of acceptable messages."""
    for index, message in enumerate(sent):
        path = f"messages.{index}"
        for at, block in enumerate(blocks(message["content"])):
            yield _Placed(path, f"{path}.content.{at}", message["role"], block)


def signed(sent: Sequence[Mapping[str, Any]]) -> None:
    """The rule of thoughts that come back: what is signed here is as it was."""
    for _, path, _, block in _placed(sent):
        if block["type"] == "thinking" and not content_blocks.fits(block["thinking"], block["signature"]):
            raise fault(path, "Invalid `signature` in `thinking` block")


def newest(sent: Sequence[Mapping[str, Any]]) -> None:
    """What the newest version refuses of messages, and those before it take."""
    for _, path, role, block in _placed(sent):
        if role == "assistant" and block["type"] == "document":
            kinds = [kind for kind in BY_ROLE["assistant"] if kind != "document"]
            raise fault(f"{path}.type", f"Input should be {listed(kinds)}")
        inner = block["content"] if block["type"] == "search_result" else ()
        if role == "user" and any(one.get("citations") for one in (block, *inner) if one["type"] == "text"):
            raise fault(f"{path}.{block['type']}.citations", EXTRA)


def ending(sent: Sequence[Mapping[str, Any]], *, prefill: bool) -> None:
    """The rule of the last message: an assistant's begins the answer, where that is served."""
    if sent[-1]["role"] != "assistant":
        return
    if not prefill:
        # The service leaves the path out here; with it the refusal names its field as all others do.
        raise fault("messages", _NO_PREFILL)
    said = blocks(sent[-1]["content"])
    if said and said[-1]["type"] == "text" and said[-1]["text"] != said[-1]["text"].rstrip():
        raise fault("messages", "final assistant content cannot end with trailing whitespace")


def paired(sent: Sequence[Mapping[str, Any]], waiting: Sequence[str] = ()) -> None:
    """The rule of calls and results; `waiting` are the calls that a thread has open before these messages.

    Messages of one role in a row are one turn. The calls of an assistant's turn are answered in the user's turn behind
    it, all of them, by results with their ids. A message of role system may stand anywhere, and ends no turn.
    """
    opened = dict.fromkeys(waiting, "messages.0")
    known = set(waiting)
    said = (placed for placed in _placed(sent) if placed.role != "system")
    for role, group in groupby(said, key=lambda placed: placed.role):
        turn = list(group)
        if role == "user":
            _answered(turn, opened)
            opened = {}
        for placed in turn:
            if placed.block["type"] == "tool_use":
                id_ = placed.block["id"]
                if id_ in known:
                    raise fault(placed.path, "`tool_use` ids must be unique")
                known.add(id_)
                opened[id_] = placed.message
    _unanswered(opened)


def _answered(turn: Sequence[_Placed], opened: Mapping[str, str]) -> None:
    """The results in a user's turn are those of the calls before it: ids with the paths of their messages."""
    left = dict(opened)
    for placed in turn:
        if placed.block["type"] != "tool_result":
            continue
        id_ = placed.block["tool_use_id"]
        if id_ not in left:
            text = (
                f"unexpected `tool_use_id` found in `tool_result` blocks: {id_}. Each `tool_result` block must have a "
                "corresponding `tool_use` block in the previous message."
            )
            raise fault(placed.path, text)
        del left[id_]
    _unanswered(left)


def _unanswered(opened: Mapping[str, str]) -> None:
    if opened:
        text = (
            f"`tool_use` ids were found without `tool_result` blocks immediately after: {', '.join(opened)}. Each "
            "`tool_use` block must have a corresponding `tool_result` block in the next message."
        )
        raise fault(next(iter(opened.values())), text)


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
