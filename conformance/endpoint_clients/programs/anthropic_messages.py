"""anthropic, Messages."""

from anthropic import Anthropic
from asked import *

client = Anthropic(base_url=URL.removesuffix("/v1"), api_key=KEY, max_retries=0)
TOOLS = [{"name": "get_weather", "description": "Get the weather.", "input_schema": SCHEMA}]


def ask(said, client=client, **more):
    messages = [{"role": "user", "content": said}] if isinstance(said, str) else said
    return client.messages.create(model=MODEL, max_tokens=100, messages=messages, **more)


def stream():
    asked = {"model": MODEL, "max_tokens": 100, "messages": [{"role": "user", "content": HELLO}]}
    with client.messages.stream(**asked) as found:
        return list(found.text_stream)


def tool():
    first = ask(WEATHER, tools=TOOLS)
    call = first.content[-1]
    result = {"type": "tool_result", "tool_use_id": call.id, "content": get_weather(**call.input)}
    said = [{"role": "user", "content": WEATHER}, {"role": "assistant", "content": first.content}]
    return ask([*said, {"role": "user", "content": [result]}], tools=TOOLS).content[0].text


def structured():
    tools = [{"name": "event", "description": "Note an event.", "input_schema": Event.model_json_schema()}]
    return event(ask(EVENT, tools=tools, tool_choice={"type": "tool", "name": "event"}).content[0].input)


main(
    text=lambda: ask(HELLO).content[0].text,
    stream=stream,
    tool=tool,
    structured=structured,
    error=lambda: ask(REFUSED),
    retry=lambda: ask(FLAKY, client.with_options(max_retries=2)).content[0].text,
)
