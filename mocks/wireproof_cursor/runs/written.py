"""A conversation as clients write it: messages, calls and results, and the JSON in which they spell one message.

A message in JSON is one of the Chat API (`role`, `content`, `tool_calls`, `tool_call_id`), an item of the Responses API
(`type`), or has parts as agents keep them (`tool-call`, `tool_use`, `tool-result`, `tool_result`).
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

Json = Mapping[str, Any]


@dataclass(frozen=True, kw_only=True, slots=True)
class WrittenMessage:
    """A text and who has written it."""

    role: str
    text: str


@dataclass(frozen=True, kw_only=True, slots=True)
class WrittenCall:
    """A call; what is not known of it is empty."""

    id: str = ""
    name: str = ""
    arguments: str = "{}"
    """JSON, spelled as it came."""


@dataclass(frozen=True, kw_only=True, slots=True)
class WrittenResult:
    """A result."""

    names: tuple[str, ...] = ()
    """What it says of its call: the call's id, the tool's name, or both. Which is which only the calls can show."""
    arguments: str = ""
    """The arguments of its call as JSON; empty unless it says them."""
    output: str


Written = WrittenMessage | WrittenCall | WrittenResult

_IDS = ("toolCallId", "tool_call_id", "tool_use_id", "call_id", "id")
_NAMES = ("toolName", "tool_name", "name")
_ARGUMENTS = ("args", "input", "arguments", "parameters")
_OUTPUTS = ("result", "output", "content")


def in_message(message: Json) -> Iterator[Written]:
    """What a message holds, in its order; nothing if it is no message."""
    match message:
        case {"type": "function_call" | "function_call_output"}:
            yield from _in_part("assistant", message)
        case {"role": "tool" | "function", "content": str()}:
            yield _result(message)
        case {"role": str(role), "content": content}:
            yield from _in_content(role, content)
    for call in _objects(message.get("tool_calls")):
        function = call.get("function")
        yield call_in({**call, **(function if isinstance(function, dict) else {})})


def _in_content(role: str, content: object) -> Iterator[Written]:
    if isinstance(content, str):
        yield WrittenMessage(role=role, text=content)
    for part in _objects(content):
        yield from _in_part(role, part)


def _in_part(role: str, part: Json) -> Iterator[Written]:
    match part:
        case {"type": "text" | "input_text" | "output_text", "text": str(text)}:
            yield WrittenMessage(role=role, text=text)
        case {"type": "tool-call" | "tool_use" | "tool_call" | "function_call"}:
            yield call_in(part)
        case {"type": "tool-result" | "tool_result" | "function_call_output"}:
            yield _result(part)


def call_in(call: Json) -> WrittenCall:
    """The call that an object describes."""
    value = _first(call, _ARGUMENTS, {})
    arguments = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return WrittenCall(id=str(_first(call, _IDS, "")), name=str(_first(call, _NAMES, "")), arguments=arguments)


def _result(result: Json) -> WrittenResult:
    names = (str(_first(result, _IDS, "")), str(_first(result, _NAMES, "")))
    return WrittenResult(names=tuple(filter(None, names)), output=_output(_first(result, _OUTPUTS, None)))


def _first(source: Json, keys: tuple[str, ...], default: object) -> object:
    return next((source[key] for key in keys if key in source), default)


def _output(value: object) -> str:
    match value:
        case str():
            return value
        case {"type": "text" | "error-text", "value": str(text)} | {"type": "text" | "input_text", "text": str(text)}:
            return text
        case list():
            return "\n".join(_output(part) for part in value)
    return json.dumps(value, ensure_ascii=False)


def _objects(value: object) -> list[Json]:
    """The objects of a list; what is none is passed over."""
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []
