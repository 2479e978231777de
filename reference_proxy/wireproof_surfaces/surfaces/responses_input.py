"""The `input` of a responses request: what is acceptable, and what it means. Pure.

A string is a message of the user. Items are messages, function calls and their outputs, or references to items of
stored responses, which replace them. Reasoning items are dropped, since a backend takes no other's reasoning.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
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
from wireproof_surfaces.errors import INVALID_PARAM, ApiError
from wireproof_surfaces.surfaces.input_items import TYPES as COMPACTED
from wireproof_surfaces.surfaces.input_items import unpacked
from wireproof_surfaces.surfaces.responses_tools import called
from wireproof_surfaces.surfaces.rules import Body, fault, text, wrong

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator

Given = str | Sequence[Mapping[str, Any]]

ROLES = ("user", "assistant", "system", "developer")
_CONTENT = ("input_text", "input_image")
PART_TYPES: Mapping[str, tuple[str, ...]] = {
    "user": _CONTENT,
    "system": _CONTENT,
    "developer": _CONTENT,
    "assistant": ("output_text", "refusal", "input_text"),
}
CALLS: Mapping[str, str] = {"function_call": "arguments", "custom_tool_call": "input"}
"""The types of calls, each with the member that holds what it is called with."""
OUTPUTS = tuple(f"{kind}_output" for kind in CALLS)
TYPES = ("message", *CALLS, *OUTPUTS, "reasoning", "compaction")


def given(body: Body, *, files: bool = False) -> None:
    """The rule of `input`: there, a text or a list, not empty, and each item right.

    `files`: whether what answers takes them: a part of type `input_file`, whatever is in it, but from the assistant.
    """
    sent, more = body.get("input"), ("input_file",) if files else ()
    match sent:
        case str() if sent:
            return
        case list() if sent:
            # Earlier calls may be in stored responses, which are looked up later; `check_answered` then has this rule.
            known = None if body.get("previous_response_id") or any(map(reference, sent)) else set[str]()
            for index, item in enumerate(sent):
                _item(item, f"input[{index}]", known, more)
        case _:
            raise wrong("input", "a non-empty string or a non-empty list of items", sent)


def reference(item: object) -> bool:
    """Whether an item only refers to another one."""
    return isinstance(item, dict) and _type(item) == "item_reference"


def resolved(sent: Given, find: Callable[[str], Mapping[str, Any] | None]) -> Given:
    """Acceptable input with what its references refer to in their places; `find` gives an item by its id.

    Raises:
        ApiError: 400, `param` naming the first reference to an item that is not there.
    """
    if isinstance(sent, str):
        return sent
    return [_found(item, index, find) if reference(item) else item for index, item in enumerate(sent)]


def _found(item: Mapping[str, Any], index: int, find: Callable[[str], Mapping[str, Any] | None]) -> Mapping[str, Any]:
    found = find(item["id"])
    if found is None:
        message = f"There is no stored item `{item['id']}`: send it in full, or store the response that holds it."
        raise ApiError(INVALID_PARAM, message=message, param=f"input[{index}].id")
    return found


def check_answered(sent: Given, known: Collection[str]) -> None:
    """The rule of outputs once the calls before this request are known: each answers a call."""
    calls = set(known)
    for index, item in enumerate([] if isinstance(sent, str) else sent):
        if _type(item) in COMPACTED:
            inner = unpacked(item["encrypted_content"]) or []
            calls |= {one["call_id"] for one in inner if one.get("type") in CALLS}
        elif _type(item) in CALLS:
            calls.add(item["call_id"])
        elif _type(item) in OUTPUTS:
            _call_id(item, f"input[{index}]", calls)


def _type(item: Mapping[str, Any]) -> object:
    """An item's type; a message need not say it, and a reference need not either."""
    if item.get("type") is not None:
        return item["type"]
    return "message" if "role" in item else "item_reference" if set(item) <= {"type", "id"} and "id" in item else None


def _item(item: object, place: str, known: set[str] | None, more: tuple[str, ...]) -> None:
    """The rule of one item; `known` are the calls before it, None when they are not known yet.

    `more` are the types of parts that are taken besides.
    """
    if not isinstance(item, dict):
        raise fault(place, "an object")
    match _type(item):
        case "message":
            _message(item, place, more)
        case "function_call" | "custom_tool_call" as kind:
            _call(item, place, CALLS[kind])
            if known is not None and isinstance(item.get("call_id"), str):
                known.add(item["call_id"])
        case "function_call_output" | "custom_tool_call_output":
            _call_id(item, place, known)
            _output(item, place, more)
        case "reasoning":
            return
        case "compaction" | "compaction_summary":
            _compaction(item, f"{place}.encrypted_content", known, more)
        case "item_reference":
            if text(item.get("id")):
                raise fault(f"{place}.id", "the id of an item of a stored response")
        case kind:
            raise wrong(f"{place}.type", f"one of {', '.join(TYPES)}", kind)


def _compaction(item: Mapping[str, Any], place: str, known: set[str] | None, more: tuple[str, ...]) -> None:
    packed = unpacked(item.get("encrypted_content"))
    if packed is None:
        raise fault(place, "what /v1/responses/compact has answered")
    for index, inner in enumerate(packed):
        _item(inner, f"{place}[{index}]", known, more)


def _message(item: Mapping[str, Any], place: str, more: tuple[str, ...]) -> None:
    role = item.get("role")
    if role not in ROLES:
        raise wrong(f"{place}.role", f"one of {', '.join(ROLES)}", role)
    kinds = PART_TYPES[role] if role == "assistant" else (*PART_TYPES[role], *more)
    _content(item.get("content"), f"{place}.content", kinds)


def _content(content: object, place: str, kinds: Sequence[str]) -> None:
    match content:
        case str():
            return
        case list() if content and all(_acceptable(part, kinds) for part in content):
            return
        case None:
            raise wrong(place, "a string or a list of parts", None)
        case _:
            raise fault(place, f"a string or a non-empty list of parts of type {' or '.join(kinds)}")


def _acceptable(part: object, kinds: Sequence[str]) -> bool:
    match part:
        case {"type": "input_text" | "output_text" as kind, "text": str()}:
            return kind in kinds
        case {"type": "refusal", "refusal": str()}:
            return "refusal" in kinds
        case {"type": "input_image", "image_url": str(url)}:
            return "input_image" in kinds and bool(url)
        case {"type": "input_file"}:
            return "input_file" in kinds
        case _:
            return False


def _call(item: Mapping[str, Any], place: str, said: str) -> None:
    for name in ("call_id", "name"):
        if text(item.get(name)):
            raise wrong(f"{place}.{name}", "a non-empty string", item.get(name))
    if not isinstance(item.get(said), str):
        raise wrong(f"{place}.{said}", "a string", item.get(said))


def _call_id(item: Mapping[str, Any], place: str, known: set[str] | None) -> None:
    call_id = item.get("call_id")
    if text(call_id) or (known is not None and call_id not in known):
        raise wrong(f"{place}.call_id", "the call_id of a function call made before", call_id)


def _output(item: Mapping[str, Any], place: str, more: tuple[str, ...]) -> None:
    output = item.get("output")
    # A tool may have nothing to say.
    if isinstance(output, list) and not output:
        return
    _content(output, f"{place}.output", (*_CONTENT, *more, "output_text"))


def items(sent: Given) -> Iterator[Item]:
    """The conversation in acceptable, resolved input, in order."""
    if isinstance(sent, str):
        yield Message(role="user", parts=(TextPart(sent),))
        return
    for item in sent:
        match _type(item):
            case "compaction" | "compaction_summary":
                yield from items(unpacked(item["encrypted_content"]) or [])
            case "message":
                yield Message(role=item["role"], parts=tuple(_parts(item["content"])))
            case "function_call" | "custom_tool_call" as kind:
                yield AssistantCall(id=item["call_id"], name=called(item), arguments=item[CALLS[kind]])
            case "function_call_output" | "custom_tool_call_output":
                parts = tuple(_parts(item["output"]))
                texts = (part.text for part in parts if isinstance(part, TextPart))
                images = tuple(part for part in parts if isinstance(part, ImagePart | FilePart))
                yield ToolResult(id=item["call_id"], output="".join(texts), images=images)


def _parts(content: str | Sequence[Mapping[str, Any]]) -> Iterator[Part]:
    if isinstance(content, str):
        yield TextPart(content)
        return
    for part in content:
        match part["type"]:
            case "input_image":
                yield ImagePart(part["image_url"])
            case "input_file":
                yield FilePart(part.get("file_data") or part.get("file_url") or "", part.get("filename"))
            case "refusal":
                yield TextPart(part["refusal"])
            case _:
                yield TextPart(part["text"])
