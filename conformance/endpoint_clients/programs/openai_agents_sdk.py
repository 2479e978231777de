"""The Agents SDK of OpenAI, on Responses."""

from agents import Agent, OpenAIResponsesModel, Runner, function_tool, set_tracing_disabled
from asked import *
from openai import AsyncOpenAI

set_tracing_disabled(True)


def run(text, retries=0, **more):
    model = OpenAIResponsesModel(MODEL, AsyncOpenAI(max_retries=retries))
    return Runner.run_sync(Agent("tester", model=model, **more), text).final_output


async def stream():
    model = OpenAIResponsesModel(MODEL, AsyncOpenAI(max_retries=0))
    events = Runner.run_streamed(Agent("tester", model=model), HELLO).stream_events()
    raw = [one.data async for one in events if one.type == "raw_response_event"]
    return [one.delta for one in raw if one.type == "response.output_text.delta"]


main(
    text=lambda: run(HELLO),
    stream=stream,
    tool=lambda: run(WEATHER, tools=[function_tool(get_weather)]),
    structured=lambda: event(run(EVENT, output_type=Event)),
    error=lambda: run(REFUSED),
    retry=lambda: run(FLAKY, 2),
)
