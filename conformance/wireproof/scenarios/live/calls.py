"""Prompts that ask for calls of tools, and requests that force or forbid them."""

import json
from typing import Any

from wireproof.model.asks import Anything, AskCall, AskCalls, AskSay
from wireproof.model.scenario import ConversationScenario, JsonObject, Turn
from wireproof.requests.conversation import REQUIRED
from wireproof.scenarios.live.prompts import BOTH, CALLS, SHORT, TEXT, calling
from wireproof.scenarios.live.tools import GET_TIME, GET_WEATHER, SAVE_NOTE

NOTE: JsonObject = {"title": 'Über "naïve" 日本', "text": "first line\nC:\\new <b> 🙂", "pages": 3}
PARIS: JsonObject = {"city": "Paris"}
OSLO: JsonObject = {"city": "Oslo", "hours": 24}
NUMBER = "note-58213"
# Long, as LONG_SYSTEM is: what of it reached the model shows in the tokens of the prompt.
RESULT = (
    f"The note was saved under the number {NUMBER} in the folder of travel notes, which now holds seventeen notes in"
    " all; the oldest of them was written in the spring, the newest one just now, and none of them has been shared"
    " with any other person. It can be read, changed or thrown away at any time by the one who wrote it. Notes that"
    " nobody has opened for a year are moved to the cellar, where they are kept dry, in the order of their numbers,"
    " until somebody asks for them again. Please keep the number at hand, since it is the only way to find the note"
    " among all the others that are stored here."
)
ASKED = "Reply with exactly the number of the saved note, as the tool reported it, and nothing else."


def _json(arguments: JsonObject) -> str:
    return json.dumps(arguments, ensure_ascii=False)


def _after_call(result: Any) -> tuple[JsonObject, ...]:  # noqa: ANN401 (the content of a message)
    """A history with a call and its result."""
    call = {
        "id": "call_wireproof1",
        "type": "function",
        "function": {"name": "save_note", "arguments": _json(NOTE)},
    }
    return (
        {"role": "user", "content": "Save the note."},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "call_wireproof1", "content": result},
    )


TOOL_CALLS: tuple[ConversationScenario, ...] = (
    ConversationScenario(
        name="live-call",
        title="A model calls a tool with exact arguments, and goes on after its result",
        tools=(SAVE_NOTE, GET_WEATHER),
        turns=(
            Turn(
                say=calling("save_note", _json(NOTE)), asks=AskCalls(calls=(AskCall(name="save_note", arguments=NOTE),))
            ),
            Turn(results={"save_note": RESULT}, say=ASKED, asks=AskSay(text=NUMBER)),
        ),
        usage=True,
        cap=2 * SHORT,
        dialects=BOTH,
        exercises=(*CALLS, "chat.stream.parity", "responses.parity", "turn.tool-result", "turn.calls-declared"),
    ),
    ConversationScenario(
        name="live-calls-two",
        title="A model calls two tools in one answer",
        tools=(GET_WEATHER, GET_TIME),
        body={"parallel_tool_calls": True},
        turns=(
            Turn(
                say=f"Call two tools at the same time, in one answer: get_weather with {_json(PARIS)} and get_time with"
                f" {_json(OSLO)}",
                asks=AskCalls(
                    calls=(AskCall(name="get_weather", arguments=PARIS), AskCall(name="get_time", arguments=OSLO)),
                ),
            ),
        ),
        usage=True,
        cap=2 * SHORT,
        dialects=BOTH,
        exercises=("chat.stream.burst-all", *CALLS, "turn.calls-declared"),
    ),
    ConversationScenario(
        name="live-follow-up-without-tools",
        title="A request brings a tool's result and declares no tools",
        history=_after_call(RESULT),
        turns=(Turn(say=ASKED, asks=AskSay(text=NUMBER)),),
        usage=True,
        cap=SHORT,
        dialects=BOTH,
        exercises=("turn.follow-up-without-tools", *TEXT),
    ),
    ConversationScenario(
        name="live-choice-required",
        title="A request asks for a call of any tool",
        tools=(GET_WEATHER, GET_TIME),
        tool_choice=REQUIRED,
        turns=(Turn(say="Hello! I am in Lisbon.", asks=AskCalls(calls=(AskCall(),))),),
        usage=True,
        cap=2 * SHORT,
        dialects=BOTH,
        exercises=("turn.tool-choice-forced", *CALLS, "turn.calls-declared"),
    ),
    ConversationScenario(
        name="live-choice-named",
        title="A request asks for a call of one of its tools, and the prompt for another",
        tools=(GET_WEATHER, GET_TIME),
        tool_choice="get_time",
        turns=(Turn(say="How is the weather in Lisbon?", asks=AskCalls(calls=(AskCall(name="get_time"),))),),
        cap=2 * SHORT,
        dialects=BOTH,
        exercises=("turn.tool-choice-forced", *CALLS, "turn.calls-declared"),
    ),
    ConversationScenario(
        name="live-choice-none",
        title="A request forbids calls, and the prompt asks for one",
        tools=(GET_WEATHER,),
        body={"tool_choice": "none"},
        turns=(Turn(say=calling("get_weather", _json(PARIS)), asks=Anything()),),
        usage=True,
        cap=SHORT,
        dialects=BOTH,
        exercises=("turn.tool-choice-none", *TEXT),
    ),
)
