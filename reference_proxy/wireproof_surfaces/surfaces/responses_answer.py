"""A response: the object, and the events of its stream, of which the last holds the whole object. Pure.

    created → in_progress → items → completed | incomplete | failed

The items end with the turn's answer, but the last event waits until the turn's usage is known. In obsidian-xml a call
is written as the text of its `<use_tool>` block, and there are no function calls.

Every member of the object that OpenAI's type requires is there, in progress and at the end; `usage` only at the end.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from wireproof_surfaces.assembly.aggregator import Aggregator
from wireproof_surfaces.errors import RESPONSES_FIELDS, failure_message
from wireproof_surfaces.events import (
    ArgumentsAdded,
    CallBegan,
    CallClosed,
    ChoiceFailed,
    ChoiceFinished,
    FailureReason,
    TextAdded,
    Thought,
    TurnEvent,
)
from wireproof_surfaces.surfaces.chat_dialect import CallFormat
from wireproof_surfaces.surfaces.responses_output import Output
from wireproof_surfaces.surfaces.usage import Meter
from wireproof_surfaces.values import value

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from wireproof_surfaces.assembly.aggregator import AggregatedCall
    from wireproof_surfaces.errors import RequestFields
    from wireproof_surfaces.events import FinishReason, UsageReported
    from wireproof_surfaces.surfaces.json_text import Json
    from wireproof_surfaces.surfaces.responses_tools import Spaces


Status = Literal["in_progress", "completed", "incomplete", "failed"]

TOKEN_BYTES = 24
"""The bytes of the token, in hex, that a response's id and those of its items share."""

INCOMPLETE: Mapping[str, str] = {"length": "max_output_tokens", "content_filter": "content_filter"}
"""Finish reason → why the response is incomplete; any other finish completes it."""

CODES: Mapping[FailureReason, str] = {
    FailureReason.RATE_LIMITED: "rate_limit_exceeded",
    FailureReason.QUOTA: "rate_limit_exceeded",
    FailureReason.BUSY: "rate_limit_exceeded",
    FailureReason.CONTEXT: "invalid_prompt",
    FailureReason.REJECTED: "invalid_prompt",
    FailureReason.TOOLS_REJECTED: "invalid_prompt",
    FailureReason.IMAGES_REJECTED: "invalid_image_url",
}
"""Cause → the code of a failed response, of those that are published; any other cause is a server_error."""


@value(frozen=True, kw_only=True, slots=True)
class ResponseHead:
    """What is the same in a response's stream and its whole form."""

    token: str
    created: int
    model: str
    echo: Mapping[str, Any] = field(default_factory=dict)
    """The request's parameters as the response repeats them."""
    now: Callable[[], float] | None = None
    """The time, in epoch seconds; None: an answer ends when it was created."""
    prompt_bytes: Callable[[], int] = int
    """For estimates of usage, and asked for only where there is no other."""
    call_format: CallFormat = field(default_factory=CallFormat)
    strict: frozenset[str] | None = None
    """The names of the tools that may be called: any other call fails the response. None: all may."""
    spaces: Spaces = field(default_factory=dict)
    """The functions in namespaces."""
    logprobs: Callable[[Sequence[str]], list[Json]] | None = None
    """What is reported of the tokens of a text, each of its pieces a token; None: nothing."""
    output_at_end: bool = True
    """Whether the last event of a stream repeats the output."""

    @property
    def id(self) -> str:
        """The response's id."""
        return f"resp_{self.token}"

    def completed(self) -> int:
        """The time of an answer that ends now, in epoch seconds."""
        # Clocks are set back at times, and no answer is complete before it was created.
        return max(self.created, int(self.now())) if self.now else self.created


def response_of(item_id: str) -> str:
    """The id of the response that an item with this id is of."""
    return f"resp_{item_id.partition('_')[2][: 2 * TOKEN_BYTES]}"


def response(
    head: ResponseHead,
    status: Status,
    *,
    output: Sequence[Json] = (),
    usage: UsageReported | None = None,
    error: Json | None = None,
    reason: FinishReason | None = None,
) -> Json:
    """The object; `error` says why it failed, `reason` why it is incomplete."""
    return {
        "id": head.id,
        "object": "response",
        "created_at": head.created,
        # Only of an answer that is whole: a failure or a limit completes none.
        "completed_at": head.completed() if status == "completed" else None,
        "status": status,
        "background": False,
        "error": error,
        "incomplete_details": {"reason": INCOMPLETE[reason]} if reason else None,
        "model": head.model,
        "output": list(output),
        **head.echo,
        # Null until the response has ended.
        "usage": usage_object(usage) if usage else None,
    }


def usage_object(usage: UsageReported) -> Json:
    """OpenAI's `usage` of a response; the total is the sum."""
    return {
        "input_tokens": usage.prompt,
        # OpenAI's type requires both counts; no backend here reports what was written to a cache.
        "input_tokens_details": {"cached_tokens": usage.cached, "cache_write_tokens": 0},
        "output_tokens": usage.completion,
        "output_tokens_details": {"reasoning_tokens": usage.reasoning},
        "total_tokens": usage.prompt + usage.completion,
    }


@dataclass
class ResponseEvents:
    """One response under way."""

    head: ResponseHead
    failed: ChoiceFailed | None = None
    """How its turn failed."""
    fields: ClassVar[RequestFields] = RESPONSES_FIELDS
    _output: Output = field(init=False)
    _meter: Meter = field(init=False)
    _aggregator: Aggregator = field(default_factory=Aggregator)
    _blocks: int = 0
    _reason: FinishReason = "stop"
    _error: Json | None = None
    _sent: int = 0

    def __post_init__(self) -> None:
        self._output = Output(self.head.token, self.head.spaces, self.head.logprobs, self.head.call_format.custom)
        self._meter = Meter(self.head.prompt_bytes)

    def begin(self) -> Iterator[Json]:
        """The events before any output."""
        for kind in ("response.created", "response.in_progress"):
            yield self._numbered({"type": kind, "response": response(self.head, "in_progress")})

    def feed(self, event: TurnEvent) -> Iterator[Json]:
        """The events to send for one of the turn's."""
        self._meter.take(event)
        for payload in self._payloads(event):
            yield self._numbered(payload)

    def say(self, texts: Sequence[str]) -> bytes:
        """The frames of more text of the open message; empty when none is open, and nothing is taken."""
        deltas = self._output.more(texts)
        if not deltas:
            return b""
        self._meter.write("".join(texts))
        first, self._sent = self._sent, self._sent + len(deltas)
        frames = [f'{delta},"sequence_number":{number}}}\n\n' for number, delta in enumerate(deltas, first)]
        return "".join(frames).encode(errors="replace")

    @property
    def tokens_count(self) -> bool:
        """Whether something is reported of each token, which a piece of text is."""
        return self.head.logprobs is not None

    def whole(self) -> Json:
        """The whole response, when all was fed."""
        return response(
            self.head,
            self._status,
            output=self._output.items,
            usage=self._meter.usage(),
            error=self._error,
            reason=self._reason if self._status == "incomplete" else None,
        )

    def end(self, keep: Callable[[Json], None]) -> Iterator[Json]:
        """The last event; `keep` is given the whole response."""
        whole = self.whole()
        keep(whole)
        shown = whole if self.head.output_at_end else {**whole, "output": []}
        yield self._numbered({"type": f"response.{self._status}", "response": shown})

    @property
    def _status(self) -> Status:
        if self._error:
            return "failed"
        return "incomplete" if self._reason in INCOMPLETE else "completed"

    def _payloads(self, event: TurnEvent) -> Iterator[Json]:
        match event:
            case TextAdded() | Thought():
                yield from self._output.feed(event)
            case CallBegan() | ArgumentsAdded() | CallClosed():
                yield from self._call(event)
            case ChoiceFinished():
                self._reason = event.reason
                yield from self._output.end("incomplete" if event.reason in INCOMPLETE else "completed")
            case ChoiceFailed():
                self.failed = event
                self._error = {"code": CODES.get(event.cause, "server_error"), "message": failure_message(event)}
                yield from self._output.fail()
            case _:
                return

    def _call(self, event: CallBegan | ArgumentsAdded | CallClosed) -> Iterator[Json]:
        if isinstance(event, CallBegan):
            self._admit(event.name)
        if not self.head.call_format.shows_blocks:
            yield from self._output.feed(event)
        elif self._aggregator.feed(event) and isinstance(event, CallClosed):
            yield from self._block(self._aggregator.calls[event.id])

    def _admit(self, name: str) -> None:
        if self.head.strict is not None and name not in self.head.strict:
            message = f"The model called a tool that was not declared: {name}."
            # The call itself is passed on; the response ends as failed.
            self._error = {"code": "server_error", "message": message}

    def _block(self, call: AggregatedCall) -> Iterator[Json]:
        call_format = self.head.call_format
        self._blocks += 1
        # The first block, or all of them, as in a whole chat answer.
        if self._blocks == 1 or call_format.policy == "burst":
            between = call_format.delimiter if self._blocks > 1 else ""
            yield from self._output.feed(TextAdded(text=between + call_format.block(call)))

    def _numbered(self, payload: Json) -> Json:
        number, self._sent = self._sent, self._sent + 1
        return {**payload, "sequence_number": number}
