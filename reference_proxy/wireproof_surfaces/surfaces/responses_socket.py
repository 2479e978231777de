"""Responses over one WebSocket: messages of a client as requests, events of an answer as messages. Pure.

    {"type": "response.create", "model": …, "input": …, "previous_response_id": …}   what else a POST would have
    {"type": "response.created", …} … {"type": "response.completed", …}              the events of its stream, one each
    {"type": "error", "status": 400, "error": {…}}                                   what would be a response's error

A connection remembers its latest response: it can be continued though it was not stored, until one fails. What goes on
from it is asked for with all that was said before, so nothing below knows of connections.
"""

from __future__ import annotations

import json
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from wireproof_surfaces.errors import INVALID, INVALID_PARAM, MISSING_PARAM, NOT_JSON, NOT_OBJECT, ApiError, Problem
from wireproof_surfaces.events import UsageReported
from wireproof_surfaces.random_ids import random_hex
from wireproof_surfaces.surfaces import responses_request
from wireproof_surfaces.surfaces.responses_answer import TOKEN_BYTES, ResponseHead, response

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from wireproof_surfaces.surfaces.json_text import Json

CREATE = "response.create"
AGED = Problem(
    400, INVALID, "websocket_connection_limit_reached", "This connection is 60 minutes old: open another one."
)
_ENDS = frozenset({"response.completed", "response.incomplete"})
_FAILS = frozenset({"response.failed", "error"})
_KEPT = (
    '"response.created"', '"response.in_progress"', '"response.output_item.done"', '"response.completed"',
    '"response.incomplete"', '"response.failed"', '"error"',
)  # fmt: skip
READ = 64
"""Characters of an event within which its type stands."""
_OF_HTTP = ("type", "stream", "stream_options", "generate")
"""Members of a message that a POST does not have, or that say how it is answered over HTTP."""


@dataclass(frozen=True, kw_only=True, slots=True)
class _Latest:
    """A response that ended well."""

    id: str
    items: tuple[Json, ...] | None
    """The conversation up to its end; None where it begins with a response that the server has stored."""


@dataclass(frozen=True, kw_only=True, slots=True)
class AskedResponse:
    """A request."""

    body: Json
    """Of the POST that asks the same."""
    continued: str | None
    """The response of this connection that it goes on from, which the body does not name."""
    items: tuple[Json, ...] | None
    """The conversation that it asks to go on with; None: not all of it is known here."""
    generates: bool
    """Whether an answer is wanted; else what was sent is to be kept, so that the next request is short."""


class SocketMemory:
    """What one connection remembers."""

    def __init__(self) -> None:
        self._latest: _Latest | None = None
        self._done: list[Json] = []
        """The items of the response that comes."""

    def asked(self, message: str) -> AskedResponse:
        """What a message asks for.

        Raises:
            ApiError: 400, when it asks for nothing.
        """
        sent = _object(message)
        kind = sent.get("type")
        if kind != CREATE:
            problem = MISSING_PARAM if kind is None else INVALID_PARAM
            raise ApiError(problem, message=f'`type` must be "{CREATE}".', param="type")
        body = {name: value for name, value in sent.items() if name not in _OF_HTTP} | {"stream": True}
        given = _items(body.get("input"))
        generates = sent.get("generate") is not False
        continued, items, latest = None, given, self._latest
        if (previous := body.get("previous_response_id")) is not None:
            items = None
            if latest is not None and latest.id == previous and latest.items is not None:
                continued, items = latest.id, None if given is None else (*latest.items, *given)
                body = {**body, "input": list(items or ())}
                del body["previous_response_id"]
        return AskedResponse(body=body, continued=continued, items=items, generates=generates)

    def sent(self, asked: AskedResponse, event: str) -> str:
        """An event as it is sent; what is remembered of it is kept."""
        # Deltas are nearly all events, and nothing of them is kept.
        if not any(mark in event[:READ] for mark in _KEPT):
            return event
        value = json.loads(event)
        kind, said = value.get("type"), value.get("response")
        if kind == "response.created":
            self._done = []
        elif kind == "response.output_item.done":
            # The last event need not repeat them: behind a ChatGPT login it does not.
            self._done.append(value["item"])
        if kind in _FAILS:
            self._latest = None
        if not isinstance(said, dict):
            return event
        if kind in _ENDS:
            items = None if asked.items is None else (*asked.items, *self._done)
            self._latest = _Latest(id=said["id"], items=items)
        if asked.continued is None:
            return event
        return json.dumps({**value, "response": {**said, "previous_response_id": asked.continued}}, ensure_ascii=False)

    def refused(self, status: int, headers: Mapping[str, str], body: Json) -> str:
        """The event that is an error."""
        self._latest = None
        kept = {name.lower(): value for name, value in headers.items() if _says_when(name.lower())}
        more = {"headers": kept} if kept else {}
        return json.dumps({"type": "error", "status": status, "error": body.get("error", body), **more})

    def kept(self, asked: AskedResponse) -> Iterator[str]:
        """The events of a response of which no answer is wanted.

        Raises:
            ApiError: 400, when the request is not acceptable.
        """
        parsed = responses_request.parse(asked.body, {}, full=True)
        head = ResponseHead(
            token=random_hex(TOKEN_BYTES), created=int(time.time()), model=parsed.model, echo=parsed.echo
        )
        nothing = UsageReported(choice=0, prompt=0, completion=0)
        begun = response(head, "in_progress")
        objects = (begun, begun, response(head, "completed", usage=nothing))
        kinds = ("response.created", "response.in_progress", "response.completed")
        for number, (kind, said) in enumerate(zip(kinds, objects, strict=True)):
            yield self.sent(asked, json.dumps({"type": kind, "sequence_number": number, "response": said}))


def events_in(frames: bytes) -> list[str]:
    """The events of complete frames of a stream; comments are none."""
    found = []
    for frame in frames.decode(errors="replace").split("\n\n"):
        lines = [line.removeprefix("data:").strip() for line in frame.split("\n") if line.startswith("data:")]
        if lines and lines != ["[DONE]"]:
            found.append("\n".join(lines))
    return found


def _object(message: str) -> Json:
    try:
        value = json.loads(message)
    except (ValueError, RecursionError):
        raise ApiError(NOT_JSON, message="The message is not valid JSON.") from None
    if not isinstance(value, dict):
        raise ApiError(NOT_OBJECT, message="The message must be a JSON object.")
    return value


def _items(given: object) -> tuple[Json, ...] | None:
    """Input as items; None where it is none, which the answer will say."""
    if isinstance(given, str):
        return ({"type": "message", "role": "user", "content": given},)
    return tuple(given) if isinstance(given, list) else None


def _says_when(name: str) -> bool:
    return name.startswith(("x-ratelimit-", "retry-after"))
