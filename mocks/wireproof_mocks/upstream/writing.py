"""Writes one response of the Responses API, event by event.

First created and in_progress, then for each item of the output: added, its parts and deltas, done; last completed,
incomplete or failed. Events have a `type` and a `sequence_number` from 0; a frame is `event: <type>` and the event as
data.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from wireproof_scripts.calls.blocks import cut

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from wireproof_mocks.upstream.request import Json
    from wireproof_scripts.steps import Call, Think, Usage, WebSearch

# The scripts speak as chat does.
_REASONS = {"length": "max_output_tokens"}


def frame(event: Json) -> bytes:
    """An event as a frame of server-sent events."""
    return f"event: {event['type']}\ndata: {json.dumps(event, ensure_ascii=False)}\n\n".encode()


def counts(usage: Usage) -> Json:
    """Token counts in the form of the API."""
    return {
        "input_tokens": usage.input,
        "input_tokens_details": {"cached_tokens": usage.cached, "cache_write_tokens": 0},
        "output_tokens": usage.output,
        "output_tokens_details": {"reasoning_tokens": usage.reasoning},
        "total_tokens": usage.input + usage.output,
    }


class ModelEvents:
    """One response. Its methods yield the events to send; `number` gives the next number for an id."""

    def __init__(self, model: str, now: float, number: Callable[[], int]) -> None:
        self._number = number
        self._sequence = 0
        self._output: list[Json] = []
        self._pieces: list[str] | None = None
        self._item_id = ""
        self._phase: str | None = None
        self._response: Json = {
            "id": self._id("resp"),
            "object": "response",
            "created_at": int(now),
            "status": "in_progress",
            "error": None,
            "incomplete_details": None,
            "instructions": None,
            "metadata": {},
            "model": model,
            "output": [],
            "parallel_tool_calls": True,
            "temperature": 1.0,
            "tool_choice": "auto",
            "tools": [],
            "top_p": 1.0,
            "usage": None,
        }

    def begun(self) -> Iterator[Json]:
        """The start of the response."""
        yield self._event("response.created", response=self._response)
        yield self._event("response.in_progress", response=self._response)

    def text(self, text: str, phase: str | None = None) -> Iterator[Json]:
        """A delta of text, in the open message or else in a new one with this `phase`."""
        if self._pieces is None:
            self._pieces, self._item_id, self._phase = [], self._id("msg"), phase
            # Only with the first piece: a message without text must not appear.
            yield self._event("response.output_item.added", **self._at, item=self._message("in_progress", []))
            yield self._event("response.content_part.added", **self._part, part=_text_part(""))
        self._pieces.append(text)
        yield self._event("response.output_text.delta", **self._part, delta=text, logprobs=[])

    def whole_text(self, text: str, phase: str | None = None) -> Iterator[Json]:
        """A complete message without deltas."""
        # Items do not overlap: whatever is open is done before the next begins.
        yield from self.end_text()
        self._item_id, self._phase = self._id("msg"), phase
        yield self._done(self._message("completed", [_text_part(text)]))

    def end_text(self) -> Iterator[Json]:
        """The end of the open message, if there is one."""
        if self._pieces is None:
            return
        # None before the events are made: the message is no longer open.
        text, self._pieces = "".join(self._pieces), None
        yield self._event("response.output_text.done", **self._part, text=text, logprobs=[])
        yield self._event("response.content_part.done", **self._part, part=_text_part(text))
        yield self._done(self._message("completed", [_text_part(text)]))

    def reasoning(self, thought: Think) -> Iterator[Json]:
        """Reasoning: one summary, then the reasoning itself."""
        yield from self.end_text()
        self._item_id = self._id("rs")
        item: Json = {"id": self._item_id, "type": "reasoning", "summary": []}
        text, place = thought.text, {**self._of_item, "summary_index": 0}
        part = {"type": "summary_text", "text": text}
        yield self._event("response.output_item.added", **self._at, item=item)
        yield self._event("response.reasoning_summary_part.added", **place, part={**part, "text": ""})
        for piece in cut(text, thought.pieces):
            yield self._event("response.reasoning_summary_text.delta", **place, delta=piece)
        yield self._event("response.reasoning_summary_text.done", **place, text=text)
        yield self._event("response.reasoning_summary_part.done", **place, part=part)
        yield from self._raw_reasoning(thought.raw)
        yield self._done({**item, "summary": [part], **_kept_reasoning(thought)})

    def _raw_reasoning(self, pieces: tuple[str, ...]) -> Iterator[Json]:
        if pieces:
            for piece in pieces:
                yield self._event("response.reasoning_text.delta", **self._part, delta=piece)
            yield self._event("response.reasoning_text.done", **self._part, text="".join(pieces))

    def web_search(self, search: WebSearch) -> Iterator[Json]:
        """A search of the service's own, from its beginning to its end."""
        yield from self.end_text()
        self._item_id = search.id
        action = {"type": "search", "query": search.query}
        item = {"id": search.id, "type": "web_search_call", "status": "in_progress", "action": action}
        yield self._event("response.output_item.added", **self._at, item=item)
        for stage in ("in_progress", "searching", "completed"):
            yield self._event(f"response.web_search_call.{stage}", **self._of_item)
        yield self._done({**item, "status": "completed"})

    def call(self, call: Call, pieces: tuple[str, ...], name: str, namespace: str | None = None) -> Iterator[Json]:
        """A call of this function with its arguments in these deltas."""
        yield from self.end_text()
        self._item_id = self._id("fc")
        item = {"id": self._item_id, "type": "function_call", "status": "in_progress", "arguments": ""}
        item |= {"call_id": call.id, "name": name, **({"namespace": namespace} if namespace else {})}
        arguments = {"arguments": call.arguments}
        yield self._event("response.output_item.added", **self._at, item=item)
        for piece in pieces:
            yield self._event("response.function_call_arguments.delta", **self._of_item, delta=piece)
        yield self._event("response.function_call_arguments.done", **self._of_item, **arguments)
        yield self._done({**item, **arguments, "status": "completed"})

    def finished(self, reason: str, usage: Usage) -> Iterator[Json]:
        """The end of the response, for the reason of a `finish` step."""
        yield from self.end_text()
        # null: some models give no counts.
        fields: Json = {"usage": None if usage.unknown else counts(usage), "output": self._output}
        if reason == "stop":
            yield self._end("completed", **fields)
        else:
            yield self._end("incomplete", **fields, incomplete_details={"reason": _REASONS.get(reason, reason)})

    def failed(self, code: str, message: str) -> Iterator[Json]:
        """The failure of the response; open items stay incomplete."""
        yield self._end("failed", output=self._output, error={"code": code, "message": message})

    # What events are made of

    def _id(self, kind: str) -> str:
        return f"{kind}_{self._number():04}"

    @property
    def _at(self) -> Json:
        return {"output_index": len(self._output)}

    @property
    def _of_item(self) -> Json:
        return {**self._at, "item_id": self._item_id}

    @property
    def _part(self) -> Json:
        return {**self._of_item, "content_index": 0}

    def _message(self, status: str, content: list[Json]) -> Json:
        message = {"type": "message", "status": status, "role": "assistant", "content": content}
        return {"id": self._item_id, **message, **({"phase": self._phase} if self._phase else {})}

    def _done(self, item: Json) -> Json:
        event = self._event("response.output_item.done", **self._at, item=item)
        self._output.append(item)
        return event

    def _end(self, status: str, **fields: object) -> Json:
        return self._event(f"response.{status}", response={**self._response, "status": status, **fields})

    def _event(self, kind: str, **fields: object) -> Json:
        self._sequence += 1
        return {"type": kind, "sequence_number": self._sequence - 1, **fields}


def _kept_reasoning(thought: Think) -> Json:
    """The fields of a complete reasoning item besides its summary."""
    content = {"content": [{"type": "reasoning_text", "text": "".join(thought.raw)}]} if thought.raw else {}
    return {**content, **({"encrypted_content": thought.encrypted} if thought.encrypted else {})}


def _text_part(text: str) -> Json:
    return {"type": "output_text", "text": text, "annotations": [], "logprobs": []}
