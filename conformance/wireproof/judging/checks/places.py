"""Where in an answer a check points, and the parts of an answer that several checks compare."""

from __future__ import annotations

import json
from dataclasses import dataclass
from itertools import accumulate
from typing import TYPE_CHECKING, TypeVar

from wireproof.judging.checks.diff import BLANKS, difference, difference_in, is_object, unspaced
from wireproof.judging.registry import Seen
from wireproof.model.dialect import Surface
from wireproof.model.scenario import Mode
from wireproof.model.target import Missing
from wireproof.model.transcript import End
from wireproof.wire.events import CallOpened, Finished, Fragment, Text
from wireproof.wire.facet import UNTOUCHED, Facet
from wireproof.wire.fields import JsonObject, list_of, marked, object_of, parse_json, text_of
from wireproof.wire.grammar import OPENING
from wireproof.wire.locating import Step, locate, strings_in, written
from wireproof.wire.quoting import apart, parting, quoted
from wireproof.wire.sse import SseFrame
from wireproof.wire.violation import MemberFault, Members, Place

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from wireproof.reading.exchange import Exchange
    from wireproof.reading.expected import Expected, ExpectedCall
    from wireproof.wire.events import Choice, ToolCall
    from wireproof.wire.reading import Reading

_SINCE, _UNTIL = 1e9, 1e10  # 2001 to 2286
_E = TypeVar("_E", Text, CallOpened, Fragment, Finished)


def is_mistimed(value: object) -> bool:
    """Whether a number is no time in seconds since 1970; milliseconds are too many. What is no number is not judged."""
    return isinstance(value, int | float) and not _SINCE <= value < _UNTIL


def named_frames(reading: Reading, *, but: str = "") -> set[int | None]:
    """The numbers of the frames that the grammar has found wrong: a schema would name the same fault once more.

    `but`: the requirement of faults after which a schema is asked all the same, but for what they are about.
    """
    found = (v for v in reading.violations if v.place and not v.strict_only and v.requirement != but)
    return {v.place.frame for v in found if v.place}


def calls_are_named(reading: Reading) -> bool:
    """Whether the grammar has found the head of a call wrong, which a schema would name in each of its deltas."""
    lost = {Facet.CALL, Facet.ARGUMENTS, Facet.CALL_ID}
    return any(v.requirement == OPENING or lost & (v.spoils or UNTOUCHED) for v in reading.violations)


def place_of(exchange: Exchange, kind: type) -> Place | None:
    """The last frame with this kind of event; None if there is none, or for a whole answer."""
    reading = exchange.read
    frame = next((event.frame for event in reversed(reading.events) if isinstance(event, kind)), None)
    return None if frame is None else frame_place(reading, frame)


def first_place(exchange: Exchange, kind: type[_E], wrong: Callable[[_E], bool]) -> Place | None:
    """The first frame with such an event; None if there is none, or for a whole answer."""
    events = exchange.read.events
    frame = next((event.frame for event in events if isinstance(event, kind) and wrong(event)), None)
    return None if frame is None else frame_place(exchange.read, frame)


def opening_place(exchange: Exchange, choice: int, number: int) -> Place | None:
    """The frame that opens the call of this number in a choice; None in a whole answer."""
    opened = [one for one in exchange.read.events if isinstance(one, CallOpened) and one.choice == choice]
    return first_place(exchange, CallOpened, lambda one: number < len(opened) and one is opened[number])


def said_place(exchange: Exchange, choice: int = 0) -> Place:
    """Where a choice begins to say anything: its first call, else its first text; else all of the body."""
    if exchange.mode is Mode.WHOLE:
        return answer_place(exchange)
    text = first_place(exchange, Text, lambda one: one.choice == choice)
    return opening_place(exchange, choice, 0) or text or exchange.body_place


def answer_place(exchange: Exchange) -> Place:
    """Where a whole answer has what it says; all of the body in a stream."""
    streamed = exchange.mode is Mode.STREAM
    return exchange.body_place if streamed else member_place(exchange, _ANSWER[exchange.dialect.spec.surface])


_ANSWER = {Surface.CHAT: "choices", Surface.RESPONSES: "output", Surface.MESSAGES: "content"}
"""The member of a whole answer that holds what it says."""


def member_place(exchange: Exchange, *path: Step) -> Place:
    """Where a value stands in a body that is one JSON object; else all of the body."""
    body = exchange.transcript.body
    text = body.decode(errors="replace")
    return locate(SseFrame(number=0, offset=0, raw=body, data=text, event=None, comments=()), path)


@dataclass(frozen=True, kw_only=True, slots=True)
class Spot:
    """Where a text begins to differ from the right one."""

    place: Place | None
    path: str = ""
    """What leads to it in a whole answer; "" in a stream, whose frames have numbers."""

    def heading(self, what: str) -> str:
        """The beginning of a sentence about it: the path, or what it is in a stream."""
        return f"{self.path or what}: "


def text_spot(exchange: Exchange, choice: int, want: str, got: str) -> Spot:
    """Where a choice's text begins to differ; where it ends, if it is too short."""
    said = [one for one in exchange.read.events if isinstance(one, Text) and one.choice == choice]
    return _spot(exchange, said, want, got)


def wrong_text(seen: str, place: Place | None, want: str, got: str) -> Seen:
    """That a text is another one than the right one."""
    differs = difference_in(want, got)
    return Seen(seen, place, kind=BLANKS if differs == BLANKS else "", differs=differs)


def arguments_spot(exchange: Exchange, choice: int, call: int, want: str, got: str) -> Spot:
    """Where a call's arguments begin to differ; where they end, if they are too short."""
    events = exchange.read.events
    said = [one for one in events if isinstance(one, Fragment) and (one.choice, one.index) == (choice, call)]
    # Cumulative ones repeat what came before: each is looked at by itself.
    return _spot(exchange, said, want, got, again=exchange.cumulative)


def _spot(exchange: Exchange, pieces: Sequence[Text | Fragment], want: str, got: str, *, again: bool = False) -> Spot:
    if not pieces:
        return Spot(place=exchange.body_place if exchange.mode is Mode.WHOLE else None)
    lengths = [len(piece.text) for piece in pieces]
    ends = lengths if again else list(accumulate(lengths))
    at = parting(want, got)
    number = next((number for number, end in enumerate(ends) if at < end), len(pieces) - 1)
    return _in_piece(exchange, pieces[number], at if again else at - ends[number] + lengths[number])


def _in_piece(exchange: Exchange, piece: Text | Fragment, at: int) -> Spot:
    """A character of a piece of text, where it stands in the JSON that brought it."""
    reading = exchange.read
    frame, payload = next((one, payload) for one, payload in reading.payloads if one.number == piece.frame)
    # Pieces may be equal, as those of two choices: each is found by how many like it came before in the same frame.
    alike = (one for one in reading.events if isinstance(one, type(piece)) and _says(one) == _says(piece))
    before = next(number for number, one in enumerate(alike) if one is piece)
    paths = [path for path, text in strings_in(payload) if text == piece.text and path[-1] in _NAMES[type(piece)]]
    path = paths[before] if before < len(paths) else ()
    shown = written(path) if exchange.mode is Mode.WHOLE else ""
    return Spot(place=locate(frame, path, at) if path else frame.place, path=shown)


_NAMES = {Text: {"content", "text", "delta"}, Fragment: {"arguments", "delta", "partial_json"}}
"""The members that hold pieces of a text, in all surfaces and modes."""


def _says(piece: Text | Fragment) -> tuple[int, str]:
    return piece.frame, piece.text


def frame_place(reading: Reading, number: int) -> Place | None:
    """A frame as a place; None for a whole answer, which has no frames."""
    return reading.frames[number].place if number < len(reading.frames) else None


def plain(content: str, wanted: Expected) -> str:
    """The content before the first `<use_tool>` block; unchanged if no block is expected."""
    return content.partition("<use_tool>")[0] if wanted.blocks else content


Pair = tuple[Facet, str, object, object]
"""A part of two answers, what a sentence calls it, and what either of them has."""


def differences(pairs: Iterable[Pair], one: str = "the stream", other: str = "the whole answer") -> Iterable[Seen]:
    """What differs between two answers, as sentences call them."""
    for part, what, ours, others in pairs:
        if ours != others:
            said, instead = apart(ours, others)
            yield Seen(f"{what}: {one} says {said}, {other} {instead}", kind=what, part=part)


def last_usage(exchange: Exchange) -> JsonObject:
    """The last usage object of an answer as it came."""
    said = (object_of(payload.get("usage")) for _, payload in reversed(exchange.read.payloads))
    return next(filter(None, said), {})


def tokens_in(exchange: Exchange, number: int | None = None) -> str | None:
    """The tokens that have probabilities, of one choice or of all, joined; None where none has."""
    payloads = [payload for _, payload in exchange.read.payloads]
    choices = [object_of(choice) for payload in payloads for choice in list_of(payload.get("choices"))]
    mine = [one for one in choices if number is None or one.get("index") == number]
    said = [entry for one in mine for entry in list_of(object_of(one.get("logprobs")).get("content"))]
    return "".join(text_of(object_of(entry).get("token")) or "" for entry in said) if said else None


def fragments_in(exchange: Exchange) -> dict[tuple[int, int], list[str]]:
    """The fragments of each call, by the index of its choice and its own."""
    fragments: dict[tuple[int, int], list[str]] = {}
    for event in exchange.read.events:
        if isinstance(event, Fragment):
            fragments.setdefault((event.choice, event.index), []).append(event.text)
    return fragments


def strays(exchange: Exchange, wanted: Expected, got: str) -> bool:
    """Whether a choice holds text that belongs to another choice, white space aside."""
    others = [unspaced(other.text or "") for other in exchange.wanted if other is not wanted]
    # A right text may well hold the words of another choice.
    if unspaced(got) == unspaced(wanted.text or ""):
        return False
    return any(other in unspaced(got) for other in others if other)


def misindexed(exchange: Exchange) -> list[int]:
    """The indexes of the choices that came, if several were asked for and others came; else none."""
    came = sorted({choice.index for choice in exchange.answer.choices})
    whole = exchange.transcript.end in {End.COMPLETE, End.OPEN} and exchange.answer.error is None
    several = exchange.conversation.choices > 1 and whole and bool(came)
    return came if several and came != list(range(exchange.conversation.choices)) else []


NO_USAGE = Members(fault=MemberFault.MISSING, names=("usage",))
"""Of a whole answer without its counts."""


def counts(exchange: Exchange) -> tuple[int, int, int] | None:
    """The tokens that the backend reported for all choices: input, output, total.

    None: it did not report them for every choice, so a proxy's own estimate is as good; or what came is not all of what
    it counted (`is_part`).
    """
    if is_part(exchange):
        return None
    if Missing.COUNTS in exchange.target.missing and any(wanted.cut for wanted in exchange.wanted):
        return None
    reported = [wanted.usage for wanted in exchange.wanted]
    known = [usage for usage in reported if usage is not None]
    # The sum is over all choices, so one that is not known makes it unknown.
    if not known or len(known) < len(reported):
        return None
    prompt, completion = sum(usage.input for usage in known), sum(usage.output for usage in known)
    return prompt, completion, prompt + completion


def miscounted_detail(exchange: Exchange) -> str:
    """What the details of the counts say otherwise than the backend; "" where they say the same, or nothing."""
    got, reported = exchange.answer.usage, [wanted.usage for wanted in exchange.wanted if wanted.usage is not None]
    if got is None or counts(exchange) is None:
        return ""
    details = (
        ("cached", got.cached, sum(usage.cached for usage in reported)),
        ("reasoning", got.reasoning, sum(usage.reasoning for usage in reported)),
    )
    wrong = ((name, came, due) for name, came, due in details if came is not None and came != due)
    return next((f"usage has {came} {name} tokens, the backend reported {due}" for name, came, due in wrong), "")


def is_counted_alike(stream: Exchange) -> bool:
    """Whether a stream counts what the whole answer does: less may be estimated of one that ends before."""
    return stream.terms.burst or counts(stream) is not None


def is_part(exchange: Exchange) -> bool:
    """Whether an answer lacks what the backend may have counted otherwise, or not at all.

    A choice did not come, for which an upstream may never have been asked; or calls did not come, which the backend may
    have answered itself and gone on from, as Codex does with tools that it was not told of: its counts are then of all
    its answers.
    """
    lost = (not came.calls and any(call.native for call in wanted.calls) for wanted, came in exchange.choices())
    return bool(misindexed(exchange)) or any(lost)


def right_ends(wanted: Expected, choice: Choice) -> frozenset[str | None]:
    """The finish reasons that are right for what came of a choice."""
    # Without its calls, which have rows of their own, an answer is a text and ends as one.
    text = {"stop"} if wanted.calls and not choice.calls else set[str]()
    return frozenset({wanted.finish, *text})


def is_as_far(exchange: Exchange, want: str, got: str) -> bool:
    """Whether a text is the right one, as far as the answer came."""
    return got == (want if exchange.complete else want[: len(got)])


def is_kept(want: ExpectedCall, got: ToolCall) -> bool:
    """Whether arguments are plainly what they should be: to find where they differ takes long, so it is asked first."""
    return want.exact and not want.meant and got.arguments == want.arguments


def altered_arguments(want: ExpectedCall, got: ToolCall, spot: Spot, *, objects: bool = False) -> Iterable[Seen]:
    """Arguments that are not the model's own text.

    Those that the backend carries as data are compared as such. Those that the backend wrote as elements of a block
    have no text of their own to compare: they need only be JSON here (`objects`: a JSON object), and the requirements
    of blocks compare their meaning.
    """
    heading = spot.heading(f"arguments of {want.name}")
    if want.exact or want.meant:
        want_text, came = want.arguments, got.arguments
        if not same_data(want_text, came) if want.meant else came != want_text:
            alike = not want.meant and same_json(want_text, came)
            yield Seen(f"{heading}{difference(want_text, came)}", spot.place, strict_only=alike)
    elif not (is_object if objects else _is_json)(got.arguments):
        yield Seen(f"{heading}no JSON{' object' if objects else ''}: {quoted(got.arguments)}", spot.place)


def same_json(want: str, got: str) -> bool:
    """Whether two texts are the same JSON: every client parses arguments, so the tool gets the same from both."""
    try:
        # In tuples that no JSON gives: a client may read 1 and 1.0 as different types, but 1.50 and 1.5 as one number.
        # A double not as the number itself: zero has a sign that its value does not show.
        kinds = {"parse_float": lambda one: ("double", repr(float(one))), "parse_int": lambda one: ("integer", one)}
        read = [parse_json(one, **kinds) for one in (want, got)]
    except ValueError:
        return False
    return bool(read[0] == read[1])


def as_data(arguments: str) -> str:
    """Arguments in one spelling of the data that they are; what is no JSON as it is."""
    try:
        return json.dumps(parse_json(arguments, parse_int=float), sort_keys=True, ensure_ascii=False)
    except ValueError:
        return arguments


def same_data(want: str, got: str) -> bool:
    """Whether two texts are JSON of the same data, its numbers as doubles."""
    try:
        read = [marked(parse_json(one, parse_int=float)) for one in (want, got)]
    except ValueError:
        return False
    return bool(read[0] == read[1])


def _is_json(text: str) -> bool:
    try:
        parse_json(text)
    except ValueError:
        return False
    return True
