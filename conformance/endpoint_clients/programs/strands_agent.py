"""Strands Agents: an agent on its model of OpenAI's."""

from asked import *
from strands import Agent
from strands import tool as as_tool
from strands.models.openai import OpenAIModel


def agent(retries=0, **more):
    model = OpenAIModel(client_args={"api_key": KEY, "base_url": URL, "max_retries": retries}, model_id=MODEL)
    return Agent(model=model, callback_handler=None, **more)


def said(result):
    return "".join(part["text"] for part in result.message["content"] if "text" in part)


async def stream():
    return [one["data"] async for one in agent().stream_async(HELLO) if "data" in one]


main(
    text=lambda: said(agent()(HELLO)),
    stream=stream,
    tool=lambda: said(agent(tools=[as_tool(get_weather)])(WEATHER)),
    structured=lambda: event(agent().structured_output(Event, EVENT)),
    error=lambda: agent()(REFUSED),
    retry=lambda: said(agent(2)(FLAKY)),
)
