"""An answer whose script reaches the wire: `Play` with the steps of `wireproof_scripts.steps.http`. No I/O, like it.

Most of these steps are bytes of the body, or another head. What lies below HTTP is an output of its own:
`CloseConnection` ends the connection, `Noise` writes on it beside HTTP, `StreamHead.seconds` is a head that comes
slowly. On a socket `http.application` does that; without one a client gets the exception that it would get then.
"""

from __future__ import annotations

import math
import random
from dataclasses import dataclass, field, replace
from http import HTTPStatus
from itertools import takewhile
from typing import TYPE_CHECKING, get_args

from wireproof_endpoint.play import JSON, CloseConnection, Noise, Play, StreamHead, WholeReply
from wireproof_endpoint.wire.refusal import refusing, refusing_body, refusing_frames
from wireproof_scripts.player import Until
from wireproof_scripts.steps import Call, Reflect, Spoken, Think, http
from wireproof_surfaces.errors import INVALID, ApiError, Problem
from wireproof_surfaces.events import ChoiceFinished, TurnOver
from wireproof_surfaces.surfaces.writer import Keeping

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Mapping, Sequence

    from wireproof_endpoint.play import Output
    from wireproof_endpoint.turn import Next, PlayedChoice
    from wireproof_scripts.steps import Parts, Step


def reaches_the_wire(parts: Parts) -> bool:
    """Whether any of these parts has a step of HTTP."""
    # Loops: it is asked of every step that may be played, with each request.
    for part in parts:
        for step in part:
            if type(step) in _WIRE:
                return True
    return False


_WIRE = frozenset(get_args(http.Wire))


@dataclass(slots=True)
class _Form:
    """What the steps so far have made of the answer's form."""

    head: http.Head | None = None
    kept: float | None = None
    """How much of the next JSON is sent; None: all."""
    drip: http.Drip | None = None
    body: bytes | None = None
    """The body of a whole answer, if it was written by steps."""
    broken: http.Disconnect | None = None
    """How a whole answer breaks off within its body; None: not at all."""
    refusals: set[int] = field(default_factory=set)
    """The choices that are refusals."""


class WirePlay(Play):
    """The answer to one request, with steps of HTTP."""

    _shared = 0  # each piece by itself: any may be one that a step cuts off
    _step: http.Wire
    """The step of HTTP that is to be played now."""
    _choice = 0
    """The choice whose step it is."""

    def outputs(self, now: float) -> Generator[Output, float, None]:
        """All that is sent, in order."""
        self._form = _Form()
        yield from self._dripping(super().outputs(now))

    def _patience(self) -> float:
        # The status line must not go out before a step that may still decide it.
        return math.inf if _decides_the_head(self._turns[0].part) else super()._patience()

    def _taken(self, turn: PlayedChoice, step: Next) -> bytes:
        if isinstance(step, http.Wire):
            self._step, self._choice, self._below = step, turn.choice, True
            return b""
        return super()._taken(turn, step)

    def _play_below(self, now: float) -> Generator[Output, float, float]:
        self._below = False
        return (yield from (self._played if self._plan.stream else self._played_whole)(self._step, now))

    # Streams

    def _played(self, step: http.Wire, now: float) -> Generator[Output, float, float]:
        """Do what a step of a stream says. Returns the time."""
        self._note(step)
        match step:
            case http.Status():
                yield status_reply(step, self._refuse)
            case http.Disconnect(at="mid-frame"):
                yield from self._begin()
                yield self._half_a_frame()
                yield CloseConnection(reset=step.reset)
            case http.Disconnect():
                if self._form.head is not None:
                    yield from self._begin()
                yield CloseConnection(reset=step.reset)
            case http.Garbage():
                yield Noise(content=_noise(step))
            case http.Frame():
                yield from self._begin()
                now = yield self._cut_off(_frame(step))
            case http.Bytes():
                yield from self._begin()
                now = yield step.content
            case http.Refusal(text):
                yield from self._begin()
                now = yield self._cut_off(self._texts((text,), self._choice))
            case http.Stall():
                now = yield from _stalled(step, now)
        self._last = self._written = now
        return now

    def _begin(self) -> Generator[Output, float, None]:
        if not self._began:
            yield self._head()

    def _head(self) -> StreamHead:
        return self._as_said(super()._head())

    def _as_said(self, head: StreamHead) -> StreamHead:
        """A head with what a step has said of it."""
        step = self._form.head
        return head if step is None else replace(head, headers=_dressed(head.headers, step), seconds=step.seconds)

    def _half_a_frame(self) -> bytes:
        """The first half of a frame of text, behind the frames that come before it."""
        *before, last = self._plan.writer.texts(("cut off here",), 0).removesuffix(b"\n\n").split(b"\n\n")
        last = last or b'data: {"cut off here": true}'
        return b"".join(frame + b"\n\n" for frame in before) + last[: len(last) // 2]

    def _joined(self, frames: Sequence[bytes]) -> bytes:
        return self._cut_off(super()._joined(frames))

    def _cut_off(self, frames: bytes) -> bytes:
        """The frames; the JSON of the first one cut off, if a step has asked for it."""
        if self._form.refusals:
            frames = refusing_frames(frames, self._form.refusals)
        begin = frames.find(b"data: {")
        if self._form.kept is None or begin < 0:
            return frames
        begin += len(b"data: ")
        end = frames.find(b"\n\n", begin)
        kept, self._form.kept = self._form.kept, None
        return frames[: begin + int((end - begin) * kept)] + frames[end:]

    # Whole answers

    def _played_whole(self, step: http.Wire, now: float) -> Generator[Output, float, float]:
        """Do what a step of a whole answer says. Returns the time."""
        match step:
            case http.Status() | http.Disconnect(at="here") | http.Garbage():
                return (yield from self._played(step, now))
            case http.Disconnect():
                self._form.broken = step
                # What was said so far is the body that breaks off.
                self._feed(ChoiceFinished(choice=0, reason="stop"))
                self._feed(TurnOver(choice=0))
                self._over = True
            case http.Bytes():
                self._form.body = (self._form.body or b"") + step.content
            case http.Refusal(text):
                self._note(step)
                self._texts((text,), self._choice)
            case http.Stall():
                return (yield from _stalled(step, now))
            case _:
                self._note(step)
        return now

    def _body(self) -> Generator[Output, float, None]:
        form, broken = self._form, self._form.broken
        body = self._plan.writer.end() if form.body is None else form.body
        if form.refusals and form.body is None:
            body = refusing_body(body, form.refusals)
        if form.kept is not None:
            body = body[: int(len(body) * form.kept)]
        headers = {**JSON, **self._plan.headers, "Content-Length": str(len(body))}
        yield self._as_said(StreamHead(headers=headers))
        yield body if broken is None else body[: len(body) // 2]
        if broken is not None:
            yield CloseConnection(reset=broken.reset)

    # Both

    def _note(self, step: http.Wire) -> None:
        """Take what a step says about what comes after it."""
        match step:
            case http.Head():
                self._form.head = step
            case http.Truncate(kept):
                self._form.kept = kept
            case http.Drip():
                self._form.drip = step
            case http.Refusal():
                self._refusal()
            case http.Status() | http.Disconnect() | http.Garbage():
                self._cut = True

    def _refusal(self) -> None:
        """From here on the choice is a refusal, also as the answer is stored."""
        writer = self._plan.writer
        # What is stored has one choice.
        if isinstance(writer, Keeping) and not self._form.refusals:
            keep = writer.keep
            writer.keep = lambda response: keep(refusing(response))
        self._form.refusals.add(self._choice)

    def _dripping(self, outputs: Generator[Output, float, None]) -> Generator[Output, float, None]:
        """The outputs; from a `drip` step on, bytes of the body in small pieces."""
        output = next(outputs, None)
        while output is not None:
            if isinstance(output, bytes) and self._form.drip is not None:
                now = yield from _pieces(output, self._form.drip)
            else:
                now = yield output
            try:
                output = outputs.send(now)
            except StopIteration:
                return


def _pieces(content: bytes, drip: http.Drip) -> Generator[Output, float, float]:
    now = 0.0
    for start in range(0, len(content), drip.size):
        now = yield content[start : start + drip.size]
        now = yield from _waited(now + drip.seconds, now)
    return now


def _stalled(stall: http.Stall, now: float) -> Generator[Output, float, float]:
    return _waited(math.inf if stall.seconds is None else now + stall.seconds, now)


def _waited(until: float, now: float) -> Generator[Output, float, float]:
    # A wait may end early: something under the nonce has changed.
    while now < until:
        now = yield Until(until)
    return now


def _decides_the_head(part: tuple[Step, ...]) -> bool:
    """Whether a step of HTTP before the first output may decide what the head is, or that there is none."""
    sent = Spoken | Think | Call | Reflect | http.Frame | http.Bytes | http.Refusal
    first = takewhile(lambda step: not isinstance(step, sent), part)
    return any(isinstance(step, http.Heading | http.Ending) for step in first)


def _dressed(headers: Mapping[str, str], step: http.Head) -> dict[str, str]:
    given = dict(step.headers or {})
    if step.content_type:
        given["Content-Type"] = step.content_type
    return _replaced(headers, given)


def _replaced(headers: Mapping[str, str], given: Mapping[str, str]) -> dict[str, str]:
    """The headers with those that are given, whatever the case of their names."""
    names = {name.lower() for name in given}
    return {**{name: value for name, value in headers.items() if name.lower() not in names}, **given}


def _frame(step: http.Frame) -> bytes:
    named = [f"event: {step.event}"] if step.event else []
    lines = [f"data: {line}" for line in step.data.split("\n")]
    return "\n".join([*named, *lines, "", ""]).encode()


def _noise(step: http.Garbage) -> bytes:
    # The first byte is no letter: a status line would begin with one.
    return b"\x00" + random.Random(step.seed).randbytes(step.size - 1)  # noqa: S311 - no secret


def status_reply(step: http.Status, refuse: Callable[[ApiError], WholeReply]) -> WholeReply:
    """The response that a `status` step asks for; `refuse` makes one that is an error."""
    headers, body = dict(JSON), b""
    if step.code not in {HTTPStatus.NO_CONTENT, HTTPStatus.NOT_MODIFIED}:
        body = refuse(ApiError(_problem(step))).body if step.body is None else step.body.encode()
    if step.retry_after is not None:
        headers["Retry-After"] = step.retry_after
    return WholeReply(status=step.code, headers=_replaced(headers, dict(step.headers or {})), body=body)


_CODES = {
    400: ("invalid_request_error", "bad_request"),
    401: ("invalid_request_error", "invalid_api_key"),
    403: ("invalid_request_error", "permission_denied"),
    404: ("invalid_request_error", "not_found"),
    408: ("server_error", "timeout"),
    409: ("invalid_request_error", "conflict"),
    429: ("rate_limit_error", "rate_limit_exceeded"),
    503: ("server_error", "overloaded"),
    504: ("server_error", "timeout"),
}
"""Status → type and code of the error object."""


def _problem(step: http.Status) -> Problem:
    server = step.code >= HTTPStatus.INTERNAL_SERVER_ERROR
    kind, code = _CODES.get(step.code, ("server_error", "server_error") if server else (INVALID, None))
    phrase = HTTPStatus(step.code).phrase if step.code in set(HTTPStatus) else f"Status {step.code}"
    return Problem(step.code, kind, code, step.message or f"{phrase}.")
