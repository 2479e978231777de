"""An answer while it is played: what to send now, or until when there is nothing. No I/O and no clock of its own.

    turns → assembly → demanded calls → writer → bytes

`outputs` is a generator that is resumed with the time. It yields a `StreamHead` once, pieces of the body, an `Until`
where there is nothing to send, or, instead of all that, one `WholeReply`. After an `Until` it may be resumed early.

The status line waits for the first output, at most `commit` seconds, since until then a failure can still be an HTTP
error. The first output is a piece of its own; after it, frames that are ready at once share a piece.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from itertools import count
from typing import TYPE_CHECKING, Protocol

from wireproof_scripts.player import Until
from wireproof_scripts.values import value
from wireproof_surfaces.answers.plan import Holding
from wireproof_surfaces.assembly.assembly import Assembly
from wireproof_surfaces.errors import ApiError, failure
from wireproof_surfaces.events import (
    CallBegan,
    ChoiceFailed,
    ChoiceFinished,
    FailureReason,
    Quiet,
    TextAdded,
    Thought,
    TurnEvent,
)
from wireproof_surfaces.surfaces import sse

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Mapping, Sequence

    from wireproof_endpoint.settings import EndpointSettings
    from wireproof_endpoint.turn import Next, PlayedChoice, Texts
    from wireproof_surfaces.answers.plan import AnswerPlan

JSON = {"Content-Type": "application/json"}
SHARED = 16
"""Frames that may share a piece: more cost the other streams time, and gain little (docs/endpoint.md)."""

_SAYING = frozenset({TextAdded, Thought, CallBegan, ChoiceFinished})
GIVING_WAY = 256
"""Steps or events of an answer after which others have their turn, if nothing was sent meanwhile."""


@value(frozen=True, kw_only=True, slots=True)
class WholeReply:
    """A whole response."""

    status: int
    headers: Mapping[str, str]
    body: bytes


@value(frozen=True, kw_only=True, slots=True)
class StreamHead:
    """The beginning of a streamed response."""

    headers: Mapping[str, str]
    seconds: float = 0.0
    """How long it takes to be sent."""


@dataclass(frozen=True, kw_only=True, slots=True)
class CloseConnection:
    """The end of the connection, in the middle of whatever was sent."""

    reset: bool
    """It is reset, not closed."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Noise:
    """Bytes on the connection beside HTTP, and its end."""

    content: bytes


Output = StreamHead | bytes | Until | WholeReply | CloseConnection | Noise


class PlayedAnswer(Protocol):
    """An answer that is played."""

    @property
    def nonces(self) -> set[int]:
        """What it shares with others: a change there may end a wait."""

    def outputs(self, now: float) -> Generator[Output, float, None]:
        """All that is sent, in order."""

    def close(self) -> None:
        """End it; it may be called again."""


class Play:
    """The answer to one request; `left` is called once when it is over."""

    # How far it is: as on the class until something happens.
    _spoken = False
    """Whether something was said: the status line may go out."""
    _began = False
    """Whether it has."""
    _ready = 0
    """How many events are ready to be sent, about."""
    _last = _written = _commit = 0.0
    """When something last happened, and was last sent, and when the status line goes out at the latest."""
    _over = False
    _below = _cut = False
    """Whether the turn wants something of what lies below an answer (`WirePlay`), and whether that has ended it."""
    _shared = SHARED
    """Frames that may share a piece; 0: none do."""

    def __init__(
        self,
        plan: AnswerPlan,
        turns: Sequence[PlayedChoice],
        settings: EndpointSettings,
        *,
        left: Callable[[], None],
        refuse: Callable[[ApiError], WholeReply],
    ) -> None:
        self._refuse = refuse
        """Makes the response that is an error."""
        self._plan = plan
        self._turns = turns
        self._settings = settings
        self._playing = deque(turns)
        self._assembly = Assembly(plan.rules, choices=plan.choices, await_usage=plan.await_usage, seed=plan.id)
        self._holding = None if plan.demand is None else Holding(plan.demand, choices=plan.choices)
        """What holds the answer back until it calls what was demanded; None: nothing is demanded."""
        self._left: Callable[[], None] | None = left

    @property
    def nonces(self) -> set[int]:
        """What its turns share with others: a change there may end a wait."""
        return {turn.nonce for turn in self._turns}

    def close(self) -> None:
        """End the turns; those that still play were interrupted. It may be called again."""
        left, self._left = self._left, None
        if left is not None:
            left()
            for turn in self._turns:
                turn.close()

    def outputs(self, now: float) -> Generator[Output, float, None]:
        """All that is sent, in order."""
        try:
            yield from self._stream(now) if self._plan.stream else self._whole(now)
        except ApiError as error:
            yield self._refuse(error)
        finally:
            self.close()

    def _whole(self, now: float) -> Generator[Output, float, None]:
        last = now
        for step in count(1):
            if self._over:
                break
            if step % GIVING_WAY == 0:
                now = yield Until(now)
            event = self._next(now, self._shared)
            if self._below:
                now = last = yield from self._play_below(now)
                if self._cut:
                    return
            elif isinstance(event, Until):
                fails = last + self._settings.idle_timeout
                if now >= fails:
                    self._feed(ChoiceFailed(FailureReason.TIMEOUT))
                    continue
                self._feed(Quiet(now - last))
                if not self._over:
                    wake = min(event.time, fails)
                    now = min((yield Until(wake)), wake)
            else:
                last = now
        yield from self._body()

    def _body(self) -> Generator[Output, float, None]:
        """A whole answer."""
        yield WholeReply(status=200, headers={**JSON, **self._plan.headers}, body=self._plan.writer.end())

    def _stream(self, now: float) -> Generator[Output, float, None]:
        self._last = self._written = now
        self._commit = now + self._patience()
        frames: list[bytes] = []
        room = min(1, self._shared)  # the first output alone: it never waits for what comes after it
        while not self._over:
            step = self._next(now, room)
            if self._below:
                now = yield from self._play_below(now)
                if self._cut:
                    return
                continue
            if not isinstance(step, Until):
                self._last = now
                if step:
                    frames.append(step)
            if self._spoken and not self._began:
                yield self._head()
            if self._began and frames and (self._ready >= room or isinstance(step, Until)):
                self._written, self._ready, room = now, 0, self._shared
                now = yield self._joined(frames)
                frames.clear()
            elif self._ready >= GIVING_WAY:
                # Empty text, and what is held back for a call, may go on for long without a piece to send.
                self._ready = 0
                now = yield Until(now)
            if isinstance(step, Until):
                now = yield from self._silence(step, frames, now)
        yield from self._end(frames)

    def _end(self, frames: Sequence[bytes]) -> Generator[Output, float, None]:
        """What is left of a stream."""
        if not self._began:
            yield self._head()
        yield self._joined([*frames, self._plan.writer.end()])

    def _patience(self) -> float:
        """Seconds that the status line waits for the first output."""
        return self._settings.commit

    def _joined(self, frames: Sequence[bytes]) -> bytes:
        """Frames as one piece."""
        return b"".join(frames)

    def _play_below(self, now: float) -> Generator[Output, float, float]:
        """Do what the turn wants below the answer. Returns the time."""
        raise NotImplementedError

    def _head(self) -> StreamHead:
        self._began = True
        return StreamHead(headers={**sse.HEADERS, **self._plan.headers})

    def _silence(self, until: Until, frames: list[bytes], now: float) -> Generator[Output, float, float]:
        """Wait, or do what a silence brings; `frames` takes what is to be sent. Returns the time."""
        keepalive = self._settings.keepalive
        # Times are compared with the ones that are waited for, never differences: `(a + b) - a` may be less than `b`,
        # and what was then not yet due would be waited for at a time that has come, over and over.
        fails = self._last + self._settings.idle_timeout
        # A silence lets calls go that waited for what comes after them.
        sent = self._feed(ChoiceFailed(FailureReason.TIMEOUT) if now >= fails else Quiet(now - self._last))
        if sent or self._over:
            frames.append(sent)
            return now
        if not self._began and now >= self._commit:
            yield self._head()
            self._written = now
            now = yield b"".join(frames) + self._feed(Quiet(0)) or self._plan.keep_alive
            frames.clear()
        elif self._began and now >= self._written + keepalive:
            self._written = now
            now = yield self._plan.keep_alive
        due = self._written + keepalive if self._began else self._commit
        wake = min(until.time, due, fails)
        now = yield Until(wake)
        # A wait that is over ended when it was due: a timer that is late must neither make the next one later nor pass
        # over what was due before.
        return min(now, wake)

    def _next(self, now: float, most: int) -> bytes | Until:
        """Let the next turn do one thing: the bytes to send of it, or until when none has anything to do."""
        playing = self._playing
        if len(playing) > 1:
            most = 1  # in rotation: the choices of an answer come side by side
        wake: Until | None = None
        for _ in range(len(playing)):
            turn = playing[0]
            step = turn.next(now, most)
            if isinstance(step, Until):
                wake = step if wake is None or step.time < wake.time else wake
                playing.rotate(-1)
                continue
            if step is None:
                playing.popleft()
            elif len(playing) > 1:
                playing.rotate(-1)
            return self._taken(turn, step)
        if wake is not None:
            return wake
        # Nothing plays any more, so nothing can end the answer.
        self._over = True
        return b""

    def _taken(self, turn: PlayedChoice, step: Next) -> bytes:
        if isinstance(step, tuple):
            return self._texts(step, turn.choice)
        if isinstance(step, list):
            self._ready += len(step)
            return b"".join([self._feed(event) for event in step])
        return b""

    def _texts(self, texts: Texts, choice: int) -> bytes:
        self._ready += len(texts)
        # The short way of nearly all text: one look at some pieces together, and no event is made of them.
        held = self._holding is not None and self._holding.holds
        if not (self._over or held) and self._assembly.passes("".join(texts), choice):
            self._spoken = True
            return self._plan.writer.texts(texts, choice)
        return b"".join([self._feed(TextAdded(choice=choice, text=text)) for text in texts if text])

    def _feed(self, event: TurnEvent) -> bytes:
        """What is to be sent for an event."""
        sent = b""
        if self._over:
            return sent
        holding = self._holding
        for passed in self._assembly.feed(event):
            for held in holding.feed(passed) if holding is not None and holding.holds else (passed,):
                sent += self._write(held)
        self._over = self._assembly.done or (holding is not None and holding.done)
        return sent

    def _write(self, event: TurnEvent) -> bytes:
        if isinstance(event, ChoiceFailed):
            if not (self._spoken or self._began):
                raise failure(event, self._plan.fields)
        elif type(event) in _SAYING:
            self._spoken = True
        return self._plan.writer.feed(event)
