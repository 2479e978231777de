"""A call that comes twice, as structure and as text, is one call, and the structure is its wording. Pure.

A call found in text waits a moment: for the same call as structure, for a silence, for more text, or for
the end, whichever comes first. Structure that comes in time replaces it; structure that comes later is the same call
again and is dropped, as is text that repeats a structured call. A structured call that may be the same as one from the
text is held until its arguments are complete; what comes after it waits behind it.

Two forms are the same call when their ids are, or their names and, as JSON, their arguments, also after the round trip
through a block, which keeps no quotes.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from wireproof_surfaces.events import ArgumentsAdded, CallBegan, CallClosed
from wireproof_surfaces.tools import spelled_json, use_tool
from wireproof_surfaces.tools.call_ids import call_id

if TYPE_CHECKING:
    from collections.abc import Iterator

    from wireproof_surfaces.tools.use_tool import TextCall

CallEvent = CallBegan | ArgumentsAdded | CallClosed


@dataclass
class _Textual:
    """A call from the text under the id that it has or will have."""

    id: str
    call: TextCall
    passed: bool = False


@dataclass
class _Structured:
    name: str
    pieces: list[str] = field(default_factory=list)


@dataclass
class Reconciler:
    """The calls of one choice; `seed` makes the ids of calls that have none unlike those of other answers."""

    choice: int
    seed: str = ""
    _textual: list[_Textual] = field(default_factory=list)
    _structured: dict[str, _Structured] = field(default_factory=dict)
    _ids: set[str] = field(default_factory=set)
    _suspect: CallBegan | None = None
    _queue: list[CallEvent] = field(default_factory=list)
    _found: int = 0

    def textual(self, found: TextCall) -> bool:
        """Take a call from the text; returns whether it is new."""
        for id_, call in self._structured.items():
            if id_ == found.id or (call.name == found.name and _same(found, "".join(call.pieces))):
                # A structured call accounts for one repetition; the same words once more are a call of their own.
                del self._structured[id_]
                return False
        # A model may use an id twice, though it is asked not to: two calls under one id would be one to the client.
        id_ = found.id if found.id not in {"", *self._ids} else call_id(self.seed, self.choice, self._found)
        self._found += 1
        self._ids.add(id_)
        self._textual.append(_Textual(id_, found))
        return True

    def structured(self, event: CallEvent) -> Iterator[CallEvent]:
        """Take a structured call's event; returns what passes now."""
        # Everything queues behind a suspect, or calls would overtake it.
        if self._suspect:
            self._queue.append(event)
            if isinstance(event, CallClosed) and event.id == self._suspect.id:
                yield from self._decide(self._suspect)
        elif isinstance(event, CallBegan) and self._suspects(event):
            self._suspect, self._queue = event, [event]
        else:
            yield from self._pass(event)

    def release(self) -> Iterator[CallEvent]:
        """Emit the calls from the text that still wait."""
        for waiting in self._textual:
            if not waiting.passed:
                waiting.passed = True
                yield CallBegan(choice=self.choice, id=waiting.id, name=waiting.call.name, source="textual")
                yield ArgumentsAdded(choice=self.choice, id=waiting.id, text=waiting.call.arguments)
                yield CallClosed(choice=self.choice, id=waiting.id, block=waiting.call.block)

    def end(self) -> Iterator[CallEvent]:
        """Emit all that waits: nothing more comes."""
        yield from self.release()
        queue, self._queue, self._suspect = self._queue, [], None
        for event in queue:
            yield from self._pass(event)

    def _suspects(self, opened: CallBegan) -> bool:
        return any(opened.name == text.call.name or opened.id == text.call.id for text in self._textual)

    def _pass(self, event: CallEvent) -> Iterator[CallEvent]:
        match event:
            case CallBegan():
                # What was found in the text came before (chat.whole.calls-all-in-order).
                yield from self.release()
                self._ids.add(event.id)
                self._structured[event.id] = _Structured(event.name)
            case ArgumentsAdded() if event.id in self._structured:
                self._structured[event.id].pieces.append(event.text)
            case _:
                pass
        yield event

    def _decide(self, opened: CallBegan) -> Iterator[CallEvent]:
        """The suspect is complete: the same as a call from the text, or one of its own."""
        queue, self._queue, self._suspect = self._queue, [], None
        own = [event for event in queue if event.id == opened.id]
        arguments = "".join(event.text for event in own if isinstance(event, ArgumentsAdded))
        twin = next((text for text in self._textual if _twins(text.call, opened, arguments)), None)
        if twin is None:
            for event in own:
                yield from self._pass(event)
        # The client has it already, so the structure is dropped (textual.structured-wins).
        elif twin.passed:
            self._textual.remove(twin)
        else:
            yield from self._replace(twin, own)
        for event in queue:
            if event.id != opened.id:
                yield from self.structured(event)

    def _replace(self, twin: _Textual, own: list[CallEvent]) -> Iterator[CallEvent]:
        """Emit the structure in the place of the text; the block stays as it was."""
        behind = self._textual[self._textual.index(twin) + 1 :]
        self._textual = self._textual[: self._textual.index(twin)]
        yield from self.release()
        self._textual += behind
        for event in own:
            yield replace(event, block=twin.call.block) if isinstance(event, CallClosed) else event


def _twins(found: TextCall, opened: CallBegan, arguments: str) -> bool:
    return found.id == opened.id or (found.name == opened.name and _same(found, arguments))


def _same(found: TextCall, arguments: str) -> bool:
    if spelled_json.same(found.arguments, arguments):
        return True
    # A block loses the quotes of strings that look like other JSON, so the structure is compared after the same loss.
    read = use_tool.read(use_tool.write(found.name, arguments))
    return bool(read and spelled_json.same(found.arguments, read.arguments))
