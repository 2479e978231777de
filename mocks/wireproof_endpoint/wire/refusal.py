"""An answer as a refusal: the same frames and bodies, with OpenAI's members for a refusal where the text would be.

chat       delta.content → delta.refusal · message.content → null, message.refusal · the same of logprobs
messages   the stop_reason alone
responses  response.output_text.* → response.refusal.* · parts of type output_text → of type refusal

Of several choices each refuses by itself; of the other surfaces an answer has one, the first.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from wireproof_scripts.json_text import parse_json
from wireproof_surfaces.events import ChoiceFinished
from wireproof_surfaces.messages.message_object import stopped
from wireproof_surfaces.surfaces.json_text import encoded

if TYPE_CHECKING:
    from collections.abc import Container

Json = dict[str, Any]

_TEXT, _REFUSAL = "response.output_text.", "response.refusal."
_DATA = b"data: {"
_REFUSED = stopped(ChoiceFinished(reason="content_filter"))


def refusing_frames(frames: bytes, choices: Container[int]) -> bytes:
    """The frames, as they are where these choices refuse."""
    return b"\n\n".join([_frame(frame, choices) for frame in frames.split(b"\n\n")])


def _frame(frame: bytes, choices: Container[int]) -> bytes:
    begin = frame.find(_DATA)
    if begin < 0:
        return frame
    data = _answer(parse_json(frame[begin + len(_DATA) - 1 :]), choices)
    named = f"event: {data['type']}\n".encode() if frame.startswith(b"event: ") else b""
    return named + b"data: " + encoded(data)


def refusing_body(body: bytes, choices: Container[int]) -> bytes:
    """The body of a whole answer, as it is where these choices refuse."""
    return encoded(_answer(parse_json(body), choices))


def _answer(data: Json, choices: Container[int]) -> Json:
    match data:
        case {"choices": list(said)}:
            return {**data, "choices": [refusing(one) if one["index"] in choices else one for one in said]}
    return refusing(data) if 0 in choices else data


def refusing(data: Json) -> Json:
    """A whole response, or an object in an answer, as a refusal has it."""
    match data:
        case {"type": "output_text", "text": text}:
            return {"type": "refusal", "refusal": text}
        case {"type": str(kind)} if kind.startswith(_TEXT):
            return _event(data, kind)
        case {"type": "message_delta", "delta": dict()} | {"type": "message", "stop_reason": str()}:
            return _stopped(data)
        case {"role": "assistant", "content": str(text), "refusal": None}:
            return {**data, "content": None, "refusal": text}
        case {"content": list(tokens), "refusal": None}:
            return {**data, "content": None, "refusal": tokens}
    return {name: _delta(one) if name == "delta" else _value(one) for name, one in data.items()}


def _stopped(data: Json) -> Json:
    """What says why a message stopped: its last event, or a whole one."""
    return {**data, **_REFUSED} if "stop_reason" in data else {**data, "delta": {**data["delta"], **_REFUSED}}


def _value(value: object) -> object:
    match value:
        case list():
            return [_value(one) for one in value]
        case dict():
            return refusing(value)
    return value


def _event(data: Json, kind: str) -> Json:
    names = {"text": "refusal"}
    kept = {names.get(name, name): value for name, value in data.items() if name != "logprobs"}
    return {**kept, "type": _REFUSAL + kind.removeprefix(_TEXT)}


def _delta(delta: object) -> object:
    if isinstance(delta, dict) and delta.get("content"):
        return {**{name: value for name, value in delta.items() if name != "content"}, "refusal": delta["content"]}
    return delta
