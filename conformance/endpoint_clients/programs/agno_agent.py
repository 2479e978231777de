"""Agno: an agent on its model of anything like OpenAI's."""

from agno.agent import Agent
from agno.models.openai.like import OpenAILike
from asked import *


def agent(tools=(), retries=0, **more):
    model = OpenAILike(id=MODEL, base_url=URL, api_key=KEY, max_retries=retries)
    return Agent(model=model, tools=list(tools), telemetry=False, **more)


main(
    text=lambda: agent().run(HELLO).content,
    stream=lambda: [one.content for one in agent().run(HELLO, stream=True) if getattr(one, "content", None)],
    tool=lambda: agent([get_weather]).run(WEATHER).content,
    structured=lambda: event(agent(output_schema=Event).run(EVENT).content),
    error=lambda: agent().run(REFUSED).status.value,
    retry=lambda: agent(retries=2).run(FLAKY).content,
)
