"""One turn of the Cursor agent service, as a task of the backend's event loop.

    channel → decoder → events to the mailbox
                      → answers, sent one after the other by a task of their own
                      → execs that are run here, where the client has no tools

The client's own thread only takes events out of the mailbox. `close` may come at any time, from any thread: the turn is
cancelled, and so is what the service still does for it.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from contextlib import aclosing, suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from wireproof_cursor_protos.agent_pb2 import AgentClientMessage, ExecServerMessage
from wireproof_proxy.backends.cursor import replies
from wireproof_proxy.backends.cursor.channel import LostError, UnreachedError
from wireproof_proxy.backends.cursor.envelope import GarbledError, ServiceError, cause_of
from wireproof_surfaces.events import FailureReason

if TYPE_CHECKING:
    from wireproof_cursor_protos.agent_pb2 import AgentRunRequest, AgentServerMessage
    from wireproof_proxy.backends.backend import Choices
    from wireproof_proxy.backends.cursor.channel import Channel, ServiceTransport
    from wireproof_proxy.backends.cursor.turn_decoder import CursorTurnDecoder
    from wireproof_proxy.backends.mailbox import Mailbox
    from wireproof_surfaces.events import Event


log = logging.getLogger(__name__)

HEARTBEAT = 5.0
"""Seconds between two signs of life."""
DRAIN = 2.0
"""Seconds that the end of the stream may take after the end of the turn."""
FAREWELL = 1.0
"""Seconds that the last messages may take to be sent."""
LATE = 0.05
"""Seconds by which a timer is late on a loop that was held up: it comes before what arrived meanwhile."""

RunHere = Callable[[ExecServerMessage], Awaitable[list[AgentClientMessage]]]
"""Runs an exec and returns its answers."""


@dataclass(eq=False)
class ServiceSilence:
    """A silence of the service: calls `over` when it has lasted. All on the loop.

    What has arrived and was not read yet ends it.
    """

    loop: asyncio.AbstractEventLoop
    over: Callable[[], None]
    _timer: asyncio.TimerHandle | None = field(init=False, default=None)

    def begin(self, seconds: float) -> None:
        """Have it last so long from now on; one that has begun is broken off before."""
        self._wait(seconds, LATE)

    def break_off(self) -> None:
        """Have it never end."""
        if self._timer is not None:
            self._timer.cancel()

    def _wait(self, seconds: float, late: float) -> None:
        self._timer = self.loop.call_later(seconds, self._end, self.loop.time() + seconds, late)

    def _end(self, due: float, late: float) -> None:
        if self.loop.time() - due < late:
            self.over()
        else:
            # Each time for longer: on a machine that is always late it ends all the same.
            self._wait(late, late * 2)


@dataclass(frozen=True, kw_only=True, slots=True)
class Waits:
    """How long a silent service is waited for, in seconds."""

    settled: float = 0.3
    """When calls have come and none is announced: for more calls."""
    announced: float = 2.0
    """When a call is announced whose exec has not come."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Surroundings:
    """What all turns of the backend share."""

    loop: asyncio.AbstractEventLoop
    transport: ServiceTransport
    run_here: RunHere
    lost: Callable[[], None]
    """Called on the loop when the service cannot be reached."""
    waits: Waits


class _LeftError(Exception):
    """The rest of the turn is not needed."""


class CursorTurn:
    """A turn under way, for one choice; its events go to `mailbox`."""

    def __init__(
        self,
        around: Surroundings,
        request: AgentRunRequest,
        decoder: CursorTurnDecoder,
        mailbox: Mailbox,
        progress: Choices,
    ) -> None:
        self._around = around
        self._loop = around.loop
        self._decoder = decoder
        self._mailbox = mailbox
        self._progress = progress
        self._opened = False
        self._settling = ServiceSilence(around.loop, self._end_calls)
        self._leaving = asyncio.Event()
        self._outgoing: asyncio.Queue[AgentClientMessage] = asyncio.Queue()
        self._outgoing.put_nowait(AgentClientMessage(run_request=request))
        self.future = asyncio.run_coroutine_threadsafe(self._run(), around.loop)
        """Done when nothing of the turn is left."""

    def close(self) -> None:
        """Cancel the turn if it still runs."""
        # The loop is closed when the backend has been stopped, and the turn with it.
        with suppress(RuntimeError):
            self._loop.call_soon_threadsafe(self._leave)

    def on_silence(self) -> bool:
        """A service may say nothing until it has an answer: the next choice does not wait for that."""
        self._progress.started(self._decoder.choice)
        return False

    def _leave(self) -> None:
        if self._opened:
            self._leaving.set()
        else:
            self.future.cancel()

    async def _run(self) -> None:
        try:
            cause = await self._converse()
            if cause is not None and not self._decoder.over:
                self._put(self._decoder.failure(cause))
        except asyncio.CancelledError:
            # The backend stops; or the reader has left, and takes nothing any more.
            self._put(self._decoder.failure(FailureReason.UNAVAILABLE))
            raise
        except Exception:
            # The loop would keep it to itself, and the client would wait.
            log.exception("a turn failed")
            self._put(self._decoder.failure(FailureReason.FAILED))
        finally:
            self._settling.break_off()
            self._progress.started(self._decoder.choice)

    async def _converse(self) -> FailureReason | None:
        """Play the turn; why it failed, or None."""
        found: FailureReason | None = None
        try:
            async with self._around.transport.open(self._decoder.seed) as channel:
                self._opened = True
                await self._exchange(channel)
        except* ServiceError as group:
            found = _cause(group)
        except* UnreachedError:
            self._around.lost()
            found = FailureReason.UNAVAILABLE
        except* LostError:
            found = FailureReason.UNREACHABLE
        except* GarbledError:
            found = FailureReason.GARBLED
        except* _LeftError:
            pass
        return found

    async def _exchange(self, channel: Channel) -> None:
        async with asyncio.TaskGroup() as group:
            beside = [
                group.create_task(self._send(channel)),
                group.create_task(self._beat()),
                group.create_task(self._await_leaving(channel)),
            ]
            await self._receive(channel, group)
            # What was answered last is still on its way; to cut it off would cost its connection.
            with suppress(TimeoutError):
                async with asyncio.timeout(FAREWELL):
                    await self._outgoing.join()
            for task in beside:
                task.cancel()

    async def _receive(self, channel: Channel, group: asyncio.TaskGroup) -> None:
        with suppress(TimeoutError):
            # After the end of the turn the service still sends checkpoints; they are of no use, but its end is polite.
            async with asyncio.timeout(None) as limit, aclosing(channel.receive()) as messages:
                async for message in messages:
                    self._react(message, group)
                    if self._decoder.over and limit.when() is None:
                        limit.reschedule(self._loop.time() + DRAIN)
        if self._decoder.calls_wait:
            self._end_calls()
        elif not self._decoder.over:
            raise LostError("the stream ended before the turn")

    def _react(self, message: AgentServerMessage, group: asyncio.TaskGroup) -> None:
        self._progress.started(self._decoder.choice)
        self._progress.served()
        reaction = self._decoder.feed(message)
        for reply in reaction.replies:
            self._outgoing.put_nowait(reply)
        self._put(*reaction.events)
        if reaction.run is not None:
            group.create_task(self._serve(reaction.run))
        if reaction.events:
            self._settle()

    def _settle(self) -> None:
        """Wait for more calls, from now on."""
        self._settling.break_off()
        if self._decoder.calls_wait:
            waits = self._around.waits
            self._settling.begin(waits.announced if self._decoder.calls_due else waits.settled)

    def _end_calls(self) -> None:
        if not self._decoder.over:
            self._put(*self._decoder.calls_ended())
            self._leaving.set()

    async def _serve(self, exec_: ExecServerMessage) -> None:
        for reply in await self._around.run_here(exec_):
            self._outgoing.put_nowait(reply)

    async def _send(self, channel: Channel) -> None:
        while True:
            await channel.send(await self._outgoing.get())
            self._outgoing.task_done()

    async def _beat(self) -> None:
        while self._around.transport.heartbeats:
            await asyncio.sleep(HEARTBEAT)
            self._outgoing.put_nowait(replies.heartbeat())

    async def _await_leaving(self, channel: Channel) -> None:
        await self._leaving.wait()
        with suppress(TimeoutError):
            async with asyncio.timeout(FAREWELL):
                await channel.send(replies.cancel())
        raise _LeftError

    def _put(self, *events: Event) -> None:
        taken = [self._mailbox.put(event) for event in events]
        # No one reads any more: the client has left, or fell too far behind.
        if not all(taken):
            self._leaving.set()


def _cause(group: ExceptionGroup[ServiceError]) -> FailureReason:
    """The cause of the first error of a group, which is what made the others."""
    first = group.exceptions[0]
    return _cause(first) if isinstance(first, ExceptionGroup) else cause_of(first)
