"""AutoGen: its client of OpenAI's, with an agent for tools."""

from asked import *
from autogen_agentchat.agents import AssistantAgent
from autogen_core.models import ModelFamily, UserMessage
from autogen_ext.models.openai import OpenAIChatCompletionClient

INFO = {
    "vision": False,
    "function_calling": True,
    "json_output": True,
    "structured_output": True,
    "family": ModelFamily.UNKNOWN,
}


def client(retries=0):
    return OpenAIChatCompletionClient(model=MODEL, base_url=URL, api_key=KEY, model_info=INFO, max_retries=retries)


async def ask(text, retries=0, **more):
    return (await client(retries).create([UserMessage(content=text, source="user")], **more)).content


async def stream():
    pieces = client().create_stream([UserMessage(content=HELLO, source="user")])
    return [one async for one in pieces if isinstance(one, str)]


async def tool():
    agent = AssistantAgent("tester", client(), tools=[get_weather], reflect_on_tool_use=True)
    return (await agent.run(task=WEATHER)).messages[-1].content


async def structured():
    return event(await ask(EVENT, json_output=Event))


main(
    text=lambda: ask(HELLO),
    stream=stream,
    tool=tool,
    structured=structured,
    error=lambda: ask(REFUSED),
    retry=lambda: ask(FLAKY, 2),
)
