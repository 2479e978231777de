"""The `message` object, its usage, and why it stopped; its blocks as they grow, and the events about them. Pure.

One block at a time is open, in order of index:

    text       content_block_start → text_delta* → content_block_stop
    thinking   content_block_start → thinking_delta* → signature_delta → content_block_stop
    redacted   content_block_start → content_block_stop
    tool_use   content_block_start → input_json_delta* → content_block_stop

Text continues the open block, and a call or a thought closes it. While a call is open, events of other blocks wait: a
backend may send several calls at once, but clients read one block after the other.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from wireproof_surfaces.events import ArgumentsAdded, CallBegan, CallClosed, TextAdded, Thought
from wireproof_surfaces.messages.content_blocks import ID, signature
from wireproof_surfaces.surfaces.json_text import string
from wireproof_surfaces.tools.call_ids import call_id

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from wireproof_surfaces.events import ChoiceFinished, UsageReported
    from wireproof_surfaces.surfaces.json_text import Json


_REASONS: Mapping[str, str] = {
    "stop": "end_turn",
    "length": "max_tokens",
    "tool_calls": "tool_use",
    "content_filter": "refusal",
}


@dataclass(frozen=True, kw_only=True, slots=True)
class MessageHead:
    """What is the same in a message's stream and its whole form."""

    id: str
    model: str
    prompt_bytes: Callable[[], int] = int
    """For estimates of usage, and asked for only where there is no other."""
    names: Mapping[str, str] = field(default_factory=dict)
    """The backend's name of a tool → the client's, of those that differ."""
    thoughts_shown: bool = True
    """Whether blocks of thinking have their texts."""
    inputs_checked: bool = True
    """Whether a call fails the message where its arguments are no JSON object. If not they are sent as they are, as by
    fine-grained streams of tools; the whole message has an empty object in their place."""


def message(head: MessageHead, usage: Json, *, content: Sequence[Json] = (), stop: Json | None = None) -> Json:
    """The object; `stop` are its members that say why it stopped, None while it has not."""
    return {
        "id": head.id,
        "type": "message",
        "role": "assistant",
        "model": head.model,
        "content": list(content),
        **(stop or {"stop_reason": None, "stop_sequence": None}),
        "usage": usage,
    }


def stopped(finished: ChoiceFinished) -> Json:
    """The members that say why a message stopped."""
    if finished.stop is not None and finished.reason == "stop":
        return {"stop_reason": "stop_sequence", "stop_sequence": finished.stop}
    reason: Json = {"stop_reason": _REASONS[finished.reason], "stop_sequence": None}
    if finished.reason == "content_filter":
        reason["stop_details"] = {"type": "refusal", "category": None, "explanation": None}
    return reason


def usage_object(usage: UsageReported) -> Json:
    """`usage`: of the tokens of the request those that came from the cache are counted apart."""
    counts: Json = {
        "input_tokens": max(0, usage.prompt - usage.cached),
        # No backend here reports what was written to a cache.
        "cache_creation_input_tokens": 0,
        "cache_read_input_tokens": usage.cached,
        "output_tokens": usage.completion,
    }
    if usage.reasoning:
        counts["output_tokens_details"] = {"thinking_tokens": usage.reasoning}
    return counts


def begun_usage(usage: UsageReported) -> Json:
    """`usage` of a message that has just begun."""
    # One token, as the service has it: the first is there when a message begins.
    return {**usage_object(replace(usage, reasoning=0)), "output_tokens": 1}


BlockEvent = TextAdded | Thought | CallBegan | ArgumentsAdded | CallClosed


class BrokenInputError(ValueError):
    """The arguments of a call are no JSON object, which is all that this API has a place for."""


@dataclass(slots=True)
class _OpenText:
    index: int
    pieces: list[str] = field(default_factory=list)

    def block(self) -> Json:
        return {"type": "text", "text": "".join(self.pieces)}


@dataclass(slots=True)
class _OpenCall:
    index: int
    event: CallBegan
    name: str
    pieces: list[str] = field(default_factory=list)

    @property
    def id(self) -> str:
        """The backend's own id, or one in its place that clients may send back."""
        return self.event.id if ID.fullmatch(self.event.id) else call_id(self.event.id)

    def block(self, *, checked: bool) -> Json:
        arguments = "".join(self.pieces)
        read = _object(arguments)
        if read is None and checked:
            message = f"The arguments of the call {self.event.id} are no JSON object, which a message has no place for."
            raise BrokenInputError(message)
        return {"type": "tool_use", "id": self.id, "name": self.name, "input": read or {}}


def _object(arguments: str) -> Json | None:
    try:
        value = json.loads(arguments or "{}")
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


@dataclass(slots=True)
class MessageBlocks:
    """All blocks of a message; `names`, `thoughts_shown` and `inputs_checked` as for its head."""

    names: Mapping[str, str] = field(default_factory=dict)
    thoughts_shown: bool = True
    inputs_checked: bool = True
    done: list[Json] = field(default_factory=list)
    """Those that are complete."""
    _open: _OpenText | _OpenCall | None = None
    _waiting: list[BlockEvent] = field(default_factory=list)

    def feed(self, event: BlockEvent) -> Iterator[Json]:
        """The events to send for one of the turn's; none when it has to wait, or changes nothing.

        Raises:
            BrokenInputError: a call is complete, and its arguments are no object.
        """
        if isinstance(self._open, _OpenCall):
            yield from self._calling(self._open, event)
            return
        match event:
            case TextAdded() if event.text:
                block = self._open
                if block is None:
                    block = self._open = _OpenText(len(self.done))
                    yield _started(block.index, {"type": "text", "text": ""})
                block.pieces.append(event.text)
                yield _delta(block.index, {"type": "text_delta", "text": event.text})
            case CallBegan():
                yield from self.close()
                name = self.names.get(event.name, event.name)
                call = self._open = _OpenCall(len(self.done), event, name)
                yield _started(call.index, {"type": "tool_use", "id": call.id, "name": name, "input": {}})
            case Thought():
                yield from self.close()
                yield from self._thought(event)
            case _:
                return

    def more(self, texts: Sequence[str]) -> list[str]:
        """The frames of more text of the open block; none when no text is open, and nothing is taken."""
        if not isinstance(self._open, _OpenText):
            return []
        self._open.pieces += texts
        name = "content_block_delta"
        head = (
            f'event: {name}\ndata: {{"type":"{name}","index":{self._open.index},"delta":{{"type":"text_delta","text":'
        )
        return [f"{head}{string(text)}}}}}\n\n" for text in texts]

    def close(self, *, cut: bool = False) -> Iterator[Json]:
        """Close the open block, and all that waits for it: nothing more is said. `cut`: a limit ended it.

        Raises:
            BrokenInputError: it is a call that was not cut, and its arguments are no object.
        """
        while self._open is not None:
            yield from self._close_one(self._open, cut=cut)

    def _close_one(self, block: _OpenText | _OpenCall, *, cut: bool = False) -> Iterator[Json]:
        # First: a call that is not whole is never closed, but for one that was cut.
        whole = block.block(checked=self.inputs_checked and not cut) if isinstance(block, _OpenCall) else block.block()
        self.done.append(whole)
        self._open = None
        yield {"type": "content_block_stop", "index": block.index}
        waiting, self._waiting = self._waiting, []
        for event in waiting:
            yield from self.feed(event)

    def _calling(self, call: _OpenCall, event: BlockEvent) -> Iterator[Json]:
        """The events to send for one of the turn's while a call is open."""
        match event:
            case ArgumentsAdded(id=call.event.id):
                if event.text:
                    call.pieces.append(event.text)
                    yield _delta(call.index, {"type": "input_json_delta", "partial_json": event.text})
            case CallClosed(id=call.event.id):
                yield from self._close_one(call)
            case _:
                # Also text: blocks never overlap.
                self._waiting.append(event)

    def _thought(self, event: Thought) -> Iterator[Json]:
        """The block of a thought, which is whole when it comes: its own words, else their summary, else neither."""
        index, pieces = len(self.done), event.raw or event.summary
        text = "".join(pieces)
        if event.encrypted and not text:
            block: Json = {"type": "redacted_thinking", "data": event.encrypted}
            yield _started(index, block)
        else:
            shown = pieces if self.thoughts_shown else ()
            block = {"type": "thinking", "thinking": "".join(shown), "signature": signature(text)}
            yield _started(index, {"type": "thinking", "thinking": "", "signature": ""})
            for piece in filter(None, shown):
                yield _delta(index, {"type": "thinking_delta", "thinking": piece})
            yield _delta(index, {"type": "signature_delta", "signature": block["signature"]})
        self.done.append(block)
        yield {"type": "content_block_stop", "index": index}


def _started(index: int, block: Json) -> Json:
    return {"type": "content_block_start", "index": index, "content_block": block}


def _delta(index: int, delta: Json) -> Json:
    return {"type": "content_block_delta", "index": index, "delta": delta}
