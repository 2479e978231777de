"""The backend: one event loop in a thread of its own, on which every turn is a task.

There is no process to keep running and no handshake. The backend is ready once a connection to the service has been
made, which is tried again and again until one is, and again after a turn that found the service gone.
"""

from __future__ import annotations

import asyncio
import logging
import os
import threading
import uuid
from contextlib import suppress
from dataclasses import KW_ONLY, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from wireproof_proxy.backends import mailbox
from wireproof_proxy.backends.backend import BackendCount, Choices, FailedTurn
from wireproof_proxy.backends.cursor.builtin_tools import BuiltinTools
from wireproof_proxy.backends.cursor.channel import ServiceAddress, ServiceTransport
from wireproof_proxy.backends.cursor.request import opening
from wireproof_proxy.backends.cursor.run import RunTransport
from wireproof_proxy.backends.cursor.run_sse import RunSseTransport
from wireproof_proxy.backends.cursor.turn import CursorTurn, Surroundings, Waits
from wireproof_proxy.backends.cursor.turn_decoder import CursorTurnDecoder
from wireproof_proxy.settings import CursorTransport, SettingsError, check_wait
from wireproof_surfaces.conversation import ImagePart, Message, ToolResult
from wireproof_surfaces.events import FailureReason

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from wireproof_cursor_protos.agent_pb2 import AgentRunRequest
    from wireproof_proxy.backends.backend import BackendTurn
    from wireproof_proxy.backends.mailbox import Mailbox
    from wireproof_proxy.settings import CursorSettings, ProxySettings
    from wireproof_surfaces.conversation import Conversation


log = logging.getLogger(__name__)

FIRST_DELAY = 0.05
LONGEST_DELAY = 2.0
CONNECT_SECONDS = 10.0
STOP_SECONDS = 5.0
TRANSPORTS: Mapping[CursorTransport, Callable[[ServiceAddress], ServiceTransport]] = {
    "run": RunTransport,
    "run-sse": RunSseTransport,
}


@dataclass(eq=False, repr=False)
class CursorService:
    """Answers turns by the service; `tools` run what it asks for where the client has no tools."""

    service: ServiceAddress
    make_transport: Callable[[ServiceAddress], ServiceTransport]
    tools: BuiltinTools
    _: KW_ONLY
    waits: Waits
    patience: float = mailbox.PATIENCE
    _changed: threading.Condition = field(default_factory=threading.Condition)
    _reached: bool = False
    _stopping: bool = False
    _turns: set[CursorTurn] = field(default_factory=set)
    _losses: int = 0
    _loop: asyncio.AbstractEventLoop | None = None
    _transport: ServiceTransport | None = None
    _knocking: asyncio.Task[None] | None = None

    def __post_init__(self) -> None:
        self._thread = threading.Thread(target=self._serve, name="cursor-backend", daemon=True)

    def start(self) -> None:
        """Begin to look for the service; returns at once."""
        self._loop = asyncio.new_event_loop()
        self._thread.start()

    def stop(self) -> None:
        """Cancel every turn, and end the loop."""
        with self._changed:
            self._stopping = True
            self._changed.notify_all()
        if self._loop is not None and self._thread.is_alive():
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._thread.join()

    @property
    def alive(self) -> bool:
        """Always: the service is somewhere else, and is tried again for as long as the proxy lives."""
        return True

    def counts(self) -> tuple[BackendCount, ...]:
        """How often the service was lost."""
        return (BackendCount("losses", "Turns that found the backend's service gone.", self._losses),)

    def await_ready(self, timeout: float) -> bool:
        """Whether the service has been reached, waiting for it up to `timeout` seconds."""
        with self._changed:
            self._changed.wait_for(lambda: self._reached or self._stopping, timeout)
            return self._reached and not self._stopping

    def open(self, conversation: Conversation, choices: int = 1) -> BackendTurn:
        """Start a turn in a session of its own for each choice."""
        loop, transport = self._loop, self._transport
        if loop is None or transport is None or self._stopping:
            return FailedTurn(FailureReason.UNAVAILABLE)
        if cause := _refused(conversation):
            return FailedTurn(cause)

        around = Surroundings(
            loop=loop, transport=transport, run_here=self.tools.run, lost=self._lost, waits=self.waits
        )

        def begin(progress: Choices, events: Mailbox, choice: int) -> CursorTurn:
            turn = CursorTurn(around, *self._asked(conversation, choice, choices), events, progress)
            self._turns.add(turn)
            turn.future.add_done_callback(lambda _: self._turns.discard(turn))
            return turn

        try:
            return Choices(begin, choices, lambda: None, self.patience)
        # A schema may hold what the protocol cannot: a number beyond every double.
        except (ValueError, OverflowError):
            return FailedTurn(FailureReason.TOOLS_REJECTED)

    def _asked(
        self, conversation: Conversation, choice: int, choices: int
    ) -> tuple[AgentRunRequest, CursorTurnDecoder]:
        """The request for a choice, and what reads its answer."""
        begun = opening(conversation, "" if conversation.tools else self.tools.folder)
        decoder = CursorTurnDecoder(
            tools={tool.name: tool for tool in conversation.tools},
            context=begun.context,
            blobs=dict(begun.blobs),
            choice=choice,
            choices=choices,
            seed=str(uuid.uuid4()),
        )
        return begun.run, decoder

    def _serve(self) -> None:
        loop = self._loop
        if loop is None:
            raise AssertionError("the thread is started with a loop")
        asyncio.set_event_loop(loop)
        try:
            loop.call_soon(self._begin_knocking)
            self._transport = self.make_transport(self.service)
            loop.run_forever()
            loop.run_until_complete(self._wind_up())
            # httpx leaves the iterators of responses that were not read to their end to the loop.
            loop.run_until_complete(loop.shutdown_asyncgens())
        finally:
            loop.close()

    async def _wind_up(self) -> None:
        """Cancel what still runs, and wait for it."""
        tasks = asyncio.all_tasks() - {asyncio.current_task()}
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks, timeout=STOP_SECONDS)
        if self._transport:
            await self._transport.close()

    def _begin_knocking(self) -> None:
        if self._knocking is None or self._knocking.done():
            self._knocking = asyncio.get_running_loop().create_task(self._knock())

    async def _knock(self) -> None:
        """Connect to the service until it takes the connection."""
        delay = FIRST_DELAY
        while not await self._reach():
            await asyncio.sleep(delay)
            delay = min(2 * delay, LONGEST_DELAY)
        with self._changed:
            self._reached = True
            self._changed.notify_all()

    async def _reach(self) -> bool:
        try:
            async with asyncio.timeout(CONNECT_SECONDS):
                _, writer = await asyncio.open_connection(*self.service.at)
        except (OSError, TimeoutError):
            return False
        writer.close()
        with suppress(OSError):
            await writer.wait_closed()
        return True

    def _lost(self) -> None:
        """A turn could not connect; called on the loop."""
        with self._changed:
            self._reached = False
            self._losses += 1
        self._begin_knocking()


def _refused(conversation: Conversation) -> FailureReason | None:
    """What the service cannot be asked; None where it can be asked all."""
    if conversation.schema is not None:
        return FailureReason.SCHEMA_UNKNOWN
    return FailureReason.NO_IMAGES if any(_images(conversation)) else None


def _images(conversation: Conversation) -> Iterator[bool]:
    """Whether each part that may be an image is one."""
    for item in conversation.history:
        match item:
            case Message():
                yield from (isinstance(part, ImagePart) for part in item.parts)
            case ToolResult():
                yield bool(item.images)
    yield from (isinstance(part, ImagePart) for part in conversation.input)


def cursor_backend(settings: ProxySettings) -> CursorService:
    """Turns by the service at `CURSOR_BASE_URL`, not started yet.

    Raises:
        SettingsError: the address, the token or the folder is missing or wrong, or a wait too long.
    """
    cursor = settings.cursor
    check_wait(settings, "CURSOR_SETTLE_MS", cursor.settle_ms)
    return CursorService(
        ServiceAddress(base_url=_base_url(cursor), token=_token(cursor)),
        TRANSPORTS[cursor.transport],
        BuiltinTools(_scratch(cursor), may_write=cursor.scratch_write, may_run=cursor.scratch_shell),
        waits=Waits(settled=cursor.settle_ms / 1000, announced=settings.call_wait_ms / 1000),
        patience=settings.stalled_client_ms / 1000,
    )


def _base_url(cursor: CursorSettings) -> str:
    if cursor.base_url is None:
        raise SettingsError("CURSOR_BASE_URL: not set; name the address of the service, such as http://127.0.0.1:9000")
    try:
        parsed = urlsplit(cursor.base_url)
        usable = parsed.scheme in {"http", "https"} and parsed.hostname and parsed.port != 0
    except ValueError:  # the port is no number, or the host no address
        usable = False
    if not usable:
        raise SettingsError(f"CURSOR_BASE_URL: {cursor.base_url!r} is no address; write http:// or https:// and a host")
    return cursor.base_url.rstrip("/")


def _token(cursor: CursorSettings) -> str:
    token = cursor.token.get_secret_value() if cursor.token else ""
    # The value is not shown: it is a secret.
    if not token or not (token.isascii() and token.isprintable()):
        raise SettingsError("CURSOR_TOKEN: not set, or not printable ASCII; give the bearer token for the service")
    return token


def _scratch(cursor: CursorSettings) -> Path | None:
    if cursor.scratch is None:
        if cursor.scratch_write or cursor.scratch_shell:
            raise SettingsError("CURSOR_SCRATCH: not set, but CURSOR_SCRATCH_WRITE or _SHELL is; name a folder")
        return None
    folder = Path(cursor.scratch)
    if not os.path.isdir(folder):  # noqa: PTH112 - `Path.is_dir` raises where a name is too long
        raise SettingsError(f"CURSOR_SCRATCH: {cursor.scratch!r} is no folder; make it, or name another one")
    return folder.resolve()
