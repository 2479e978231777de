"""Pydantic AI: an agent on chat."""

from asked import *
from openai import AsyncOpenAI
from pydantic_ai import Agent
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.openai import OpenAIProvider


def agent(retries=0, **more):
    client = AsyncOpenAI(max_retries=retries)
    return Agent(OpenAIChatModel(MODEL, provider=OpenAIProvider(openai_client=client)), **more)


async def stream():
    async with agent().run_stream(HELLO) as found:
        return [one async for one in found.stream_text(delta=True, debounce_by=None)]


main(
    text=lambda: agent().run_sync(HELLO).output,
    stream=stream,
    tool=lambda: agent(tools=[get_weather]).run_sync(WEATHER).output,
    structured=lambda: event(agent(output_type=Event).run_sync(EVENT).output),
    error=lambda: agent().run_sync(REFUSED),
    retry=lambda: agent(2).run_sync(FLAKY).output,
)
