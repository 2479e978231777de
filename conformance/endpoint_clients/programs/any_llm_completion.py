"""any-llm's `completion`."""

from any_llm import completion
from asked import *


def ask(messages, **more):
    said = [{"role": "user", "content": messages}] if isinstance(messages, str) else messages
    return completion(model=MODEL, provider="openai", messages=said, api_base=URL, api_key=KEY, **more)


def tool():
    first = ask(WEATHER, tools=[TOOL]).choices[0].message
    call = first.tool_calls[0]
    result = {"role": "tool", "tool_call_id": call.id, "content": get_weather(**json.loads(call.function.arguments))}
    return (
        ask([{"role": "user", "content": WEATHER}, first.model_dump(exclude_none=True), result], tools=[TOOL])
        .choices[0]
        .message.content
    )


main(
    text=lambda: ask(HELLO).choices[0].message.content,
    stream=lambda: [text for one in ask(HELLO, stream=True) if one.choices and (text := one.choices[0].delta.content)],
    tool=tool,
    structured=lambda: event(ask(EVENT, response_format=Event).choices[0].message.content),
    error=lambda: ask(REFUSED),
    retry=lambda: ask(FLAKY).choices[0].message.content,
)
