"""`openai-agents`: `Runner`, on chat or Responses, whole or streamed."""  # noqa: INP001 - a folder of programs, no package

from __future__ import annotations

import asyncio
import sys
from typing import Any

from agents import (
    Agent,
    OpenAIChatCompletionsModel,
    OpenAIResponsesModel,
    Runner,
    RunResult,
    RunResultStreaming,
    function_tool,
    set_tracing_disabled,
)
from openai import AsyncOpenAI
from talk import MODEL, look_up, talk

set_tracing_disabled(True)
KIND = OpenAIChatCompletionsModel if "chat" in sys.argv else OpenAIResponsesModel
AGENT = Agent(name="talker", tools=[function_tool(look_up)], model=KIND(model=MODEL, openai_client=AsyncOpenAI()))
LOOP = asyncio.new_event_loop()
items: list[Any] = []


async def _turn(prompt: str) -> str:
    asked = [*items, {"role": "user", "content": prompt}]
    result: RunResult | RunResultStreaming
    if "stream" in sys.argv:
        result = Runner.run_streamed(AGENT, asked)
        async for _ in result.stream_events():
            pass
    else:
        result = await Runner.run(AGENT, asked)
    items[:] = result.to_input_list()
    return str(result.final_output)


talk(lambda prompt: LOOP.run_until_complete(_turn(prompt)))
