"""A transcript, read: what the client understood of it, beside what it should have understood."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from assay.model.dialect import Arguments, Dialect, Surface
from assay.model.scenario import Form, Mode, Scenario, Turn, wants_burst
from assay.model.transcript import End, Transcript
from assay.wire.calls import Answer, Choice, assemble
from assay.wire.chat import ChatStream, Reading
from assay.wire.message import read_whole
from assay.wire.responses import ResponsesStream
from assay.wire.responses_whole import read_response
from assay.wire.violation import Place, Violation

if TYPE_CHECKING:
    from collections.abc import Iterator

    from assay.model.target import Target
    from assay.reading.expected import Expected


@dataclass(frozen=True, kw_only=True)
class Exchange:
    """One exchange as the judge sees it.

    `reading` is None when the response was no 2xx (or none came) or is no chat answer. `wanted` are the right answers,
    one for each choice; none where they are not known (a live backend, a plain request). `number` counts the exchanges
    of the scenario.
    """

    scenario: Scenario
    number: int
    turn: Turn | None
    form: Form
    target: Target
    transcript: Transcript
    reading: Reading | None
    wanted: tuple[Expected, ...] = ()

    @property
    def mode(self) -> Mode:
        """Stream or whole."""
        return self.form.mode

    @property
    def dialect(self) -> Dialect:
        """How calls are told."""
        return self.form.dialect

    @property
    def cumulative(self) -> bool:
        """Whether the deltas of a call repeat its arguments."""
        told = self.target.argument_mode(self.dialect)
        return self.mode is Mode.STREAM and told is Arguments.CUMULATIVE

    @cached_property
    def answer(self) -> Answer:
        """The assembled answer; only asked for where there is a reading."""
        if self.reading is None:
            raise ValueError("this exchange has no chat answer")
        return assemble(self.reading.events, cumulative=self.cumulative)

    def choice(self, index: int = 0) -> Choice:
        """A choice of the answer, empty when the answer has none of this index."""
        found = (choice for choice in self.answer.choices if choice.index == index)
        return next(found, Choice(index=index, role=None, text=None, calls=(), finish=None))

    def choices(self) -> Iterator[tuple[Expected, Choice]]:
        """Each choice as it should be, and as it came."""
        for index, wanted in enumerate(self.wanted):
            yield wanted, self.choice(index)

    @property
    def burst(self) -> bool:
        """Whether the request lets a stream carry several calls."""
        return wants_burst(self.scenario, self.turn, self.dialect)

    @property
    def body_place(self) -> Place:
        """The whole body as a place, for violations of the exchange as such."""
        return Place(offset=0, length=len(self.transcript.body))


NOTHING = Reading(frames=(), payloads=(), events=(), violations=())
"""What can be read of a whole answer that did not arrive whole."""


Stream = ChatStream | ResponsesStream


def stream_reader(dialect: Dialect) -> Stream:
    """What reads the streams of a dialect."""
    if dialect.spec.surface is Surface.RESPONSES:
        return ResponsesStream()
    return ChatStream(blocks=dialect.spec.blocks)


def read(transcript: Transcript, form: Form, stream: Stream | None = None) -> Reading | None:
    """The wire grammar's reading of an answer; None when the response was no success.

    A body that was cut short is read as far as it came: what is missing at its end has one cause, the cut. Of a whole
    answer nothing can be read then. A `stream` that was fed the pieces when they came saves reading them again.
    """
    if not transcript.ok:
        return None
    if form.mode is Mode.WHOLE:
        whole = read_response if form.dialect.spec.surface is Surface.RESPONSES else read_whole
        return whole(transcript.body) if transcript.end is End.COMPLETE else NOTHING
    if stream is None:
        stream = stream_reader(form.dialect)
        for piece in transcript.pieces:
            stream.feed(piece.data)
    if transcript.end in {End.COMPLETE, End.OPEN}:
        stream.end()
    return stream.reading()


def violation(requirement: str, seen: str, place: Place | None = None) -> Violation:
    """Shorthand for checks."""
    return Violation(requirement=requirement, seen=seen, place=place)
