"""A chat stream, read: the machine that puts the questions of `wireproof.wire.grammar` to chunks.

A payload is first a sign to the stream as a whole, then delta by delta signs to its choices. Events end where a client
stops reading, at `[DONE]` or at the first error frame; only comments come after that. Comments may stand anywhere,
after `[DONE]` too.

https://platform.openai.com/docs/api-reference/chat-streaming/streaming
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from wireproof.wire.choice import ChoiceReader, Delta, read_deltas
from wireproof.wire.events import ChatEvent, Done
from wireproof.wire.facet import Facet
from wireproof.wire.fields import JsonObject, failure_of, object_of, usage_of
from wireproof.wire.grammar import (
    FRAME,
    STABLE,
    STREAM,
    STRICT_ONLY,
    ChoiceSign,
    StreamSign,
    StreamState,
)
from wireproof.wire.quoting import short
from wireproof.wire.stream import Stream
from wireproof.wire.table import FrameFault, Hole

if TYPE_CHECKING:
    from collections.abc import Iterator

    from wireproof.wire.sse import SseFrame
    from wireproof.wire.stream import Findings
    from wireproof.wire.violation import Place

_RUNNING = frozenset({StreamState.OPEN, StreamState.COUNTED})


def chat_stream(*, blocks: bool = False) -> Stream:
    """A reader of one streamed chat answer.

    `blocks`: the dialect writes calls as `<use_tool>` blocks, so content that ends with one is a call, not a tail.
    """
    # Malformed bytes beside readable data are one violation, and the data is still judged: clients decode leniently.
    return Stream(partial(_Chat, blocks=blocks), FRAME, reads_malformed=True, strict_only=STRICT_ONLY)


class _Chat:
    def __init__(self, findings: Findings, *, blocks: bool) -> None:
        self._findings = findings
        self._blocks = blocks
        self._state = StreamState.OPEN
        self._choices: dict[int, ChoiceReader] = {}
        self._first: dict[str, object] = {}  # the members that must not change, as they first came

    def payload(self, frame: SseFrame, payload: JsonObject) -> Iterator[ChatEvent]:
        """Take a chunk or an error frame."""
        # `"error": null` is no error; whether a chunk may have the member is for the schema (chat.stream.schema).
        if payload.get("error") is not None:
            yield from self._error(frame, payload["error"])
        else:
            yield from self._chunk(frame, payload)

    def done(self, frame: SseFrame) -> Iterator[ChatEvent]:
        """Take a `[DONE]`."""
        # The choices first: one that lacks its finish is named at the [DONE] that came instead.
        self._close(frame.place, over=any(choice.finished or choice.said for choice in self._choices.values()))
        if self._step(StreamSign.DONE, frame.place):
            yield Done(frame=frame.number)

    def end(self, place: Place) -> None:
        """Take the end of the body."""
        self._step(StreamSign.END if self._close(place) else StreamSign.CUT, place)

    def _error(self, frame: SseFrame, error: object) -> Iterator[ChatEvent]:
        running = self._state in _RUNNING
        # Once every choice has its finish, an error of the backend must leave no trace (codex-story, criterion 10).
        late = bool(self._choices) and all(choice.finished for choice in self._choices.values())
        accepted = self._step(StreamSign.LATE_ERROR if late else StreamSign.ERROR, frame.place)
        # After [DONE] or an error frame no client reads on, so there is no event.
        if not running:
            return
        self._state = StreamState.FAILED  # even after one that comes too late: clients stop here
        failure = failure_of(error, frame.number)
        yield failure
        # `error.message` is what users of every client see. The shape of an error that must not come at all is not
        # judged.
        if accepted and not (object_of(error) and failure.message):
            fault, lost = FrameFault.ERROR_SHAPE, frozenset({Facet.ERROR})
            # An error that is a text is shown by every client as if it were the message.
            shown = bool(failure.message)
            self._findings.fault(FRAME[fault], "", fault.value, frame.place, lost, strict_only=shown)

    def _chunk(self, frame: SseFrame, chunk: JsonObject) -> Iterator[ChatEvent]:
        deltas = read_deltas(chunk)
        self._step(self._sign(deltas, chunk.get("usage")), frame.place)
        if self._state not in _RUNNING:
            return
        self._compare(frame, chunk)
        usage = chunk.get("usage")
        for delta in deltas:
            # The choice that a usage chunk should not have is one fault: it is not also a delta after the finish.
            choice = self._choices.get(delta.index)
            ended = choice is not None and choice.finished
            if usage is None or not (ended and delta.signs() == [ChoiceSign.EMPTY]):
                yield from self._delta(delta, frame)
        if counted := usage_of(usage, frame.number):
            yield counted

    def _sign(self, deltas: tuple[Delta, ...], usage: object) -> StreamSign:
        if not deltas:
            # `usage: null` in each chunk is OpenAI's own way where usage was asked for, so null says nothing.
            return StreamSign.BARE if usage is None else StreamSign.USAGE
        if usage is not None:
            return StreamSign.BESIDE
        named = [self._choices.get(delta.index) for delta in deltas]
        return StreamSign.LATE if all(choice and choice.finished for choice in named) else StreamSign.CHUNK

    def _compare(self, frame: SseFrame, chunk: JsonObject) -> None:
        for member, requirement in STABLE.items():
            value = chunk.get(member)
            # A member that is null or missing is the JSON Schema's business; it does not also count as changed.
            first = self._first.setdefault(member, value) if value is not None else None
            if value != first:
                seen = f"{member} is {short(value)}, but was {short(first)} before"
                # Some clients join chunks by their id. One that is empty is of a head that says nothing.
                joined = member == "id" and value != "" and first != ""
                self._findings.fault(requirement, "", seen, frame.place, strict_only=not joined)

    def _delta(self, delta: Delta, frame: SseFrame) -> Iterator[ChatEvent]:
        choice = self._choices.setdefault(delta.index, ChoiceReader(delta.index, blocks=self._blocks))
        known = len(choice.violations)
        yield from choice.read(delta, frame)
        self._findings.violations += choice.violations[known:]

    def _close(self, place: Place, *, over: bool = False) -> bool:
        """End the answer; False if a choice was not finished. A stream without any choice lacks the first.

        `over`: something was said and the stream has its [DONE], so that the finish is all that is missing.
        """
        if self._state not in _RUNNING:
            return True
        choices = self._choices or {0: ChoiceReader(0, blocks=self._blocks)}
        broken = [choice for choice in choices.values() if not choice.close(place)]
        for choice in broken:
            lacks = choice.violations[-1]
            self._findings.violations.append(replace(lacks, spoils=frozenset({Facet.FINISH})) if over else lacks)
        return not broken

    def _step(self, sign: StreamSign, place: Place) -> bool:
        """Whether a sign may come now."""
        may_come = not isinstance(STREAM[self._state, sign], Hole)
        self._state = self._findings.step(STREAM, self._state, sign, place)
        return may_come
