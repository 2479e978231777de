"""What an exchange shows if it has no answer: its symptom.

Symptoms are values that can be compared. Two exchanges have the same symptom if they failed in the same way: numbers,
ids, nonces and quoted values are masked, since they differ from request to request. What a symptom means, and which
exchanges share one, is for `judging.causes`.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from wireproof.judging.error_texts import Sent, error_in, exception_in, in_envelope, masked, said_in
from wireproof.model.scenario import Mode
from wireproof.model.transcript import End, Transcript
from wireproof.wire.fields import json_object
from wireproof.wire.violation import Members

if TYPE_CHECKING:
    from wireproof.model.capability import Absence
    from wireproof.model.dialect import Surface
    from wireproof.reading.exchange import Exchange


class Nothing(StrEnum):
    """Nothing came: no status, or no single event or byte of an answer behind it. As a clause, as all symptoms are."""

    SILENCE = "silence instead of an answer"
    ENDLESS = "bytes without end instead of an answer"
    CLOSED = "the connection is closed without an answer"
    REFUSED = "no connection can be made"


class OtherMode(StrEnum):
    """An answer of the mode that was not asked for: its client looks for something else and finds nothing."""

    WHOLE = "a whole answer where a stream was asked for"
    STREAM = "a stream where a whole answer was asked for"


class SaysOther(StrEnum):
    """An answer of the right form that says something else."""

    NO_CALLS = "no tool call ever came back"
    """Text where tool calls were due, in every answer in which they were."""
    OTHERS_ANSWER = "the answer to another request"


class Aside(StrEnum):
    """What exchanges show by which nothing else is judged."""

    CROWDED = "a failure beside other requests, and none alone"
    NAME_REFUSED = "a named tool is refused although calls can be forced"
    """By a target that forces the call of any."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Died:
    """The target's process ended while the request was under way."""

    status: int
    """Its exit status; negative: the number of the signal that ended it."""
    last_words: str
    """The error in what it wrote to stderr, masked; "" for nothing."""

    def __str__(self) -> str:
        how = f"ended by signal {-self.status}" if self.status < 0 else f"ended with exit status {self.status}"
        return f"the proxy's process {how}" + (f": {self.last_words}" if self.last_words else "")


@dataclass(frozen=True, kw_only=True, slots=True)
class WrongStatus:
    """A status that is no success, where an answer was due."""

    status: int
    said: str
    """What the error says, masked: type, code and param of its envelope and its message, or the body's first line."""

    def __str__(self) -> str:
        return f"HTTP {self.status}" + (f": {self.said}" if self.said else "")


@dataclass(frozen=True, kw_only=True, slots=True)
class ExceptionText:
    """An error whose body shows an exception of the program."""

    status: int
    said: str
    """The class and the message of the exception, masked."""

    def __str__(self) -> str:
        return f"HTTP {self.status} with the text of an exception: {self.said}"


@dataclass(frozen=True, kw_only=True, slots=True)
class ErrorAs200:
    """An error under a status of success, where an answer was due."""

    said: str
    """As in `WrongStatus`."""

    def __str__(self) -> str:
        return f"an error sent as HTTP 200: {self.said}"


@dataclass(frozen=True, kw_only=True, slots=True)
class LateError:
    """The error that was due before any output, under a status of success: one fault, whatever the error says."""

    surface: Surface
    mode: Mode

    def __str__(self) -> str:
        return "the error that was due comes under a status of success"


@dataclass(frozen=True, kw_only=True, slots=True)
class NotAnAnswer:
    """A success with a body of another kind than any answer's, such as a web page."""

    kind: str
    """Its media type; "" if it names none."""

    def __str__(self) -> str:
        return f"HTTP 200 with {self.kind or 'a body of no named type'}, which is no answer"


@dataclass(frozen=True, kw_only=True, slots=True)
class NotServed:
    """A plain refusal of something that the target never serves."""

    absence: Absence

    def __str__(self) -> str:
        return f"the target does not serve {self.absence.capability}: {self.absence}"


@dataclass(frozen=True, kw_only=True, slots=True)
class ConstantUsage:
    """The same counts in all answers of a form, whatever was asked."""

    prompt: int
    completion: int

    def __str__(self) -> str:
        return f"the usage is {self.prompt} + {self.completion} in every answer, whatever was asked"


Symptom = Nothing | Died | WrongStatus | ExceptionText | ErrorAs200 | NotAnAnswer | OtherMode
"""What an exchange without an answer shows. Closed, so that a `match` finds each place that a new one concerns."""
ANSWERED = (SaysOther, OtherMode)
"""Those of answers that came, as the rows about the target as such ask, and do not hold what they should."""
AnySymptom = Symptom | LateError | NotServed | SaysOther | Aside | Members | ConstantUsage
"""What several exchanges may have in common; members with a fault of form break rows of several surfaces and modes."""


def kind_of_symptom(symptom: AnySymptom) -> str:
    """A symptom without its numbers: what differs in them alone is one thing to a person."""
    match symptom:
        case Died(last_words=words):
            return f"death: {words}"
        case WrongStatus(said=said):
            return f"error: {said}"
        case ExceptionText(said=said):
            return f"exception: {said}"
        case NotServed(absence=absence):
            return f"not served: {absence.capability}"
        case ConstantUsage():
            return "constant usage"
        case _:
            return str(symptom)


def symptom_of(exchange: Exchange) -> Symptom | None:
    """The symptom of an exchange; None if it has an answer, right or wrong, or the client left before one."""
    transcript = exchange.transcript
    if transcript.death is not None:
        return Died(status=transcript.death.status, last_words=masked(error_in(transcript.death.last_words)))
    if transcript.end is End.LEFT:
        return None
    if transcript.end is End.REFUSED:
        return Nothing.REFUSED
    if transcript.status is None:
        return _nothing(transcript)
    return _of_success(exchange) if transcript.ok else _of_error(transcript, transcript.status)


def _nothing(transcript: Transcript) -> Nothing:
    return {End.TIMEOUT: Nothing.SILENCE, End.ENDLESS: Nothing.ENDLESS}.get(transcript.end, Nothing.CLOSED)


def _of_error(transcript: Transcript, status: int) -> Symptom:
    sent, thrown = Sent.of(transcript.request_body), exception_in(transcript.body)
    if thrown:
        return ExceptionText(status=status, said=masked(thrown, sent))
    return WrongStatus(status=status, said=said_in(transcript.body, sent))


def _of_success(exchange: Exchange) -> Symptom | None:
    """Of a success that holds no answer."""
    transcript, reading = exchange.transcript, exchange.reading
    # Of the answer to a plain request its scenario says what is right.
    if reading is None:
        return None
    if transcript.end in {End.CUT, End.TIMEOUT, End.ENDLESS}:
        empty = not reading.payloads if exchange.mode is Mode.STREAM else not transcript.pieces
        if empty:
            return _nothing(transcript)
    failed = _only_an_error(exchange)
    if failed is not None:
        return ErrorAs200(said=failed)
    if _is_of_other_mode(exchange):
        return OtherMode.WHOLE if exchange.mode is Mode.STREAM else OtherMode.STREAM
    kind = (transcript.header("content-type") or "").partition(";")[0].strip().lower()
    # The reading last: that of a large answer is made again to be looked at.
    if kind not in _ANSWERS and transcript.body and json_object(transcript.body) is None and not reading.payloads:
        return NotAnAnswer(kind=kind)
    return None


_ANSWERS = frozenset({"application/json", "text/event-stream"})
"""Media types of answers. A body of such a type that cannot be read is judged by the rules of its form."""


def _only_an_error(exchange: Exchange) -> str | None:
    """What an error says that is all that a success holds; None if there is an answer, or no error."""
    if any(choice.text or choice.calls for choice in exchange.answer.choices):
        return None
    sent, error = Sent.of(exchange.transcript.request_body), exchange.answer.error
    if error is not None:
        return in_envelope({"message": error.message, "type": error.type, "code": error.code}, sent)
    # Where a stream was asked for and JSON came, the reader of streams finds nothing in it.
    if exchange.came.get("error"):
        return said_in(exchange.transcript.body, sent)
    return None


_FIRST_LINES = (b"data:", b"event:", b":")
"""How a stream begins: with a field, or with a comment."""


def _is_of_other_mode(exchange: Exchange) -> bool:
    """Whether the body is an answer of the mode that was not asked for, whatever its Content-Type says."""
    if exchange.mode is Mode.WHOLE:
        return exchange.transcript.body.lstrip().startswith(_FIRST_LINES)
    said = exchange.came
    # By what it holds: it may come without its name.
    return any(isinstance(said.get(name), list) for name in ("choices", "output", "content"))
