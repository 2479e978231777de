"""The `messages` of a chat request: what is acceptable, and what they mean. Pure.

Legacy calls (`function_call`, role `function`) have no ids; they get one that follows from their place.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from wireproof_surfaces.conversation import (
    AssistantCall,
    FilePart,
    ImagePart,
    Item,
    Message,
    Part,
    TextPart,
    ToolResult,
)
from wireproof_surfaces.surfaces.rules import Body, fault, text, wrong

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

ROLES = ("system", "developer", "user", "assistant", "tool", "function")
_CALLS = ("tool_calls", "function_call")
PART_TYPES: Mapping[str, tuple[str, ...]] = {
    "system": ("text",),
    "developer": ("text",),
    "user": ("text", "image_url"),
    "assistant": ("text", "refusal"),  # a refusal comes back as it was sent
    "tool": ("text",),
    "function": ("text",),
}
_WITH_FILES = {**PART_TYPES, "user": (*PART_TYPES["user"], "file")}


def messages(body: Body, *, files: bool = False) -> None:
    """The rule of `messages`: there, a list, not empty, and each message right: role, content, call ids.

    `files`: whether what answers takes them: a part of type `file` is an object, whatever is in it.
    """
    sent, kinds = body.get("messages"), _WITH_FILES if files else PART_TYPES
    if not isinstance(sent, list) or not sent:
        raise wrong("messages", "a non-empty list of messages", sent)
    known: set[str] = set()
    for index, message in enumerate(sent):
        # Most messages are text alone, and there may be hundreds.
        if isinstance(message, dict) and _is_plain(message):
            continue
        place = f"messages[{index}]"
        if not isinstance(message, dict):
            raise fault(place, "an object with a role and a content")
        _message(message, place, known, kinds)


def _is_plain(message: Mapping[str, Any]) -> bool:
    """Whether it is a text of which nothing more is asked."""
    if not isinstance(message.get("content"), str):
        return False
    role = message.get("role")
    # A tuple: what a client sends need not be hashable.
    return role in ("user", "system", "developer") or (role == "assistant" and message.keys().isdisjoint(_CALLS))


def _message(message: Mapping[str, Any], place: str, known: set[str], kinds: Mapping[str, Sequence[str]]) -> None:
    role = message.get("role")
    if role not in ROLES:
        raise wrong(f"{place}.role", f"one of {', '.join(ROLES)}", role)
    _content(message, role, f"{place}.content", kinds[role])
    match role:
        case "assistant":
            _calls(message, place, known)
        case "tool":
            call_id = message.get("tool_call_id")
            # A result must follow its call (param.tool-call-id).
            if text(call_id) or call_id not in known:
                raise wrong(f"{place}.tool_call_id", "the id of a tool call made before", call_id)
        case "function" if text(message.get("name")):
            raise fault(f"{place}.name", "the name of the function called before")


def _content(message: Mapping[str, Any], role: str, place: str, kinds: Sequence[str]) -> None:
    content = message.get("content")
    match content:
        case str():
            return
        # chat.whole.content-null: an answer with calls comes back as it was sent.
        case None if role == "assistant" and (_listed(message, "tool_calls") or message.get("function_call")):
            return
        case None if role == "assistant" and isinstance(message.get("refusal"), str):
            return
        case list():
            if not content or not all(_acceptable(part, kinds) for part in content):
                raise fault(place, f"a string or a non-empty list of parts of type {' or '.join(kinds)}")
        case _:
            raise wrong(place, "a string or a list of parts", content)


def _acceptable(part: object, kinds: Sequence[str]) -> bool:
    match part:
        case {"type": "text", "text": str()}:
            return True
        case {"type": "refusal", "refusal": str()}:
            return "refusal" in kinds
        case {"type": "image_url", "image_url": {"url": str(url)}}:
            return "image_url" in kinds and bool(url)
        case {"type": "file", "file": dict()}:
            return "file" in kinds
        case _:
            return False


def _calls(message: Mapping[str, Any], place: str, known: set[str]) -> None:
    calls = message.get("tool_calls")
    if calls is not None and not isinstance(calls, list):
        raise fault(f"{place}.tool_calls", "a list of tool calls")
    for index, call in enumerate(calls or []):
        match call:
            case {"id": str(id_), "function": {"name": str(), "arguments": str()}} | {
                "id": str(id_),
                "type": "custom",
                "custom": {"name": str(), "input": str()},
            } if id_:
                known.add(id_)
            case _:
                raise fault(f"{place}.tool_calls[{index}]", "an id and a function with name and arguments as text")
    match message.get("function_call"):
        case None | {"name": str(), "arguments": str()}:
            return
        case _:
            raise fault(f"{place}.function_call", "a name and arguments as a string")


def _listed(message: Mapping[str, Any], name: str) -> list[Any]:
    value = message.get(name)
    return value if isinstance(value, list) else []


def items(sent: Sequence[Mapping[str, Any]]) -> Iterator[Item]:
    """The conversation in acceptable messages, in order; an assistant's text comes before its calls."""
    waiting: dict[str, str] = {}
    for index, message in enumerate(sent):
        # As above: most are text alone.
        if message.get("content") and _is_plain(message) and message.keys().isdisjoint(_CALLS):
            yield Message(role=message["role"], parts=(TextPart(message["content"]),))
            continue
        match message["role"]:
            case "tool":
                yield ToolResult(id=message["tool_call_id"], output=_plain(message["content"]))
            case "function":
                yield ToolResult(id=_answered(waiting, message["name"], index), output=_plain(message["content"]))
            case role:
                # An assistant that only calls says nothing.
                if parts := _parts(message):
                    yield Message(role=role, parts=parts)
                if role != "assistant":
                    continue  # calls of others mean nothing, and no rule has looked at them
                for call in _listed(message, "tool_calls"):
                    yield _call(call)
                if function := message.get("function_call"):
                    id_ = _legacy_id(index)
                    waiting[id_] = function["name"]
                    yield AssistantCall(id=id_, name=function["name"], arguments=function["arguments"])


def _call(call: Mapping[str, Any]) -> AssistantCall:
    match call:
        case {"function": {"name": str(name), "arguments": str(said)}}:
            return AssistantCall(id=call["id"], name=name, arguments=said)
        case _:
            return AssistantCall(id=call["id"], name=call["custom"]["name"], arguments=call["custom"]["input"])


def _legacy_id(index: int) -> str:
    return f"call_function_{index}"


def _answered(waiting: dict[str, str], name: str, index: int) -> str:
    """The id of the call that a result of this name answers: the last one that waits, of this name if there is one."""
    # Legacy calls have no ids, and a client may spell the name otherwise: then any call that waits will do.
    ids = [id_ for id_, called in waiting.items() if called == name] or list(waiting)
    if not ids:
        return _legacy_id(index)
    waiting.pop(ids[-1])
    return ids[-1]


def _parts(message: Mapping[str, Any]) -> tuple[Part, ...]:
    match message.get("content"):
        case str(content):
            # Beside calls an empty text is none; alone it is a message.
            calls = message["role"] == "assistant" and (_listed(message, "tool_calls") or message.get("function_call"))
            return (TextPart(content),) if content or not calls else ()
        case list(content):
            return tuple(map(_part, content))
        case _:
            refusal = message.get("refusal")
            return (TextPart(refusal),) if refusal else ()


def _part(part: Mapping[str, Any]) -> Part:
    match part["type"]:
        case "image_url":
            return ImagePart(part["image_url"]["url"])
        case "file":
            return FilePart(part["file"].get("file_data") or "", part["file"].get("filename"))
        case kind:
            return TextPart(part[kind])


def _plain(content: str | Sequence[Mapping[str, Any]]) -> str:
    return content if isinstance(content, str) else "".join(part["text"] for part in content)
