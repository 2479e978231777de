"""Records of clients for tests: requests and answers as they stand on the wire, in a few words."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from wireproof.judging.client_checks import CLIENT_CHECKS
from wireproof.model.transcript import End, Piece, Transcript
from wireproof.reading.client_record import record_of

if TYPE_CHECKING:
    from collections.abc import Sequence

ROOT = "http://127.0.0.1:8787"
Json = dict[str, Any]
TOOL: Json = {"type": "function", "function": {"name": "look", "parameters": {"type": "object", "properties": {}}}}
USER: Json = {"role": "user", "content": "Look."}


def call(id_: str = "call_1", name: str = "look", arguments: str = '{"at": 1}') -> Json:
    return {"id": id_, "type": "function", "function": {"name": name, "arguments": arguments}}


def said(text: str | None = None, *calls: Json) -> Json:
    return {"role": "assistant", "content": text, **({"tool_calls": list(calls)} if calls else {})}


def result(id_: str = "call_1", text: str = "found it") -> Json:
    return {"role": "tool", "tool_call_id": id_, "content": text}


def asked(*messages: Json, answer: Json | None = None, at: float = 0.0, **body: Any) -> Transcript:
    """A request for a whole answer, and the answer: a message, or "Done."."""
    message = said("Done.") if answer is None else answer
    finish = "tool_calls" if message.get("tool_calls") else "stop"
    choice = {"index": 0, "message": {"refusal": None, **message}, "logprobs": None, "finish_reason": finish}
    completion = {"id": "chatcmpl-1", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice]}
    return exchange({"model": "m", "messages": list(messages), "tools": [TOOL], **body}, completion, at=at)


def exchange(body: Json, answer: Json, *, status: int = 200, at: float = 0.0, seconds: float = 0.1) -> Transcript:
    """A request, and an answer that comes whole."""
    return Transcript(
        method="POST",
        url=f"{ROOT}/v1/chat/completions",
        request_headers=(("authorization", "Bearer key"),),
        request_body=json.dumps(body, ensure_ascii=False).encode(errors="surrogatepass"),
        status=status,
        headers=(("content-type", "application/json"),),
        pieces=(Piece(at=seconds, data=json.dumps(answer).encode()),),
        end=End.COMPLETE,
        seconds=seconds,
        began=at,
        script="test",
    )


def streamed(
    *messages: Json, deltas: Sequence[Json], finish: str = "", end: End = End.CUT, at: float = 0.0
) -> Transcript:
    """A request for a stream, and what came of the stream."""
    frames: list[Json] = [{"delta": {"role": "assistant", "content": ""}, "finish_reason": None}]
    frames += [{"delta": delta, "finish_reason": None} for delta in deltas if "error" not in delta]
    frames += [{"delta": {}, "finish_reason": finish}] if finish else []
    head = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": "m"}
    chunks = [{**head, "choices": [{"index": 0, "logprobs": None, **frame}]} for frame in frames]
    chunks += [delta for delta in deltas if "error" in delta]
    data = "".join(f"data: {json.dumps(one)}\n\n" for one in chunks).encode()
    body = {"model": "m", "messages": list(messages), "tools": [TOOL], "stream": True}
    return replace(exchange(body, {}, at=at), pieces=(Piece(at=0.1, data=data),), end=end)


def refused(
    *messages: Json, status: int, at: float = 0.0, message: str = "No.", script: str = "test", **headers: str
) -> Transcript:
    """A request, and an error."""
    error = {"error": {"message": message, "type": "x", "param": None, "code": None}}
    body = {"model": "m", "messages": list(messages), "tools": [TOOL]}
    there = tuple((name.replace("_", "-"), value) for name, value in headers.items())
    return replace(exchange(body, error, status=status, at=at), headers=there, script=script)


def messages(*said: Json, answer: Sequence[Json], at: float = 0.0, **body: Any) -> Transcript:
    """A request for a whole message, and the message: its blocks."""
    stop = "tool_use" if any(block["type"] == "tool_use" for block in answer) else "end_turn"
    usage = {"input_tokens": 1, "output_tokens": 1}
    message = {"id": "msg_1", "type": "message", "role": "assistant", "model": "m", "content": list(answer),
               "stop_reason": stop, "stop_sequence": None, "usage": usage}  # fmt: skip
    asked = {"model": "m", "max_tokens": 9, "messages": list(said), "tools": [{"name": "look"}], **body}
    return replace(exchange(asked, message, at=at), url=f"{ROOT}/v1/messages")


def use(id_: str = "toolu_1", **input_: Any) -> Json:
    return {"type": "tool_use", "id": id_, "name": "look", "input": input_}


def used(*ids: str, **members: Any) -> Json:
    """The message with the results of these calls."""
    blocks = [{"type": "tool_result", "tool_use_id": id_, "content": "found it", **members} for id_ in ids]
    return {"role": "user", "content": blocks}


def wrong(row: str, *transcripts: Transcript, prompts: Sequence[str] = ()) -> list[str]:
    """What the check of a row finds wrong."""
    return [one.wrong.seen for one in CLIENT_CHECKS[row].look(record_of(transcripts, ROOT, prompts)) if one.wrong]


def occasions(row: str, *transcripts: Transcript) -> int:
    """At how many places a row could be broken."""
    return len(list(CLIENT_CHECKS[row].look(record_of(transcripts, ROOT))))
