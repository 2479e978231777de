"""The answer when no script is asked for: an echo, a call of a declared tool, or the result of the tool."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from wireproof_scripts.conversation import is_result, is_user, message_text, result_text
from wireproof_scripts.default.asked_for import arguments_for, filled, names, tools_asked_for
from wireproof_scripts.default.frameworks import fields, final_code, final_tool, observed
from wireproof_scripts.default.plain_wishes import asks_for_number, number, wanted, wanted_always
from wireproof_scripts.default.schema_example import schema_in
from wireproof_scripts.steps import Call, Say, Step

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_DEMANDS_A_CALL = re.compile(r"\byou must call (?:the|one of the) tools?\b", re.IGNORECASE)
_MOST_PIECES = 256
_ANY_OBJECT = {"type": "object"}
_GREETING = "Hello! This is Wireproof's mock backend; it echoes what you say."


def default_answer(
    conversation: Sequence[Mapping[str, Any]],
    tools: Sequence[Mapping[str, Any]],
    call_id: str,
    *,
    developer: str = "",
    schema: Mapping[str, Any] | None = None,
) -> tuple[Step, ...]:
    """The steps that answer a conversation.

    A tool that the end of the developer text demands is called. A tool result is repeated as text. A message that asks
    for some of `tools` is answered with calls, the first under `call_id`, every other message with an echo. Where the
    text must match a `schema` it is a specimen of that; where that is any object, of a schema that the text shows.
    `conversation`: Responses items, the newest last. `tools`: what the client declared.
    """
    text = next((message_text(item) for item in reversed(conversation) if is_user(item)), "")
    result = result_text(conversation[-1]) if conversation and is_result(conversation[-1]) else observed(text)
    answered = result is not None
    said = _said(text, conversation, developer) if result is None else f"The tool said: {result}"
    demanded = _demanded(developer, tools)
    if demanded:
        return _demanded_calls(demanded, text, said, call_id, answered=answered)
    if schema is None and answered:
        final = final_tool(tools)
        return _final(final, said, call_id) if final else (Say(_pieces(said)),)
    # Called once: the text that asked for it stays in the history, and a client would run the tool without end.
    if not any(is_result(item) for item in conversation) and (asked_for := tools_asked_for(text, tools)):
        return _calls(asked_for, text, call_id)
    if schema is not None:
        shown = schema_in([developer, *map(message_text, conversation)]) if schema == _ANY_OBJECT else None
        return (Say(_pieces(filled(shown or schema, text))),)
    return (Say(_pieces(fields(text, developer) or final_code(developer, said) or said)),)


def _said(text: str, conversation: Sequence[Mapping[str, Any]], developer: str) -> str:
    """What is said to a text: what it plainly wants, what instructions want of every answer, or an echo of it."""
    earlier = (result_text(item) if is_result(item) else message_text(item) for item in reversed(conversation[:-1]))
    return (
        wanted(text)
        or (number(earlier) if asks_for_number(text) else None)
        or wanted_always(developer)
        or (f"You said: {text}" if text else _GREETING)
    )


def _demanded_calls(
    demanded: Sequence[Mapping[str, Any]], text: str, said: str, call_id: str, *, answered: bool
) -> tuple[Call, ...]:
    """A call where one must be made. smolagents demands one each time, until its own tool ends the run."""
    final = final_tool(demanded)
    asked_for = tools_asked_for(text, [tool for tool in demanded if tool is not final])
    if final is not None and (answered or not asked_for):
        return _final(final, said, call_id)
    return _calls(asked_for or demanded[:1], text, call_id)


def _final(tool: Mapping[str, Any], said: str, call_id: str) -> tuple[Call, ...]:
    return (Call(id=call_id, name=tool["name"], arguments=json.dumps({"answer": said}, ensure_ascii=False)),)


def _calls(tools: Sequence[Mapping[str, Any]], text: str, call_id: str) -> tuple[Call, ...]:
    """A call of each of these; ids after the first have a number."""
    return tuple(
        Call(
            id=call_id if number == 1 else f"{call_id}_{number}",
            name=tool["name"],
            arguments=arguments_for(tool, text),
        )
        for number, tool in enumerate(tools, 1)
    )


def _demanded(developer: str, tools: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """The tools of which the end of the instructions demands one: those that it names, else all."""
    # The last paragraph alone: agents' instructions speak of tools at length, and mean later turns.
    demand = developer.rpartition("\n\n")[2]
    if not _DEMANDS_A_CALL.search(demand):
        return []
    return [tool for tool in tools if names(demand, tool)] or list(tools)


def _pieces(text: str) -> tuple[str, ...]:
    """The text in pieces of a word, as a model sends it, or of some words if it is so long that there were too many."""
    words = re.findall(r"\s*\S+\s*?(?=\s|$)|\s+", text)
    size = -(-len(words) // _MOST_PIECES)
    return tuple("".join(words[start : start + size]) for start in range(0, len(words), max(size, 1)))
