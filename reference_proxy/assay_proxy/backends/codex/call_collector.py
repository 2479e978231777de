"""The calls that a backend tells of one choice, in whatever shape, as events. Pure.

A call may come whole or as fragments, in several shapes, and more than once:

    native         whole: what Codex asks a client to run, and its raw item
    tool_calls     fragments that name the call by its index, or whole
    function_call  fragments without any name for the call, or whole
    item           events of the Responses API that name the call by its item or its place in the output

What told a call first tells all of it. A call told again is known by its id; where one telling has none, by its name
and arguments, each telling once. `tool_calls` win over `function_call`. Fragments are added up as they come and never
looked into. A call is opened when its name and id are known; until then its fragments wait, for an id may come late.
A call that is complete without an id gets one.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from assay_proxy.events import Arguments, CallClosed, CallOpened, Event
from assay_proxy.tools import spelled_json
from assay_proxy.tools.call_ids import call_id

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterator

Shape = Literal["native", "tool_calls", "function_call", "item"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Piece:
    """What one message tells of a call: all of it or a fragment; what it does not tell is empty.

    `keys` name the call among those of its shape, if anything does. `item` is an id of the call's item, used where
    there is no better one.
    """

    shape: Shape
    keys: tuple[Hashable, ...] = ()
    id: str = ""
    item: str = ""
    name: str = ""
    text: str = ""


@dataclass(eq=False)
class _Call:
    """A call so far; `shown` is the id under which it was opened, `whole`: a whole telling was taken for it."""

    shape: Shape
    number: int
    id: str = ""
    item: str = ""
    name: str = ""
    pieces: list[str] = field(default_factory=list)
    shown: str = ""
    closed: bool = False
    whole: bool = False

    @property
    def arguments(self) -> str:
        """All so far."""
        return "".join(self.pieces)

    def learn(self, piece: Piece) -> None:
        """Take what was not known."""
        self.name = self.name or piece.name
        self.item = self.item or piece.item
        self.id = self.id or piece.id


@dataclass
class CallCollector:
    """The calls of the choice with this index; `seed` tells its turn from every other."""

    choice: int = 0
    seed: str = ""
    _calls: list[_Call] = field(default_factory=list)
    _keys: dict[tuple[Shape, Hashable], _Call] = field(default_factory=dict)
    _begun: int = 0

    @property
    def any(self) -> bool:
        """Whether any call was opened."""
        return any(call.shown for call in self._calls)

    def fragment(self, piece: Piece) -> list[Event]:
        """Take a fragment."""
        if self._outdone(piece.shape):
            return []
        call = self._known(piece) or self._begin(piece)
        if call.shape != piece.shape or call.closed:
            return []
        call.learn(piece)
        if piece.text:
            call.pieces.append(piece.text)
        return [] if self._told_elsewhere(call, call.id) else list(self._advance(call, piece.text, call.id))

    def whole(self, piece: Piece) -> list[Event]:
        """Take a call that is told all at once."""
        if self._outdone(piece.shape):
            return []
        call = self._twin(piece) or self._begin(piece)
        call.whole = True
        call.learn(piece)
        return list(self._complete(call, piece.text))

    def done(self, piece: Piece, *, last: bool) -> list[Event]:
        """Take the word that a call's arguments are complete; it may repeat them all, and tell an id at last.

        Unless it is the `last` word, a call without an id waits for one.
        """
        call = self._known(piece) or self._begin(piece)
        if call.shape != piece.shape:
            return []
        call.learn(piece)
        return list(self._complete(call, piece.text)) if last or call.id else []

    def close(self) -> list[Event]:
        """No more is told: every call is complete."""
        return [event for call in self._calls for event in self._complete(call, "")]

    def _outdone(self, shape: Shape) -> bool:
        """Whether a shape does not count, since a better one was told; the better one takes the place of the other."""
        if shape == "tool_calls":
            self._calls = [call for call in self._calls if call.shown or call.shape != "function_call"]
        return shape == "function_call" and any(call.shape == "tool_calls" for call in self._calls)

    def _known(self, piece: Piece) -> _Call | None:
        """The call that a fragment goes on with: the one that it names, else the one that it follows."""
        call = next((self._keys[key] for key in self._named(piece) if key in self._keys), None)
        if call:
            return None if piece.id and call.id and piece.id != call.id else call
        last = next((call for call in reversed(self._calls) if call.shape == piece.shape and not call.closed), None)
        late = last and not last.id and not piece.name
        if piece.id and not late and (same := self._by_id(piece.id)):
            return same
        if last is None or (piece.id and last.id) or (piece.keys and piece.shape == "tool_calls"):
            return None
        return None if piece.name and last.name and (piece.keys or last.pieces) else last

    def _begin(self, piece: Piece) -> _Call:
        """A new call, or the one of another shape that has the same id."""
        call = self._by_id(piece.id) if piece.id else None
        if call is None:
            call = _Call(piece.shape, self._begun)
            self._begun += 1
            self._calls.append(call)
        self._keys |= dict.fromkeys(self._named(piece), call)
        return call

    def _named(self, piece: Piece) -> list[tuple[Shape, Hashable]]:
        return [(piece.shape, key) for key in piece.keys]

    def _by_id(self, id_: str) -> _Call | None:
        return next((call for call in self._calls if call.id == id_), None)

    def _twin(self, piece: Piece) -> _Call | None:
        """The call that was told before and is now told whole."""
        if piece.id and (same := self._by_id(piece.id)):
            return same
        return self._alike(piece, self._calls)

    def _alike(self, piece: Piece, calls: list[_Call]) -> _Call | None:
        """The first call with this name and these arguments that was not told whole and may have the same id."""
        for call in calls:
            free = not call.whole and not (piece.id and call.id)
            if free and call.name == piece.name and spelled_json.same(call.arguments, piece.text):
                return call
        return None

    def _advance(self, call: _Call, text: str, id_: str) -> Iterator[Event]:
        """What is to be told after more of a call; `id_` is the one to open it under, if there is one yet."""
        if call.shown:
            if text:
                yield Arguments(choice=self.choice, id=call.shown, text=text)
        elif call.name and id_:
            call.shown = id_
            yield CallOpened(choice=self.choice, id=id_, name=call.name)
            if call.pieces:
                yield Arguments(choice=self.choice, id=id_, text=call.arguments)

    def _complete(self, call: _Call, whole: str) -> Iterator[Event]:
        """What is to be told of a call that is complete; a call without a name is none."""
        if call.closed:
            return
        told = call.arguments
        rest = whole[len(told) :] if whole.startswith(told) else ""
        if rest:
            call.pieces.append(rest)
        id_ = call.id or call.item
        if self._told_elsewhere(call, id_) or (not call.shown and self._repeats(call)):
            call.closed = True
            return
        yield from self._advance(call, rest, id_ or call_id(self.seed, self.choice, call.number))
        if call.shown:
            call.closed = True
            yield CallClosed(choice=self.choice, id=call.shown)

    def _told_elsewhere(self, call: _Call, id_: str) -> bool:
        """Whether a call that is not opened yet turns out to be another one that is, by its id."""
        return bool(id_) and not call.shown and any(other.shown == id_ for other in self._calls)

    def _repeats(self, call: _Call) -> bool:
        """Whether a call that was never opened repeats one of another shape; each stands for one call."""
        piece = Piece(shape=call.shape, id=call.id, name=call.name, text=call.arguments)
        twin = self._alike(piece, [other for other in self._calls if other.shown and other.shape != call.shape])
        if twin:
            twin.whole = True
        return twin is not None
