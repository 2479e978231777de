"""llm, as a library: a model of anything like OpenAI's."""

from asked import *
from llm.default_plugins.openai_models import Chat

model = Chat(MODEL, model_name=MODEL, api_base=URL, supports_schema=True, supports_tools=True)
model.key = KEY

main(
    text=lambda: model.prompt(HELLO, stream=False).text(),
    stream=lambda: [one for one in model.prompt(HELLO) if one],
    tool=lambda: model.chain(WEATHER, tools=[get_weather], stream=False).text(),
    structured=lambda: event(model.prompt(EVENT, schema=Event, stream=False).text()),
    error=lambda: model.prompt(REFUSED, stream=False).text(),
    retry=lambda: model.prompt(FLAKY, stream=False).text(),
)
