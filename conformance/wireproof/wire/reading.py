"""A body, read: what every reader of this package returns, for streams and for whole bodies alike."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import takewhile
from typing import TYPE_CHECKING

from wireproof.wire.events import Answer, CallOpened, ChatEvent, Comment, Fragment, Text, assemble
from wireproof.wire.facet import UNREADABLE, Facet
from wireproof.wire.fields import JsonObject, parse_object, text_of
from wireproof.wire.sse import SseFrame
from wireproof.wire.violation import Members, Place, Violation

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping


@dataclass(frozen=True, kw_only=True)
class Reading:
    """A body, read."""

    frames: tuple[SseFrame, ...]
    """The SSE frames; empty for a whole body."""
    payloads: tuple[tuple[SseFrame, JsonObject], ...]
    """Each frame that holds a JSON object, with that object, error frames included; a whole body counts as one."""
    events: tuple[ChatEvent, ...]
    """What the body says, in order."""
    violations: tuple[Violation, ...]
    """The requirements that it breaks, in the order in which that shows."""
    _answers: dict[bool, Answer] = field(default_factory=dict, init=False, repr=False, compare=False)

    @property
    def keepalives(self) -> int:
        """How many frames came before the first text that do nothing but keep the connection alive.

        Comments, pings of Messages, and frames without data, though these should be comments.
        """
        before = [*takewhile(lambda event: not isinstance(event, Text), self.events)]
        text = self.events[len(before)].frame if len(before) < len(self.events) else len(self.frames)
        empty = [one for one in self.frames[:text] if not (one.data or "").strip() and not one.comments]
        return len(empty) + sum(isinstance(event, Comment) for event in before)

    @property
    def answer(self) -> Answer:
        """The events, assembled."""
        return self.assembled(cumulative=False)

    def assembled(self, *, cumulative: bool) -> Answer:
        """The events, assembled; once for each way in which deltas may carry arguments."""
        if cumulative not in self._answers:
            self._answers[cumulative] = assemble(self.events, cumulative=cumulative)
        return self._answers[cumulative]


def read_body(
    body: bytes, envelope: str, said: Callable[[JsonObject, Place], Iterable[ChatEvent | Violation]]
) -> Reading:
    """Read a whole body. It is taken as one frame (number 0, all its bytes), and violations point at all of it.

    Args:
        body: All of it.
        envelope: The requirement that a body breaks which is no JSON object.
        said: What the object says and breaks, in order.
    """
    place = Place(offset=0, length=len(body))
    try:
        text, payload = parse_body(body)
    except ValueError as error:
        found = Violation(requirement=envelope, seen=f"the body is {error}", place=place, spoils=UNREADABLE)
        return Reading(frames=(), payloads=(), events=(), violations=(found,))
    both = list(said(payload, place))
    return Reading(
        frames=(),
        payloads=((SseFrame(number=0, offset=0, raw=body, data=text, event=None, comments=()), payload),),
        events=tuple(one for one in both if not isinstance(one, Violation)),
        violations=tuple(one for one in both if isinstance(one, Violation)),
    )


def call_events(index: int, id_: object, name: object, arguments: object, choice: int = 0) -> Iterator[ChatEvent]:
    """A call of a whole answer, whose id, name and arguments are texts or count as missing."""
    yield CallOpened(frame=0, choice=choice, index=index, id=text_of(id_) or "", name=text_of(name) or "")
    if (text := text_of(arguments)) is not None:
        yield Fragment(frame=0, choice=choice, index=index, text=text)


def wrong_calls(
    requirement: str,
    faults: Mapping[str, frozenset[Facet]],
    place: Place,
    *,
    where: str = "",
    about: Members | None = None,
) -> Iterator[Violation]:
    """One violation of all that is wrong with the calls of a whole answer: fault → what is lost by it."""
    if faults:
        seen, spoils = f"{where}{'; '.join(list(faults)[:4])}", frozenset[Facet]().union(*faults.values())
        yield Violation(requirement=requirement, seen=seen, place=place, spoils=spoils, about=about)


def parse_body(body: bytes) -> tuple[str, JsonObject]:
    """The text of a whole body, and the JSON object in it.

    Raises:
        ValueError: With a clause on what it is instead.
    """
    try:
        # Not lenient as in a stream, where other frames can be read: JSON is UTF-8 (RFC 8259, section 8.1).
        text = body.decode("utf-8")
    except UnicodeDecodeError as error:
        raise ValueError(f"not UTF-8 ({error.reason} at byte {error.start})") from error
    return text, parse_object(text)
