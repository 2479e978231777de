"""One response while it is played: what is sent next, or how long nothing is."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, assert_never

from wireproof_endpoint.play import StreamHead, WholeReply
from wireproof_mocks.upstream.failing import FAILURES, Failure, HttpRefusal, ResponseFailed
from wireproof_mocks.upstream.request import Json  # `Made` is made of it when the program runs
from wireproof_mocks.upstream.writing import frame
from wireproof_scripts.calls.blocks import cut, is_structured_call
from wireproof_scripts.calls.call_shapes import ShapeText, in_shapes
from wireproof_scripts.player import Action, Until, perform
from wireproof_scripts.steps import (
    Call,
    Doing,
    Elsewhere,
    Fail,
    Finish,
    Open,
    Reflect,
    TextDelta,
    Think,
    Usage,
    WebSearch,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterator

    from wireproof_endpoint.play import Output
    from wireproof_mocks.upstream.request import ModelRequest
    from wireproof_mocks.upstream.writing import ModelEvents
    from wireproof_scripts.nonces import Nonce, State, TurnRecord
    from wireproof_scripts.steps import Step

Made = StreamHead | Json | WholeReply | Until
"""The head of a stream, an event of it, an HTTP error instead, or silence."""


def refused(error: HttpRefusal) -> WholeReply:
    """The response that is an HTTP error."""
    return WholeReply(status=error.status, headers={"Content-Type": "application/json"}, body=error.body)


class ModelReply:
    """The answer to a request. It ends with its `outputs`, or when its client disconnects."""

    def __init__(
        self,
        part: tuple[Step, ...],
        asked: ModelRequest,
        writer: ModelEvents,
        nonce: Nonce,
        record: TurnRecord,
        changed: Callable[[Nonce], None],
    ) -> None:
        self._part = part
        self._asked = asked
        self._writer = writer
        self._nonce = nonce
        self._record = record
        self._usage = Usage()
        self._opened = False
        self._over = False
        self._changed = changed
        """Called for what other replies under the nonce may wait for: a gate that opens, the end of this reply."""
        self._calls = sum(is_structured_call(step) for step in part)
        """How many calls are still to be sent."""
        self._phase: str | None = None
        self._last = "\n"
        """The last character of the text."""

    @property
    def nonces(self) -> set[int]:
        """What it shares with other replies."""
        return {id(self._nonce)}

    def outputs(self, now: float) -> Generator[Output, float, None]:
        """All that is sent, in order; it is resumed with the time. After `Until` it may be resumed early."""
        performance = perform(self._part, self._nonce, self._record, now)
        action = next(performance)
        while True:
            for made in self._sent_for(action):
                now = yield frame(made) if isinstance(made, dict) else made
            # By its own end, or by a disconnect while an output was sent.
            if self._over:
                return
            action = performance.send(now)

    def close(self) -> None:
        """The client has disconnected; without effect after the end."""
        self._end("interrupted")

    # Actions

    def _sent_for(self, action: Action | Until) -> Iterator[Made]:
        match action:
            case Open(name):
                self._nonce.gates.add(name)
                self._changed(self._nonce)
            case Usage():
                self._usage = action
            # Before `_open`, since a refusal comes instead of a stream.
            case Fail(cause):
                yield from self._fail(FAILURES[cause])
            case _:
                yield from self._open()
                yield from self._send(action)

    def _open(self) -> Iterator[Made]:
        if not self._opened:
            self._opened = True
            yield StreamHead(headers={"Content-Type": "text/event-stream"})
            yield from self._writer.begun()

    def _send(self, action: Action | Until) -> Iterator[Made]:
        if isinstance(action, Doing | Elsewhere):
            return  # others play these: `playable` refuses scripts with these
        match action:
            case Until():
                yield action
            case TextDelta(text, whole=whole, phase=phase):
                yield from self._text(text, whole=whole, phase=phase)
            case Reflect():
                yield from self._text(json.dumps(self._reflection(action), ensure_ascii=False))
            case Think():
                yield from self._writer.reasoning(action)
            case WebSearch():
                yield from self._writer.web_search(action)
            case Call():
                yield from self._call(action)
            case Finish(reason):
                yield from self._writer.finished(reason, self._usage)
                self._end("completed" if reason == "stop" else "failed")
            case Open() | Usage() | Fail():
                pass  # these send nothing, see `_sent_for`
            case _:
                assert_never(action)

    def _text(self, text: str, *, whole: bool = False, phase: str | None = None) -> Iterator[Json]:
        self._last = text[-1:] or self._last
        # Text before a call is what the model says of its work; after the last call it is the answer.
        said = phase or ("commentary" if self._calls else None)
        if phase and phase != self._phase:
            yield from self._writer.end_text()
        self._phase = phase
        yield from self._writer.whole_text(text, said) if whole else self._writer.text(text, said)

    def _call(self, call: Call) -> Iterator[Json]:
        self._calls -= is_structured_call(call)
        for output in in_shapes(call, 0):
            match output:
                case ShapeText(text, own_line):
                    # A sentinel counts only at the start of a line.
                    yield from self._text(f"\n{text}" if own_line and self._last != "\n" else text)
                case _:
                    pieces, spelled = cut(call.arguments, call.pieces), self._asked.spelled(call.name)
                    yield from self._writer.call(call, pieces, *spelled)

    def _reflection(self, step: Reflect) -> Json:
        if step.what == "received":
            return self._asked.received
        others = self._nonce.others(self._record)
        return {"turns": [{"script": it.script, "part": it.part, "state": it.state} for it in others]}

    def _fail(self, failure: Failure) -> Iterator[Made]:
        match failure:
            case HttpRefusal():
                yield refused(failure)
            case ResponseFailed(code, message):
                yield from self._open()
                yield from self._writer.failed(code, message)
            case "cut":
                yield from self._open()
            case "silence":
                yield from self._open()
                while True:
                    # Again, since a wait may end early; only the client's disconnect ends this.
                    yield Until(math.inf)
        self._end("failed")

    def _end(self, state: State) -> None:
        """Record how the reply ended. Only the first end counts: a client also disconnects after a complete reply."""
        if not self._over:
            self._over = True
            self._record.state = state
            self._changed(self._nonce)
