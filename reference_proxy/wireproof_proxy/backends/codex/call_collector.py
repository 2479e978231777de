"""The calls of one choice, collected from the backend's messages, whatever shape those have, as events. Pure.

A call may come whole or as fragments, in several shapes, and more than once:

    native         whole: the request to run a tool, and the raw item
    tool_calls     fragments that name the call by its index, or whole
    function_call  fragments without any name for the call, or whole
    item           events of the Responses API that name the call by its item or its place in the output

The shape in which a call first appears delivers all of it. A repetition is recognised by its id; where it has none, by
its name and arguments, each repetition once. `tool_calls` win over `function_call`. Fragments are added up as they come
and never parsed. A call is opened when its name and id are known; until then its fragments wait, for an id may come
late. A call that is complete without an id gets one.

Which call a fragment continues, by the first rule that applies ([0] is an index):

    same key       [0] id a · [0] "{"          one call
    another id     [0] id a · [0] id b         two calls, from a backend that leaves every index at 0
    late id        [0] name f · id a           one call, which has its id now; also where a call before it has that id
    same id        id a · id b · id a "{"      two calls, the third fragment continues the first
    new id         id a · id b                 two calls
    new index      [0] name f · [1] "{"        two calls
    new name       name f "{}" · name g        two calls; but a name before any arguments is repeated: name f · name f
    no rule        name f · "{"                one call: the fragment continues the last one of its shape
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from wireproof_surfaces.events import ArgumentsAdded, CallBegan, CallClosed, Event
from wireproof_surfaces.tools import spelled_json
from wireproof_surfaces.tools.call_ids import call_id

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterator

Shape = Literal["native", "tool_calls", "function_call", "item"]


@dataclass(frozen=True, kw_only=True, slots=True)
class CallPiece:
    """What one message says of a call: all of it or a fragment; what it does not say is empty."""

    shape: Shape
    keys: tuple[Hashable, ...] = ()
    """Names for the call among those of its shape: an index, or an item's id and its place in the output."""
    id: str = ""
    item: str = ""
    """The id of the call's item, used where no message gives the call an id."""
    name: str = ""
    text: str = ""
    """The arguments, or a fragment of them."""


@dataclass(eq=False)
class _Call:
    """A call so far."""

    shape: Shape
    number: int
    id: str = ""
    item: str = ""
    name: str = ""
    pieces: list[str] = field(default_factory=list)
    shown: str = ""
    """The id under which the call was opened; empty until then."""
    closed: bool = False
    whole: bool = False
    """Whether a whole message was taken for this call; each counts for one call."""

    @property
    def arguments(self) -> str:
        """All so far."""
        return "".join(self.pieces)

    def learn(self, piece: CallPiece) -> None:
        """Fill in what was not known; what is known stays, since it may have been sent to the client."""
        self.name = self.name or piece.name
        self.item = self.item or piece.item
        self.id = self.id or piece.id


@dataclass
class CallCollector:
    """The calls of the choice with this index; `seed` makes the ids it invents unlike those of other turns."""

    choice: int = 0
    seed: str = ""
    _calls: list[_Call] = field(default_factory=list)
    _keys: dict[tuple[Shape, Hashable], _Call] = field(default_factory=dict)
    _begun: int = 0

    @property
    def any(self) -> bool:
        """Whether any call was opened."""
        return any(call.shown for call in self._calls)

    def fragment(self, piece: CallPiece) -> list[Event]:
        """Take a fragment."""
        if self._superseded(piece.shape):
            return []
        call = self._continued(piece) or self._begin(piece)
        # The shape in which the call came first delivers it.
        if call.shape != piece.shape or call.closed:
            return []
        call.learn(piece)
        if piece.text:
            call.pieces.append(piece.text)
        return [] if self._is_shown_already(call, call.id) else list(self._advance(call, piece.text, call.id))

    def whole(self, piece: CallPiece) -> list[Event]:
        """Take a call that comes all at once."""
        if self._superseded(piece.shape):
            return []
        call = self._repeated(piece) or self._begin(piece)
        call.whole = True
        call.learn(piece)
        return list(self._complete(call, piece.text))

    def done(self, piece: CallPiece, *, last: bool) -> list[Event]:
        """Take a message that a call's arguments are complete; it may repeat them all, and bring the id at last.

        Unless it is the `last` message about the call, a call without an id waits for one.
        """
        call = self._continued(piece) or self._begin(piece)
        if call.shape != piece.shape:
            return []
        call.learn(piece)
        # The id may come with the item's own last event only (shapes.late-id).
        return list(self._complete(call, piece.text)) if last or call.id else []

    def close(self) -> list[Event]:
        """No more messages come: every call is complete."""
        return [event for call in self._calls for event in self._complete(call, "")]

    def _superseded(self, shape: Shape) -> bool:
        """Whether a shape does not count, since a better one has come; the better one also replaces what waits."""
        if shape == "tool_calls":
            self._calls = [call for call in self._calls if call.shown or call.shape != "function_call"]
        # Story 2.9, criterion 19: both shapes of one call are one call, and `tool_calls` win.
        return shape == "function_call" and any(call.shape == "tool_calls" for call in self._calls)

    def _continued(self, piece: CallPiece) -> _Call | None:
        """The call that a fragment continues, by the rules at the head of this file; None when it begins one."""
        if call := self._by_key(piece):
            return None if _has_another_id(call, piece) else call  # "same key", "another id"
        last = self._last_open(piece.shape)
        if piece.id and not (last and _lacks_id(last, piece)) and (call := self._by_id(piece.id)):
            return call  # "same id"; "late id" goes to the last call
        return None if last is None or _begins_another(last, piece) else last

    def _by_key(self, piece: CallPiece) -> _Call | None:
        return next((self._keys[key] for key in _keys_of(piece) if key in self._keys), None)

    def _by_id(self, id_: str) -> _Call | None:
        return next((call for call in self._calls if call.id == id_), None)

    def _last_open(self, shape: Shape) -> _Call | None:
        return next((call for call in reversed(self._calls) if call.shape == shape and not call.closed), None)

    def _begin(self, piece: CallPiece) -> _Call:
        """A new call, or the one of another shape that has the same id."""
        call = self._by_id(piece.id) if piece.id else None
        if call is None:
            call = _Call(piece.shape, self._begun)
            self._begun += 1
            self._calls.append(call)
        self._keys |= dict.fromkeys(_keys_of(piece), call)
        return call

    def _repeated(self, piece: CallPiece) -> _Call | None:
        """The call that came before and now comes whole."""
        if piece.id and (same := self._by_id(piece.id)):
            return same
        return self._alike(piece, self._calls)

    def _alike(self, piece: CallPiece, calls: list[_Call]) -> _Call | None:
        """The first call with this name and these arguments that did not come whole and may have the same id."""
        for call in calls:
            free = not call.whole and not (piece.id and call.id)
            if free and call.name == piece.name and spelled_json.same(call.arguments, piece.text):
                return call
        return None

    def _advance(self, call: _Call, text: str, id_: str) -> Iterator[Event]:
        """The events of a call that got longer by `text`; `id_` is the id to open it under, empty if there is none."""
        if call.shown:
            if text:
                yield ArgumentsAdded(choice=self.choice, id=call.shown, text=text)
        elif call.name and id_:
            call.shown = id_
            yield CallBegan(choice=self.choice, id=id_, name=call.name)
            if call.pieces:
                yield ArgumentsAdded(choice=self.choice, id=id_, text=call.arguments)

    def _complete(self, call: _Call, whole: str) -> Iterator[Event]:
        """The events of a call that is complete; without a name it is no call, and there are none."""
        if call.closed:
            return
        known = call.arguments
        # Fragments that were sent cannot be taken back, so a whole text that differs from them is ignored.
        rest = whole[len(known) :] if whole.startswith(known) else ""
        if rest:
            call.pieces.append(rest)
        id_ = call.id or call.item
        if self._is_shown_already(call, id_) or (not call.shown and self._repeats_another(call)):
            call.closed = True
            return
        # Made from the call's place: the same one, however the call was sent (shapes.no-id).
        yield from self._advance(call, rest, id_ or call_id(self.seed, self.choice, call.number))
        if call.shown:
            call.closed = True
            yield CallClosed(choice=self.choice, id=call.shown)

    def _is_shown_already(self, call: _Call, id_: str) -> bool:
        """Whether a call that is not opened yet turns out, by its id, to be one that is."""
        return bool(id_) and not call.shown and any(other.shown == id_ for other in self._calls)

    def _repeats_another(self, call: _Call) -> bool:
        """Whether a call that was never opened repeats one of another shape; each repeats one call at most."""
        piece = CallPiece(shape=call.shape, id=call.id, name=call.name, text=call.arguments)
        same = self._alike(piece, [other for other in self._calls if other.shown and other.shape != call.shape])
        if same:
            same.whole = True
        return same is not None


def _keys_of(piece: CallPiece) -> list[tuple[Shape, Hashable]]:
    return [(piece.shape, key) for key in piece.keys]


def _has_another_id(call: _Call, piece: CallPiece) -> bool:
    return bool(piece.id and call.id) and piece.id != call.id


def _lacks_id(last: _Call, piece: CallPiece) -> bool:
    """Whether the id of a fragment is the one that the last call waits for: a call of its own would have a name."""
    return not last.id and not piece.name


def _begins_another(last: _Call, piece: CallPiece) -> bool:
    """Whether a fragment that belongs to no known call begins a new one, instead of continuing the last."""
    new_id = piece.id and last.id
    # Only of `tool_calls`: an item has two keys, and a message may give one or the other.
    new_index = piece.keys and piece.shape == "tool_calls"
    new_name = piece.name and last.name and (piece.keys or last.pieces)
    return bool(new_id or new_index or new_name)
