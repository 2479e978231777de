"""The calls of one choice, gathered from their pieces. Pure; snapshots do not change."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from wireproof_surfaces.events import ArgumentsAdded, CallBegan, CallClosed

if TYPE_CHECKING:
    from wireproof_surfaces.events import Source


@dataclass(frozen=True, kw_only=True, slots=True)
class AggregatedCall:
    """A call as far as it is known; `index` counts the choice's calls from 0."""

    index: int
    id: str
    name: str
    arguments: str
    complete: bool
    source: Source
    block: str | None


@dataclass
class _PartialCall:
    opened: CallBegan
    index: int
    pieces: list[str] = field(default_factory=list)
    closed: CallClosed | None = None

    @property
    def arguments(self) -> str:
        """All pieces; joined once."""
        self.pieces = ["".join(self.pieces)]
        return self.pieces[0]


@dataclass(slots=True)
class Aggregator:
    """Takes the events of a choice's calls; pieces of a call that was not opened, or is closed, are dropped."""

    _calls: dict[str, _PartialCall] = field(default_factory=dict)

    def feed(self, event: CallBegan | ArgumentsAdded | CallClosed) -> bool:
        """Take an event; whether it changed anything."""
        call = self._calls.get(event.id)
        match event:
            case CallBegan() if call is None:
                self._calls[event.id] = _PartialCall(event, len(self._calls))
            # Nothing changes by an empty fragment: no delta is sent (chat.stream.call-delta-on-change).
            case ArgumentsAdded() if call and not call.closed and event.text:
                call.pieces.append(event.text)
            case CallClosed() if call and not call.closed:
                call.closed = event
            case _:
                return False
        return True

    def call(self, id_: str) -> AggregatedCall:
        """The call with this id.

        Raises:
            KeyError: no call has this id.
        """
        call = self._calls[id_]
        return AggregatedCall(
            index=call.index,
            id=id_,
            name=call.opened.name,
            arguments=call.arguments,
            complete=call.closed is not None,
            source=call.opened.source,
            block=call.closed.block if call.closed else None,
        )

    def index(self, id_: str) -> int:
        """The place of the call with this id."""
        return self._calls[id_].index

    def name(self, id_: str) -> str:
        """The name that the call with this id has."""
        return self._calls[id_].opened.name

    def snapshot(self) -> tuple[AggregatedCall, ...]:
        """All calls, in the order in which they were opened."""
        return tuple(map(self.call, self._calls))
