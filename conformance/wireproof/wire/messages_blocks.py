"""The content blocks of a Messages stream: their order, their indexes, and what their deltas add up to.

`BlockTracker` takes the events of blocks in turn, finds the block that each is of, and gives what is wrong with it.
What is missing it supplies: the block of a delta that has none. An event whose index names no open block is of the one
that opened last, since a client that does not look at indexes reads it so.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from wireproof.wire.facet import Facet
from wireproof.wire.fields import JsonObject, integer_of, json_of, object_of, text_of
from wireproof.wire.messages_grammar import (
    ARGUMENTS,
    BLOCK,
    BLOCK_START,
    BLOCK_STOP,
    BLOCKS,
    DELTA_KINDS,
    DELTAS,
    INDEXES,
    ORDER,
    OTHER_BLOCKS,
    SCHEMA,
    TEXT,
    BlockSign,
    BlockState,
)
from wireproof.wire.quoting import quoted, short
from wireproof.wire.table import Hole
from wireproof.wire.violation import fault

if TYPE_CHECKING:
    from collections.abc import Iterator

    from wireproof.wire.violation import Violation

CALL_ID = re.compile(r"[a-zA-Z0-9_-]+")
"""What the id of a call is made of: the service refuses a conversation with another one."""
_LOST_ARGUMENTS = frozenset({Facet.ARGUMENTS})
_HELD = {BlockState.TEXT: "text", BlockState.THINKING: "thinking"}
"""Kind of a block → the member of its start that its deltas add to."""


@dataclass(slots=True)
class Block:
    """A content block."""

    index: int | None
    """The index that it started with; None where it had none."""
    kind: BlockState = BlockState.ABSENT
    """The state in which it began."""
    state: BlockState = BlockState.ABSENT
    call: int | None = None
    """Its number among the calls; None: it is no call."""
    given: JsonObject = field(default_factory=dict)
    """The input that stood in the start of a call, where it should be empty."""
    fragments: list[str] = field(default_factory=list)
    """The fragments of a call's input."""
    filled: bool = False
    """Whether it holds anything so far."""

    @property
    def open(self) -> bool:
        """Whether it has started and not stopped."""
        return self.state not in {BlockState.ABSENT, BlockState.STOPPED}


class BlockTracker:
    """Follows the blocks of one stream. The violations that it gives have no place."""

    def __init__(self) -> None:
        self.calls = 0
        """How many calls were opened."""
        self.astray = False
        """Whether there may be a call of which nothing else is known: arguments came in another block, or a block
        stopped that never started."""
        self._blocks: list[Block] = []
        self._due = 0  # the index of the next block
        self._ids: set[str] = set()
        self._beside = False  # a block started while another was open

    def take(self, type_: str, event: JsonObject) -> tuple[Block, list[Violation]]:
        """The block that an event is of, and what is wrong with the event."""
        if type_ == BLOCK_START:
            return self._start(event, object_of(event.get("content_block")))
        if type_ == BLOCK_STOP:
            return self._stop(event)
        return self._delta(event, object_of(event.get("delta")))

    def unfilled(self) -> Iterator[Block]:
        """The calls that are open and without input so far."""
        return (block for block in self._blocks if block.open and block.call is not None and not any(block.fragments))

    def finish(self) -> list[Violation]:
        """The message ends: every block has stopped."""
        open_ = [fault for block in self._blocks if block.open for fault in _step(block, BlockSign.FINISH)]
        # Every measured client copes with blocks that are open at once, if only they stop.
        seen = "a block starts before the one before it has stopped"
        beside = [fault(ORDER, "beside", seen, strict_only=True)] if self._beside else []
        self._beside = False  # said once: a message ends twice, with message_delta and with message_stop
        return open_ or beside

    def inputs(self) -> Iterator[Violation]:
        """The inputs of calls that are no JSON object, as far as they came."""
        for block in self._blocks:
            joined = "".join(block.fragments)
            if joined and not isinstance(json_of(joined), dict):
                seen = f"the fragments of a tool_use block do not join to a JSON object: {short(joined)}"
                yield fault(ARGUMENTS, "joined", seen, _LOST_ARGUMENTS)

    def _start(self, event: JsonObject, head: JsonObject) -> tuple[Block, list[Violation]]:
        type_, index = text_of(head.get("type")) or "", integer_of(event.get("index"))
        sign = BLOCKS.get(type_, BlockSign.OTHER)
        for known in self._blocks:
            # The same start once more; a block of another kind at this index is a block of its own.
            if known.open and known.index == index and BLOCK[BlockState.ABSENT, sign] is known.kind:
                return known, _step(known, sign)
        block = Block(index=index)
        found = _step(block, sign)
        self._beside = self._beside or any(known.open for known in self._blocks)
        if index != self._due:
            seen = f"a block starts with the index {short(event.get('index'))}, it should be {self._due}"
            found.append(fault(INDEXES, "counted", seen))
        self._open(block)
        found += self._identity(head) if block.call is not None else []
        return block, found + list(_begins(block, type_, head))

    def _delta(self, event: JsonObject, delta: JsonObject) -> tuple[Block, list[Violation]]:
        type_ = text_of(delta.get("type")) or ""
        sign = DELTAS.get(type_, BlockSign.OTHER_DELTA)
        block, found = self._named(event)
        started = block.kind is not BlockState.ABSENT
        found += _step(block, sign)
        if not started:
            self._open(block)
        piece = delta.get("partial_json")
        if sign is BlockSign.ARGUMENTS and not isinstance(piece, str):
            # Both SDKs raise, or call the tool with {}.
            seen = f"the partial_json of an input_json_delta is no string: {short(piece)}"
            found.append(fault(ARGUMENTS, "piece", seen, _LOST_ARGUMENTS))
        elif block.kind is BlockState.CALL and isinstance(piece, str):
            block.fragments.append(piece)
        self.astray = self.astray or (sign is BlockSign.ARGUMENTS and block.kind is not BlockState.CALL)
        block.filled = block.filled or any(said not in {"", type_} for said in delta.values() if isinstance(said, str))
        return block, found

    def _stop(self, event: JsonObject) -> tuple[Block, list[Violation]]:
        block, found = self._named(event)
        was_open = block.open
        self.astray = self.astray or block.kind is BlockState.ABSENT
        found += _step(block, BlockSign.STOP)
        if was_open and block.kind is BlockState.TEXT and not block.filled:
            # The service refuses a conversation with one; every client shows nothing for it.
            found.append(fault(TEXT, "empty", "a text block without text", strict_only=True))
        return block, found

    def _open(self, block: Block) -> None:
        """Count a block that has started."""
        self._blocks.append(block)
        self._due = (self._due if block.index is None else block.index) + 1
        if block.kind is BlockState.CALL:
            block.call = self.calls
            self.calls += 1

    def _named(self, event: JsonObject) -> tuple[Block, list[Violation]]:
        """The block that a delta or a stop is of, by its index; a new one where there is none."""
        index = integer_of(event.get("index"))
        named = [one for one in self._blocks if one.index == index]
        opened = [one for one in self._blocks if one.open]
        found = next((one for one in reversed(named) if one.open), None)
        if found is None and opened:
            found = opened[-1]
        if found is not None:
            right = index is not None and found.index == index
            seen = f"an event has the index {short(event.get('index'))}, the open block has {quoted(found.index)}"
            return found, [] if right else [fault(INDEXES, "named", seen)]
        # Of a block that has stopped, or that never started.
        return (named[-1] if named else Block(index=index)), []

    def _identity(self, head: JsonObject) -> list[Violation]:
        """What is wrong with the id and the name of a call."""
        id_, name = text_of(head.get("id")) or "", text_of(head.get("name"))
        missing = [member for member, said in {"id": id_, "name": name}.items() if not said]
        if missing:
            lost = {"id": Facet.CALL_ID, "name": Facet.CALL}
            seen = f"a tool_use block starts without its {' and its '.join(missing)}"
            return [fault(SCHEMA, " ".join(missing), seen, frozenset(lost[one] for one in missing))]
        seen = ""
        if id_ in self._ids:
            seen = f"two tool_use blocks have the id {short(id_)}"
        elif not CALL_ID.fullmatch(id_):
            seen = f"the id of a tool_use block is {short(id_)}; it may have a-z, A-Z, 0-9, _ and -"
        self._ids.add(id_)
        return [fault(SCHEMA, "call id", seen, frozenset({Facet.CALL_ID}))] if seen else []


def _begins(block: Block, type_: str, head: JsonObject) -> Iterator[Violation]:
    """What is wrong with what a block starts with."""
    if block.kind is BlockState.OTHER and type_ not in OTHER_BLOCKS:
        # Claude Code gives up the answer.
        seen = f"a block of a type that is not published: {short(head.get('type'))}"
        yield fault(SCHEMA, "block", seen)
    held = head.get(_HELD.get(block.kind, ""))
    if held:
        # Claude Code and @ai-sdk/anthropic lose it.
        block.filled = True
        seen = f"a {type_} block starts with content, which belongs in deltas: {short(held)}"
        yield fault(DELTA_KINDS, "filled", seen)
    if block.call is not None and head.get("input"):
        # Claude Code takes {} instead; @ai-sdk/anthropic adds the deltas to it.
        block.given = object_of(head["input"])
        seen = f"a tool_use block starts with its input, which belongs in deltas: {short(head['input'])}"
        yield fault(ARGUMENTS, "given", seen)


def _step(block: Block, sign: BlockSign) -> list[Violation]:
    before, cell = block.state, BLOCK[block.state, sign]
    block.state = cell.then if isinstance(cell, Hole) else cell
    if before is BlockState.ABSENT:
        block.kind = block.state
    if not isinstance(cell, Hole):
        return []
    return [cell.violation(f"{sign.value}, {before.value}")]
