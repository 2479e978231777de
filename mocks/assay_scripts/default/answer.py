"""The answer when no script is asked for: an echo, a call of a declared tool, or the result of the tool."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from assay_scripts.conversation import is_result, is_user, message_text, result_text
from assay_scripts.schema_example import example
from assay_scripts.steps import Call, Say, Step

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_ASKS_FOR_A_CALL = re.compile(r"\b(tool|function)s?\b", re.IGNORECASE)
_DEMANDS_A_CALL = re.compile(r"\byou must call (?:the|one of the) tools?\b", re.IGNORECASE)
_MOST_PIECES = 256
_GREETING = "Hello! This is Assay's mock backend; it echoes what you say."


def default_answer(
    conversation: Sequence[Mapping[str, Any]],
    tools: Sequence[Mapping[str, Any]],
    call_id: str,
    *,
    developer: str = "",
    schema: Mapping[str, Any] | None = None,
) -> tuple[Step, ...]:
    """The steps that answer a conversation.

    A tool that the end of the developer text demands is called. A tool result is repeated as text. A message that names
    or asks for one of `tools` is answered with a call under `call_id`, every other message with an echo. Where the text
    must match a `schema` it is a specimen of that.
    `conversation`: Responses items, the newest last. `tools`: what the client declared.
    """
    demanded = _tool_demanded(developer, tools)
    if demanded is not None:
        return (_call(demanded, call_id),)
    if schema is None and conversation and is_result(conversation[-1]):
        return (Say(_pieces(f"The tool said: {result_text(conversation[-1])}")),)
    text = next((message_text(item) for item in reversed(conversation) if is_user(item)), "")
    # Called once: the text that asked for it stays in the history, and a client would run the tool without end.
    tool = None if any(is_result(item) for item in conversation) else _tool_asked_for(text, tools)
    if tool is not None:
        return (_call(tool, call_id),)
    if schema is not None:
        return (Say(_pieces(json.dumps(example(schema), ensure_ascii=False))),)
    return (Say(_pieces(f"You said: {text}" if text else _GREETING)),)


def _call(tool: Mapping[str, Any], call_id: str) -> Call:
    arguments = json.dumps(example(tool.get("inputSchema", {"type": "object"})), ensure_ascii=False)
    return Call(id=call_id, name=tool["name"], arguments=arguments)


def _tool_demanded(developer: str, tools: Sequence[Mapping[str, Any]]) -> Mapping[str, Any] | None:
    """The tool that the end of the instructions demands: the one that it names, else the first."""
    # The last paragraph alone: agents' instructions speak of tools at length, and mean later turns.
    demand = developer.rpartition("\n\n")[2]
    if not _DEMANDS_A_CALL.search(demand):
        return None
    return next((tool for tool in tools if _names(demand, tool)), tools[0] if tools else None)


def _names(text: str, tool: Mapping[str, Any]) -> bool:
    # No \b: the name of a tool may begin or end with a hyphen, where \b finds no edge.
    return re.search(rf"(?<!\w){re.escape(tool['name'])}(?!\w)", text) is not None


def _tool_asked_for(text: str, tools: Sequence[Mapping[str, Any]]) -> Mapping[str, Any] | None:
    named = [tool for tool in tools if _names(text, tool)]
    if named:
        return named[0]
    return tools[0] if tools and _ASKS_FOR_A_CALL.search(text) else None


def _pieces(text: str) -> tuple[str, ...]:
    """The text in pieces of a word, as a model sends it, or of some words if it is so long that there were too many."""
    words = re.findall(r"\s*\S+\s*?(?=\s|$)|\s+", text)
    size = -(-len(words) // _MOST_PIECES)
    return tuple("".join(words[start : start + size]) for start in range(0, len(words), max(size, 1)))
