"""DSPy: its text protocol, a signature with fields, and an agent for tools."""

import dspy
from asked import *


def lm(**more):
    return dspy.LM(f"openai/{MODEL}", api_base=URL, api_key=KEY, cache=False, **{"num_retries": 0, **more})


class Extract(dspy.Signature):
    """Extract the event."""

    text: str = dspy.InputField()
    event: Event = dspy.OutputField()


def tool():
    with dspy.context(lm=lm()):
        found = dspy.ReAct("question -> answer", tools=[get_weather], max_iters=2)(question="How warm is it in Bern?")
    return found.answer


def stream():
    async def go():
        with dspy.context(lm=lm()):
            listener = [dspy.streaming.StreamListener(signature_field_name="answer")]
            pieces = dspy.streamify(dspy.Predict("question -> answer"), stream_listeners=listener)(
                question="Who are you?"
            )
            return [one.chunk async for one in pieces if hasattr(one, "chunk") and one.chunk]

    return go()


def structured():
    with dspy.context(lm=lm()):
        return event(dspy.Predict(Extract)(text=EVENT).event)


main(
    text=lambda: lm()(HELLO)[0],
    stream=stream,
    tool=tool,
    structured=structured,
    error=lambda: lm()(REFUSED),
    retry=lambda: lm(num_retries=2)(FLAKY)[0],
)
