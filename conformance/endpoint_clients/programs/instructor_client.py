"""instructor: structured output by tools, on openai's client."""

import instructor
from asked import *
from openai import OpenAI

plain = OpenAI(max_retries=0)


def ask(text, kind=str, retries=0):
    client = instructor.from_openai(plain.with_options(max_retries=retries))
    said = [{"role": "user", "content": text}]
    return client.chat.completions.create(model=MODEL, messages=said, response_model=kind, max_retries=0)


def retry():
    return event(ask("This is flaky. " + EVENT, Event, 2))


main(structured=lambda: event(ask(EVENT, Event)), error=lambda: ask(REFUSED, Event))
