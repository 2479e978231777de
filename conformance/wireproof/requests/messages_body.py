"""A conversation as a request to Messages: its history, and what the scenario asks for, in this surface's spelling.

Everything comes in the messages and names of chat completions, which the suite keeps.

https://platform.claude.com/docs/en/api/messages
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from wireproof.wire.fields import json_object

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

Message = dict[str, Any]
LIMIT = 4096
"""The `max_tokens` of a request that is to have none: this surface demands one. Below the limit of every model."""
_INSTRUCTING = frozenset({"system", "developer"})


def conversation(messages: Sequence[Message]) -> Message:
    """The history: instructions at its beginning as `system`, later ones as messages of the role system."""
    first = next((at for at, one in enumerate(messages) if one["role"] not in _INSTRUCTING), len(messages))
    system = [{"type": "text", "text": one["content"]} for one in messages[:first]]
    history = _merged(_turn(one) for one in messages[first:])
    return ({"system": system} if system else {}) | {"messages": history}


def spelt(asked: Mapping[str, Any]) -> Message:
    """What a request asks for besides, with the limit that it must have."""
    body: Message = {"max_tokens": LIMIT, **{name: asked[name] for name in asked if name not in _SPELT}}
    if asked.get("tools"):
        body["tools"] = [_tool(one["function"]) for one in asked["tools"]]
        choice = tool_choice(asked.get("tool_choice"), asked.get("parallel_tool_calls"))
        body |= {"tool_choice": choice} if choice else {}
    if "stop" in asked:
        body["stop_sequences"] = [asked["stop"]] if isinstance(asked["stop"], str) else list(asked["stop"])
    if "response_format" in asked:
        schema = asked["response_format"]["json_schema"]["schema"]
        body["output_config"] = {"format": {"type": "json_schema", "schema": schema}}
    return body


_SPELT = frozenset({"tools", "tool_choice", "parallel_tool_calls", "stop", "response_format"})
"""The names of chat completions that this surface has others for."""


def tool_choice(choice: object, parallel: object) -> Message:
    """The `tool_choice` of Messages for chat's, with what `parallel_tool_calls` says; {} for the default."""
    match choice:
        case {"function": {"name": str(name)}} | {"name": str(name)}:
            made: Message = {"type": "tool", "name": name}
        case "required":
            made = {"type": "any"}
        case "none":
            # Without calls none are parallel, and the member is not published here.
            return {"type": "none"}
        case _:
            made = {} if choice is None and parallel is None else {"type": "auto"}
    return made if parallel is None or not made else {**made, "disable_parallel_tool_use": parallel is not True}


def _tool(function: Mapping[str, Any]) -> Message:
    described = {"description": function["description"]} if "description" in function else {}
    schema = function.get("parameters", {"type": "object", "properties": {}})
    return {"name": function["name"], **described, "input_schema": schema}


def _turn(message: Message) -> Message:
    """A message in blocks; a result is one of the user's."""
    role, content = message["role"], message["content"]
    if role in _INSTRUCTING:
        return {"role": "system", "content": content}
    if role == "tool":
        said = content if isinstance(content, str) else _blocks(content)
        return {
            "role": "user",
            "content": [{"type": "tool_result", "tool_use_id": message["tool_call_id"], "content": said}],
        }
    calls = [_call(one) for one in message.get("tool_calls", ())]
    if isinstance(content, str) and not calls:
        return {"role": role, "content": content}
    return {"role": role, "content": [*_blocks(content), *calls]}


def _call(call: Message) -> Message:
    function = call["function"]
    # What is no JSON object cannot be sent back on this surface.
    return {
        "type": "tool_use",
        "id": call["id"],
        "name": function["name"],
        "input": json_object(function["arguments"]) or {},
    }


def _blocks(content: str | Sequence[Message] | None) -> list[Message]:
    """The blocks of a content. None is made of no text: the service refuses it."""
    if isinstance(content, str) or content is None:
        return [{"type": "text", "text": content}] if content else []
    return [one if one["type"] == "text" else _image(one["image_url"]["url"]) for one in content]


def _image(url: str) -> Message:
    head, comma, data = url.partition(",")
    if not comma or not head.startswith("data:"):
        return {"type": "image", "source": {"type": "url", "url": url}}
    kind = head.removeprefix("data:").removesuffix(";base64")
    return {"type": "image", "source": {"type": "base64", "media_type": kind, "data": data}}


def _merged(turns: Iterator[Message]) -> list[Message]:
    """The turns with results joined to what the user says next: one message of the user answers all calls."""
    merged: list[Message] = []
    for turn in turns:
        before = merged[-1] if merged else {}
        if turn["role"] == "user" == before.get("role") and _has_results(before):
            before["content"] = [*before["content"], *_as_blocks(turn["content"])]
        else:
            merged.append(turn)
    return merged


def _has_results(turn: Message) -> bool:
    content = turn["content"]
    return isinstance(content, list) and any(one["type"] == "tool_result" for one in content)


def _as_blocks(content: str | list[Message]) -> list[Message]:
    return _blocks(content) if isinstance(content, str) else content
