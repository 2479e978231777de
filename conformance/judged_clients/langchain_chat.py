"""`langchain-openai` on chat: `bind_tools`, and the loop of its guide."""  # noqa: INP001 - a folder of programs, no package

from __future__ import annotations

import sys
from functools import reduce
from operator import add
from typing import Any

from langchain_core.messages import HumanMessage, ToolMessage
from langchain_core.tools import tool
from langchain_openai import ChatOpenAI
from talk import MODEL, look_up, talk

TOOL = tool(look_up)
LLM = ChatOpenAI(model=MODEL, use_responses_api=False).bind_tools([TOOL])
messages: list[Any] = []


def answered() -> Any:  # noqa: ANN401 - the library's own
    """A message; of a stream its chunks added."""
    return reduce(add, LLM.stream(messages)) if "stream" in sys.argv else LLM.invoke(messages)


def ask(prompt: str) -> str:
    """A turn."""
    messages.append(HumanMessage(prompt))
    while True:
        message = answered()
        messages.append(message)
        for call in message.tool_calls:
            if call["name"] == TOOL.name:
                messages.append(_invoked(call))
            else:
                messages.append(ToolMessage(f"error: there is no tool {call['name']}", tool_call_id=call["id"]))
        messages.extend(
            ToolMessage(f"error: {one['error']}", tool_call_id=one["id"]) for one in message.invalid_tool_calls
        )
        if not (message.tool_calls or message.invalid_tool_calls):
            return str(message.text)


def _invoked(call: Any) -> Any:  # noqa: ANN401 - the library's own
    try:
        return TOOL.invoke(call)
    except Exception as error:  # noqa: BLE001 - a result that says so
        return ToolMessage(f"error: {error}", tool_call_id=call["id"])


talk(ask)
