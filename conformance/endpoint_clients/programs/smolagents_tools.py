"""smolagents: an agent that calls tools, and its model of OpenAI's."""

from asked import *
from smolagents import OpenAIServerModel, ToolCallingAgent
from smolagents import tool as as_tool


def model(**more):
    return OpenAIServerModel(MODEL, api_base=URL, api_key=KEY, client_kwargs={"max_retries": 0, **more})


def ask(text, **more):
    return model(**more).generate([{"role": "user", "content": text}]).content


def stream():
    said = [{"role": "user", "content": HELLO}]
    return [one.content for one in model().generate_stream(said) if one.content]


def tool():
    agent = ToolCallingAgent(tools=[as_tool(get_weather)], model=model(), verbosity_level=0, max_steps=4)
    return agent.run(WEATHER)


def structured():
    format_ = {"type": "json_schema", "json_schema": {"name": "event", "schema": Event.model_json_schema()}}
    return event(model().generate([{"role": "user", "content": EVENT}], response_format=format_).content)


main(
    text=lambda: ask(HELLO),
    stream=stream,
    tool=tool,
    structured=structured,
    error=lambda: ask(REFUSED),
    retry=lambda: ask(FLAKY, max_retries=2),
)
