"""The output items of a response as they grow, and the events about them. Pure; `responses_answer` numbers the events.

One item at a time is open, in order of output_index:

    message   output_item.added → content_part.added → output_text.delta* → output_text.done → content_part.done
              → output_item.done
    call      output_item.added → function_call_arguments.delta* → function_call_arguments.done → output_item.done;
              of a custom tool with custom_tool_call_input.delta* and .done
    thought   output_item.added → of its summary reasoning_summary_part.added → reasoning_summary_text.delta* →
              reasoning_summary_text.done → reasoning_summary_part.done → of itself content_part.added →
              reasoning_text.delta* → reasoning_text.done → content_part.done → output_item.done

Text continues the open message, and a call or a thought closes it. While a call is open, events of other items wait: a
backend may send several calls at once, but clients read items one after the other. A thought is whole when it comes, so
its item is done as soon as it is added. Models of OpenAI show a summary at most; the reasoning itself is what open ones
send, in events that OpenAI has published for them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Literal

from wireproof_surfaces.events import ArgumentsAdded, CallBegan, CallClosed, TextAdded, Thought
from wireproof_surfaces.surfaces.json_text import Json, string, written

if TYPE_CHECKING:
    from collections.abc import Iterator

    from wireproof_surfaces.surfaces.responses_tools import Spaces


Logprobs = Callable[[Sequence[str]], list[Json]]
Status = Literal["in_progress", "completed", "incomplete"]
OutputEvent = TextAdded | Thought | CallBegan | ArgumentsAdded | CallClosed


@dataclass(frozen=True, slots=True)
class _Text:
    """How a text of a thought is named on the wire."""

    part: str
    """The type of the part that holds it."""
    events: str
    """What the types of its own events begin with."""
    part_events: str
    """What the types of the events of its part begin with."""
    index: str
    """The member that numbers its part."""


_SUMMARY = _Text("summary_text", "reasoning_summary_text", "reasoning_summary_part", "summary_index")
_ITSELF = _Text("reasoning_text", "reasoning_text", "content_part", "content_index")


@dataclass
class _Reasoning:
    """A thought."""

    id: str
    index: int
    thought: Thought

    def item(self, status: str) -> Json:
        """The item: its texts once it is not in progress. It does not say its status, as OpenAI's do not."""
        item: Json = {"type": "reasoning", "id": self.id, "summary": []}
        if status == "in_progress":
            return item
        item["summary"] = _parts(_SUMMARY, self.thought.summary)
        if any(self.thought.raw):
            item["content"] = _parts(_ITSELF, self.thought.raw)
        return {**item, "encrypted_content": self.thought.encrypted} if self.thought.encrypted else item

    def opened(self) -> Iterator[Json]:
        """The events between the item as added and as done."""
        yield from self._events(_SUMMARY, self.thought.summary)
        yield from self._events(_ITSELF, self.thought.raw)

    def closed(self) -> Iterator[Json]:
        """Nothing: its texts are complete already."""
        yield from ()

    def _events(self, named: _Text, pieces: Sequence[str]) -> Iterator[Json]:
        place = {"item_id": self.id, "output_index": self.index, named.index: 0}
        for part in _parts(named, pieces):
            yield {"type": f"response.{named.part_events}.added", **place, "part": {**part, "text": ""}}
            for piece in filter(None, pieces):
                yield {"type": f"response.{named.events}.delta", **place, "delta": piece}
            yield {"type": f"response.{named.events}.done", **place, "text": part["text"]}
            yield {"type": f"response.{named.part_events}.done", **place, "part": part}


def _parts(named: _Text, pieces: Sequence[str]) -> list[Json]:
    """The part that holds all pieces; none where there is no text."""
    text = "".join(pieces)
    return [{"type": named.part, "text": text}] if text else []


@dataclass
class _MessageItem:
    """A message of one part; `logprobs` gives what is reported of its tokens, each of its pieces a token."""

    id: str
    index: int
    logprobs: Logprobs | None = None
    pieces: list[str] = field(default_factory=list)

    @property
    def _place(self) -> Json:
        return {"item_id": self.id, "output_index": self.index, "content_index": 0}

    def _part(self, texts: Sequence[str]) -> Json:
        tokens = self.logprobs(texts) if self.logprobs else []
        return {"type": "output_text", "text": "".join(texts), "annotations": [], "logprobs": tokens}

    def _tokens(self, texts: Sequence[str]) -> list[Json]:
        """What events report of tokens: their bytes are in the part alone."""
        return [_without_bytes(token) for token in self.logprobs(texts)] if self.logprobs else []

    def item(self, status: Status) -> Json:
        """The item as far as it is known; it has a part once it is not in progress any more."""
        content = [] if status == "in_progress" else [self._part(self.pieces)]
        return {"type": "message", "id": self.id, "status": status, "role": "assistant", "content": content}

    def opened(self) -> Iterator[Json]:
        # Without part events openai's `.stream` helpers and ai-sdk fail.
        yield {"type": "response.content_part.added", **self._place, "part": self._part(())}

    def said(self, text: str) -> Iterator[Json]:
        self.pieces.append(text)
        yield {"type": "response.output_text.delta", **self._place, "delta": text, "logprobs": self._tokens((text,))}

    def more(self, texts: Sequence[str]) -> list[str]:
        """The frames of `said` for each of these, but for their numbers and their ends."""
        self.pieces += texts
        frame = self._frame
        if self.logprobs is None:
            return [f'{frame}{string(text)},"logprobs":[]' for text in texts]
        return [f'{frame}{string(text)},"logprobs":{written(self._tokens((text,)))}' for text in texts]

    @cached_property
    def _frame(self) -> str:
        """What every frame of text begins with."""
        kind = "response.output_text.delta"
        return f'event: {kind}\ndata: {written({"type": kind, **self._place})[:-1]},"delta":'

    def closed(self) -> Iterator[Json]:
        text = "".join(self.pieces)
        tokens = self._tokens(self.pieces)
        yield {"type": "response.output_text.done", **self._place, "text": text, "logprobs": tokens}
        yield {"type": "response.content_part.done", **self._place, "part": self._part(self.pieces)}


def _without_bytes(token: Json) -> Json:
    likely = [{name: one[name] for name in one if name != "bytes"} for one in token["top_logprobs"]]
    return {**{name: token[name] for name in token if name != "bytes"}, "top_logprobs": likely}


@dataclass(frozen=True, kw_only=True, slots=True)
class _CallForm:
    """What a call's item and its events are called."""

    type: str
    prefix: str
    """Of ids."""
    said: str
    """The member that holds what it is called with."""
    events: str
    named: bool
    """Whether the last of these says the name."""


_FUNCTION = _CallForm(
    type="function_call", prefix="fc", said="arguments", events="response.function_call_arguments", named=True
)
_CUSTOM = _CallForm(
    type="custom_tool_call", prefix="ctc", said="input", events="response.custom_tool_call_input", named=False
)


@dataclass
class _CallItem:
    """A call; its arguments are the backend's own characters. `name` has its namespace, if it is in one."""

    id: str
    index: int
    event: CallBegan
    name: Json
    form: _CallForm
    pieces: list[str] = field(default_factory=list)

    @property
    def _place(self) -> Json:
        return {"item_id": self.id, "output_index": self.index}

    def item(self, status: Status) -> Json:
        """The item as far as it is known; until it is complete, its arguments come as deltas only."""
        return {
            "type": self.form.type,
            "id": self.id,
            "call_id": self.event.id,
            **self.name,
            # Empty at first: pydantic-ai, langchain-js and Copilot would double them. Whole at the end: else openai,
            # openai-agents, litellm and ai-sdk read `{}`.
            self.form.said: "" if status == "in_progress" else "".join(self.pieces),
            "status": status,
        }

    def opened(self) -> Iterator[Json]:
        yield from ()

    def said(self, text: str) -> Iterator[Json]:
        self.pieces.append(text)
        # OpenAI's name: at `response.function_call.delta`, as "Obsidian tool calling" has it, openai-node's `.stream`
        # fails.
        yield {"type": f"{self.form.events}.delta", **self._place, "delta": text}

    def closed(self) -> Iterator[Json]:
        named = {"name": self.name["name"]} if self.form.named else {}
        yield {"type": f"{self.form.events}.done", **self._place, **named, self.form.said: "".join(self.pieces)}


@dataclass
class Output:
    """All items of a response; `token` makes their ids unlike those of any other, `spaces` are the namespaces.

    `logprobs` gives what is reported of the tokens of a text; None: nothing. `custom` are the names of custom tools.
    """

    token: str
    spaces: Spaces = field(default_factory=dict)
    logprobs: Logprobs | None = None
    custom: frozenset[str] = frozenset()
    _done: list[Json] = field(default_factory=list)
    _open: _MessageItem | _CallItem | _Reasoning | None = None
    _waiting: list[OutputEvent] = field(default_factory=list)

    def feed(self, event: OutputEvent) -> Iterator[Json]:
        """The events to send for one of the turn's; none when it has to wait, or changes nothing."""
        if isinstance(self._open, _CallItem):
            yield from self._calling(self._open, event)
            return
        match event:
            case TextAdded():
                if self._open is None:
                    yield from self._begin(_MessageItem(self._id("msg"), len(self._done), self.logprobs))
                yield from self._open.said(event.text) if isinstance(self._open, _MessageItem) else ()
            case CallBegan():
                yield from self._close("completed")
                form = _CUSTOM if event.name in self.custom else _FUNCTION
                name = self._name(event.name)
                yield from self._begin(_CallItem(self._id(form.prefix), len(self._done), event, name, form))
            case Thought():
                yield from self._close("completed")
                yield from self._begin(_Reasoning(self._id("rs"), len(self._done), event))
                yield from self._close("completed")
            case _:
                return

    def _calling(self, call: _CallItem, event: OutputEvent) -> Iterator[Json]:
        """The events to send for one of the turn's while a call is open."""
        match event:
            case ArgumentsAdded(id=call.event.id):
                yield from call.said(event.text) if event.text else ()
            case CallClosed(id=call.event.id):
                yield from self._close("completed")
            case _:
                # Also text: items never overlap (responses.stream.order).
                self._waiting.append(event)

    def more(self, texts: Sequence[str]) -> list[str]:
        """The frames of more text of the open message, but for numbers and ends; none when no message is open."""
        return self._open.more(texts) if isinstance(self._open, _MessageItem) else []

    def end(self, status: Status) -> Iterator[Json]:
        """Close what is open: nothing more is said, and the last item has this status. There is always an item."""
        while isinstance(self._open, _CallItem):
            yield from self._close(status)
        if not self._done and self._open is None:
            yield from self._begin(_MessageItem(self._id("msg"), 0, self.logprobs))
        yield from self._close(status)

    def fail(self) -> Iterator[Json]:
        """Close what can be closed: an open call is not complete, so it never becomes done."""
        if isinstance(self._open, _MessageItem):
            yield from self._close("incomplete")

    @property
    def items(self) -> list[Json]:
        """The items so far; one that is still open is incomplete."""
        return [*self._done, *([self._open.item("incomplete")] if self._open else [])]

    def _name(self, called: str) -> Json:
        namespace, name = self.spaces.get(called, (None, called))
        return {"name": name} if namespace is None else {"namespace": namespace, "name": name}

    def _id(self, prefix: str) -> str:
        return f"{prefix}_{self.token}{len(self._done):04x}"

    def _begin(self, item: _MessageItem | _CallItem | _Reasoning) -> Iterator[Json]:
        self._open = item
        added = item.item("in_progress")
        yield {"type": "response.output_item.added", "output_index": item.index, "item": added}
        yield from item.opened()

    def _close(self, status: Status) -> Iterator[Json]:
        item, self._open = self._open, None
        if item is None:
            return
        yield from item.closed()
        # The same object here and in the terminal response (responses.stream.sums).
        done = item.item(status)
        self._done.append(done)
        yield {"type": "response.output_item.done", "output_index": item.index, "item": done}
        waiting, self._waiting = self._waiting, []
        for event in waiting:
            yield from self.feed(event)
