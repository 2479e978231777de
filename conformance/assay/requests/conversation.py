"""What the client sends: request bodies built from a scenario, and the history that grows with each answer.

Pure. The marker stands at the head of a conversation's first user text, so it is resent with every request.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from assay.model.dialect import Dialect
from assay.model.scenario import Form, Mode, Scenario, Turn

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from assay.wire.calls import Choice

Message = dict[str, Any]


def marker(script: str, nonce: str) -> str:
    """The text by which the mock backend chooses what to say."""
    return f"[[assay:{script}#{nonce}]]"


@dataclass(frozen=True, kw_only=True, slots=True)
class Prepared:
    """A request ready to be sent, and the messages in it."""

    body: bytes
    messages: tuple[Message, ...]


def prepare(
    scenario: Scenario, turn: Turn, *, form: Form, model: str, nonce: str, history: Sequence[Message]
) -> Prepared:
    """The request of a turn. `history` is what `remember` returned for the turn before, () at first."""
    if form.dialect is Dialect.RESPONSES:
        return _response_request(
            scenario, turn, form=form, model=model, messages=_messages(scenario, turn, nonce, history)
        )
    legacy = form.dialect is Dialect.FUNCTION_CALL
    messages = _messages(scenario, turn, nonce, history)
    body: dict[str, Any] = {"model": model, "messages": messages, **scenario.body, **turn.body}
    if legacy:
        body = {**body, "messages": [_as_legacy(message, messages) for message in messages]}
    if scenario.tools:
        tools = list(scenario.tools)
        body |= {"functions": [tool["function"] for tool in tools]} if legacy else {"tools": tools}
    if scenario.choices > 1:
        body["n"] = scenario.choices
    if form.mode is Mode.STREAM:
        body["stream"] = True
        if scenario.usage:
            body["stream_options"] = {"include_usage": True}
    return Prepared(body=json.dumps(body, ensure_ascii=False).encode(), messages=tuple(messages))


def _response_request(
    scenario: Scenario, turn: Turn, *, form: Form, model: str, messages: Sequence[Message]
) -> Prepared:
    """The request of a turn on the Responses surface: items for messages, flat tools, no choices, usage always."""
    body: dict[str, Any] = {"model": model, "input": list(_items(messages)), **scenario.body, **turn.body}
    if scenario.tools:
        body["tools"] = [{"type": "function", **tool["function"]} for tool in scenario.tools]
    if form.mode is Mode.STREAM:
        body["stream"] = True
    return Prepared(body=json.dumps(body, ensure_ascii=False).encode(), messages=tuple(messages))


def _items(messages: Sequence[Message]) -> Iterator[Message]:
    """The items that tell a history: a message for a text, an item of its own for each call and each result."""
    for message in messages:
        if message["role"] == "tool":
            yield {
                "type": "function_call_output",
                "call_id": message["tool_call_id"],
                "output": _parts("tool", message["content"]),
            }
            continue
        if message["content"]:
            yield {"type": "message", "role": message["role"], "content": _parts(message["role"], message["content"])}
        for call in message.get("tool_calls", ()):
            yield {"type": "function_call", "call_id": call["id"], **call["function"]}


def _parts(role: str, content: str | list[dict[str, Any]]) -> str | list[dict[str, Any]]:
    """The content of a message as its parts are called here."""
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
    """A message as it is told with functions: no ids, results by the function's name."""
    if message.get("tool_calls"):
        return {"role": "assistant", "content": None, "function_call": message["tool_calls"][0]["function"]}
    if message["role"] == "tool":
        calls = [call for said in messages for call in said.get("tool_calls", ())]
        name = next(call["function"]["name"] for call in calls if call["id"] == message["tool_call_id"])
        return {"role": "function", "name": name, "content": message["content"]}
    return message


def _messages(scenario: Scenario, turn: Turn, nonce: str, history: Sequence[Message]) -> list[Message]:
    if turn.script is not None:
        return [{"role": "user", "content": f"{marker(turn.script, nonce)} {turn.say}"}]
    messages = list(history) if history else [dict(message) for message in scenario.history]
    if turn.results is not None:
        messages += _results(turn, messages[-1])
    if turn.say is not None:
        head = "" if history else marker(scenario.script, nonce) + " "
        messages.append({"role": "user", "content": _with_images(head + turn.say, turn.images)})
    return messages


def _with_images(text: str, images: Sequence[str]) -> str | list[dict[str, Any]]:
    """The content of a user's message."""
    if not images:
        return text
    return [{"type": "text", "text": text}, *({"type": "image_url", "image_url": {"url": url}} for url in images)]


def _results(turn: Turn, assistant: Message) -> list[Message]:
    results = turn.results or {}
    return [
        {"role": "tool", "tool_call_id": call["id"], "content": results.get(call["function"]["name"], "")}
        for call in assistant["tool_calls"]
    ]


def remember(messages: Sequence[Message], choice: Choice) -> tuple[Message, ...]:
    """The history after an answer: what was sent, and the assistant's message as the client understood it."""
    said: Message = {"role": "assistant", "content": choice.text if choice.calls else choice.text or ""}
    if choice.calls:
        said["tool_calls"] = [
            {
                "id": call.id or f"call_{number}",
                "type": "function",
                "function": {"name": call.name, "arguments": call.arguments},
            }
            for number, call in enumerate(choice.calls)
        ]
    return (*messages, said)


def can_follow(turn: Turn, choice: Choice | None) -> bool:
    """Whether a turn can be sent after this answer: tool results need calls."""
    if turn.script is not None:
        return True
    return choice is not None and (turn.results is None or bool(choice.calls))
