"""`pydantic-ai` on chat or Responses: an agent with a tool, whole or streamed."""  # noqa: INP001 - a folder of programs, no package

from __future__ import annotations

import asyncio
import sys
from typing import Any

from pydantic_ai import Agent
from pydantic_ai.models.openai import OpenAIChatModel, OpenAIResponsesModel
from talk import MODEL, look_up, talk

KIND = OpenAIResponsesModel if "responses" in sys.argv else OpenAIChatModel
AGENT = Agent(KIND(MODEL), tools=[look_up])
LOOP = asyncio.new_event_loop()
history: list[Any] = []


async def _turn(prompt: str) -> str:
    if "stream" in sys.argv:
        async with AGENT.run_stream(prompt, message_history=history or None) as streamed:
            text = await streamed.get_output()
            history[:] = streamed.all_messages()
            return str(text)
    result = await AGENT.run(prompt, message_history=history or None)
    history[:] = result.all_messages()
    return str(result.output)


talk(lambda prompt: LOOP.run_until_complete(_turn(prompt)))
