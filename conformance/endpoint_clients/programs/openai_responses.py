"""openai, Responses."""

from asked import *
from openai import OpenAI

client = OpenAI(max_retries=0)
WEATHER_TOOL = {"type": "function", "strict": False, **TOOL["function"]}


def ask(given, client=client, **more):
    return client.responses.create(model=MODEL, input=given, **more)


def tool():
    first = ask(WEATHER, tools=[WEATHER_TOOL])
    [call] = first.output
    output = get_weather(**json.loads(call.arguments))
    result = {"type": "function_call_output", "call_id": call.call_id, "output": output}
    return ask([result], previous_response_id=first.id, tools=[WEATHER_TOOL]).output_text


main(
    text=lambda: ask(HELLO).output_text,
    stream=lambda: [one.delta for one in ask(HELLO, stream=True) if one.type == "response.output_text.delta"],
    tool=tool,
    structured=lambda: event(client.responses.parse(model=MODEL, input=EVENT, text_format=Event).output_parsed),
    error=lambda: ask(REFUSED),
    retry=lambda: ask(FLAKY, client.with_options(max_retries=2)).output_text,
)
