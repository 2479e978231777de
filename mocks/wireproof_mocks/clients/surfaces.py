"""Chat and Responses as a client sees them: how a request is written, and how an answer is read."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

import httpx

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

Json = dict[str, Any]


@dataclass(kw_only=True)
class Call:
    """A call of a tool."""

    id: str
    name: str
    arguments: str = ""


@dataclass(kw_only=True)
class Answer:
    """What an assistant says."""

    text: str = ""
    calls: list[Call] = field(default_factory=list)
    finished: bool = False
    """Whether its end has come."""


class Failed(Exception):  # noqa: N818 (as a person says it)
    """No answer came; `answer` is what came of it."""

    def __init__(self, message: str, answer: Answer | None = None) -> None:
        super().__init__(message)
        self.answer = answer or Answer()


class ErrorInAnswer(Failed):
    """An answer ends with an error."""


class BrokenOff(Failed):
    """An answer has no end."""


class ClientSurface(Protocol):
    """What differs between the two."""

    path: str

    def user(self, text: str) -> Json:
        """What a person says."""

    def said(self, answer: Answer) -> list[Json]:
        """An answer as it is sent back."""

    def result(self, id_: str, text: str) -> Json:
        """The result of a call."""

    def body(self, history: Sequence[Json], tools: Sequence[Json], *, model: str, stream: bool) -> Json:
        """A request."""

    def streamed(self, response: httpx.Response) -> Answer:
        """An answer that comes as a stream.

        Raises:
            Failed: it ends with an error, or has no end.
        """

    def whole(self, response: httpx.Response) -> Answer:
        """An answer that comes at once.

        Raises:
            Failed: it broke off.
        """


class Chat:
    """Chat completions."""

    path = "/chat/completions"

    def user(self, text: str) -> Json:
        """What a person says."""
        return {"role": "user", "content": text}

    def said(self, answer: Answer) -> list[Json]:
        """An answer as it is sent back."""
        calls = [
            {"id": one.id, "type": "function", "function": {"name": one.name, "arguments": one.arguments}}
            for one in answer.calls
        ]
        message = {"role": "assistant", "content": answer.text or (None if calls else "")}
        return [message | ({"tool_calls": calls} if calls else {})]

    def result(self, id_: str, text: str) -> Json:
        """The result of a call."""
        return {"role": "tool", "tool_call_id": id_, "content": text}

    def body(self, history: Sequence[Json], tools: Sequence[Json], *, model: str, stream: bool) -> Json:
        """A request."""
        declared = [{"type": "function", "function": tool} for tool in tools]
        return {"model": model, "messages": list(history), "tools": declared, "stream": stream}

    def streamed(self, response: httpx.Response) -> Answer:
        """An answer that comes as a stream."""
        answer = Answer()
        for data in _frames(response, answer):
            if data.get("error"):
                raise ErrorInAnswer(str(data["error"].get("message")), answer)
            for choice in data.get("choices", []):
                delta = choice.get("delta", {})
                answer.text += delta.get("content") or ""
                for piece in delta.get("tool_calls") or []:
                    if piece["index"] == len(answer.calls):
                        answer.calls.append(Call(id=piece["id"], name=piece["function"]["name"]))
                    answer.calls[piece["index"]].arguments += piece["function"].get("arguments") or ""
                answer.finished |= bool(choice.get("finish_reason"))
        return _ended(answer)

    def whole(self, response: httpx.Response) -> Answer:
        """An answer that comes at once."""
        choice = _json(response)["choices"][0]
        message = choice["message"]
        calls = [
            Call(id=one["id"], name=one["function"]["name"], arguments=one["function"]["arguments"])
            for one in message.get("tool_calls") or []
        ]
        return Answer(text=message.get("content") or "", calls=calls, finished=True)


class Responses:
    """Responses, with the conversation in each request."""

    path = "/responses"

    def user(self, text: str) -> Json:
        """What a person says."""
        return {"role": "user", "content": text}

    def said(self, answer: Answer) -> list[Json]:
        """An answer as it is sent back."""
        text = [{"role": "assistant", "content": answer.text}] if answer.text or not answer.calls else []
        return text + [
            {"type": "function_call", "call_id": one.id, "name": one.name, "arguments": one.arguments}
            for one in answer.calls
        ]

    def result(self, id_: str, text: str) -> Json:
        """The result of a call."""
        return {"type": "function_call_output", "call_id": id_, "output": text}

    def body(self, history: Sequence[Json], tools: Sequence[Json], *, model: str, stream: bool) -> Json:
        """A request."""
        declared = [{"type": "function", "strict": True, **tool} for tool in tools]
        return {"model": model, "input": list(history), "tools": declared, "stream": stream, "store": False}

    def streamed(self, response: httpx.Response) -> Answer:
        """An answer that comes as a stream."""
        answer = Answer()
        for data in _frames(response, answer):
            match data.get("type"):
                case "response.output_text.delta":
                    answer.text += data["delta"]
                case "response.output_item.done" if data["item"]["type"] == "function_call":
                    item = data["item"]
                    answer.calls.append(Call(id=item["call_id"], name=item["name"], arguments=item["arguments"]))
                case "response.completed" | "response.incomplete":
                    answer.finished = True
                case "response.failed" | "error":
                    raise ErrorInAnswer(str(data.get("message") or data), answer)
        return _ended(answer)

    def whole(self, response: httpx.Response) -> Answer:
        """An answer that comes at once."""
        answer = Answer(finished=True)
        for item in _json(response)["output"]:
            if item["type"] == "message":
                answer.text += "".join(part.get("text", "") for part in item["content"])
            elif item["type"] == "function_call":
                answer.calls.append(Call(id=item["call_id"], name=item["name"], arguments=item["arguments"]))
        return answer


def _frames(response: httpx.Response, answer: Answer) -> Iterator[Json]:
    """The JSON of each frame; where the connection ends before its time, what came of `answer` is that of the error."""
    rest = b""
    try:
        for piece in response.iter_bytes():
            # Not `iter_lines`, which also ends a line at U+2028 and other characters that a text may hold.
            *lines, rest = (rest + piece).split(b"\n")
            yield from (json.loads(line[6:]) for line in lines if line.startswith(b"data: {"))
    except httpx.TransportError as error:
        raise BrokenOff(str(error), answer) from error


def _ended(answer: Answer) -> Answer:
    if not answer.finished:
        raise BrokenOff("the stream ended without a finish", answer)
    return answer


def _json(response: httpx.Response) -> Json:
    try:
        found: Json = json.loads(response.read())
    except (httpx.TransportError, ValueError) as error:
        raise BrokenOff(str(error), Answer()) from error
    return found


SURFACES: dict[str, ClientSurface] = {"chat": Chat(), "responses": Responses()}
"""By the names of the command line."""
