"""`anthropic` on Messages: a loop written by hand over `create`, or over the `.stream` helper."""  # noqa: INP001 - a folder of programs, no package

from __future__ import annotations

import json
import sys
from typing import Any

from anthropic import Anthropic
from talk import FUNCTION, PARAMETERS, run, talk

MODE = sys.argv[1]
CLIENT = Anthropic()
TOOL = {"name": FUNCTION["name"], "description": FUNCTION["description"], "input_schema": PARAMETERS}
ASKED: dict[str, Any] = {"model": "claude-sonnet-4-5", "max_tokens": 4096, "tools": [TOOL]}
messages: list[Any] = []


def answered() -> Any:  # noqa: ANN401 - the library's own
    """A message."""
    if MODE == "whole":
        return CLIENT.messages.create(messages=messages, **ASKED)
    with CLIENT.messages.stream(messages=messages, **ASKED) as stream:
        return stream.get_final_message()


def ask(prompt: str) -> str:
    """A turn, as the guide to tool use has it: the content is appended as it is, all results in one message."""
    messages.append({"role": "user", "content": prompt})
    while True:
        message = answered()
        if message.content:
            messages.append({"role": "assistant", "content": message.content})
        used = [block for block in message.content if block.type == "tool_use"]
        if not used:
            return "".join(block.text for block in message.content if block.type == "text")
        results = ((block.id, run(block.name, json.dumps(block.input))) for block in used)
        blocks = [{"type": "tool_result", "tool_use_id": id_, "content": content} for id_, content in results]
        messages.append({"role": "user", "content": blocks})


talk(ask)
