"""An exchange as the judge sees it: the transcript, what the client reads in it, and what it should read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from wireproof.model.answer_terms import answer_terms
from wireproof.model.catalogue import row_of
from wireproof.model.dialect import ArgumentsMode, Surface
from wireproof.model.scenario import ConversationScenario, Form, Mode, PlainScenario, Request, Scenario, Turn
from wireproof.model.target import Missing
from wireproof.model.transcript import End, Transcript
from wireproof.reading.read_again import LARGE, ReadAgain
from wireproof.wire.chat import chat_stream
from wireproof.wire.events import Answer, Choice
from wireproof.wire.facet import Facet
from wireproof.wire.fields import json_object
from wireproof.wire.message import read_whole
from wireproof.wire.messages import messages_stream
from wireproof.wire.messages_whole import read_message
from wireproof.wire.reading import Reading
from wireproof.wire.responses import responses_stream
from wireproof.wire.responses_whole import read_response
from wireproof.wire.stream import read_pieces
from wireproof.wire.textual import CLOSE, OPEN
from wireproof.wire.violation import Place, Violation

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from wireproof.model.answer_terms import AnswerTerms
    from wireproof.model.asks import Asks
    from wireproof.model.dialect import Dialect
    from wireproof.model.scenario import JsonObject
    from wireproof.model.target import Target
    from wireproof.reading.expected import Expected
    from wireproof.wire.stream import Stream


# Compared by identity: what was found of one of two exchanges that read alike says nothing of the other.
@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Exchange:
    """One exchange of a scenario: what was recorded, read and expected."""

    scenario: Scenario
    """The scenario that it belongs to."""
    number: int
    """Its number among the exchanges of the scenario, counted from 0."""
    turn: Turn | None
    """The turn that it plays; None for a plain request."""
    form: Form
    """The dialect and mode in which the answer was asked for."""
    target: Target
    """The proxy that answered."""
    transcript: Transcript
    """The bytes, as recorded."""
    reading: Reading | None
    """What the wire grammar reads in them; None when the response was no 2xx, or none came, or it is no answer."""
    wanted: tuple[Expected, ...] = ()
    """The right answers, one for each choice; () where they are not known: a plain request, a model that was asked for
    nothing, or that did not do what it was asked."""
    earlier: tuple[Exchange, ...] = ()
    """The tries before this one, in which a model did not do what it was asked."""

    @property
    def complete(self) -> bool:
        """Whether all of the answer came; what came of one that broke off is its beginning."""
        lost = any(Facet.END in (one.spoils or ()) for one in self.reading.violations) if self.reading else False
        return self.transcript.end in {End.COMPLETE, End.OPEN} and not lost

    @property
    def mode(self) -> Mode:
        """Stream or whole."""
        return self.form.mode

    @property
    def dialect(self) -> Dialect:
        """The dialect in which the answer was asked for."""
        return self.form.dialect

    @property
    def carries_data(self) -> bool:
        """Whether the answer, or what it is made of, carries arguments as data, and calls under ids of its own form."""
        return self.dialect.spec.arguments_are_data or Missing.SPELLING in self.target.missing

    @property
    def cumulative(self) -> bool:
        """Whether the deltas of a call repeat its arguments."""
        written = self.target.argument_mode(self.dialect)
        return self.mode is Mode.STREAM and written is ArgumentsMode.CUMULATIVE

    @property
    def read(self) -> Reading:
        """The reading of an exchange that has one.

        Raises:
            ValueError: There is none.
        """
        if self.reading is None:
            raise ValueError("this exchange has no chat answer")
        return self.reading

    @property
    def answer(self) -> Answer:
        """The assembled answer; raises as `read`."""
        return self.read.assembled(cumulative=self.cumulative)

    def choice(self, index: int = 0) -> Choice:
        """The choice of this index; an empty one when the answer does not have it."""
        found = (choice for choice in self.answer.choices if choice.index == index)
        return next(found, Choice(index=index))

    def choices(self) -> Iterator[tuple[Expected, Choice]]:
        """Each expected choice with the one that came."""
        for index, wanted in enumerate(self.wanted):
            yield wanted, self.choice(index)

    @property
    def carries_calls(self) -> bool:
        """Whether the answer carries a call: as such, or, in a dialect of blocks, as a block in its content alone."""
        texts = (choice.text or "" for choice in self.answer.choices) if self.dialect.spec.blocks else ()
        return bool(self.answer.calls) or any(CLOSE in text.partition(OPEN)[2] for text in texts)

    @property
    def request(self) -> Request | None:
        """The plain request that was sent; None for a turn of a conversation, and for what a client sent by itself."""
        # Those of a client are its own.
        requests = self.scenario.requests if isinstance(self.scenario, PlainScenario) else ()
        return requests[self.number] if requests else None

    @property
    def conversation(self) -> ConversationScenario:
        """The scenario, where it is a conversation.

        Raises:
            ValueError: A plain request was sent.
        """
        if isinstance(self.scenario, PlainScenario):
            raise ValueError("this exchange is no turn of a conversation")  # noqa: TRY004 (of the exchange, no type)
        return self.scenario

    @property
    def added(self) -> JsonObject:
        """The fields that the scenario adds to the request of a turn; raises as `conversation`."""
        scenario = self.conversation
        return scenario.added(scenario.turns[self.number])

    @property
    def terms(self) -> AnswerTerms:
        """What the request of a turn demands of its answer; raises as `conversation`."""
        scenario = self.conversation
        return answer_terms(scenario, scenario.turns[self.number], self.dialect)

    @property
    def sent(self) -> dict[str, Any]:
        """The JSON object that was sent; empty where none was."""
        return json_object(self.transcript.request_body) or {}

    @property
    def came(self) -> dict[str, Any]:
        """The JSON object that is the body of the answer; empty where it is none."""
        return json_object(self.transcript.body) or {}

    @property
    def asks(self) -> Asks | None:
        """What a model was asked to do; None where a script answers, or a plain request was sent."""
        return self.turn.asks if self.turn else None

    @property
    def body_place(self) -> Place:
        """The whole body as a place, for violations of the exchange as such."""
        return Place(offset=0, length=len(self.transcript.body))


NOTHING = Reading(frames=(), payloads=(), events=(), violations=())
"""The reading of a whole answer that did not arrive whole."""


_WHOLE: Mapping[Surface, Callable[[bytes], Reading]] = {
    Surface.CHAT: read_whole,
    Surface.RESPONSES: read_response,
    Surface.MESSAGES: read_message,
}
"""Surface → what reads its whole answers."""


def stream_reader(dialect: Dialect) -> Stream:
    """A reader for one stream of a dialect."""
    match dialect.spec.surface:
        case Surface.CHAT:
            return chat_stream(blocks=dialect.spec.blocks)
        case Surface.RESPONSES:
            return responses_stream()
        case Surface.MESSAGES:
            return messages_stream()


def answer_in(exchange: Exchange) -> Reading:
    """What is read in the answer to a plain request, by what came: some get a stream that they did not ask for."""
    if came_as_stream(exchange):
        return read_pieces(stream_reader(exchange.dialect), [exchange.transcript.body])
    return _WHOLE[exchange.dialect.spec.surface](exchange.transcript.body)


def came_as_stream(exchange: Exchange) -> bool:
    """Whether an answer says that it is a stream, whatever was asked for."""
    return "event-stream" in (exchange.transcript.header("content-type") or "")


def read(transcript: Transcript, form: Form, stream: Stream | None = None) -> Reading | None:
    """What the wire grammar reads in an answer; None when the response was no success.

    `stream` is a reader that was fed the pieces as they arrived, which saves reading them again.
    """
    reading = _read(transcript, form, stream)
    large = reading is not None and sum(len(piece.data) for piece in transcript.pieces) > LARGE
    return ReadAgain(reading, lambda: _read(transcript, form) or NOTHING) if reading and large else reading


def _read(transcript: Transcript, form: Form, stream: Stream | None = None) -> Reading | None:
    if not transcript.ok:
        return None
    encoding = transcript.header("content-encoding") or "identity"
    # Every request asks for identity: named as what it is, and not as bytes that are no JSON.
    if encoding.lower() != "identity" and transcript.body:
        return _compressed(transcript, form, encoding)
    if form.mode is Mode.WHOLE:
        # Half a JSON object says nothing, and that it is cut is judged by the transcript's end.
        whole = transcript.end is End.COMPLETE
        return _WHOLE[form.dialect.spec.surface](transcript.body) if whole else NOTHING
    if stream is None:
        stream = stream_reader(form.dialect)
        for piece in transcript.pieces:
            stream.feed(piece.data)
    # A stream that was cut is read as far as it came and never ended: what is missing then has one cause, the cut.
    # In an open body everything was sent but its end, which has a finding of its own.
    if transcript.end in {End.COMPLETE, End.OPEN}:
        stream.end()
    return stream.reading()


def _compressed(transcript: Transcript, form: Form, encoding: str) -> Reading:
    """What is read in a compressed body: nothing, and why."""
    seen = f"the body is compressed (content-encoding: {encoding}), though the request asks for identity"
    place = Place(offset=0, length=len(transcript.body))
    broken = Violation(
        # As it came, it is not of the kind that it should be.
        requirement=row_of(Facet.BODY, form),
        seen=seen,
        place=place,
        hint="Compress only what the request's Accept-Encoding allows; see that no server or proxy in front does.",
    )
    return Reading(frames=(), payloads=(), events=(), violations=(broken,))
