"""`litellm` as a client on chat: `completion`, and `stream_chunk_builder` for streams."""  # noqa: INP001 - a folder of programs, no package

from __future__ import annotations

import os
import sys
from typing import Any

# It asks GitHub for prices when it is imported, and waits where there is no network.
os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"

import litellm
from talk import FUNCTION, MODEL, run, talk

litellm.telemetry = False
ASKED: dict[str, Any] = {
    "model": f"openai/{MODEL}",
    "api_base": os.environ["OPENAI_BASE_URL"],
    "tools": [{"type": "function", "function": FUNCTION}],
}
messages: list[Any] = []


def answered() -> Any:  # noqa: ANN401 - the library's own
    """A completion."""
    if "stream" not in sys.argv:
        return litellm.completion(messages=messages, **ASKED)
    return litellm.stream_chunk_builder(list(litellm.completion(messages=messages, stream=True, **ASKED)))


def ask(prompt: str) -> str:
    """A turn."""
    messages.append({"role": "user", "content": prompt})
    while True:
        message = answered().choices[0].message
        messages.append(message)
        calls = message.tool_calls or []
        for call in calls:
            content = run(call.function.name, call.function.arguments)
            messages.append({"role": "tool", "tool_call_id": call.id, "content": content})
        if not calls:
            return str(message.content)


talk(ask)
