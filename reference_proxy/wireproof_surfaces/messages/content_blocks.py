"""Blocks of content, each kind with its members, and what they mean to a backend. Pure.

Blocks of tools that the service itself runs are refused by name: nothing here has run them, and nothing here can.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from wireproof_surfaces.conversation import AssistantCall, ImagePart, Message, Part, TextPart, ToolResult
from wireproof_surfaces.messages.faults import (
    EMPTY,
    RequestFault,
    Rule,
    array,
    boolean,
    listed,
    mapping,
    members,
    missing,
    some_string,
    string,
    word,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from wireproof_surfaces.conversation import Item, Role

IMAGE_TYPES = ("image/jpeg", "image/png", "image/gif", "image/webp")
ID = re.compile(r"[a-zA-Z0-9_-]+")
"""What the id of a call may be."""
SERVER = (
    "server_tool_use",
    "web_search_tool_result",
    "web_fetch_tool_result",
    "code_execution_tool_result",
    "bash_code_execution_tool_result",
    "text_editor_code_execution_tool_result",
    "tool_search_tool_result",
    "mcp_tool_use",
    "mcp_tool_result",
    "container_upload",
)
"""Blocks of tools that run at the service."""
BY_ROLE: Mapping[str, tuple[str, ...]] = {
    "user": ("text", "image", "document", "search_result", "tool_result"),
    "assistant": ("text", "thinking", "redacted_thinking", "tool_use", "document"),
    "system": ("text",),
}
"""Role → the blocks that its messages may hold."""
IN_RESULTS = ("text", "image", "document", "search_result")
"""The blocks that a result may hold."""


def block(value: object, path: str, kinds: Sequence[str]) -> Iterator[RequestFault]:
    """The rule of a block, which must be of one of these kinds."""
    if not isinstance(value, dict):
        yield RequestFault(path, "Input should be a valid dictionary")
        return
    kind = value.get("type")
    if kind is None:
        yield missing(f"{path}.type")
    elif kind in SERVER:
        yield RequestFault(f"{path}.{kind}", "blocks of tools that the service runs are not served here")
    elif kind not in kinds:
        yield RequestFault(f"{path}.type", f"Input should be {listed(kinds)}")
    else:
        required, optional = _MEMBERS[kind]
        yield from members(value, f"{path}.{kind}", required, optional)
        yield from _more(value, kind, path)


def _more(value: Mapping[str, Any], kind: str, path: str) -> Iterator[RequestFault]:
    """What is said of no member by itself."""
    match kind:
        case "text" if not value["text"]:
            if value.get("cache_control") is not None:
                yield RequestFault(f"{path}.text", "cache_control cannot be set for empty text blocks")
            yield RequestFault("messages", "text content blocks must be non-empty")
        case "tool_use" if not ID.fullmatch(value["id"]):
            yield RequestFault(f"{path}.tool_use.id", f"String should match pattern '^{ID.pattern}$'")
        case "tool_result" if isinstance(value.get("content"), list):
            for index, inner in enumerate(value["content"]):
                yield from block(inner, f"{path}.tool_result.content.{index}", IN_RESULTS)


def _source(value: object, path: str, kinds: Mapping[str, Mapping[str, Rule]]) -> Iterator[RequestFault]:
    if not isinstance(value, dict):
        yield RequestFault(path, "Input should be a valid dictionary")
    elif value.get("type") == "file":
        # Nothing can be uploaded here.
        yield RequestFault(f"{path}.file", "files are not stored here: send the content itself")
    elif value.get("type") not in tuple(kinds):
        yield RequestFault(f"{path}.type", f"Input should be {listed(tuple(kinds))}")
    else:
        yield from members(value, f"{path}.{value['type']}", kinds[value["type"]], {})


def _image(value: object, path: str) -> Iterator[RequestFault]:
    base64: Mapping[str, Rule] = {"media_type": word(*IMAGE_TYPES), "data": some_string}
    yield from _source(value, path, {"base64": base64, "url": {"url": some_string}})


def _document(value: object, path: str) -> Iterator[RequestFault]:
    if isinstance(value, dict) and value.get("type") in ("base64", "url"):
        yield RequestFault(f"{path}.{value['type']}", "documents are taken as text only: the backend reads no PDF")
        return
    yield from _source(value, path, {"text": {"data": string}, "content": {"content": _passages}})


def _passages(value: object, path: str) -> Iterator[RequestFault]:
    if isinstance(value, str):
        return
    yield from array(value, path)
    for index, inner in enumerate(value if isinstance(value, list) else ()):
        yield from block(inner, f"{path}.{index}", ("text", "image"))


def _texts(value: object, path: str) -> Iterator[RequestFault]:
    yield from array(value, path)
    for index, inner in enumerate(value if isinstance(value, list) else ()):
        yield from block(inner, f"{path}.{index}", ("text",))


def _content(value: object, path: str) -> Iterator[RequestFault]:
    if not isinstance(value, str | list):
        yield RequestFault(path, "Input should be a valid string or list")


def cache_control(value: object, path: str) -> Iterator[RequestFault]:
    """The rule of `cache_control`."""
    yield from mapping(value, path)
    if isinstance(value, dict):
        yield from members(value, path, {"type": word("ephemeral")}, {"ttl": word("5m", "1h")})


_CACHED: Mapping[str, Rule] = {"cache_control": cache_control}
_MEMBERS: Mapping[str, tuple[Mapping[str, Rule], Mapping[str, Rule]]] = {
    "text": ({"text": string}, {**_CACHED, "citations": array}),
    "image": ({"source": _image}, _CACHED),
    "document": ({"source": _document}, {**_CACHED, "title": string, "context": string, "citations": mapping}),
    "search_result": ({"content": _texts, "source": string, "title": string}, {**_CACHED, "citations": mapping}),
    "tool_use": ({"id": string, "name": some_string, "input": mapping}, _CACHED),
    "tool_result": ({"tool_use_id": string}, {"content": _content, "is_error": boolean, **_CACHED}),
    "thinking": ({"thinking": string, "signature": string}, {}),
    "redacted_thinking": ({"data": string}, {}),
}
"""Kind → its members with their rules, the required ones and the others."""


def blocks(content: str | list[Any]) -> Sequence[Mapping[str, Any]]:
    """Acceptable content as blocks: a string is one of text, or none."""
    if isinstance(content, str):
        return [{"type": "text", "text": content}] if content else []
    return content


def items(role: Role, content: str | list[Any]) -> Iterator[Item]:
    """What acceptable content of a message means, in order, but that results come first; thoughts are dropped."""
    # A backend takes no other's reasoning. Results first: a chat backend refuses a text between calls and results.
    rest = [one for one in blocks(content) if one["type"] != "tool_result"]
    yield from (_result(one) for one in blocks(content) if one["type"] == "tool_result")
    parts: list[Part] = []
    for one in rest:
        if one["type"] == "tool_use":
            if parts:
                yield Message(role=role, parts=tuple(parts))
                parts = []
            arguments = json.dumps(one["input"], ensure_ascii=False, separators=(",", ":"))
            yield AssistantCall(id=one["id"], name=one["name"], arguments=arguments)
        else:
            parts += _parts(one)
    if parts:
        yield Message(role=role, parts=tuple(parts))


def _result(one: Mapping[str, Any]) -> ToolResult:
    parts = [part for inner in blocks(one.get("content") or []) for part in _parts(inner)]
    return ToolResult(
        id=one["tool_use_id"],
        output="\n".join(part.text for part in parts if isinstance(part, TextPart)),
        images=tuple(part for part in parts if isinstance(part, ImagePart)),
        failed=bool(one.get("is_error")),
    )


def _parts(one: Mapping[str, Any]) -> Iterator[Part]:
    """What a block says that is neither a call nor a result."""
    match one:
        case {"type": "text", "text": text}:
            yield TextPart(text)
        case {"type": "image", "source": {"type": "url", "url": url}}:
            yield ImagePart(url)
        case {"type": "image", "source": source}:
            yield ImagePart(f"data:{source['media_type']};base64,{source['data']}")
        case {"type": "document", "source": {"type": "text", "data": text}}:
            yield TextPart(text)
        case {"type": "document", "source": {"content": content}} | {"type": "search_result", "content": content}:
            for inner in blocks(content):
                yield from _parts(inner)
        case _:
            return


__all__ = ["BY_ROLE", "EMPTY", "ID", "IMAGE_TYPES", "SERVER", "block", "blocks", "cache_control", "items"]
