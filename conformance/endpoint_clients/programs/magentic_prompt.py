"""magentic: chats of its model of OpenAI's."""

from asked import *
from magentic import Chat, FunctionCall, OpenaiChatModel, StreamedStr, UserMessage


def chat(text, **more):
    return Chat([UserMessage(text)], model=OpenaiChatModel(MODEL, base_url=URL, api_key=KEY), **more).submit()


def tool():
    asked = chat(WEATHER, functions=[get_weather], output_types=[str, FunctionCall])
    return asked.exec_function_call().submit().last_message.content


main(
    text=lambda: chat(HELLO).last_message.content,
    stream=lambda: list(chat(HELLO, output_types=[StreamedStr]).last_message.content),
    tool=tool,
    structured=lambda: event(chat(EVENT, output_types=[Event]).last_message.content),
    error=lambda: chat(REFUSED),
    retry=lambda: chat(FLAKY).last_message.content,
)
