"""openai, chat completions."""

from asked import *
from openai import OpenAI

client = OpenAI(max_retries=0)


def ask(text, client=client, **more):
    return client.chat.completions.create(model=MODEL, messages=[{"role": "user", "content": text}], **more)


def stream():
    return [
        one.choices[0].delta.content for one in ask(HELLO, stream=True) if one.choices and one.choices[0].delta.content
    ]


def tool():
    call = ask(WEATHER, tools=[TOOL]).choices[0].message
    asked = call.tool_calls[0]
    result = {"role": "tool", "tool_call_id": asked.id, "content": get_weather(**json.loads(asked.function.arguments))}
    messages = [{"role": "user", "content": WEATHER}, call, result]
    return client.chat.completions.create(model=MODEL, messages=messages, tools=[TOOL]).choices[0].message.content


main(
    text=lambda: ask(HELLO).choices[0].message.content,
    stream=stream,
    tool=tool,
    structured=lambda: event(
        client.chat.completions.parse(model=MODEL, messages=[{"role": "user", "content": EVENT}], response_format=Event)
        .choices[0]
        .message.parsed
    ),
    error=lambda: ask(REFUSED),
    retry=lambda: ask(FLAKY, client.with_options(max_retries=2)).choices[0].message.content,
)
