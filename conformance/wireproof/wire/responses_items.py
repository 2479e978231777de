"""The items of a Responses stream: their order, their indexes and ids, and the sums of their deltas.

`ItemTracker` takes the events of items in turn and returns the first fault. It keeps each item as `output_item.done`
has it, to compare it with the output of the terminal response.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from wireproof.wire.fields import JsonObject, list_of, object_of, text_of
from wireproof.wire.quoting import apart, quoted
from wireproof.wire.responses_events import PART_ADDED, REFUSAL_DELTA, REFUSAL_DONE, TEXT_DELTA, TEXT_DONE
from wireproof.wire.responses_grammar import INDEXES, ITEM, ORDER, SUMS, ItemSign, ItemState
from wireproof.wire.table import Note

if TYPE_CHECKING:
    from collections.abc import Iterator

Fault = tuple[str, str]
"""A requirement, and what was seen."""

_SHOWN = 60
_ADDED = frozenset({ItemSign.MESSAGE, ItemSign.CALL, ItemSign.OTHER})
_IN_A_PART = frozenset({ItemSign.PART, ItemSign.DELTA, ItemSign.NOTE, ItemSign.TEXT_DONE, ItemSign.PART_DONE})
_PART_KINDS = {
    TEXT_DELTA: "output_text", TEXT_DONE: "output_text", REFUSAL_DELTA: "refusal", REFUSAL_DONE: "refusal",
}  # fmt: skip
_TEXT_MEMBER = {"output_text": "text", "refusal": "refusal"}
# Only these are summed up and compared: what the events of other items add up to is not known here.
_KINDS = frozenset({"message", "function_call"})
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

    @property
    def text(self) -> str:
        return "".join(self.deltas)


class ItemTracker:
    """Follows the items of one stream."""

    def __init__(self) -> None:
        self.done: list[JsonObject] = []
        self.note: Fault | None = None
        """The first fault that every client copes with."""
        self._state = ItemState.BETWEEN
        self._open = _Open(id="", type="")
        self._ids: set[str] = set()
        self._added = 0

    def take(self, type_: str, sign: ItemSign, event: JsonObject) -> Fault | None:
        """Take an event of an item; its fault, None when it has none."""
        # What it says is about no item that is followed here.
        if sign is ItemSign.PUBLISHED and self._state is not ItemState.OTHER:
            return None
        step = self._step(sign, type_)
        if isinstance(step, tuple):
            return step
        fault = next(self._indexes(sign, event), None)
        if fault is None and self._open.type in _KINDS:
            fault = next(self._sums(type_, sign, event), None)
        # A sum that is wrong has the same cause as what should have come before it.
        if step is not None and fault is None:
            self.note = self.note or (step.requirement, f"{sign.value}, {ItemState.CALL.value}")
        return fault

    def finish(self, output: object) -> Fault | None:
        """The answer ends with this output: every item is done, and the output holds each as it was then."""
        step = self._step(ItemSign.FINISH)
        return step if isinstance(step, tuple) else next(self._output(list_of(output)), None)

    def _step(self, sign: ItemSign, type_: str = "") -> Fault | Note[ItemState] | None:
        before, cell = self._state, ITEM[self._state, sign]
        match cell:
            case str(requirement):
                came = f"{type_} ({sign.value})" if type_ else sign.value
                return requirement, f"{came}, {before.value}"
            case Note(then=state):
                self._state = state
                return cell
            case state:
                self._state = state
                return None

    def _indexes(self, sign: ItemSign, event: JsonObject) -> Iterator[Fault]:
        item = object_of(event.get("item"))
        wanted = self._added if sign in _ADDED else self._added - 1
        # Which references the events of other items carry is their schema's business; those that they carry must be
        # right.
        if "output_index" in event or sign is not ItemSign.PUBLISHED:
            yield from _differs("output_index", event.get("output_index"), wanted)
        if sign in _ADDED:
            yield from self._opened(item)
        elif sign is ItemSign.ITEM_DONE:
            yield from _differs("the id of the item", item.get("id"), self._open.id)
        elif "item_id" in event or sign is not ItemSign.PUBLISHED:
            yield from _differs("item_id", event.get("item_id"), self._open.id)
        if sign in _IN_A_PART and self._open.type == "message":
            yield from _differs("content_index", event.get("content_index"), len(self._open.parts))

    def _opened(self, item: JsonObject) -> Iterator[Fault]:
        id_ = text_of(item.get("id")) or ""
        self._open = _Open(id=id_, type=text_of(item.get("type")) or "")
        self._added += 1
        # @ai-sdk/openai raises without it, and pydantic-ai gives the tool {}.
        if not id_:
            yield INDEXES, f"the item that is added has no id: {_short(item)}"
        elif id_ in self._ids:
            yield INDEXES, f"two items have the id {quoted(id_)}"
        self._ids.add(id_)

    def _sums(self, type_: str, sign: ItemSign, event: JsonObject) -> Iterator[Fault]:
        part = object_of(event.get("part"))
        item = object_of(event.get("item"))
        if type_ in _PART_KINDS and _PART_KINDS[type_] != self._open.kind:
            yield ORDER, f"{type_}, in a part of type {quoted(self._open.kind)}"
        match sign:
            case ItemSign.MESSAGE:
                yield from _empty("content", item.get("content"))
            case ItemSign.CALL:
                # pydantic-ai, langchain-js and Copilot add the deltas to what is here already.
                yield from _empty("arguments", item.get("arguments"))
            case ItemSign.PART:
                self._open.kind = text_of(part.get("type")) or ""
                self._open.deltas.clear()  # those of an earlier part are in `parts` by now
                yield from _empty(PART_ADDED, part.get(_TEXT_MEMBER.get(self._open.kind, "text")))
            case ItemSign.DELTA | ItemSign.ARGUMENTS:
                self._open.deltas.append(text_of(event.get("delta")) or "")
            case ItemSign.TEXT_DONE:
                yield from _sum(f"the {type_}", event.get(_TEXT_MEMBER[self._open.kind]), self._open.text)
            case ItemSign.ARGUMENTS_DONE:
                yield from _sum(f"the {type_}", event.get("arguments"), self._open.text)
            case ItemSign.PART_DONE:
                text = part.get(_TEXT_MEMBER.get(self._open.kind, "text"))
                yield from _sum("the part as done", text, self._open.text)
                self._open.parts.append(self._open.text)
            case ItemSign.ITEM_DONE:
                yield from self._item_sums(item)
                self.done.append(item)
            case _:
                pass

    def _item_sums(self, item: JsonObject) -> Iterator[Fault]:
        if self._open.type == "function_call":
            # openai-python, openai-agents, litellm and @ai-sdk/openai take the arguments from here, not from the
            # deltas.
            yield from _sum("the item as done", item.get("arguments"), self._open.text)
            return
        said = _texts(item)
        if said != self._open.parts:
            ended, before = apart(said, self._open.parts, _SHOWN)
            yield SUMS, f"the item as done has the parts {ended}, its events {before}"

    def _output(self, output: list[object]) -> Iterator[Fault]:
        items = [object_of(item) for item in output]
        # The `.stream` helpers of openai-python and openai-node take the answer from this output.
        compared = [item for item in items if item.get("type") in _KINDS]
        if len(compared) != len(self.done):
            seen = f"the terminal response has {len(compared)} messages and calls, the stream had {len(self.done)}"
            # Too few: what was sent is lost, so the sums differ. Too many: an item came without its events.
            yield (SUMS if len(compared) < len(self.done) else ORDER), seen
        for item, done in zip(compared, self.done, strict=False):
            for name in _COMPARED:
                if item.get(name) != done.get(name):
                    ended, before = apart(item.get(name), done.get(name), _SHOWN)
                    yield SUMS, f"{name} is {ended} in the terminal response and {before} in the item as done"
            if _texts(item) != _texts(done):
                ended, before = apart(_texts(item), _texts(done), _SHOWN)
                yield SUMS, f"the terminal response says {ended}, the item as done {before}"


def _texts(item: JsonObject) -> list[str]:
    """The texts of a message's parts."""
    parts = [object_of(part) for part in list_of(item.get("content"))]
    return [text_of(part.get(_TEXT_MEMBER.get(str(part.get("type")), "text"))) or "" for part in parts]


def _differs(what: str, seen: object, wanted: object) -> Iterator[Fault]:
    if isinstance(seen, bool) or seen != wanted:  # in Python False equals 0
        yield INDEXES, f"{what} is {_short(seen)}, it should be {_short(wanted)}"


def _empty(what: str, seen: object) -> Iterator[Fault]:
    if seen:
        yield SUMS, f"{what} is not empty before its deltas, which clients add to it: {_short(seen)}"


def _sum(what: str, seen: object, wanted: str) -> Iterator[Fault]:
    if seen != wanted:
        said, summed = apart(seen, wanted, _SHOWN)
        yield SUMS, f"{what} says {said}, its deltas sum to {summed}"


def _short(value: object) -> str:
    return quoted(value, _SHOWN)
