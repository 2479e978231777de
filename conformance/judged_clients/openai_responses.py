"""`openai` on Responses: a loop by hand, with the items in each request, or with the id of the last response."""  # noqa: INP001 - a folder of programs, no package

from __future__ import annotations

import sys
from typing import Any

from openai import OpenAI
from talk import FUNCTION, MODEL, run, talk

STREAMS, CONTINUES = "stream" in sys.argv, "continue" in sys.argv
CLIENT = OpenAI()
ASKED: dict[str, Any] = {"model": MODEL, "tools": [{"type": "function", "strict": True, **FUNCTION}]}
items: list[Any] = []
last: dict[str, Any] = {}


def answered() -> Any:  # noqa: ANN401 - the library's own
    """A response; of a stream the one that its terminal event has."""
    if not STREAMS:
        return CLIENT.responses.create(input=items, **ASKED, **last)
    response = None
    for event in CLIENT.responses.create(input=items, stream=True, **ASKED, **last):
        if event.type in {"response.completed", "response.incomplete"}:
            response = event.response
        elif event.type in {"error", "response.failed"}:
            raise RuntimeError(event)
    if response is None:
        raise RuntimeError("the stream has no end")
    return response


def ask(prompt: str) -> str:
    """A turn."""
    items.append({"role": "user", "content": prompt})
    while True:
        response = answered()
        if CONTINUES:
            items.clear()
            last["previous_response_id"] = response.id
        else:
            items.extend(response.output)
        calls = [item for item in response.output if item.type == "function_call"]
        for call in calls:
            output = run(call.name, call.arguments)
            items.append({"type": "function_call_output", "call_id": call.call_id, "output": output})
        if not calls:
            return str(response.output_text)


talk(ask)
