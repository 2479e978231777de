"""`llm` on chat and Responses: a conversation's `chain` with tools, whole or streamed, by its plugin for OpenAI."""  # noqa: INP001 - a folder of programs, no package

from __future__ import annotations

import os
import tempfile
from typing import TYPE_CHECKING, Any

from dialogue import MAX_STEPS, Call, Play, Turn, main

# It keeps its settings below the home of its user.
os.environ["LLM_USER_PATH"] = tempfile.gettempdir()

import llm
from llm.default_plugins.openai_models import Chat, Responses

if TYPE_CHECKING:
    from collections.abc import Callable


def _tool(play: Play, name: str, description: str, parameters: dict[str, object]) -> llm.Tool:
    def run(**arguments: object) -> str:
        return play.run(name, arguments)

    return llm.Tool(name=name, description=description, input_schema=parameters, implementation=run)


def _loop(kind: type[Chat | Responses], *, stream: bool) -> Callable[[Play], list[Turn]]:
    def play(play: Play) -> list[Turn]:
        url, key, model = (play.endpoint[name] for name in ("url", "key", "model"))
        asked = kind(model, key=key, model_name=model, api_base=url, supports_tools=True)
        # A list that may hold other kinds, too.
        tools: list[Any] = [
            _tool(play, one["name"], one["description"], one["parameters"]) for one in play.dialogue["tools"]
        ]
        chain = asked.conversation(tools=tools).chain(play.dialogue["prompt"], stream=stream, chain_limit=MAX_STEPS)
        turns = []
        for response in chain.responses():
            calls = [
                Call(id=call.tool_call_id or "", name=call.name, arguments=call.arguments)
                for call in response.tool_calls()
            ]
            turns.append(Turn(text=response.text(), finish=None, usage=None, calls=calls))
        return turns

    return play


if __name__ == "__main__":
    main(
        {
            "stream": _loop(Chat, stream=True),
            "whole": _loop(Chat, stream=False),
            "responses-stream": _loop(Responses, stream=True),
            "responses-whole": _loop(Responses, stream=False),
        }
    )
