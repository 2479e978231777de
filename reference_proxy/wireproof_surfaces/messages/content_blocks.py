"""Blocks of content, each kind with its members, and what they mean to a backend. Pure.

Blocks of tools that the service itself runs are refused by name: nothing here has run them, and nothing here can.
"""

from __future__ import annotations

import base64
import hmac
import json
import re
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from wireproof_surfaces.conversation import AssistantCall, ImagePart, Message, Part, TextPart, ToolResult
from wireproof_surfaces.messages.error_form import (
    Rule,
    array,
    boolean,
    each,
    fault,
    listed,
    mapping,
    members,
    missing,
    some_string,
    string,
    string_or_array,
    word,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from wireproof_surfaces.conversation import Item, Role


_MARK = b"wireproof"
_KEY = b"thoughts of scripts are no secret"
"""No secret: the signature shows a client's mistake, and keeps nobody from making one up."""
_SIZE = 16
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


def block(value: object, path: str, kinds: Sequence[str]) -> None:
    """The rule of a block, which must be of one of these kinds."""
    found = mapping(value, path)
    kind = found.get("type")
    if kind is None:
        raise missing(f"{path}.type")
    if kind in SERVER:
        raise fault(f"{path}.{kind}", "blocks of tools that the service runs are not served here")
    if kind not in kinds:
        raise fault(f"{path}.type", f"Input should be {listed(kinds)}")
    path = f"{path}.{kind}"
    _KINDS[kind](found, path)
    match kind:
        case "text" if not found["text"]:
            if found.get("cache_control") is not None:
                raise fault(path, "cache_control cannot be set for empty text blocks")
            raise fault("messages", "text content blocks must be non-empty")
        case "tool_use" if not ID.fullmatch(found["id"]):
            raise fault(f"{path}.id", f"String should match pattern '^{ID.pattern}$'")
        case "tool_result" if isinstance(found.get("content"), list):
            _IN_RESULTS(found["content"], f"{path}.content")


def _only(*kinds: str) -> Rule:
    """Blocks of these kinds alone."""
    return each(lambda value, path: block(value, path, kinds))


_IN_RESULTS = _only("text", "image", "document", "search_result")
_PASSAGES = _only("text", "image")


def _source(kinds: Mapping[str, Rule]) -> Rule:
    known = word(*kinds)

    def rule(value: object, path: str) -> None:
        kind = mapping(value, path).get("type")
        if kind == "file":
            # Nothing can be uploaded here.
            raise fault(f"{path}.file", "files are not stored here: send the content itself")
        kinds[known(kind, f"{path}.type")](value, f"{path}.{kind}")

    return rule


def _document(value: object, path: str) -> None:
    if isinstance(value, dict) and value.get("type") in ("base64", "url"):
        raise fault(f"{path}.{value['type']}", "documents are taken as text only: the backend reads no PDF")
    _TEXTS(value, path)


def _passages(value: object, path: str) -> None:
    if not isinstance(value, str):
        _PASSAGES(value, path)


_TEXTS = _source({"text": members({"data": string}, {}), "content": members({"content": _passages}, {})})
_IMAGE = _source(
    {
        "base64": members({"media_type": word(*IMAGE_TYPES), "data": some_string}, {}),
        "url": members({"url": some_string}, {}),
    }
)
cache_control = members({"type": word("ephemeral")}, {"ttl": word("5m", "1h")})
_CACHED: Mapping[str, Rule] = {"cache_control": cache_control}
_KINDS: Mapping[str, Rule] = {
    "text": members({"text": string}, {**_CACHED, "citations": array}),
    "image": members({"source": _IMAGE}, _CACHED),
    "document": members({"source": _document}, {**_CACHED, "title": string, "context": string, "citations": mapping}),
    "search_result": members(
        {"content": _only("text"), "source": string, "title": string}, {**_CACHED, "citations": mapping}
    ),
    "tool_use": members({"id": string, "name": some_string, "input": mapping}, _CACHED),
    "tool_result": members({"tool_use_id": string}, {"content": string_or_array, "is_error": boolean, **_CACHED}),
    "thinking": members({"thinking": string, "signature": string}, {}),
    "redacted_thinking": members({"data": string}, {}),
}
"""Kind → the rule of its members, the required ones and the others."""


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


def signature(thought: str) -> str:
    """The signature of a thought: opaque to a client, which sends it back as it came."""
    digest = _digest(thought)
    return base64.b64encode(_MARK + digest + _seal(digest)).decode()


def fits(thought: str, given: str) -> bool:
    """Whether the signature is this thought's, or none of ours; a thought that was not shown comes back empty.

    Only what was signed here can be checked. Any other signature is taken: gateways give none, or another's.
    """
    begin = base64.b64encode(_MARK).decode()  # nine bytes: no character of it depends on what follows
    if not given.startswith(begin):
        return True
    try:
        rest = base64.b64decode(given, validate=True)[len(_MARK) :]
    except ValueError:
        return False
    digest, seal = rest[:_SIZE], rest[_SIZE:]
    return hmac.compare_digest(seal, _seal(digest)) and (not thought or digest == _digest(thought))


def _digest(thought: str) -> bytes:
    return sha256(thought.encode(errors="replace")).digest()[:_SIZE]


def _seal(digest: bytes) -> bytes:
    return hmac.new(_KEY, digest, sha256).digest()[:_SIZE]
