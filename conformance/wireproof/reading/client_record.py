"""A client's requests of one scenario, in order, each with what it got, and which of them goes on from which.

A client resends the conversation with each request. So a request *continues* an earlier one if it begins with the same
messages and has more; what is behind them, its *tail*, is what the client made of the answer to that one.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

from wireproof.reading.client_answers import AnswerState, AnswerToClient, read_answer
from wireproof.reading.client_requests import (
    AnswerRequest,
    ClientMessage,
    Speaker,
    message_of_item,
    read_request,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from wireproof.model.transcript import Transcript
    from wireproof.wire.events import ToolCall

_VOLATILE = frozenset({"metadata", "client_metadata", "prompt_cache_key", "safety_identifier", "user"})
"""Members that say nothing of what is asked: a request that differs in these alone is the same one again."""

SILENCE = 3.0
"""Seconds in which nothing was asked or answered."""


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class ClientExchange:
    """A request of a client, and what it got."""

    number: int
    """Its place among the requests of its scenario, counted from 0."""
    transcript: Transcript
    request: AnswerRequest | None
    """None: it asks for no answer, or is no JSON object."""
    answer: AnswerToClient | None
    """None where there is no such request."""
    messages: tuple[ClientMessage, ...] = ()
    """The whole conversation, with what a `previous_response_id` stands for."""

    @property
    def spoken(self) -> tuple[ClientMessage, ...]:
        """The messages but for instructions, which clients change as they go."""
        return tuple(one for one in self.messages if one.speaker is not Speaker.INSTRUCTIONS)

    @property
    def whole(self) -> bool:
        """Whether it was answered, and all of the answer came."""
        return self.answer is not None and self.answer.state is AnswerState.WHOLE

    @property
    def ended(self) -> float:
        """When its answer ended, in seconds after the first request of its scenario."""
        return self.transcript.began + self.transcript.seconds


@dataclass(frozen=True, kw_only=True)
class ClientRecord:
    """What a client did in one scenario."""

    exchanges: tuple[ClientExchange, ...]
    """In the order in which the requests came."""
    root: str
    """The address of the endpoint, without a path: requests elsewhere went where a redirect led."""
    prompts: tuple[str, ...] = ()
    """What the person said; empty where that is not known."""

    @cached_property
    def asked(self) -> tuple[ClientExchange, ...]:
        """The requests for an answer."""
        return tuple(one for one in self.exchanges if one.request is not None)

    def before(self, exchange: ClientExchange) -> Iterator[ClientExchange]:
        """The requests for an answer before this one, the newest first."""
        return (one for one in reversed(self.asked) if one.number < exchange.number)

    def after(self, exchange: ClientExchange) -> Iterator[ClientExchange]:
        """The requests for an answer after this one, the oldest first."""
        return (one for one in self.asked if one.number > exchange.number)

    def again(self, exchange: ClientExchange) -> Iterator[ClientExchange]:
        """The requests after this one that say the same."""
        return (one for one in self.after(exchange) if self._sayings[one.number] == self._sayings[exchange.number])

    @cached_property
    def _sayings(self) -> dict[int, object]:
        return {one.number: _saying(one) for one in self.asked}

    def continued(self, exchange: ClientExchange) -> ClientExchange | None:
        """The request that this one continues; None: none.

        It is the one with the longest conversation; of several with the same, the newest that was answered.
        """
        found = [one for one in self.before(exchange) if tail(exchange, one)]
        return max(found, key=lambda one: (len(one.spoken), one.whole, one.number), default=None)

    def called(self, exchange: ClientExchange) -> dict[str, tuple[ClientExchange, ToolCall]]:
        """The calls in whole answers before a request, by their ids, each with the request that it answered."""
        return {
            call.id: (one, call)
            for one in reversed(list(self.before(exchange)))
            if one.whole and one.answer is not None
            for call in one.answer.calls
            if call.id
        }


def tail(exchange: ClientExchange, earlier: ClientExchange) -> Sequence[ClientMessage]:
    """What a request says beyond an earlier one that it begins with; nothing where it does not."""
    mine, theirs = exchange.spoken, earlier.spoken
    if len(mine) <= len(theirs) or not theirs:
        return ()
    begins = all(one.key == other.key for one, other in zip(theirs, mine, strict=False))
    return mine[len(theirs) :] if begins else ()


def record_of(transcripts: Iterable[Transcript], root: str, prompts: Sequence[str] = ()) -> ClientRecord:
    """The record that these transcripts make, in the order in which their requests came."""
    found: list[ClientExchange] = []
    for number, transcript in enumerate(transcripts):
        # What another host got is no part of the conversation.
        request = read_request(transcript) if transcript.url.startswith(root) else None
        answer = None if request is None else read_answer(transcript, request.form)
        one = ClientExchange(number=number, transcript=transcript, request=request, answer=answer)
        found.append(replace(one, messages=tuple(_messages(one, found))))
    return ClientRecord(exchanges=tuple(found), root=root, prompts=tuple(prompts))


def _messages(exchange: ClientExchange, before: Sequence[ClientExchange]) -> Iterator[ClientMessage]:
    request = exchange.request
    if request is None:
        return
    if request.continues:
        previous = (one for one in reversed(before) if one.answer and one.answer.response == request.continues)
        for one in previous:
            yield from (replace(message, path=None) for message in one.spoken)
            yield from _as_messages(one.answer)
            break
    for message in request.messages:
        yield _resolved(message, before) if message.refers else message


def _as_messages(answer: AnswerToClient | None) -> Iterator[ClientMessage]:
    if answer is not None and (answer.text or answer.calls):
        yield ClientMessage(speaker=Speaker.ASSISTANT, text=answer.text, calls=answer.calls)


def _resolved(message: ClientMessage, before: Sequence[ClientExchange]) -> ClientMessage:
    """What a reference to a stored item stands for; the reference itself where no answer has such an item."""
    for one in reversed(before):
        item = (one.answer.items or {}).get(message.refers) if one.answer else None
        if item is not None and (meant := message_of_item(item)) is not None:
            return replace(meant, path=message.path)
    return message


def _saying(exchange: ClientExchange) -> object:
    body = exchange.request.body if exchange.request else {}
    return (
        exchange.transcript.method,
        exchange.transcript.url,
        {name: value for name, value in body.items() if name not in _VOLATILE},
    )


def sessions(transcripts: Sequence[Transcript]) -> Sequence[ClientRecord]:
    """The runs of a client in a journal, in order; the numbers of their requests are those in the journal.

    Whoever develops a client runs it again and again, with the same words. A request that begins a conversation after
    some silence is taken for the begin of another run, so that it is no repetition of what an earlier run said. One
    that an earlier request of the same words failed to get an answer for is taken for another try of that.
    """
    every = record_of(transcripts, root="")
    found: list[list[ClientExchange]] = []
    end = 0.0
    for exchange in every.exchanges:
        quiet = exchange.transcript.began - end >= SILENCE
        if not found or (quiet and exchange.request is not None and _begins(every, exchange)):
            found.append([])
        found[-1].append(exchange)
        end = max(end, exchange.ended)
    return [ClientRecord(exchanges=tuple(those), root="") for those in found]


def _begins(record: ClientRecord, exchange: ClientExchange) -> bool:
    """Whether a request goes on from no earlier one, and repeats none that failed."""
    if record.continued(exchange) is not None:
        return False
    same = next((one for one in record.before(exchange) if exchange in record.again(one)), None)
    return same is None or same.whole
