"""Chat, Responses and Messages as a client sees them: how a request is written, and how an answer is read."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

import httpx

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

Json = dict[str, Any]
TOOL: Json = {
    "name": "look_up",
    "description": "Look something up.",
    "parameters": {
        "type": "object",
        "properties": {"query": {"type": "string"}},
        "required": ["query"],
        "additionalProperties": False,
    },
}
"""The tool that clients declare."""
LONGEST = 4096
"""Tokens of an answer of Messages, which asks for such a number."""


@dataclass(kw_only=True)
class ReceivedCall:
    """A call of a tool."""

    id: str
    name: str
    arguments: str = ""


@dataclass(kw_only=True)
class ReceivedAnswer:
    """What an assistant says."""

    text: str = ""
    calls: list[ReceivedCall] = field(default_factory=list)
    finished: bool = False
    """Whether its end has come."""


class NoAnswerError(Exception):
    """No answer came; `answer` is what came of it."""

    def __init__(self, message: str, answer: ReceivedAnswer | None = None) -> None:
        super().__init__(message)
        self.answer = answer or ReceivedAnswer()


class AnswerFailedError(NoAnswerError):
    """An answer ends with an error."""


class CutAnswerError(NoAnswerError):
    """An answer has no end."""


class ClientForm(Protocol):
    """What differs between the APIs. Prompts are the same in all: a message of the user, its content a text."""

    path: str

    def headers(self, key: str) -> dict[str, str]:
        """The headers that say who asks."""
        return {"Authorization": f"Bearer {key}"}

    def said(self, answer: ReceivedAnswer) -> list[Json]:
        """An answer as it is sent back."""

    def results(self, results: Sequence[tuple[str, str]]) -> list[Json]:
        """The results of the calls of an answer: ids and texts."""

    def body(self, history: Sequence[Json]) -> Json:
        """A request, but for its model and whether it is for a stream."""

    def streamed(self, response: httpx.Response) -> ReceivedAnswer:
        """An answer that comes as a stream.

        Raises:
            NoAnswerError: it ends with an error, or has no end.
        """
        answer = ReceivedAnswer()
        for data in _frames(response, answer):
            self.take(answer, data)
        if not answer.finished:
            raise CutAnswerError("the stream ended without a finish", answer)
        return answer

    def take(self, answer: ReceivedAnswer, data: Json) -> None:
        """Add what a frame of a stream says to an answer.

        Raises:
            AnswerFailedError: it says that the answer failed.
        """

    def whole(self, response: httpx.Response) -> ReceivedAnswer:
        """An answer that comes at once.

        Raises:
            NoAnswerError: it broke off.
        """


class _Chat(ClientForm):
    path = "/chat/completions"

    def said(self, answer: ReceivedAnswer) -> list[Json]:
        calls = [
            {"id": one.id, "type": "function", "function": {"name": one.name, "arguments": one.arguments}}
            for one in answer.calls
        ]
        message = {"role": "assistant", "content": answer.text or (None if calls else "")}
        return [message | ({"tool_calls": calls} if calls else {})]

    def results(self, results: Sequence[tuple[str, str]]) -> list[Json]:
        return [{"role": "tool", "tool_call_id": id_, "content": text} for id_, text in results]

    def body(self, history: Sequence[Json]) -> Json:
        return {"messages": list(history), "tools": [{"type": "function", "function": TOOL}]}

    def take(self, answer: ReceivedAnswer, data: Json) -> None:
        if data.get("error"):
            raise AnswerFailedError(str(data["error"].get("message")), answer)
        for choice in data.get("choices", []):
            delta = choice.get("delta", {})
            answer.text += delta.get("content") or ""
            for piece in delta.get("tool_calls") or []:
                if piece["index"] == len(answer.calls):
                    answer.calls.append(ReceivedCall(id=piece["id"], name=piece["function"]["name"]))
                answer.calls[piece["index"]].arguments += piece["function"].get("arguments") or ""
            answer.finished |= bool(choice.get("finish_reason"))

    def whole(self, response: httpx.Response) -> ReceivedAnswer:
        message = _json(response)["choices"][0]["message"]
        calls = [
            ReceivedCall(id=one["id"], name=one["function"]["name"], arguments=one["function"]["arguments"])
            for one in message.get("tool_calls") or []
        ]
        return ReceivedAnswer(text=message.get("content") or "", calls=calls, finished=True)


class _Responses(ClientForm):
    """With the conversation in each request."""

    path = "/responses"

    def said(self, answer: ReceivedAnswer) -> list[Json]:
        text = [{"role": "assistant", "content": answer.text}] if answer.text or not answer.calls else []
        return text + [
            {"type": "function_call", "call_id": one.id, "name": one.name, "arguments": one.arguments}
            for one in answer.calls
        ]

    def results(self, results: Sequence[tuple[str, str]]) -> list[Json]:
        return [{"type": "function_call_output", "call_id": id_, "output": text} for id_, text in results]

    def body(self, history: Sequence[Json]) -> Json:
        return {"input": list(history), "tools": [{"type": "function", "strict": True, **TOOL}], "store": False}

    def take(self, answer: ReceivedAnswer, data: Json) -> None:
        match data.get("type"):
            case "response.output_text.delta":
                answer.text += data["delta"]
            case "response.output_item.done" if data["item"]["type"] == "function_call":
                answer.calls.append(_of_item(data["item"]))
            case "response.completed" | "response.incomplete":
                answer.finished = True
            case "response.failed" | "error":
                raise AnswerFailedError(str(data.get("message") or data), answer)

    def whole(self, response: httpx.Response) -> ReceivedAnswer:
        answer = ReceivedAnswer(finished=True)
        for item in _json(response)["output"]:
            if item["type"] == "message":
                answer.text += "".join(part.get("text", "") for part in item["content"])
            elif item["type"] == "function_call":
                answer.calls.append(_of_item(item))
        return answer


class _Messages(ClientForm):
    path = "/messages"

    def headers(self, key: str) -> dict[str, str]:
        return {"x-api-key": key, "anthropic-version": "2023-06-01"}

    def said(self, answer: ReceivedAnswer) -> list[Json]:
        """An answer as it is sent back; the API refuses one without anything, so that is left out."""
        text = [{"type": "text", "text": answer.text}] if answer.text else []
        calls = [
            {"type": "tool_use", "id": one.id, "name": one.name, "input": _input(one.arguments)} for one in answer.calls
        ]
        return [{"role": "assistant", "content": text + calls}] if text or calls else []

    def results(self, results: Sequence[tuple[str, str]]) -> list[Json]:
        """The results of the calls of an answer, all in one message."""
        blocks = [{"type": "tool_result", "tool_use_id": id_, "content": text} for id_, text in results]
        return [{"role": "user", "content": blocks}] if blocks else []

    def body(self, history: Sequence[Json]) -> Json:
        tool = {"name": TOOL["name"], "description": TOOL["description"], "input_schema": TOOL["parameters"]}
        return {"messages": list(history), "tools": [tool], "max_tokens": LONGEST}

    def take(self, answer: ReceivedAnswer, data: Json) -> None:
        match data.get("type"):
            case "content_block_start" if data["content_block"]["type"] == "tool_use":
                block = data["content_block"]
                answer.calls.append(ReceivedCall(id=block["id"], name=block["name"]))
            case "content_block_delta" if data["delta"]["type"] == "text_delta":
                answer.text += data["delta"]["text"]
            case "content_block_delta" if data["delta"]["type"] == "input_json_delta":
                answer.calls[-1].arguments += data["delta"]["partial_json"]
            case "message_stop":
                answer.finished = True
            case "error":
                raise AnswerFailedError(str(data["error"]["message"]), answer)

    def whole(self, response: httpx.Response) -> ReceivedAnswer:
        answer = ReceivedAnswer(finished=True)
        for block in _json(response)["content"]:
            if block["type"] == "text":
                answer.text += block["text"]
            elif block["type"] == "tool_use":
                arguments = json.dumps(block["input"], ensure_ascii=False)
                answer.calls.append(ReceivedCall(id=block["id"], name=block["name"], arguments=arguments))
        return answer


def _of_item(item: Json) -> ReceivedCall:
    return ReceivedCall(id=item["call_id"], name=item["name"], arguments=item["arguments"])


def _input(arguments: str) -> Json:
    """Arguments as an object; the API takes nothing else, so what is none is sent back as one without members."""
    try:
        found = json.loads(arguments or "{}")
    except ValueError:
        found = None
    return found if isinstance(found, dict) else {}


def _frames(response: httpx.Response, answer: ReceivedAnswer) -> Iterator[Json]:
    """The JSON of each frame; where the connection ends before its time, what came of `answer` is that of the error."""
    rest = b""
    try:
        for piece in response.iter_bytes():
            # Not `iter_lines`, which also ends a line at U+2028 and other characters that a text may hold.
            *lines, rest = (rest + piece).split(b"\n")
            yield from (json.loads(line[6:]) for line in lines if line.startswith(b"data: {"))
    except httpx.TransportError as error:
        raise CutAnswerError(str(error), answer) from error


def _json(response: httpx.Response) -> Json:
    try:
        found: Json = json.loads(response.read())
    except (httpx.TransportError, ValueError) as error:
        raise CutAnswerError(str(error)) from error
    return found


FORMS: dict[str, ClientForm] = {"chat": _Chat(), "responses": _Responses(), "messages": _Messages()}
"""By the names of the command line."""
