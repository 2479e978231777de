"""The ways in which clients carry tool calls: what a request looks like, how answers are read, how results go back.

Each way reads as its clients do, not as the contract is written: what they cannot use is a `NotServedError`, and what
they all cope with is passed over.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from wireproof_mocks.personas.answer import CallResult, ClientCall, Json, NotServedError, UnderstoodAnswer
from wireproof_mocks.personas.forms import Chat, ItemDone, Response, ResponseEnd, TextDelta, readable
from wireproof_mocks.personas.line import short
from wireproof_scripts.json_text import parse_json

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

CHAT, RESPONSES = "/chat/completions", "/responses"
FROM_TOOL = "Tool '{name}' result: {text}"
"""How the results of text calls are written into a message of the user."""


@dataclass(frozen=True, kw_only=True)
class Way:
    """One way; unless it says otherwise, one of chat."""

    path: str = CHAT
    """Where requests are sent, below the base URL."""

    def request(self, history: Sequence[Json], tools: Sequence[Json]) -> Json:
        """The body of a request; no `tools`: none is declared."""
        raise NotImplementedError

    def streamed(self, frames: Iterable[Json]) -> UnderstoodAnswer:
        """What a stream says."""
        raise NotImplementedError

    def whole(self, body: Json) -> UnderstoodAnswer:
        """What a whole answer says."""
        return self.streamed([_as_chunk(body)])

    def history(self, answer: UnderstoodAnswer, results: Sequence[CallResult]) -> list[Json]:
        """What the history gets of an answer with calls and their results."""
        raise NotImplementedError


@dataclass
class _Gathered:
    """The parts of a call as they come."""

    id: str = ""
    name: str = ""
    arguments: str = ""

    def call(self) -> ClientCall:
        return ClientCall(id=self.id, name=self.name, raw=self.arguments, arguments=_parsed(self.name, self.arguments))


def _parsed(name: str, arguments: str) -> Json:
    try:
        value = parse_json(arguments or "{}")
    except ValueError:
        raise NotServedError(f"the arguments of {name} are no JSON: {short(arguments)}") from None
    if not isinstance(value, dict):
        raise NotServedError(f"the arguments of {name} are no JSON object: {short(arguments)}")
    return value


def _choice(body: Json) -> Json | None:
    """The first choice of a chunk or a completion; None where there is none, as in a chunk of usage."""
    choices = body.get("choices")
    if not isinstance(choices, list):
        raise NotServedError(f"no choices in {short(json.dumps(body, ensure_ascii=False))}")
    readable(Chat, body)
    return next((one for one in choices if one.get("index", 0) == 0), None)


def _as_chunk(body: Json) -> Json:
    """A whole answer as a stream of one chunk, which is read alike."""
    choice = _choice(body)
    if choice is None:
        raise NotServedError("the answer has no choice")
    message = choice.get("message")
    if message is None:
        raise NotServedError("the answer has no message")
    calls = [{**one, "index": index} for index, one in enumerate(message.get("tool_calls") or ())]
    return {"choices": [{"delta": {**message, "tool_calls": calls}, "finish_reason": choice.get("finish_reason")}]}


@dataclass(kw_only=True)
class _Reading:
    """A stream of chat that is being read: the first choice alone, since clients ask for one."""

    text: list[str] = field(default_factory=list)
    finish: str | None = None
    role: bool = False
    """Whether a role has come."""

    def delta(self, frame: Json) -> Json:
        """The delta of a chunk, its text and finish noted."""
        choice = _choice(frame)
        if choice is None:
            return {}
        delta: Json = choice.get("delta") or {}
        self.finish = choice.get("finish_reason") or self.finish
        self.role = self.role or "role" in delta
        if delta.get("content"):
            self.text.append(delta["content"])
        return delta

    def answer(self, calls: Iterable[ClientCall]) -> UnderstoodAnswer:
        return UnderstoodAnswer(text="".join(self.text), calls=tuple(calls), finish=self.finish)


@dataclass(frozen=True, kw_only=True)
class ToolCalls(Way):
    """`tools` in the request, `tool_calls` in the answer, results as messages of the role `tool`.

    The habits in which its clients differ are data.
    """

    needs_role: bool = False
    """Whether calls are dropped unless a role came before them."""
    more: Mapping[str, Any] = field(default_factory=dict)
    """Other members of its requests."""

    def request(self, history: Sequence[Json], tools: Sequence[Json]) -> Json:
        """The body of a request."""
        declared = {"tools": [{"type": "function", "function": tool} for tool in tools]} if tools else {}
        return {"messages": list(history), **declared, **self.more}

    def streamed(self, frames: Iterable[Json]) -> UnderstoodAnswer:
        """What a stream says."""
        reading, calls = _read_calls(frames)
        if calls and self.needs_role and not reading.role:
            raise NotServedError("no role came before the calls: this client drops them without a word")
        if reading.finish is None:
            raise NotServedError("the stream ended without a finish_reason: the client takes it for cut off")
        return _finished(reading, calls)

    def whole(self, body: Json) -> UnderstoodAnswer:
        """What a whole answer says."""
        return _finished(*_read_calls([_as_chunk(body)]))

    def history(self, answer: UnderstoodAnswer, results: Sequence[CallResult]) -> list[Json]:
        """The assistant's message with its calls, and a message for each result."""
        calls = [
            {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.raw}}
            for call in answer.calls
        ]
        assistant = {"role": "assistant", "content": answer.text or None, "tool_calls": calls}
        return [assistant, *({"role": "tool", "tool_call_id": one.call.id, "content": one.text} for one in results)]


def _read_calls(frames: Iterable[Json]) -> tuple[_Reading, dict[int, _Gathered]]:
    """What was read of a stream, and its calls: fragments of a call belong together by their index."""
    reading, calls = _Reading(), dict[int, _Gathered]()
    for frame in frames:
        for fragment in reading.delta(frame).get("tool_calls") or ():
            _gather(calls, fragment)
    return reading, calls


def _gather(calls: dict[int, _Gathered], fragment: Json) -> None:
    """Add a fragment to the call of its index."""
    index, function = fragment.get("index"), fragment.get("function") or {}
    if not isinstance(index, int):
        raise NotServedError("a fragment of a call has no index: its client cannot say which call it belongs to")
    if index not in calls:
        for member, value in (("id", fragment.get("id")), ("name", function.get("name"))):
            if not value:
                raise NotServedError(f"call {index} opens without its {member}: its result could not be sent back")
        calls[index] = _Gathered(id=fragment["id"], name=function["name"])
    arguments = function.get("arguments") or ""
    if not isinstance(arguments, str):
        raise NotServedError(f"the arguments of {calls[index].name} are no text: {short(json.dumps(arguments))}")
    calls[index].arguments += arguments


def _finished(reading: _Reading, calls: Mapping[int, _Gathered]) -> UnderstoodAnswer:
    """The answer, if its finish reason and its calls agree: clients decide by the one or the other."""
    answer = reading.answer(one.call() for _, one in sorted(calls.items()))
    if answer.finish == "tool_calls" and not answer.calls:
        raise NotServedError("it finished with tool_calls, and there are none: the client asks again without end")
    if answer.calls and answer.finish == "stop":
        raise NotServedError("it finished with stop although it has calls: the client ends here and runs none")
    return answer


@dataclass(frozen=True, kw_only=True)
class FunctionCall(Way):
    """`functions` in the request, `function_call` in the answer, the result as a message of the role `function`."""

    def request(self, history: Sequence[Json], tools: Sequence[Json]) -> Json:
        """The body of a request."""
        return {"messages": list(history), **({"functions": list(tools)} if tools else {})}

    def streamed(self, frames: Iterable[Json]) -> UnderstoodAnswer:
        """What a stream says."""
        reading, call = _Reading(), _Gathered()
        for frame in frames:
            fragment = reading.delta(frame).get("function_call") or {}
            call.name += fragment.get("name") or ""
            call.arguments += fragment.get("arguments") or ""
        answer = reading.answer([call.call()] if call.name else [])
        if bool(answer.calls) != (answer.finish == "function_call"):
            seen = "a function_call" if answer.calls else "no function_call"
            raise NotServedError(f"{seen} with the finish_reason {answer.finish!r}: the client goes by both")
        return answer

    def history(self, answer: UnderstoodAnswer, results: Sequence[CallResult]) -> list[Json]:
        """The assistant's message with its call, and the result."""
        del answer  # one with a call has no text here
        messages: list[Json] = []
        for one in results:
            call = {"name": one.call.name, "arguments": one.call.raw}
            messages += [
                {"role": "assistant", "content": None, "function_call": call},
                {"role": "function", "name": one.call.name, "content": one.text},
            ]
        return messages


_BLOCK = re.compile(r"<use_tool>(.*?)</use_tool>", re.DOTALL)
_ELEMENT = re.compile(r"<([A-Za-z_][\w.-]*)>(.*?)</\1>", re.DOTALL)


@dataclass(frozen=True, kw_only=True)
class Blocks(Way):
    """Tools stand in the system prompt, calls are `<use_tool>` blocks of the content, results the user's text."""

    def request(self, history: Sequence[Json], tools: Sequence[Json]) -> Json:
        """The body of a request: no tool is declared, the prompt has them."""
        del tools
        return {"messages": list(history)}

    def streamed(self, frames: Iterable[Json]) -> UnderstoodAnswer:
        """What a stream says: only its text counts."""
        reading = _Reading()
        lost = False
        for frame in frames:
            lost = bool(reading.delta(frame).get("tool_calls")) or lost
        text = "".join(reading.text)
        calls = calls_in(text)
        if lost and not calls:
            raise NotServedError("the call came as tool_calls alone: this client looks for <use_tool> in the content")
        if "<use_tool>" in text and not calls:
            raise NotServedError("a <use_tool> block is not closed or has no name: the client shows it as text")
        return reading.answer(calls)

    def history(self, answer: UnderstoodAnswer, results: Sequence[CallResult]) -> list[Json]:
        """The assistant's text with its blocks, and one message of the user with all results."""
        text = "\n\n".join(FROM_TOOL.format(name=one.call.name, text=one.text) for one in results)
        return [{"role": "assistant", "content": answer.text}, {"role": "user", "content": text}]


def calls_in(text: str) -> tuple[ClientCall, ...]:
    """The calls in a text. Values are taken as they stand: entities are not read, only lists and objects as JSON."""
    found = []
    for block in _BLOCK.findall(text):
        values = [(key, value.strip()) for key, value in _ELEMENT.findall(block)]
        name = next((value for key, value in values if key == "name"), "")
        if name:
            arguments = {key: _value(value) for key, value in values if key != "name"}
            found.append(ClientCall(name=name, arguments=arguments, raw=block))
    return tuple(found)


def _value(text: str) -> object:
    if text[:1] not in {"[", "{"}:
        return text
    try:
        return parse_json(text)
    except ValueError:
        return text


@dataclass(frozen=True, kw_only=True)
class ResponsesWay(Way):
    """The Responses API: flat `tools`, `function_call` items, results as `function_call_output` items."""

    path: str = RESPONSES

    def request(self, history: Sequence[Json], tools: Sequence[Json]) -> Json:
        """The body of a request."""
        declared = {"tools": [{"type": "function", "strict": False, **tool} for tool in tools]} if tools else {}
        return {"input": list(history), **declared}

    def streamed(self, frames: Iterable[Json]) -> UnderstoodAnswer:
        """What a stream says: text from its deltas, calls from items that are done, the end from `completed`."""
        text, items, status = list[str](), list[Json](), None
        for frame in frames:
            match frame.get("type"):
                case "response.output_text.delta":
                    text.append(readable(TextDelta, frame)["delta"])
                case "response.output_item.done":
                    items.append(readable(ItemDone, frame)["item"])
                case "response.failed":
                    raise NotServedError(
                        f"the response failed: {readable(ResponseEnd, frame)['response'].get('error')}"
                    )
                case "response.completed" | "response.incomplete":
                    status = readable(ResponseEnd, frame)["response"].get("status")
        if status is None:
            raise NotServedError("the stream ended without response.completed: the client takes it for cut off")
        return UnderstoodAnswer(text="".join(text), calls=_called(items), finish=status)

    def whole(self, body: Json) -> UnderstoodAnswer:
        """What a whole answer says."""
        output = body.get("output")
        if not isinstance(output, list):
            raise NotServedError("the response has no output")
        readable(Response, body)
        parts = [part for item in output if item.get("type") == "message" for part in item.get("content") or ()]
        text = "".join(part.get("text", "") for part in parts)
        return UnderstoodAnswer(text=text, calls=_called(output), finish=body.get("status"))

    def history(self, answer: UnderstoodAnswer, results: Sequence[CallResult]) -> list[Json]:
        """The items of the answer, and one for each result."""
        calls = [
            {"type": "function_call", "call_id": call.id, "name": call.name, "arguments": call.raw}
            for call in answer.calls
        ]
        outputs = [{"type": "function_call_output", "call_id": one.call.id, "output": one.text} for one in results]
        return [*said(answer), *calls, *outputs]


def _called(items: Iterable[Json]) -> tuple[ClientCall, ...]:
    calls = []
    for item in items:
        if item.get("type") == "function_call":
            name, arguments = item.get("name", ""), item.get("arguments", "")
            if not item.get("call_id"):
                raise NotServedError(f"the call of {name} has no call_id: its result could not be sent back")
            calls.append(ClientCall(id=item["call_id"], name=name, raw=arguments, arguments=_parsed(name, arguments)))
    return tuple(calls)


def said(answer: UnderstoodAnswer) -> list[Json]:
    """The text of an answer as the assistant's message; nothing where it has none."""
    return [{"role": "assistant", "content": answer.text}] if answer.text else []


def results_as_text(answer: UnderstoodAnswer, results: Sequence[CallResult]) -> list[Json]:
    """What a client sends that has no messages for tools: the results as text of the user, without the calls."""
    text = "\n\n".join(f"[{one.call.name} result] {one.text}" for one in results)
    return [*said(answer), {"role": "user", "content": text}]
