"""`openai` on chat: a loop written by hand over `create`, over a stream, or over the `.stream` helper."""  # noqa: INP001 - a folder of programs, no package

from __future__ import annotations

import sys
from typing import Any

from openai import OpenAI
from talk import FUNCTION, MODEL, run, talk

MODE, RETRIES = sys.argv[1], int(sys.argv[2])
CLIENT = OpenAI(max_retries=RETRIES)
ASKED: dict[str, Any] = {"model": MODEL, "tools": [{"type": "function", "function": FUNCTION}]}
messages: list[Any] = []


def whole() -> tuple[str, Any, list[Any]]:
    """As the guide to function calling has it: the message is appended as it is."""
    message = CLIENT.chat.completions.create(messages=messages, **ASKED).choices[0].message
    calls = [(call.id, call.function.name, call.function.arguments) for call in message.tool_calls or []]
    return message.content or "", message, calls


def streamed() -> tuple[str, Any, list[Any]]:
    """As the guide to streams has it: deltas are joined by their index."""
    text, calls = "", dict[int, Any]()
    for chunk in CLIENT.chat.completions.create(messages=messages, stream=True, **ASKED):
        for choice in chunk.choices:
            text += choice.delta.content or ""
            for piece in choice.delta.tool_calls or []:
                call = calls.setdefault(piece.index, {"id": piece.id, "name": "", "arguments": ""})
                call["name"] += piece.function.name or ""
                call["arguments"] += piece.function.arguments or ""
    made = [
        {"id": one["id"], "type": "function", "function": {"name": one["name"], "arguments": one["arguments"]}}
        for one in calls.values()
    ]
    message = {"role": "assistant", "content": text or None, **({"tool_calls": made} if made else {})}
    return text, message, [(one["id"], one["name"], one["arguments"]) for one in calls.values()]


def helped() -> tuple[str, Any, list[Any]]:
    """The helper puts the message together."""
    with CLIENT.chat.completions.stream(messages=messages, **ASKED) as stream:
        message = stream.get_final_completion().choices[0].message
    calls = [(call.id, call.function.name, call.function.arguments) for call in message.tool_calls or []]
    return message.content or "", message, calls


def ask(prompt: str) -> str:
    """A turn."""
    messages.append({"role": "user", "content": prompt})
    while True:
        text, message, calls = {"whole": whole, "stream": streamed, "helper": helped}[MODE]()
        messages.append(message)
        for id_, name, arguments in calls:
            messages.append({"role": "tool", "tool_call_id": id_, "content": run(name, arguments)})
        if not calls:
            return text


talk(ask)
