"""Dynamic tools: what thread/start accepts, how a call's arguments are read, what an answer means."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from wireproof_codex.protocol.params import Refused, shown
from wireproof_codex.protocol.rpc import parse

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

# What the Responses API takes; the mock checks it because the real server does from 0.134.0 on.
_NAME = re.compile(r"[a-zA-Z0-9_-]+")
_OUTPUTS = {
    "inputText": ("text", "input_text", "text"),
    "inputImage": ("imageUrl", "input_image", "image_url"),
    "inputAudio": ("audioUrl", "input_audio", "audio_url"),
}
"""What an item of each type must have, a text; and the type and the field in the Responses API, which spells them
without camel case.
"""


def check_tools(tools: Sequence[Any], *, names_only: bool = False) -> None:
    """Check the tools that a client declares; `names_only`: they need no more than names.

    Raises:
        Refused: a name that the model's service would not take, a name given twice, or a schema that is no object.
    """
    seen: set[str] = set()
    for tool in tools:
        name = tool.get("name") if isinstance(tool, dict) else None
        if not isinstance(name, str):
            raise Refused("Invalid request: missing field `name`")
        if names_only:
            continue
        if not _NAME.fullmatch(name):
            raise Refused(f"dynamic tool name must match ^[a-zA-Z0-9_-]+$ to match Responses API: {name}")
        if name in seen:
            raise Refused(f"duplicate dynamic tool name: {name}")
        seen.add(name)
        _check_schema(name, tool)


def _check_schema(name: str, tool: Mapping[str, Any]) -> None:
    # Its tools are inside, with schemas of their own.
    if tool.get("type") == "namespace":
        return
    # Only a namespace can be loaded later: the error is that of the recording dyn_defer_loading.
    if tool.get("deferLoading"):
        raise Refused(f"deferred dynamic tool must include a namespace: {name}")
    schema = tool.get("inputSchema")
    if not isinstance(schema, dict):
        wrong = f"invalid type: {shown(schema)}, expected struct JsonSchema"
        raise Refused(f"dynamic tool input schema is not supported for {name}: {wrong}")


def parse_arguments(arguments: str) -> object:
    """The arguments as item/tool/call carries them.

    Raises:
        ValueError: they are no JSON; the text is what the model gets as the result.
    """
    if not arguments.strip():
        # serde_json's own words and place, which Python's reader would not give.
        raise ValueError("failed to parse function arguments: EOF while parsing a value at line 1 column 0")
    try:
        return parse(arguments)  # strict: NaN and Infinity, which Python reads, are no JSON
    except json.JSONDecodeError as error:
        place = f"line {error.lineno} column {error.colno}"
        raise ValueError(f"failed to parse function arguments: {error.msg} at {place}") from error
    except ValueError as error:
        raise ValueError(f"failed to parse function arguments: {error}") from error


@dataclass(frozen=True, slots=True)
class CallOutcome:
    """How a call ended: `content` for the client's item, `output` for the model."""

    success: bool
    content: list[dict[str, Any]]
    output: str | list[dict[str, Any]]


CANCELLED = CallOutcome(
    success=False,
    content=[],
    output="dynamic tool call was cancelled before receiving a response",
)


def outcome(result: object, error: object, *, answers: str = "contentItems", single_text: bool = True) -> CallOutcome:
    """What the client's answer to item/tool/call means.

    `answers`: the field of it that holds the output, `output` or `contentItems`. `single_text`: an output of one text
    reaches the model as a text, not as a list.
    """
    if error is not None:
        return _failed("dynamic tool request failed")
    # The turn goes on after any wrong answer; the model alone gets this text (recording dyn_bad_result).
    if not isinstance(result, dict) or not isinstance(result.get("success"), bool):
        return _failed("dynamic tool response was invalid")
    content = result.get(answers)
    if answers == "output" and isinstance(content, str):
        content = [{"type": "inputText", "text": content}]
    if not isinstance(content, list) or not all(_is_content(item) for item in content):
        return _failed("dynamic tool response was invalid")
    # What is not known of an item is read by nobody, and sent back to nobody.
    content = [{name: item[name] for name in ("type", _OUTPUTS[item["type"]][0])} for item in content]
    # `success: false` changes the status of the item alone; the model gets the text as it is.
    return CallOutcome(result["success"], content, _output(content, single_text=single_text))


def _failed(text: str) -> CallOutcome:
    return CallOutcome(success=False, content=[{"type": "inputText", "text": text}], output=text)


def _is_content(item: object) -> bool:
    if not isinstance(item, dict):
        return False
    known = _OUTPUTS.get(str(item.get("type")))
    return known is not None and isinstance(item.get(known[0]), str)


def _output(content: Sequence[Mapping[str, Any]], *, single_text: bool) -> str | list[dict[str, Any]]:
    match content:
        # A string before 0.98.0 and from 0.114.0 on, a list of one in between.
        case [{"type": "inputText", "text": str(text)}] if single_text:
            return text
    return [{"type": kind, field: item[own]} for item in content for own, kind, field in [_OUTPUTS[item["type"]]]]
