"""LlamaIndex: its model of anything like OpenAI's, with an agent for tools."""

from asked import *
from llama_index.core.agent.workflow import FunctionAgent
from llama_index.core.llms import ChatMessage
from llama_index.core.tools import FunctionTool
from llama_index.llms.openai_like import OpenAILike


def llm(**more):
    return OpenAILike(
        model=MODEL,
        api_base=URL,
        api_key=KEY,
        is_chat_model=True,
        is_function_calling_model=True,
        should_use_structured_outputs=True,
        **{"max_retries": 0, **more},
    )


def ask(text, **more):
    return llm(**more).chat([ChatMessage(role="user", content=text)]).message.content


async def tool():
    agent = FunctionAgent(tools=[FunctionTool.from_defaults(get_weather)], llm=llm())
    return str(await agent.run(WEATHER))


def structured():
    return event(llm().as_structured_llm(Event).chat([ChatMessage(role="user", content=EVENT)]).raw)


main(
    text=lambda: ask(HELLO),
    stream=lambda: [one.delta for one in llm().stream_chat([ChatMessage(role="user", content=HELLO)]) if one.delta],
    tool=tool,
    structured=structured,
    error=lambda: ask(REFUSED),
    retry=lambda: ask(FLAKY, max_retries=2),
)
