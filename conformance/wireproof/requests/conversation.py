"""What the client sends: request bodies built from a scenario, and the history that grows with each answer.

The history is kept in the messages of chat completions, the richest spelling, and written for the surface of each
request. The marker begins the conversation's first user text, so the client resends it with every request.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from wireproof.model.asks import Fits
from wireproof.model.dialect import Surface
from wireproof.model.scenario import REQUIRED, ConversationScenario, Form, Mode, Turn
from wireproof.requests import messages_body
from wireproof.wire.fields import list_of, object_of, text_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from wireproof.reading.exchange import Exchange
    from wireproof.wire.events import Choice
    from wireproof.wire.fields import JsonObject

Message = dict[str, Any]
"""A message of chat completions, or any other JSON object of a request."""

MEMBERS = ("reasoning_content", "reasoning")
"""The members of a message, or of the deltas of a stream, in which servers send what a model has thought. OpenAI does
not publish them, and most servers of open models have them; in Responses it is an item before the text or the call."""
ITEMS = "reasoning_items"
"""The member of a kept message that has the items; no request of chat completions has it."""
_ITEM = "reasoning"


def marker(script: str, nonce: str) -> str:
    """The text in a user message by which the mock backend chooses its script and keeps conversations apart."""
    return f"[[wireproof:{script}#{nonce}]]"


@dataclass(frozen=True, kw_only=True, slots=True)
class PreparedTurn:
    """A request ready to be sent."""

    body: bytes
    """The JSON of its body."""
    messages: tuple[Message, ...]
    """The conversation in it, as messages of chat completions: what `remember` continues."""


def prepare(
    scenario: ConversationScenario, turn: Turn, *, form: Form, model: str, nonce: str, history: Sequence[Message]
) -> PreparedTurn:
    """The request of a turn. `history` is what `remember` returned for the turn before, () at first."""
    messages = _messages(scenario, turn, nonce, history)
    written = _WRITERS[form.dialect.spec.surface](scenario, form, messages)
    asked = {**scenario.added(turn), **written.options}
    if isinstance(turn.asks, Fits):
        asked |= _format(turn.asks, form.dialect.spec.surface)
    body = {"model": model, **written.conversation, **written.spelt(asked)}
    if form.mode is Mode.STREAM:
        body["stream"] = True
        body |= written.stream_options
    return PreparedTurn(
        body=json.dumps(body, ensure_ascii=False).encode(errors="backslashreplace"), messages=tuple(messages)
    )


@dataclass(frozen=True, kw_only=True, slots=True)
class _Written:
    """The members of a request that a surface spells in its own way."""

    conversation: Message
    """The history and the new message."""
    options: Message
    """The declared tools, and what else the scenario asks for."""
    stream_options: Message = field(default_factory=dict)
    """What a request for a stream has besides `stream`."""
    spelt: Callable[[Message], Message] = dict
    """Spells what the scenario asks for, in the names of chat completions, in those of the surface."""


def _chat(scenario: ConversationScenario, form: Form, messages: Sequence[Message]) -> _Written:
    """Chat completions: messages as they are kept, or with functions in their legacy spelling."""
    functions = form.dialect.spec.functions
    tools = {"functions": [tool["function"] for tool in scenario.tools]} if functions else {"tools": [*scenario.tools]}
    choices = {"n": scenario.choices} if scenario.choices > 1 else {}
    return _Written(
        conversation={"messages": [_as_legacy(one, messages) for one in messages] if functions else list(messages)},
        options=(tools if scenario.tools else {}) | choices | _options(scenario),
        stream_options={"stream_options": {"include_usage": True}} if scenario.usage else {},
    )


def _response(scenario: ConversationScenario, form: Form, messages: Sequence[Message]) -> _Written:
    """Responses: items instead of messages, flat tools. There are no choices, and a stream always has its usage."""
    del form  # its dialects share one spelling
    tools = [{"type": "function", **tool["function"]} for tool in scenario.tools]
    options = ({"tools": tools} if tools else {}) | _options(scenario, flat=True)
    return _Written(conversation={"input": list(_items(messages))}, options=options)


def _message(scenario: ConversationScenario, form: Form, messages: Sequence[Message]) -> _Written:
    """Messages: what the scenario asks for is written last, since one member of this surface says several of chat's."""
    del form  # its dialects share one spelling
    options = ({"tools": [*scenario.tools]} if scenario.tools else {}) | _options(scenario)
    return _Written(conversation=messages_body.conversation(messages), options=options, spelt=messages_body.spelt)


def _options(scenario: ConversationScenario, *, flat: bool = False) -> Message:
    """The choice of a tool and the limit of tokens, as chat completions have them; `flat`: as Responses have them."""
    options: Message = {}
    if scenario.tool_choice:
        name = {"name": scenario.tool_choice}
        named = {"type": "function", **(name if flat else {"function": name})}
        options["tool_choice"] = REQUIRED if scenario.tool_choice == REQUIRED else named
    if scenario.cap is not None:
        # Not `max_completion_tokens`: servers that do not know that name would answer without a limit.
        options["max_output_tokens" if flat else "max_tokens"] = scenario.cap
    return options


def _format(asks: Fits, surface: Surface) -> Message:
    """How a surface asks for an answer that fits a schema; Messages as chat does, before it is spelt."""
    schema = {"name": "answer", "strict": True, "schema": dict(asks.schema)}
    if surface is Surface.RESPONSES:
        return {"text": {"format": {"type": "json_schema", **schema}}}
    return {"response_format": {"type": "json_schema", "json_schema": schema}}


_WRITERS: Mapping[Surface, Callable[[ConversationScenario, Form, Sequence[Message]], _Written]] = {
    Surface.CHAT: _chat,
    Surface.RESPONSES: _response,
    Surface.MESSAGES: _message,
}


def _items(messages: Sequence[Message]) -> Iterator[Message]:
    """A history as items: a `message` for each text, an item of its own for each call and each result."""
    for message in messages:
        if message["role"] == "tool":
            yield {
                "type": "function_call_output",
                "call_id": message["tool_call_id"],
                "output": _parts("tool", message["content"]),
            }
            continue
        # As they came, ahead of what the model made of them.
        yield from message.get(ITEMS, ())
        # An assistant's message with calls alone has no text, and the model wrote no empty message.
        if message["content"]:
            yield {"type": "message", "role": message["role"], "content": _parts(message["role"], message["content"])}
        for call in message.get("tool_calls", ()):
            # Without an item's `id`, as real clients replay them.
            yield {"type": "function_call", "call_id": call["id"], **call["function"]}


def _parts(role: str, content: str | list[dict[str, Any]]) -> str | list[dict[str, Any]]:
    """The content of a message, with the part types of Responses instead of chat's."""
    if isinstance(content, str):
        return content
    text = "output_text" if role == "assistant" else "input_text"
    return [
        {"type": text, "text": part["text"]}
        if part["type"] == "text"
        else {"type": "input_image", "image_url": part["image_url"]["url"]}
        for part in content
    ]


def _as_legacy(message: Message, messages: Sequence[Message]) -> Message:
    """A message in the spelling of `functions`: one call without an id, results under the function's name."""
    if message.get("tool_calls"):
        return {"role": "assistant", "content": None, "function_call": message["tool_calls"][0]["function"]}
    if message["role"] == "tool":
        # Only the function's name links a legacy result to its call.
        calls = [call for said in messages for call in said.get("tool_calls", ())]
        name = next(call["function"]["name"] for call in calls if call["id"] == message["tool_call_id"])
        return {"role": "function", "name": name, "content": message["content"]}
    return message


def _messages(scenario: ConversationScenario, turn: Turn, nonce: str, history: Sequence[Message]) -> list[Message]:
    # A turn with a script of its own begins another conversation: the marker of the first text would choose for it.
    if turn.script is not None:
        return [{"role": "user", "content": f"{marker(turn.script, nonce)} {turn.say}"}]
    messages = list(history) if history else [dict(message) for message in scenario.history]
    if turn.results is not None:
        messages += _results(turn, messages[-1])
    if turn.say is not None:
        # A model is sent the prompt alone: there is no script to choose.
        head = "" if history or not scenario.script else marker(scenario.script, nonce) + " "
        messages.append({"role": "user", "content": _with_images(head + turn.say, turn.images)})
    return messages


def _with_images(text: str, images: Sequence[str]) -> str | list[dict[str, Any]]:
    """The content of a user's message: a string, or with images a list of parts."""
    if not images:
        return text
    return [{"type": "text", "text": text}, *({"type": "image_url", "image_url": {"url": url}} for url in images)]


def _results(turn: Turn, assistant: Message) -> list[Message]:
    """The result of each call in the last answer, chosen by the tool's name."""
    # Every call gets one: OpenAI refuses a history in which a call is not answered.
    results = turn.results or {}
    return [
        {"role": "tool", "tool_call_id": call["id"], "content": results.get(call["function"]["name"], "")}
        # Without calls where nothing says what is answered: a script does, and a model was asked to play it.
        for call in assistant.get("tool_calls", ())
    ]


def remember(
    messages: Sequence[Message], choice: Choice, thoughts: Mapping[str, Any] = MappingProxyType({})
) -> tuple[Message, ...]:
    """The history after an answer: the messages that were sent, and the assistant's as the client understood it.

    `thoughts` is what else is sent back of the answer.
    """
    # Null may stand only beside calls; any other message has a text.
    said: Message = {"role": "assistant", "content": choice.text if choice.calls else choice.text or ""}
    if choice.calls:
        said["tool_calls"] = [
            {
                "id": call.id or f"call_{number}",  # the legacy dialect has no ids; results are matched here by one
                "type": "function",
                "function": {"name": call.name, "arguments": call.arguments},
            }
            for number, call in enumerate(choice.calls)
        ]
    return (*messages, {**said, **thoughts})


def thoughts(exchange: Exchange) -> dict[str, Any]:
    """What an assistant's message has besides its text and calls, as clients send it back; empty without reasoning."""
    payloads = [payload for _, payload in exchange.reading.payloads] if exchange.reading else []
    items = [item for payload in payloads for item in _output(payload) if item.get("type") == _ITEM]
    if items:
        return {ITEMS: items}
    messages = [message for payload in payloads for message in _firsts(payload)]
    said = {name: "".join(text_of(one.get(name)) or "" for one in messages) for name in MEMBERS}
    # A server that writes it under both names means the same text.
    return next(({name: text} for name, text in said.items() if text), {})


def _output(payload: JsonObject) -> Iterator[JsonObject]:
    """The items of a whole response, or the one that an event of a stream completes."""
    if payload.get("type") == "response.output_item.done":
        yield object_of(payload.get("item"))
    yield from map(object_of, list_of(payload.get("output")))


def _firsts(payload: JsonObject) -> Iterable[JsonObject]:
    """The message of a first choice, or its delta."""
    choices = (object_of(one) for one in list_of(payload.get("choices")))
    # An index may be anything, also what no set takes.
    return (object_of(one.get("message") or one.get("delta")) for one in choices if one.get("index") in (0, None))


def can_follow(turn: Turn, choice: Choice | None) -> bool:
    """Whether a turn can be sent after this answer: tool results need calls to answer."""
    if turn.script is not None:
        return True
    return choice is not None and (turn.results is None or bool(choice.calls))
