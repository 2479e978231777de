"""Haystack: its generator of chats, with an agent for tools."""

from asked import *
from haystack.components.agents import Agent
from haystack.components.generators.chat import OpenAIChatGenerator
from haystack.dataclasses import ChatMessage
from haystack.tools import create_tool_from_function
from haystack.utils import Secret


def generator(**more):
    return OpenAIChatGenerator(
        model=MODEL, api_base_url=URL, api_key=Secret.from_token(KEY), **{"max_retries": 0, **more}
    )


def ask(text, **more):
    return generator(**more).run(messages=[ChatMessage.from_user(text)])["replies"][0].text


def stream():
    pieces = []
    ask(HELLO, streaming_callback=lambda chunk: pieces.append(chunk.content) if chunk.content else None)
    return pieces


def tool():
    made = create_tool_from_function(get_weather)
    agent = Agent(chat_generator=generator(), tools=[made])
    return agent.run(messages=[ChatMessage.from_user(WEATHER)])["messages"][-1].text


main(
    text=lambda: ask(HELLO),
    stream=stream,
    tool=tool,
    structured=lambda: event(ask(EVENT, generation_kwargs={"response_format": Event})),
    error=lambda: ask(REFUSED),
    retry=lambda: ask(FLAKY, max_retries=2),
)
