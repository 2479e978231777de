"""The calls of one choice, gathered from their pieces. Pure."""

from __future__ import annotations

from dataclasses import dataclass, field

from wireproof_surfaces.events import ArgumentsAdded, CallBegan, CallClosed


@dataclass(slots=True)
class AggregatedCall:
    """A call as far as it is known; `index` counts the choice's calls from 0."""

    index: int
    id: str
    name: str
    pieces: list[str] = field(default_factory=list)
    """Of its arguments."""
    closed: CallClosed | None = None
    """How it was completed; None until then."""

    @property
    def arguments(self) -> str:
        """All pieces; joined once."""
        self.pieces = ["".join(self.pieces)]
        return self.pieces[0]

    @property
    def block(self) -> str | None:
        """The block that held it, verbatim; None when there was none."""
        return self.closed.block if self.closed else None


@dataclass(slots=True)
class Aggregator:
    """Takes the events of a choice's calls; pieces of a call that was not opened, or is closed, are dropped."""

    calls: dict[str, AggregatedCall] = field(default_factory=dict)
    """By their ids, in the order in which they were opened."""

    def feed(self, event: CallBegan | ArgumentsAdded | CallClosed) -> bool:
        """Take an event; whether it changed anything."""
        call = self.calls.get(event.id)
        match event:
            case CallBegan() if call is None:
                self.calls[event.id] = AggregatedCall(len(self.calls), event.id, event.name)
            # Nothing changes by an empty fragment: no delta is sent (chat.stream.call-delta-on-change).
            case ArgumentsAdded() if call and not call.closed and event.text:
                call.pieces.append(event.text)
            case CallClosed() if call and not call.closed:
                call.closed = event
            case _:
                return False
        return True
