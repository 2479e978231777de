"""The items of a Responses stream: their order, their indexes and ids, and the sums of their deltas.

`ItemTracker` takes the events of items in turn and gives their faults. It keeps each item as `output_item.done` has it,
to compare it with the output of the terminal response. What is missing it supplies: the item, or the part, of an event
that is out of place, by the references that the event carries.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from wireproof.wire.facet import UNTOUCHED, Facet
from wireproof.wire.fields import JsonObject, list_of, object_of, text_of
from wireproof.wire.quoting import FEW, apart, quoted, short
from wireproof.wire.responses_grammar import (
    INDEXES,
    ITEM,
    ORDER,
    PART_ADDED,
    REFUSAL_DELTA,
    REFUSAL_DONE,
    SUMS,
    TEXT_DELTA,
    TEXT_DONE,
    ItemSign,
    ItemState,
)
from wireproof.wire.table import Hole
from wireproof.wire.violation import fault

if TYPE_CHECKING:
    from collections.abc import Iterator

    from wireproof.wire.violation import Violation


_ADDED = frozenset({ItemSign.MESSAGE, ItemSign.CALL, ItemSign.OTHER})
_IN_A_PART = frozenset({ItemSign.PART, ItemSign.DELTA, ItemSign.NOTE, ItemSign.TEXT_DONE, ItemSign.PART_DONE})
_PART_KINDS = {
    TEXT_DELTA: "output_text", TEXT_DONE: "output_text", REFUSAL_DELTA: "refusal", REFUSAL_DONE: "refusal",
}  # fmt: skip
_TEXT_MEMBER = {"output_text": "text", "refusal": "refusal"}
# Only these are summed up and compared: what the events of other items add up to is not known here.
_KINDS = frozenset({"message", "function_call"})
_IN_A_CALL = frozenset({ItemSign.ARGUMENTS, ItemSign.ARGUMENTS_DONE})
_OF_A_MESSAGE = frozenset({ItemState.MESSAGE, ItemState.PART, ItemState.TEXT_DONE})
_OF_A_CALL = frozenset({ItemState.CALL, ItemState.ARGUMENTS_DONE})
_CALLS = frozenset({Facet.CALL, Facet.ARGUMENTS, Facet.CALL_ID})
_COMPARED = ("id", "type", "role", "call_id", "name", "arguments")


@dataclass(slots=True)
class _Open:
    """The item that is open."""

    id: str
    type: str
    deltas: list[str] = field(default_factory=list)
    """The deltas of its open part, or of its arguments."""
    kind: str = ""
    """The type of its open part."""
    parts: list[str] = field(default_factory=list)
    """The texts of its parts that are done."""
    summed: bool = True
    """Whether its deltas sum to what its events say, as far as they came."""

    @property
    def text(self) -> str:
        return "".join(self.deltas)

    @property
    def member(self) -> str:
        """The member that holds the text of its open part."""
        return _TEXT_MEMBER.get(self.kind, "text")

    def close_part(self) -> None:
        """Its open part is done, if there is one."""
        if self.kind:
            self.parts.append(self.text)
        self.kind = ""


class ItemTracker:
    """Follows the items of one stream. The violations that it gives have no place."""

    def __init__(self) -> None:
        self.done: list[JsonObject] = []
        self._state = ItemState.BETWEEN
        self._open = _Open(id="", type="")
        self._ids: set[str] = set()
        self._added = 0
        self._sums_up = True
        """Whether the output of the terminal response can be compared: each item is known as it was done."""
        self._lost = False

    def lose(self) -> None:
        """An event came that may have held any part of an item: what follows cannot be compared with it."""
        self._lost = True

    def take(self, type_: str, sign: ItemSign, event: JsonObject) -> list[Violation]:
        """Take an event of an item; what is wrong with it."""
        # What it says is about no item that is followed here.
        if sign is ItemSign.PUBLISHED and self._state is not ItemState.OTHER:
            return []
        return [] if self._lost else list(self._faults(type_, sign, event))

    def finish(self, output: object) -> list[Violation]:
        """The answer ends with this output: every item is done, and the output holds each as it was then."""
        if self._lost:
            return []
        faults, items = list(self._step(ItemSign.FINISH, "", {})), list_of(output)
        if faults and self._added and not items:
            # Whether an item that is never done is the same in the output is not known; that there is none is.
            faults.append(fault(SUMS, "output", f"the terminal response has no output, the stream had {self._added}"))
        return faults + (list(self._output(items))[:1] if self._sums_up and not faults else [])

    def _faults(self, type_: str, sign: ItemSign, event: JsonObject) -> Iterator[Violation]:
        if self._is_astray(sign, event):
            # The state stays: the item goes on, and what its sums lack is in this event.
            seen = f"{type_} ({sign.value}), {self._state.value}"
            self._open.summed = self._sums_up = False
            yield fault(ORDER, seen, seen, frozenset({Facet.TEXT, Facet.ARGUMENTS}))
            return
        again = self._comes_again(sign, event)
        yield from self._step(sign, type_, event)
        if again:
            return
        yield from self._indexes(sign, event)
        if self._open.type in _KINDS:
            for found in self._sums(type_, sign, event):
                # The sums of its other events are wrong for the same cause, and so is the output.
                if self._open.summed or found.requirement != SUMS:
                    yield found
                if found.requirement == SUMS:
                    self._open.summed = self._sums_up = False

    def _is_astray(self, sign: ItemSign, event: JsonObject) -> bool:
        """Whether an event is of the open item and of another kind than that."""
        message, call = self._state in _OF_A_MESSAGE, self._state in _OF_A_CALL
        is_other = (message and sign in _IN_A_CALL) or (call and sign in _IN_A_PART)
        return is_other and bool(self._open.id) and event.get("item_id") == self._open.id

    def _comes_again(self, sign: ItemSign, event: JsonObject) -> bool:
        """Whether an item is added, or it or a part is done, once more: what it says has been compared."""
        id_ = object_of(event.get("item")).get("id")
        if sign is ItemSign.ITEM_DONE:
            return self._state is ItemState.BETWEEN and id_ in self._ids
        if sign is ItemSign.PART_DONE:
            done = len(self._open.parts) - 1
            return self._state is ItemState.MESSAGE and event.get("content_index") == done
        return sign in _ADDED and self._state is not ItemState.BETWEEN and id_ == self._open.id

    def _step(self, sign: ItemSign, type_: str, event: JsonObject) -> Iterator[Violation]:
        before, cell = self._state, ITEM[self._state, sign]
        if not isinstance(cell, Hole):
            self._state = cell
            return
        self._state = cell.then
        came = f"{type_} ({sign.value})" if type_ else sign.value
        if cell.strict_only:
            came = sign.value
        seen = f"{came}, {before.value}"
        spoils = UNTOUCHED if cell.strict_only else self._supply(sign, type_, event, before)
        yield replace(cell.violation(seen, spoils=spoils), kind=_missing(sign, before) or seen)

    def _supply(self, sign: ItemSign, type_: str, event: JsonObject, before: ItemState) -> frozenset[Facet]:
        """Supply what an event that is out of place needs; what is lost all the same."""
        if sign in _ADDED or sign is ItemSign.FINISH:
            # The open item was never done.
            self._sums_up = False
            return UNTOUCHED
        message, known = sign in _IN_A_PART, self._added
        if sign is ItemSign.ITEM_DONE:
            item = object_of(event.get("item"))
            message = item.get("type") == "message"
            if before is ItemState.BETWEEN and text_of(item.get("id")) not in self._ids:
                list(self._opened(item))
            # Its last part was never done.
            elif message:
                self._open.close_part()
        elif before not in (_OF_A_MESSAGE if message else _OF_A_CALL) or text_of(event.get("item_id")) not in self._ids:
            type_of_item = "message" if message else "function_call"
            list(self._opened({"id": event.get("item_id"), "type": type_of_item}))
        if message and sign in _IN_A_PART and sign is not ItemSign.PART:
            # Its part was never opened either.
            self._open.kind = self._open.kind or _PART_KINDS.get(type_, "output_text")
        if self._added == known:
            return UNTOUCHED
        # Deltas of text are read wherever they come; the name and the id of a call only where it is added.
        read = sign in {ItemSign.PART, ItemSign.DELTA, ItemSign.NOTE}
        return _CALLS if not message else UNTOUCHED if read else frozenset({Facet.TEXT})

    def _indexes(self, sign: ItemSign, event: JsonObject) -> Iterator[Violation]:
        item = object_of(event.get("item"))
        wanted = self._added if sign in _ADDED else self._added - 1
        # Which references the events of other items carry is their schema's business; those that they carry must be
        # right.
        if "output_index" in event or sign is not ItemSign.PUBLISHED:
            yield from _differs("output_index", event.get("output_index"), wanted)
        if sign in _ADDED:
            yield from self._opened(item)
        # An item without an id has been named.
        elif not self._open.id:
            pass
        elif sign is ItemSign.ITEM_DONE:
            yield from _differs("the id of the item", item.get("id"), self._open.id, kind="item_id")
        elif "item_id" in event or sign is not ItemSign.PUBLISHED:
            yield from _differs("item_id", event.get("item_id"), self._open.id)
        if sign in _IN_A_PART and self._open.type == "message":
            yield from _differs("content_index", event.get("content_index"), len(self._open.parts))

    def _opened(self, item: JsonObject) -> Iterator[Violation]:
        id_ = text_of(item.get("id")) or ""
        self._open = _Open(id=id_, type=text_of(item.get("type")) or "")
        self._added += 1
        # @ai-sdk/openai raises without it, and pydantic-ai gives the tool {}.
        if not id_:
            yield fault(INDEXES, "no id", f"the item that is added has no id: {short(item)}")
        elif id_ in self._ids:
            yield fault(INDEXES, "two", f"two items have the id {quoted(id_)}")
        self._ids.add(id_)

    def _sums(self, type_: str, sign: ItemSign, event: JsonObject) -> Iterator[Violation]:
        part = object_of(event.get("part"))
        item = object_of(event.get("item"))
        if type_ in _PART_KINDS and _PART_KINDS[type_] != self._open.kind:
            yield fault(ORDER, type_, f"{type_}, in a part of type {quoted(self._open.kind)}")
        match sign:
            case ItemSign.MESSAGE:
                yield from _empty("content", item.get("content"))
            case ItemSign.CALL:
                # pydantic-ai, langchain-js and Copilot add the deltas to what is here already.
                yield from _empty("arguments", item.get("arguments"))
            case ItemSign.PART:
                self._open.kind = text_of(part.get("type")) or ""
                self._open.deltas.clear()  # those of an earlier part are in `parts` by now
                yield from _empty(PART_ADDED, part.get(self._open.member))
            case ItemSign.DELTA | ItemSign.ARGUMENTS:
                self._open.deltas.append(text_of(event.get("delta")) or "")
            case ItemSign.TEXT_DONE:
                yield from _sum(f"the {type_}", event.get(self._open.member), self._open.text)
            case ItemSign.ARGUMENTS_DONE:
                yield from _sum(f"the {type_}", event.get("arguments"), self._open.text)
            case ItemSign.PART_DONE:
                yield from _sum("the part as done", part.get(self._open.member), self._open.text)
                self._open.close_part()
            case ItemSign.ITEM_DONE:
                yield from self._item_sums(item)
                self.done.append(item)
            case _:
                pass

    def _item_sums(self, item: JsonObject) -> Iterator[Violation]:
        if self._open.type == "function_call":
            # openai-python, openai-agents, litellm and @ai-sdk/openai take the arguments from here, not from the
            # deltas.
            yield from _sum("the item as done", item.get("arguments"), self._open.text)
            return
        said = _texts(item)
        if said != self._open.parts:
            ended, before = apart(said, self._open.parts, FEW)
            yield fault(SUMS, "item", f"the item as done has the parts {ended}, its events {before}")

    def _output(self, output: list[object]) -> Iterator[Violation]:
        items = [object_of(item) for item in output]
        # The `.stream` helpers of openai-python and openai-node take the answer from this output.
        compared = [item for item in items if text_of(item.get("type")) in _KINDS]
        if len(compared) != len(self.done):
            seen = f"the terminal response has {len(compared)} messages and calls, the stream had {len(self.done)}"
            # Too few: what was sent is lost, so the sums differ. Too many: an item came without its events.
            if len(compared) < len(self.done):
                yield fault(SUMS, "output", seen)
            else:
                yield fault(ORDER, "output", seen, _CALLS | {Facet.TEXT})
                return
        for item, done in zip(compared, self.done, strict=False):
            for name in _COMPARED:
                if item.get(name) != done.get(name):
                    ended, before = apart(item.get(name), done.get(name), FEW)
                    seen = f"{name} is {ended} in the terminal response and {before} in the item as done"
                    yield fault(SUMS, "output", seen)
            if _texts(item) != _texts(done):
                ended, before = apart(_texts(item), _texts(done), FEW)
                yield fault(SUMS, "output", f"the terminal response says {ended}, the item as done {before}")


def _missing(sign: ItemSign, before: ItemState) -> str:
    """What an event that is out of place shows to be missing of each such item; "": it depends on the event."""
    if sign in _ADDED or sign is ItemSign.FINISH:
        return "an item is never done"
    return "an item is never added" if before is ItemState.BETWEEN else ""


def _texts(item: JsonObject) -> list[str]:
    """The texts of a message's parts."""
    parts = [object_of(part) for part in list_of(item.get("content"))]
    return [text_of(part.get(_TEXT_MEMBER.get(str(part.get("type")), "text"))) or "" for part in parts]


def _differs(what: str, seen: object, wanted: object, *, kind: str = "") -> Iterator[Violation]:
    if isinstance(seen, bool) or seen != wanted:  # in Python False equals 0
        yield fault(INDEXES, kind or what, f"{what} is {short(seen)}, it should be {short(wanted)}")


def _empty(what: str, seen: object) -> Iterator[Violation]:
    if seen:
        yield fault(SUMS, "before", f"{what} is not empty before its deltas, which clients add to it: {short(seen)}")


def _sum(what: str, seen: object, wanted: str) -> Iterator[Violation]:
    if seen != wanted:
        said, summed = apart(seen, wanted, FEW)
        yield fault(SUMS, what, f"{what} says {said}, its deltas sum to {summed}")
