"""Prompts that ask for calls of tools, requests that force or forbid them, and one for an answer in a JSON schema."""

import json
from functools import partial
from typing import Any

from wireproof.model.asks import Anything, AskCall, AskCalls, AskSay, Fits
from wireproof.model.scenario import REQUIRED, ConversationScenario, JsonObject, Mode, Turn
from wireproof.scenarios.live.prompts import BOTH, CALLS, CALLS_OF_MESSAGES, CHAT, EACH, SHORT, TEXT, calling
from wireproof.scenarios.tools import TEXT as STRING
from wireproof.scenarios.tools import called


def _strict(name: str, description: str, **properties: JsonObject) -> JsonObject:
    """A tool whose schema is strict, so that arguments can be held against it."""
    parameters: dict[str, Any] = {
        "type": "object",
        "properties": properties,
        # A strict schema names every property here and allows no other.
        "required": list(properties),
        "additionalProperties": False,
    }
    function = {"name": name, "description": description, "parameters": parameters, "strict": True}
    return {"type": "function", "function": function}


SAVE_NOTE = _strict("save_note", "Save a note", title=STRING, text=STRING, pages={"type": "integer"})
GET_WEATHER = _strict("get_weather", "The weather of a city", city=STRING)
LIST_NOTES: JsonObject = {"type": "function", "function": {"name": "list_notes", "description": "All notes"}}
GET_TIME = _strict("get_time", "The time in a city", city=STRING, hours={"type": "integer", "enum": [12, 24]})

PERSON: JsonObject = {
    "type": "object",
    "properties": {
        "name": {"type": "string"},
        "born": {"type": "integer"},
        "fields": {"type": "array", "items": {"type": "string", "enum": ["mathematics", "poetry", "law"]}},
    },
    "required": ["name", "born", "fields"],
    "additionalProperties": False,
}
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
AGAIN: JsonObject = {"title": NUMBER, "text": "again", "pages": 1}
ASKED = "Reply with exactly the number of the saved note, as the tool reported it, and nothing else."


def _json(arguments: JsonObject) -> str:
    return json.dumps(arguments, ensure_ascii=False)


_AFTER_CALLS: tuple[JsonObject, ...] = (
    {"role": "user", "content": "How is the weather in Paris? Save the note, too."},
    called(
        "I shall look.",
        ("call_wireproof1", "get_weather", _json(PARIS)),
        ("call_wireproof2", "save_note", _json(NOTE)),
    ),
    {"role": "tool", "tool_call_id": "call_wireproof1", "content": "Light rain, 11 degrees, wind from the west."},
    {"role": "tool", "tool_call_id": "call_wireproof2", "content": RESULT},
)
"""A history with a text, two calls, and their results."""
_asked = partial(ConversationScenario, usage=True, cap=2 * SHORT, dialects=BOTH)


TOOL_CALLS: tuple[ConversationScenario, ...] = (
    _asked(
        name="live-call",
        title="A model calls a tool with exact arguments, and again after its result and its own reasoning",
        tools=(SAVE_NOTE, GET_WEATHER),
        turns=(
            Turn(
                say=calling("save_note", _json(NOTE)), asks=AskCalls(calls=(AskCall(name="save_note", arguments=NOTE),))
            ),
            # A call again: agents keep the calls of a conversation by their ids.
            Turn(
                results={"save_note": RESULT},
                say="Call the tool save_note once more: its title is the number of the saved note, exactly as the tool"
                ' reported it, its text is "again", and its pages are 1.',
                asks=AskCalls(calls=(AskCall(name="save_note", arguments=AGAIN),)),
            ),
        ),
        dialects=EACH,
        exercises=(
            *CALLS,
            "chat.stream.parity",
            "responses.parity",
            "turn.tool-result",
            "turn.calls-declared",
            *CALLS_OF_MESSAGES,
        ),
    ),
    _asked(
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
        exercises=("chat.stream.burst-all", *CALLS, "turn.calls-declared"),
    ),
    _asked(
        name="live-follow-up-without-tools",
        title="A request brings two results of tools at once, behind a text, and declares no tools",
        history=_AFTER_CALLS,
        turns=(Turn(say=ASKED, asks=AskSay(text=NUMBER)),),
        cap=SHORT,
        modes=(Mode.WHOLE,),
        exercises=("turn.follow-up-without-tools", "chat.whole.text", "responses.whole.message"),
    ),
    _asked(
        name="live-choice-required",
        title="A request asks for a call of any tool",
        tools=(GET_WEATHER, GET_TIME),
        tool_choice=REQUIRED,
        turns=(Turn(say="Hello! I am in Lisbon.", asks=AskCalls(calls=(AskCall(),))),),
        exercises=("turn.tool-choice-forced", *CALLS, "turn.calls-declared"),
    ),
    _asked(
        name="live-choice-named",
        title="A request asks for a call of one of its tools, and the prompt for another",
        tools=(GET_WEATHER, GET_TIME),
        tool_choice="get_time",
        turns=(Turn(say="How is the weather in Lisbon?", asks=AskCalls(calls=(AskCall(name="get_time"),))),),
        exercises=("turn.tool-choice-forced", *CALLS, "turn.calls-declared"),
        usage=False,
    ),
    _asked(
        name="live-tool-bare",
        title="A request asks for a call of a tool that has no parameters",
        tools=(LIST_NOTES, GET_WEATHER),
        tool_choice="list_notes",
        turns=(Turn(say="Which notes are there?", asks=AskCalls(calls=(AskCall(name="list_notes"),))),),
        modes=(Mode.WHOLE,),
        dialects=CHAT,
        exercises=("turn.tool-choice-forced", *CALLS[:1], "turn.calls-declared"),
        usage=False,
    ),
    _asked(
        name="live-choice-none",
        title="A request forbids calls, and the prompt asks for one",
        tools=(GET_WEATHER,),
        body={"tool_choice": "none"},
        turns=(Turn(say=calling("get_weather", _json(PARIS)), asks=Anything()),),
        cap=SHORT,
        exercises=("turn.tool-choice-none", *TEXT),
    ),
    _asked(
        name="live-schema",
        title="An answer in a JSON schema, which the prompt does not mention",
        # Not in the prompt: a proxy that drops the schema gets prose from its model.
        turns=(Turn(say="Who was Ada Lovelace, born in 1815? Be brief.", asks=Fits(schema=PERSON)),),
        exercises=("turn.structured-output", *TEXT),
    ),
)
