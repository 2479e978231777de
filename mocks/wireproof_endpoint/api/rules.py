"""What OpenAI's API refuses of a request that the reference proxy takes, with its codes and params. Pure.

The proxy passes a request on and leaves more to its backend; an endpoint that clients are developed with must be as
strict as what they will meet. What the API does and this endpoint does not is refused, too: it is never ignored.

Not pydantic: these rules go on where those of `wireproof_surfaces` end, and are made of the same parts. Its types of
errors would need a table for OpenAI's codes and words, and rules that span fields would still stand beside it.
"""

from __future__ import annotations

import json
import re
from functools import partial
from itertools import takewhile
from typing import TYPE_CHECKING, Any

from wireproof_endpoint.api import file_rules, tool_rules
from wireproof_endpoint.api.problems import (
    DECIMAL_ABOVE,
    DECIMAL_BELOW,
    EMPTY,
    INTEGER_ABOVE,
    INTEGER_BELOW,
    JSON_SCHEMA,
    LONG,
    MANY,
    NO_PREVIOUS,
    TEXT_LONG,
    TOGETHER,
    TYPE,
    UNCODED,
    UNSUPPORTED,
)
from wireproof_endpoint.api.schemas import needed
from wireproof_surfaces.conversation import AssistantCall, ToolResult
from wireproof_surfaces.errors import INVALID_PARAM, UNKNOWN_PREVIOUS, ApiError, Problem
from wireproof_surfaces.surfaces.declared_tools import check_name
from wireproof_surfaces.surfaces.responses_request import EFFORTS, SUMMARIES, VERBOSITIES
from wireproof_surfaces.surfaces.rules import Body, Rule, fault, where

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping

    from wireproof_surfaces.conversation import Conversation


TIERS = ("auto", "default", "flex", "scale", "priority", "fast", "ultrafast")
MOST_STOPS, MOST_TOOLS, MOST_ALTERNATIVES, MOST_METADATA = 4, 128, 20, 16
LONGEST_KEY, LONGEST_VALUE = 64, 512
INCLUDED = (
    "code_interpreter_call.outputs",
    "computer_call_output.output.image_url",
    "file_search_call.results",
    "message.input_image.image_url",
    "message.output_text.logprobs",
    "reasoning.encrypted_content",
    "web_search_call.action.sources",
    "web_search_call.results",
)
LEAST_OUTPUT = 16
BIAS = 100


Field = tuple[str, Rule]
"""A field of a body, and a rule about it."""


def table(*fields: Field) -> tuple[Rule, ...]:
    """The rules of these fields; of one that is absent they find nothing to say."""
    return tuple(where((name,), rule) for name, rule in fields)


Wrong = tuple[str, Problem] | None
"""What would be right, and the problem; None of a value that is right."""


def about(name: str, wrong: Callable[[Any], Wrong]) -> Field:
    """A rule about a value, in bodies that have it and where it is not null."""

    def rule(body: Body) -> None:
        value = body.get(name)
        if value is not None and (found := wrong(value)):
            raise fault(name, *found)

    return name, rule


def array(name: str, *, least: int = 0, most: int) -> Field:
    """A list of at least `least` and at most `most`, if it is a list."""

    def wrong(value: object) -> Wrong:
        size = len(value) if isinstance(value, list) else least
        if size < least:
            return "absent or a list that is not empty", EMPTY
        return (f"a list of at most {most}", LONG) if size > most else None

    return about(name, wrong)


def decimal(name: str, low: float, high: float) -> Field:
    """A number in a range."""
    return about(name, partial(_outside, low, high))


def _outside(low: float, high: float, value: object) -> Wrong:
    right = f"a number from {low:g} to {high:g}"
    if isinstance(value, bool) or not isinstance(value, int | float):
        return right, TYPE
    return None if low <= value <= high else (right, DECIMAL_BELOW if value < low else DECIMAL_ABOVE)


def integer(name: str, low: float, high: float) -> Field:
    """A whole number in a range."""

    def wrong(value: object) -> Wrong:
        if isinstance(value, bool) or not isinstance(value, int):
            return "an integer", TYPE
        if value < low:
            return f"an integer, {low:g} or more", INTEGER_BELOW
        return (f"an integer, at most {high:g}", INTEGER_ABOVE) if value > high else None

    return about(name, wrong)


def typed(name: str, right: str, *types: type) -> Field:
    """A value of one of these types."""
    return about(name, lambda value: None if isinstance(value, types) else (right, TYPE))


def boolean(name: str) -> Field:
    """True or false."""
    return typed(name, "true or false", bool)


def mapping(name: str) -> Field:
    """An object."""
    return typed(name, "an object", dict)


def text(name: str) -> Field:
    """A string."""
    return typed(name, "a string", str)


def word(*path: str, words: Collection[str]) -> Field:
    """One of some words, in an object or at the root."""

    def rule(body: Body) -> None:
        value: Any = body
        for name in path:
            value = value.get(name) if isinstance(value, dict) else None
        if value is not None and value not in tuple(words):
            problem = INVALID_PARAM if isinstance(value, str) else TYPE
            raise fault(".".join(path), f"one of {', '.join(words)}", problem)

    return path[0], rule


def not_served(name: str, right: str, served: object = None) -> Field:
    """What the API has and this endpoint does not: anything but `served`."""
    return about(name, lambda value: None if value == served else (right, UNSUPPORTED))


def only_with(name: str, *others: str) -> Field:
    """A field that needs one of others."""

    def rule(body: Body) -> None:
        if body.get(name) is not None and not any(body.get(other) for other in others):
            raise fault(name, f"absent where there is no `{others[0]}`", UNCODED)

    return name, rule


# Chat


def _stop(stop: object) -> Wrong:
    texts = stop if isinstance(stop, list) else [stop]
    right = all(isinstance(text, str) for text in texts)
    return None if right else (f"a string or a list of at most {MOST_STOPS} strings", TYPE)


def _one_length(body: Body) -> None:
    if body.get("max_tokens") is not None and body.get("max_completion_tokens") is not None:
        raise fault("max_tokens", "absent beside `max_completion_tokens`", TOGETHER)


# A rule of its type stands before each of these three.
def _bias(body: Body) -> None:
    for token, value in (body.get("logit_bias") or {}).items():
        if value is not None and (found := _outside(-BIAS, BIAS, value)):
            raise fault(f"logit_bias.{token}", *found)


def _include(body: Body) -> None:
    for index, name in enumerate(body.get("include") or []):
        if name not in INCLUDED:
            raise fault(f"include[{index}]", f"one of {', '.join(INCLUDED)}")


def _metadata(body: Body) -> None:
    metadata = body.get("metadata") or {}
    if len(metadata) > MOST_METADATA:
        raise fault("metadata", f"an object with at most {MOST_METADATA} properties", MANY)
    for name, value in metadata.items():
        if len(name) > LONGEST_KEY:
            raise fault("metadata", f"an object with keys of at most {LONGEST_KEY} characters", TEXT_LONG)
        if not isinstance(value, str) or len(value) > LONGEST_VALUE:
            problem = TEXT_LONG if isinstance(value, str) else TYPE
            raise fault(f"metadata.{name}", f"a string of at most {LONGEST_VALUE} characters", problem)


def _results(body: Body) -> None:
    """Every call of an assistant's message is answered by the messages that follow it at once."""
    messages = body["messages"]
    for index, message in enumerate(messages):
        calls = message.get("tool_calls") if message["role"] == "assistant" else None
        if calls == []:
            raise fault(f"messages[{index}].tool_calls", "absent or a list that is not empty", EMPTY)
        if not calls:
            continue
        results = list(takewhile(lambda behind: behind["role"] == "tool", messages[index + 1 :]))
        answered = {result["tool_call_id"] for result in results}
        if lost := [call["id"] for call in calls if call["id"] not in answered]:
            # The service's own spelling, with a dot.
            place = f"messages.[{min(index + 1 + len(results), len(messages) - 1)}].role"
            raise fault(place, f"tool, with a result: the calls {', '.join(lost)} have none", UNCODED)


def _format(body: Body) -> None:
    match body.get("response_format"):
        case {"type": "json_object"} if not _says_json(body["messages"]):
            raise fault("messages", "with the word json in some message, to ask for a json_object", UNCODED)
        case {"type": "json_schema", "json_schema": dict(asked)}:
            _schema(asked, "response_format.json_schema.name", "response_format", UNCODED)


def _schema(asked: Mapping[str, Any], name: str, place: str, problem: Problem) -> None:
    check_name(asked["name"], name)
    if asked.get("strict") is True and (short := needed(asked.get("schema"))):
        raise fault(place, f"a strict schema, with {short}", problem)


def _says_json(said: object) -> bool:
    return "json" in json.dumps(said).casefold()


# OpenAI's pattern for the name of a participant.
_PARTICIPANT = re.compile(r"[^\s<|\\/>]+")


def _names(body: Body) -> None:
    """Names of participants, and of the functions that were called before."""
    for index, message in enumerate(body["messages"]):
        name = message.get("name")
        if isinstance(name, str) and not _PARTICIPANT.fullmatch(name):
            raise fault(f"messages[{index}].name", r"without blanks and without `<`, `|`, `\`, `/`, `>`")
        calls = message.get("tool_calls") if message["role"] == "assistant" else None
        for number, call in enumerate(calls or ()):
            if isinstance(function := call.get("function"), dict) and "name" in function:
                check_name(function["name"], f"messages[{index}].tool_calls[{number}].function.name")


def _called(body: Body) -> None:
    """Names of the functions that were called before, in Responses."""
    for index, item in enumerate(body["input"] if isinstance(body["input"], list) else []):
        if item.get("type") == "function_call":
            check_name(item["name"], f"input[{index}].name")


_EITHER = (
    boolean("store"),
    mapping("metadata"),
    ("metadata", _metadata),
    word("service_tier", words=TIERS),
    text("user"),
    text("safety_identifier"),
    text("prompt_cache_key"),
)
"""The fields that both surfaces have."""

CHAT = table(
    *_EITHER,
    ("messages", file_rules.chat),
    ("messages", _names),
    ("messages", _results),
    decimal("frequency_penalty", -2, 2),
    decimal("presence_penalty", -2, 2),
    ("max_tokens", _one_length),
    about("stop", _stop),
    array("stop", most=MOST_STOPS),
    integer("seed", -(2**63), 2**63 - 1),
    boolean("logprobs"),
    integer("top_logprobs", 0, MOST_ALTERNATIVES),
    only_with("top_logprobs", "logprobs"),
    mapping("logit_bias"),
    ("logit_bias", _bias),
    # An empty list counts as none, here and in Responses; of the legacy field it does not.
    array("tools", most=MOST_TOOLS),
    array("functions", least=1, most=MOST_TOOLS),
    ("tools", tool_rules.tools),
    ("functions", tool_rules.functions),
    only_with("parallel_tool_calls", "tools", "functions"),
    ("response_format", _format),
    word("reasoning_effort", words=EFFORTS),
    word("verbosity", words=VERBOSITIES),
    mapping("prediction"),
    mapping("web_search_options"),
    not_served("modalities", '["text"]: nothing is spoken here', served=["text"]),
    not_served("audio", "absent: nothing is spoken here"),
)

# Responses


def _text_format(body: Body) -> None:
    match body.get("text"):
        case {"format": {"type": "json_object"}} if not _says_json([body["input"], body.get("instructions")]):
            raise fault("input", "with the word json in some message, to ask for a json_object", UNCODED)
        case {"format": {"type": "json_schema"} as asked}:
            _schema(asked, "text.format.name", "text.format.schema", JSON_SCHEMA)


RESPONSES = table(
    *_EITHER,
    integer("max_output_tokens", LEAST_OUTPUT, float("inf")),
    integer("top_logprobs", 0, MOST_ALTERNATIVES),
    array("tools", most=MOST_TOOLS),
    ("tools", tool_rules.tools),
    ("text", _text_format),
    ("input", file_rules.responses),
    ("input", _called),
    typed("include", "a list", list),
    ("include", _include),
    integer("max_tool_calls", float("-inf"), float("inf")),
    mapping("reasoning"),
    word("reasoning", "effort", words=EFFORTS),
    word("reasoning", "summary", words=SUMMARIES),
    word("text", "verbosity", words=VERBOSITIES),
    word("truncation", words=("auto", "disabled")),
    not_served("background", "false: nothing is answered in the background here", served=False),
    not_served("prompt", "absent: no prompts are stored here"),
)


RESPONSES_FLAT = (*table(("tools", tool_rules.flat)), *RESPONSES)
"""The same with what the contract of proxies allows, and OpenAI refuses."""


def check_answered(conversation: Conversation) -> None:
    """The fault of a response's conversation, with all that came before it: a call that has no result."""
    answered = {item.id for item in conversation.history if isinstance(item, ToolResult)}
    for item in conversation.history:
        if isinstance(item, AssistantCall) and item.id not in answered:
            raise fault("input", f"with an output of the function call {item.id}", UNCODED)


_REFUSED = (
    *_EITHER,
    text("model"),
    typed("messages", "a list", list),
    array("messages", least=1, most=2048),
    typed("input", "a string or a list", str, list),
    text("instructions"),
    text("previous_response_id"),
    typed("tools", "a list", list),
    typed("functions", "a list", list),
    typed("tool_choice", "a string or an object", str, dict),
    typed("function_call", "a string or an object", str, dict),
    mapping("response_format"),
    mapping("text"),
    mapping("stream_options"),
    integer("n", 1, 128),
    decimal("temperature", 0, 2),
    decimal("top_p", 0, 1),
    integer("max_tokens", 1, float("inf")),
    integer("max_completion_tokens", 1, float("inf")),
    integer("max_output_tokens", LEAST_OUTPUT, float("inf")),
    boolean("stream"),
    boolean("parallel_tool_calls"),
)
"""What the proxy refuses itself, with one code for all that is wrong."""


def coded(error: ApiError, body: Body) -> ApiError:
    """The proxy's refusal of a body, with the code that the service has for it."""
    if error.problem is UNKNOWN_PREVIOUS:
        return ApiError(NO_PREVIOUS, error.message, error.param)
    if error.problem is not INVALID_PARAM:
        return error
    try:
        for name, rule in _REFUSED:
            if name == error.param:
                rule(body)
    except ApiError as found:
        return ApiError(found.problem, error.message, error.param)
    return error
