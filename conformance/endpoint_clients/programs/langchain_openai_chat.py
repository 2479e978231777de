"""LangChain: ChatOpenAI, with a tool bound to it."""

from asked import *
from langchain_core.messages import HumanMessage, ToolMessage
from langchain_openai import ChatOpenAI


def model(retries=0):
    return ChatOpenAI(model=MODEL, base_url=URL, api_key=KEY, max_retries=retries, use_responses_api=False)


def tool():
    bound = model().bind_tools([get_weather])
    messages = [HumanMessage(WEATHER), bound.invoke(WEATHER)]
    call = messages[1].tool_calls[0]
    messages.append(ToolMessage(get_weather(**call["args"]), tool_call_id=call["id"]))
    return bound.invoke(messages).content


main(
    text=lambda: model().invoke(HELLO).content,
    stream=lambda: [one.content for one in model().stream(HELLO) if one.content],
    tool=tool,
    structured=lambda: event(model().with_structured_output(Event).invoke(EVENT)),
    error=lambda: model().invoke(REFUSED),
    retry=lambda: model(2).invoke(FLAKY).content,
)
