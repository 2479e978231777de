"""The protocol core of the mock app-server: lines in, lines out, no I/O.

`receive` takes a line of a client. `output` gives the next thing to write, or None while there is nothing to write
before more input or before `wake_at`. Turns are played only as far as their lines are fetched, one action at a time and
one turn after the other: a client that does not read costs no memory, and no turn starves another.

Clients share threads, not handshakes: each has a `ConnectedClient`, the first of which is there from the start. A
thread's notifications go to the clients that subscribed to it by starting or resuming it. While a line is handled, the
client that sent it is the one that methods mean by "the client".
"""

from __future__ import annotations

from collections import Counter, deque
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from wireproof_codex.clock import Clock, epoch_clock, milliseconds
from wireproof_codex.methods.admission import Room, admit, load_methods
from wireproof_codex.methods.request import AdmittedRequest
from wireproof_codex.notifications import messages
from wireproof_codex.protocol import rpc
from wireproof_codex.protocol.connection import Addressed, ConnectedClient
from wireproof_codex.protocol.ids import Ids, RandomIds
from wireproof_codex.protocol.outputs import CrashAt, GarbageLine, Output, Pieces, ProcessExit, StderrLine
from wireproof_codex.protocol.params import Refused
from wireproof_codex.threads.thread import LoadedThreads, Running, Thread
from wireproof_codex.turns.schedule import Schedule
from wireproof_codex.versions.forms import trimmed, trimmed_value
from wireproof_codex.versions.version import NEWEST, Version, last_with
from wireproof_scripts.nonces import Nonce, Nonces

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from wireproof_codex.protocol.json_object import Json
    from wireproof_codex.threads.thread_store import ThreadStore
    from wireproof_scripts.files.errors import ScriptError
    from wireproof_scripts.steps import Library

# The one notification about a thread that clients get without a subscription to it (0.169.0, two WebSocket clients).
_FOR_ALL = frozenset({"thread/status/changed"})

_CRASHED = 101  # the exit status of a Rust program that panicked
_MOST_STEPS = 1000  # without any output, as of turns without subscribers, before the edge looks for input again


@dataclass(frozen=True, kw_only=True, slots=True)
class PlayConditions:
    """Under what conditions a server plays."""

    pace: float = 0.0
    """Seconds between the start of a turn and the model's answer."""
    crash_at: CrashAt | None = None
    """The request at which the process dies, None if at none."""
    room: int | None = None
    """How many outputs may wait to be fetched before requests are refused, None for any number."""
    adapts: bool = False
    """Whether the version is that of the client's first methods, where the one that was given has them no longer."""


_BEST = PlayConditions()


class AppServer:
    """One app-server process.

    `library`: the scripts, or a function that is called for them at each turn, so that an edited file counts at once.
    `clock`: the time, None for that of this machine.
    """

    def __init__(
        self,
        library: Library | Callable[[], Library | ScriptError],
        *,
        home: str = "/codex-home",
        cwd: str = "/workspace",
        version: Version = NEWEST,
        ids: Ids | None = None,
        clock: Clock | None = None,
        conditions: PlayConditions = _BEST,
    ) -> None:
        self._library = library
        self.home = home
        self.cwd = cwd
        self.version = version
        self.ids: Ids = ids or RandomIds()
        self.clock = clock or epoch_clock()
        self.now = self.clock()
        self.pace = conditions.pace
        self.threads = LoadedThreads()
        self.listeners: dict[str, Thread] = {}
        self.nonces = Nonces()
        self.client = ""
        self._crash_at = conditions.crash_at
        self._adapts = conditions.adapts
        self._open_thread_store: Callable[[], ThreadStore] | None = None
        self._most_waiting = conditions.room
        self._room = Room(conditions.room if version.transport.overloads else None)
        self._seen: Counter[str] = Counter()
        self._connections: list[ConnectedClient] = []
        self._speaker = self.connect()
        self._out: deque[Addressed] = deque()
        self._turns = Schedule()
        self._unanswered: dict[int, Running] = {}
        self._requests = 0  # ids from 0, apart from those that clients give to their own requests

    # For the edge

    def connect(self) -> ConnectedClient:
        """Add a client."""
        self._connections.append(ConnectedClient())
        return self._connections[-1]

    def disconnect(self, connection: ConnectedClient) -> None:
        """Remove a client; the turns that it started go on."""
        self._connections.remove(connection)
        for thread in self.threads.subscribed_to(connection):
            self.threads.leave(thread, connection)

    def receive(self, line: bytes, connection: ConnectedClient | None = None) -> None:
        """Handle one line of a client; None is the first client, the only one over stdio."""
        self.now = self.clock()
        self._speaker = connection or self._connections[0]
        try:
            message = rpc.read(line)
        except rpc.NotUtf8Error as error:
            self.log(f"Failed reading stdin: {error}")
            self.die(0)  # 0.89.0 and 0.169.0 do so within 30 ms
            return
        # Never answered: a client that waits for -32700 waits in vain, as it does for the real server.
        except rpc.UnreadableLineError as error:
            self.log(f"Failed to deserialize JSONRPCMessage: {error}")
            return
        match message:
            case rpc.ClientRequest():
                self._handle(message)
            # Notifications change nothing: no version that was measured waits for `initialized`.
            case rpc.ClientReply():
                self._pass_on(message)

    def output(self) -> Output | None:
        """The next thing to write, None while there is nothing; for an edge with one client."""
        addressed = self.addressed()
        return addressed and addressed.output

    def addressed(self) -> Addressed | None:
        """The next thing to write and the client that it is for, None while there is nothing."""
        self.now = self.clock()
        self._turns.wake_due(self.now)
        steps = 0
        while not self._out and self._turns and steps < _MOST_STEPS:
            steps += 1
            turn = self._turns.step()
            if turn.done:
                self._forget(turn)
        return self._out.popleft() if self._out else None

    def prepare(self) -> None:
        """Import what requests after the handshake need; for the edge, when it has nothing else to do."""
        if self.client:
            load_methods()

    def wake_at(self) -> float | None:
        """When `output` may have something although no input came; None: not before there is input."""
        return 0.0 if self._turns else self._turns.alarm()  # at once: the next step of a turn is due

    @property
    def backlog(self) -> int:
        """How many outputs wait to be fetched."""
        return len(self._out)

    @property
    def outlives_input(self) -> bool:
        """True if the process must outlive stdin: up to 0.93 a turn that waits for an approval keeps it alive."""
        return self.version.commands.hangs_on_error and any(turn.waits_for_approval for turn in self._turns)

    def store_threads(self, open_store: Callable[[], ThreadStore]) -> None:
        """Keep the threads that are not loaded in this store, which is opened when it is needed for the first time."""
        self._open_thread_store = open_store

    # For methods and turns: see `context`

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
    def thread_store(self) -> ThreadStore:
        """Where threads are that are not loaded."""
        from wireproof_codex.threads.thread_store import MemoryThreadStore  # noqa: PLC0415 - it would slow every start

        return (self._open_thread_store or MemoryThreadStore)()

    def shake_hands(self, client: Mapping[str, Any], capabilities: Mapping[str, Any]) -> None:
        """Take what `initialize` says of the client; the name of the first client stays in every `userAgent`."""
        self.client = self.client or client["name"]
        # Before 0.99.0 an unknown member of the parameters, which is passed over.
        muted = capabilities.get("optOutNotificationMethods") if self.version.requests.opt_out else None
        self._speaker.user_agent = messages.user_agent(client, version=self.version.number, first=self.client)
        self._speaker.capabilities = capabilities
        self._speaker.muted = self.version.messages.unsent | frozenset(muted or ())

    @property
    def user_agent(self) -> str:
        """The `userAgent` of `initialize`."""
        return self._speaker.user_agent

    @property
    def experimental(self) -> bool:
        """Whether the client has the capability experimentalApi."""
        return self._speaker.experimental

    def subscribe(self, thread: Thread) -> None:
        """Send the client the thread's notifications from now on."""
        thread.subscribers.add(self._speaker)

    def unsubscribe(self, thread: Thread) -> bool:
        """Send the client no more notifications of the thread; False if it got none."""
        if self._speaker not in thread.subscribers:
            return False
        self.threads.leave(thread, self._speaker)
        return True

    def notify_client(self, method: str, params: Json) -> None:
        """Send a notification to the client alone."""
        self._notify([self._speaker], method, params)

    def notify_all(self, method: str, params: Json) -> None:
        """Send a notification to every client."""
        self._notify(self._connections, method, params)

    def notify(self, thread: Thread, method: str, params: Json) -> None:
        """Send a notification about a thread; a v1 conversation holds it until a listener is added."""
        if thread.held_notifications is not None:  # 0.89.0 keeps them until then; nothing is lost
            thread.held_notifications.append((method, params))
        else:
            self._notify(self._connections if method in _FOR_ALL else self._subscribers(thread), method, params)

    def _subscribers(self, thread: Thread) -> list[ConnectedClient]:
        return [connection for connection in self._connections if connection in thread.subscribers]

    def _notify(self, connections: Sequence[ConnectedClient], method: str, params: Json) -> None:
        receivers = [connection for connection in connections if connection.receives(method)]
        if receivers:
            emitted_at = self.now_ms if self.version.messages.emitted_at else None
            line = rpc.notification(method, trimmed(self.version.messages.hidden, method, params), emitted_at)
            self._out.extend(Addressed(connection, line) for connection in receivers)

    def turn_id(self, thread: Thread) -> str:
        """The id of a new turn; versions up to 0.99 count the turns, interrupts and overrides of a thread."""
        if not self.version.turns.numbered_ids:
            return self.uuid()
        thread.operations += 1
        return str(thread.operations - 1)

    def request(self, turn: Running, method: str, params: Json) -> int:
        """Send a request to every subscriber of the turn's thread and return its id; the first answer counts."""
        identity = self._requests
        self._requests += 1
        self._unanswered[identity] = turn
        line = rpc.request(method, identity, trimmed(self.version.messages.hidden, method, params))
        self._out.extend(Addressed(connection, line) for connection in self._subscribers(turn.thread))
        return identity

    def write(self, line: bytes) -> None:
        """Write a line that is no message."""
        self._out.append(Addressed(None, GarbageLine(line)))

    def cut(self, sizes: tuple[int, ...]) -> None:
        """Write the output in pieces of these sizes from now on; () writes it as it comes."""
        self._out.append(Addressed(None, Pieces(sizes)))

    def play(self, turn: Running) -> None:
        """Begin to play a turn."""
        self._turns.add(turn)

    def drop(self, thread: Thread) -> None:
        """Stop the turns that play for a thread, without a notification."""
        for turn in self._turns.of(thread):
            turn.drop()
            self._forget(turn)

    def wake(self, nonce: Nonce) -> None:
        """Let the turns that wait under the nonce look whether they still have to."""
        self._turns.wake_all(nonce)

    def log(self, text: str) -> None:
        """Write a line to stderr."""
        self._out.append(Addressed(None, StderrLine(text)))

    def die(self, status: int) -> None:
        """End the process with this status after what was sent so far."""
        self._out.append(Addressed(None, ProcessExit(status)))

    # Requests and answers of clients

    def _handle(self, request: rpc.ClientRequest) -> None:
        client = self._speaker

        def reply(value: object) -> None:
            line = rpc.result(request.id, trimmed_value(self.version.messages.hidden, request.method, value))
            self._out.append(Addressed(client, line))

        self._adapt(request.method)
        # Counted before anything is checked: it can die at a request that it would refuse, too.
        self._seen[request.method] += 1
        if self._crash_at == CrashAt(request.method, self._seen[request.method]):
            self.die(_CRASHED)
            return
        try:
            if self._room.ignores(len(self._out)):
                return
            method, params = admit(request, client, self.version)
            method(AdmittedRequest(server=self, params=params, reply=reply))
        except Refused as refused:
            data = refused.data and trimmed_value(self.version.messages.hidden, ".error", refused.data)
            line = rpc.error(request.id, refused.code, refused.message, data)
            self._out.append(Addressed(client, line))

    def _adapt(self, method: str) -> None:
        """Go over to the last version that has a method, where the one that is played has it no longer.

        Only before anything has begun: a client that has a thread has made its choice. What the handshake said stays
        said; nothing that was seen of clients reads it.
        """
        if not self._adapts or self.threads or method in self.version.requests.methods:
            return
        found = last_with(method)
        if found is None:
            return
        for connection in self._connections:
            own = connection.muted - self.version.messages.unsent
            connection.muted = own | found.messages.unsent
        self.version = found
        self._room = Room(self._most_waiting if found.transport.overloads else None)
        self.log(f"wireproof-codex: {method} is played as Codex {found.number} has it")

    def _pass_on(self, reply: rpc.ClientReply) -> None:
        match reply.id:
            case int(identity) if identity in self._unanswered:
                turn = self._unanswered.pop(identity)
                if self.version.turns.numbered_ids:
                    turn.thread.operations += 1  # 0.89.0 counts an answer as well, also one that comes too late
                turn.answered(identity, reply.result, reply.error)
                self._turns.wake(turn)
            case unknown:  # also a second or late answer, which the real server passes over as well
                self.log(f"could not find callback for {unknown!r}")

    def _forget(self, turn: Running) -> None:
        self._turns.forget(turn)
        for identity in turn.unanswered():
            self._unanswered.pop(identity, None)
