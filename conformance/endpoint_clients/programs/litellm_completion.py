"""LiteLLM's `completion`."""

import os

os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"

import litellm
from asked import *

litellm.telemetry, litellm.suppress_debug_info = False, True


def ask(messages, **more):
    said = [{"role": "user", "content": messages}] if isinstance(messages, str) else messages
    asked = {"model": f"openai/{MODEL}", "api_base": URL, "api_key": KEY, "num_retries": 0, "max_retries": 0, **more}
    return litellm.completion(messages=said, **asked)


def tool():
    first = ask(WEATHER, tools=[TOOL]).choices[0].message
    call = first.tool_calls[0]
    result = {"role": "tool", "tool_call_id": call.id, "content": get_weather(**json.loads(call.function.arguments))}
    return ask([{"role": "user", "content": WEATHER}, first, result], tools=[TOOL]).choices[0].message.content


main(
    text=lambda: ask(HELLO).choices[0].message.content,
    stream=lambda: [text for one in ask(HELLO, stream=True) if (text := one.choices[0].delta.content)],
    tool=tool,
    structured=lambda: event(ask(EVENT, response_format=Event).choices[0].message.content),
    error=lambda: ask(REFUSED),
    retry=lambda: ask(FLAKY, num_retries=2).choices[0].message.content,
)
