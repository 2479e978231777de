"""One process as its turns and methods see it: what is played, the client, the threads, and what is sent.

There is one client, as over stdio. A thread's notifications are sent while the client is subscribed to it, which it is
by starting or resuming it.
"""

from __future__ import annotations

import os
import time
from collections import deque
from dataclasses import dataclass
from functools import cached_property
from itertools import count
from typing import TYPE_CHECKING, Any

from wireproof_codex.protocol import rpc
from wireproof_codex.protocol.outputs import GarbageLine, Output, Pieces, ProcessExit, StderrLine
from wireproof_codex.threads.schedule import Schedule
from wireproof_codex.threads.thread import LoadedThreads, Running, Thread
from wireproof_codex.threads.turn_history import milliseconds
from wireproof_codex.versions.forms import trimmed
from wireproof_codex.versions.version import NEWEST, Version
from wireproof_scripts.nonces import Nonces

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from wireproof_codex.protocol.json_object import Json
    from wireproof_codex.threads.thread_store import FileThreadStore, MemoryThreadStore
    from wireproof_scripts.files.errors import ScriptError
    from wireproof_scripts.steps import Library

# The notifications about a thread that are sent without a subscription to it (0.169.0, 0.171.0).
_FOR_ALL = frozenset({"thread/status/changed", "thread/readState/changed"})
# The only one seen; `availableDecisions` of approvals is experimental in the schema, and sent without the capability.
_EXPERIMENTAL = frozenset({"thread/readState/changed"})


def epoch_clock() -> Callable[[], float]:
    """The clock of this machine in epoch seconds, unmoved by changes of its date while the process runs."""
    start = time.time() - time.monotonic()
    return lambda: start + time.monotonic()


class Ids:
    """UUIDs of version 7 as the real server makes them; numbers that count up. Tests have others, to foresee them."""

    def __init__(self) -> None:
        self._number = 0

    def uuid(self, now: float) -> str:
        """A UUID for the time `now` in epoch seconds: 48 bits of milliseconds, then 74 random ones."""
        # By hand, as `uuid.uuid7` is new in Python 3.14.
        head = int(now * 1000) << 80
        tail = int.from_bytes(os.urandom(10), "big") & ~(0xF << 76) & ~(0x3 << 62)  # room for version and variant
        text = f"{head | 0x7 << 76 | 0x2 << 62 | tail:032x}"
        return f"{text[:8]}-{text[8:12]}-{text[12:16]}-{text[16:20]}-{text[20:]}"

    def number(self) -> int:
        """The next number of the process, from 1."""
        self._number += 1
        return self._number


class ServerContext:
    """What turns and methods need of the server that they run in.

    `library`: the scripts, or a function that is called for them at each turn, so that an edited file counts at once.
    `clock`: the time in epoch seconds, never earlier than before; None for that of this machine. `stores`: threads are
    kept in files below `home`.
    """

    def __init__(
        self,
        library: Library | Callable[[], Library | ScriptError],
        *,
        home: str = "/codex-home",
        cwd: str = "/workspace",
        version: Version = NEWEST,
        clock: Callable[[], float] | None = None,
        pace: float = 0.0,
        stores: bool = False,
    ) -> None:
        self._library = library
        self.home = home
        """CODEX_HOME."""
        self.cwd = cwd
        self.version = version
        self.ids = Ids()
        self.clock = clock or epoch_clock()
        self.now = self.clock()
        """Epoch seconds at which the server began what it does at present: the messages of one moment bear one time."""
        self.pace = pace
        """Seconds between the start of a turn and the model's answer."""
        self.threads = LoadedThreads()
        self.listeners: dict[str, Thread] = {}
        """The threads that v1 listeners were added to, by subscription id."""
        self.nonces = Nonces()
        self.turns = Schedule()
        self.unanswered: dict[int, Running] = {}
        """The turns that wait for an answer of the client, by the id of the request."""
        self.out: deque[Output] = deque()
        """What waits to be fetched."""
        self.client = ""
        """The name of the client; empty before its handshake."""
        self.user_agent = ""
        """How the server introduces itself to the client's backend: `userAgent` of `initialize`."""
        self.capabilities: Mapping[str, Any] | None = None
        """`capabilities` of initialize; None before it."""
        self.opted_out: frozenset[str] = frozenset()
        """Notifications that the client does not want."""
        self._stores = stores
        self._requests = count()  # ids from 0, apart from those that clients give to their own requests

    @property
    def library(self) -> Library | ScriptError:
        """The scripts as they are now, or why they cannot be read."""
        return self._library() if callable(self._library) else self._library

    @property
    def now_ms(self) -> int:
        """`now` in whole milliseconds."""
        return milliseconds(self.now)

    def uuid(self) -> str:
        """A new UUID, of the time `now`."""
        return self.ids.uuid(self.now)

    @cached_property
    def thread_store(self) -> FileThreadStore | MemoryThreadStore:
        """Where threads are that are not loaded."""
        # Imported when it is needed for the first time: it would slow every start.
        from wireproof_codex.threads.thread_store import FileThreadStore, MemoryThreadStore  # noqa: PLC0415 - see above

        return FileThreadStore(self.home, self.log) if self._stores else MemoryThreadStore()

    @property
    def experimental(self) -> bool:
        """Whether the client has the capability experimentalApi."""
        return bool(self.capabilities and self.capabilities.get("experimentalApi"))

    # What is sent

    def notify_client(self, method: str, params: Json) -> None:
        """Send a notification, unless the client or the version has it not."""
        unsent = method in self.version.messages.unsent or method in self.opted_out
        # Before its handshake a client is sent no notification.
        if self.capabilities is None or unsent or (method in _EXPERIMENTAL and not self.experimental):
            return
        emitted_at = self.now_ms if self.version.messages.emitted_at else None
        self.out.append(rpc.notification(method, trimmed(self.version.messages.hidden, method, params), emitted_at))

    def notify(self, thread: Thread, method: str, params: Json) -> None:
        """Send a notification about a thread; a v1 conversation holds it until a listener is added."""
        if thread.held_notifications is not None:  # 0.89.0 keeps them until then; nothing is lost
            thread.held_notifications.append((method, params))
        elif thread.subscribed or method in _FOR_ALL:
            self.notify_client(method, params)

    def request(self, turn: Running, method: str, params: Json) -> int:
        """Send a request to the client and return its id; the answer is passed to `turn.answered`."""
        identity = next(self._requests)
        self.unanswered[identity] = turn
        if turn.thread.subscribed:
            self.out.append(rpc.request(method, identity, trimmed(self.version.messages.hidden, method, params)))
        return identity

    def write(self, line: bytes) -> None:
        """Write a line that is no message."""
        self.out.append(GarbageLine(line))

    def cut(self, sizes: tuple[int, ...]) -> None:
        """Write the output in pieces of these sizes from now on; () writes it as it comes."""
        self.out.append(Pieces(sizes))

    def log(self, text: str) -> None:
        """Write a line to stderr."""
        self.out.append(StderrLine(text))

    def die(self, status: int) -> None:
        """End the process with this status after what was sent so far."""
        self.out.append(ProcessExit(status))

    # Turns

    def turn_id(self, thread: Thread) -> str:
        """The id of a new turn; versions up to 0.99 count the turns, interrupts and overrides of a thread."""
        if not self.version.turns.numbered_ids:
            return self.uuid()
        thread.operations += 1
        return str(thread.operations - 1)

    def wake_at(self) -> float | None:
        """When there may be more to write although no input came; None: not before there is input."""
        return 0.0 if self.turns else self.turns.alarm()  # at once: the next step of a turn is due

    def drop(self, thread: Thread) -> None:
        """Stop the turns that play for a thread, without a notification."""
        for turn in self.turns.of(thread):
            turn.drop()
            self.forget(turn)

    def forget(self, turn: Running) -> None:
        """Play a turn no more, and expect no answers to its requests."""
        self.turns.forget(turn)
        for identity in turn.unanswered():
            self.unanswered.pop(identity, None)


@dataclass(frozen=True, kw_only=True, slots=True)
class AdmittedRequest:
    """A request that may be served."""

    server: ServerContext
    params: Mapping[str, Any]
    """The parameters, checked: of the types that the version takes, the required ones present."""
    reply: Callable[[Any], None]
    """Sends the result; called once."""
