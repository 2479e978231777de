"""What an exchange shows if it has no answer: its symptom.

Symptoms are values that can be compared. Two exchanges have the same symptom if they failed in the same way: numbers,
ids, nonces and quoted values are masked, since they differ from request to request. What a symptom means, and which
exchanges share one, is for `judging.causes`.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from assay.model.scenario import Mode
from assay.model.transcript import End

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from assay.model.capability import Absence
    from assay.model.dialect import Surface
    from assay.model.transcript import Transcript
    from assay.reading.exchange import Exchange
    from assay.wire.violation import Violation

LONGEST = 200
"""Characters of an error that a symptom keeps: what differs behind them is no other cause."""
MASK = "…"
"""What stands for a value that differs from request to request."""


class Nothing(StrEnum):
    """How no answer came."""

    SILENCE = "silence"
    CLOSED = "closed"
    """The connection was closed before there was an answer."""
    ENDLESS = "endless"
    """Bytes came without end, and none of them was of an answer."""
    REFUSED = "refused"
    """No connection could be made."""


@dataclass(frozen=True, kw_only=True, slots=True)
class NoAnswer:
    """Nothing came: no status, or no single event or byte of an answer behind it."""

    kind: Nothing

    def __str__(self) -> str:
        """As a clause of a sentence, as in all symptoms."""
        return _NOTHING[self.kind]


_NOTHING = {
    Nothing.SILENCE: "silence instead of an answer",
    Nothing.ENDLESS: "bytes without end instead of an answer",
    Nothing.CLOSED: "the connection is closed without an answer",
    Nothing.REFUSED: "no connection can be made",
}


@dataclass(frozen=True, kw_only=True, slots=True)
class Died:
    """The target's process ended while the request was under way."""

    status: int
    """Its exit status; negative: the number of the signal that ended it."""
    last_words: str
    """The last line that it wrote to stderr, masked; "" for nothing."""

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
class OtherMode:
    """An answer of the mode that was not asked for: its client looks for something else and finds nothing."""

    came: Mode

    def __str__(self) -> str:
        return _OTHER[self.came]


_OTHER = {
    Mode.WHOLE: "a whole answer where a stream was asked for",
    Mode.STREAM: "a stream where a whole answer was asked for",
}


@dataclass(frozen=True, kw_only=True, slots=True)
class NotServed:
    """A plain refusal of something that the target never serves."""

    absence: Absence

    def __str__(self) -> str:
        return f"the target does not serve {self.absence.capability}: {self.absence}"


@dataclass(frozen=True, kw_only=True, slots=True)
class NoCalls:
    """Text where tool calls were due, in every answer in which they were."""

    def __str__(self) -> str:
        return "no tool call ever came back"


@dataclass(frozen=True, kw_only=True, slots=True)
class OthersAnswer:
    """The answer that another request was due."""

    def __str__(self) -> str:
        return "the answer to another request"


@dataclass(frozen=True, kw_only=True, slots=True)
class Crowded:
    """A failure beside other requests, and none alone."""

    def __str__(self) -> str:
        return "a failure beside other requests, and none alone"


@dataclass(frozen=True, kw_only=True, slots=True)
class ExtraMembers:
    """Members that are not among the published ones, beside an answer that can be read."""

    names: tuple[str, ...]

    def __str__(self) -> str:
        return f"{_listed(self.names)} not among the published fields"


@dataclass(frozen=True, kw_only=True, slots=True)
class MissingMembers:
    """Published members that are missing, beside an answer that can be read."""

    names: tuple[str, ...]

    def __str__(self) -> str:
        return f"{_listed(self.names)} missing"


@dataclass(frozen=True, kw_only=True, slots=True)
class MissingHeaders:
    """Headers that are missing."""

    names: tuple[str, ...]

    def __str__(self) -> str:
        return f"{_listed(self.names)} missing among the headers"


@dataclass(frozen=True, kw_only=True, slots=True)
class WrongMembers:
    """Members that have not the published type, beside an answer that can be read."""

    names: tuple[str, ...]

    def __str__(self) -> str:
        return f"{_listed(self.names)} of a wrong type"


@dataclass(frozen=True, kw_only=True, slots=True)
class ConstantUsage:
    """The same counts in all answers of a form, whatever was asked."""

    prompt: int
    completion: int

    def __str__(self) -> str:
        return f"the usage is {self.prompt} + {self.completion} in every answer, whatever was asked"


def _listed(names: tuple[str, ...]) -> str:
    return f"{' and '.join(names)} {'is' if len(names) == 1 else 'are'}"


Symptom = NoAnswer | Died | WrongStatus | ExceptionText | ErrorAs200 | NotAnAnswer | OtherMode
"""What an exchange without an answer shows. Closed, so that a `match` finds each place that a new one concerns."""
ANSWERED = (NoCalls, OtherMode, OthersAnswer)
"""Those of answers that came, as the rows about the target as such ask, and do not hold what they should."""
FormSymptom = ExtraMembers | MissingMembers | WrongMembers | MissingHeaders
"""A fault of form that requirements of several surfaces and modes find broken each."""
AnySymptom = Symptom | LateError | NotServed | NoCalls | OthersAnswer | Crowded | FormSymptom | ConstantUsage
"""What several exchanges may have in common."""


def form_symptom_of(violation: Violation) -> FormSymptom | None:
    """The symptom that a violation of form shows, whatever its requirement is; None if it shows none."""
    for pattern, kind in _FORMS.items():
        found = pattern.fullmatch(violation.seen)
        if found:
            return kind(names=tuple(found[1].split(" and ")))
    return None


_FORMS: Mapping[re.Pattern[str], Callable[..., FormSymptom]] = {
    # As `assay.reading.schemas` writes them, without where the members are.
    re.compile(r"[^:]*: (.+) (?:is|are) not among the published fields"): ExtraMembers,
    re.compile(r"[^:]*: (.+) (?:is|are) missing"): MissingMembers,
    re.compile(r"\S*/([^/:]+): is \S.*, should be .+"): WrongMembers,
    re.compile(r"there is no (\S+) header.*"): MissingHeaders,
    # As the checks of usage write it.
    re.compile(r"the (?:answer|response) has no (usage) with its three counts"): MissingMembers,
    re.compile(r"stream_options\.include_usage was set and no (usage chunk) came"): MissingMembers,
}
"""How a violation says it → its symptom."""


def symptom_of(exchange: Exchange) -> Symptom | None:
    """The symptom of an exchange; None if it has an answer, right or wrong, or the client left before one."""
    transcript = exchange.transcript
    if transcript.death is not None:
        words = transcript.death.last_words.strip().rpartition("\n")[2]
        return Died(status=transcript.death.status, last_words=masked(words))
    if transcript.end is End.LEFT:
        return None
    if transcript.end is End.REFUSED:
        return NoAnswer(kind=Nothing.REFUSED)
    if transcript.status is None:
        return _nothing(transcript)
    return _of_success(exchange) if transcript.ok else _of_error(transcript, transcript.status)


def _nothing(transcript: Transcript) -> NoAnswer:
    kinds = {End.TIMEOUT: Nothing.SILENCE, End.ENDLESS: Nothing.ENDLESS}
    return NoAnswer(kind=kinds.get(transcript.end, Nothing.CLOSED))


def _of_error(transcript: Transcript, status: int) -> Symptom:
    sent, thrown = Sent.of(transcript.request_body), _exception(transcript.body)
    if thrown:
        return ExceptionText(status=status, said=masked(thrown, sent))
    return WrongStatus(status=status, said=_said(transcript.body, sent))


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
        return OtherMode(came=Mode.WHOLE if exchange.mode is Mode.STREAM else Mode.STREAM)
    kind = _media_type(transcript)
    # The reading last: that of a large answer is made again to be looked at.
    if kind not in _ANSWERS and transcript.body and _object(transcript.body) is None and not reading.payloads:
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
        return _envelope({"message": error.message, "type": error.type, "code": error.code}, sent)
    # Where a stream was asked for and JSON came, the reader of streams finds nothing in it.
    if (_object(exchange.transcript.body) or {}).get("error"):
        return _said(exchange.transcript.body, sent)
    return None


_FIRST_LINES = (b"data:", b"event:", b":")
"""How a stream begins: with a field, or with a comment."""


def _is_of_other_mode(exchange: Exchange) -> bool:
    """Whether the body is an answer of the mode that was not asked for, whatever its Content-Type says."""
    body = exchange.transcript.body
    if exchange.mode is Mode.WHOLE:
        return body.lstrip().startswith(_FIRST_LINES)
    said = _object(body) or {}
    return isinstance(said.get("choices"), list) or said.get("object") == "response"


def _media_type(transcript: Transcript) -> str:
    return (transcript.header("content-type") or "").partition(";")[0].strip().lower()


def _object(body: bytes) -> dict[str, Any] | None:
    """The JSON object that a body is; None for any other body."""
    try:
        value: Any = json.loads(body)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


# What errors say


@dataclass(frozen=True, kw_only=True, slots=True)
class Sent:
    """What of a request an error about it may repeat."""

    fields: frozenset[str] = frozenset()
    """The names of its fields: a message that quotes one says what it is about."""
    texts: tuple[str, ...] = ()
    """The texts in it, long ones in front, each also as JSON spells it."""

    @classmethod
    def of(cls, request: bytes) -> Sent:
        """What the body of a request has."""
        body = _object(request) or {}
        plain = {text for text in _texts_in(body) if len(text) >= WORDS}
        spelt = {json.dumps(text)[1:-1] for text in plain} | {
            json.dumps(text, ensure_ascii=False)[1:-1] for text in plain
        }
        return cls(fields=frozenset(body), texts=tuple(sorted(plain | spelt, key=lambda one: (-len(one), one))))


WORDS = 12
"""Characters of a text of a request that an error is taken to repeat. A shorter one may be a word of its own."""


def _texts_in(value: object) -> Iterator[str]:
    match value:
        case str():
            yield value
        case dict():
            for inner in value.values():
                yield from _texts_in(inner)
        case list():
            for inner in value:
                yield from _texts_in(inner)


def _said(body: bytes, sent: Sent) -> str:
    """What an error says: its envelope's words, the first complaint of a list, or the first line of any other body."""
    said = _object(body) or {}
    error = said.get("error")
    if isinstance(error, dict):
        return _envelope(error, sent)
    other = error or said.get("message") or said.get("detail")
    if isinstance(other, str):
        return _shortened(masked(other, sent))
    # The first alone: of several tools each has the same fault, and what else one request has is no other cause.
    complaint = next(_complaints(other), None) if isinstance(other, list) else None
    return masked(_first_line(body) if complaint is None else complaint, sent)


def _complaints(detail: list[Any]) -> Iterator[str]:
    """What a list of faults says of each, as FastAPI and pydantic write them: where it is, not what was sent."""
    for one in detail:
        if isinstance(one, dict) and isinstance(one.get("msg"), str):
            where = one.get("loc")
            place = ".".join(map(str, where)) if isinstance(where, list) else ""
            yield f"{place}: {one['msg']}" if place else one["msg"]


def _envelope(error: dict[str, Any], sent: Sent) -> str:
    named = [f"{name} {error[name]}" for name in ("type", "code", "param") if error.get(name)]
    message = _shortened(masked(str(error.get("message") or ""), sent))
    return f"{message} ({', '.join(named)})" if named else message


_SHOWN_VALUE = re.compile(r"\{[^{}]*[:,][^{}]*\}|\[[^\[\]]*\{…\}[^\[\]]*\]")
"""An object of a request that a message shows, and a list of such."""


def _shortened(message: str) -> str:
    """A message without the objects of the request that it shows."""
    shorter = _SHOWN_VALUE.sub("{…}", message)
    # One that is an object as a whole says what it says in there.
    return message if shorter in {message, "{…}"} else _shortened(shorter)


def _first_line(body: bytes) -> str:
    text = _TAG.sub(" ", body.decode("utf-8", errors="replace"))
    return next((line.strip() for line in text.splitlines() if line.strip()), "")


_TAG = re.compile(r"<style.*?</style>|<script.*?</script>|<[^>]*>", re.DOTALL | re.IGNORECASE)
_EXCEPTION = re.compile(r"\b(?:[A-Za-z_]\w*\.)*[A-Z]\w*(?:Error|Exception)\b(?:: [^\n]*)?")
_TRACE = re.compile(r"Traceback \(most recent call last\)|\n\s+at [^\n]+:\d+")
"""What stands above or below an exception in Python and JavaScript."""


def _exception(body: bytes) -> str:
    r"""The exception that a body shows with its trace; '' if it shows none."""
    text = body.decode("utf-8", errors="replace").replace("\\n", "\n")
    if not _TRACE.search(text):
        return ""
    # Python's stands below its trace, JavaScript's above.
    found: list[str] = _EXCEPTION.findall(text)
    return (found[-1] if "Traceback" in text else found[0]).rstrip('"}') if found else ""


_QUOTED = re.compile(r"\"([^\"]*)\"|'([^']*)'|`([^`]*)`|“([^”]*)”")
_CHANGING = re.compile(
    r"\[\[assay:[^\]]*\]\]|https?://\S+|\b[\w-]*\d[\w-]*\b|\b[0-9a-f]{8,}\b",
)


NOTHING_SENT = Sent()
"""Of a text that is about no request."""


def masked(text: str, sent: Sent = NOTHING_SENT) -> str:
    """A text without what differs from request to request: its texts, quoted values (but names of fields), ids."""

    def quoted(found: re.Match[str]) -> str:
        value = next(group for group in found.groups() if group is not None)
        # `messages[0].role` is about a field, too.
        return found.group() if re.split(r"[.\[]", value)[0] in sent.fields else f"“{MASK}”"

    for repeated in sent.texts:
        text = text.replace(repeated, MASK)
    plain = _CHANGING.sub(MASK, _QUOTED.sub(quoted, " ".join(text.split())))
    return plain[:LONGEST]
