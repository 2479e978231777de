"""The protocol core of the mock app-server: lines and times in, lines out, no I/O.

`receive` takes a line of the client. `output` gives the next thing to write, or None when there is nothing to say
before more input or before `wake_at`. Turns are played only as far as their lines are fetched, one action at a time and
one after the other, so a reader that does not read costs no memory and no turn starves another.

Clients share threads, not handshakes: each has a `Connection`, the first of which is there from the start. A thread's
notifications go to those that subscribed to it by starting or resuming it. While a line is taken, its client is the one
that methods mean by "the client".
"""

from __future__ import annotations

from collections import Counter, deque
from functools import cached_property
from typing import TYPE_CHECKING, Any

from assay_codex.methods.admission import Room, admit, load_methods
from assay_codex.methods.asked import Asked
from assay_codex.notifications import messages
from assay_codex.protocol import rpc
from assay_codex.protocol.connection import Addressed, Connection
from assay_codex.protocol.ids import Ids, RandomIds
from assay_codex.protocol.outputs import CrashAt, Exit, Garbage, Note, Output, Pieces
from assay_codex.protocol.params import Refused
from assay_codex.threads.thread import Running, Thread, Threads
from assay_codex.turns.schedule import Schedule
from assay_codex.versions.forms import trimmed
from assay_codex.versions.version import NEWEST, Version
from assay_scripts.nonces import Nonce, Nonces

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from assay_codex.threads.thread_store import Shelf
    from assay_scripts.errors import ScriptError
    from assay_scripts.steps import Library

Json = dict[str, Any]

# The one notification about a thread that reaches clients that do not listen to it.
_FOR_ALL = frozenset({"thread/status/changed"})

_CRASHED = 101
_MOST_STEPS = 1000  # of turns that nobody hears, before the edge looks for input again


class Server:
    """One app-server process. Times are epoch seconds and never go back.

    `library`: its scripts, or what gives them anew for each turn, or why they cannot be read. `room`: how many outputs
    may wait to be fetched before requests are too many for it, None for any number.
    """

    def __init__(
        self,
        library: Library | Callable[[], Library | ScriptError],
        *,
        home: str = "/codex-home",
        cwd: str = "/workspace",
        version: Version = NEWEST,
        ids: Ids | None = None,
        crash_at: CrashAt | None = None,
        room: int | None = None,
    ) -> None:
        self._library = library
        self.home = home
        self.cwd = cwd
        self.version = version
        self.ids: Ids = ids or RandomIds()
        self.threads = Threads()
        self.listeners: dict[str, Thread] = {}
        self.nonces = Nonces()
        self.client = ""
        self._crash_at = crash_at
        self._open_shelf: Callable[[], Shelf] | None = None
        self._room = Room(room if version.transport.overloads else None)
        self._seen: Counter[str] = Counter()
        self._connections: list[Connection] = []
        self._speaker = self.connect()
        self._out: deque[Addressed] = deque()
        self._turns = Schedule()
        self._asked: dict[int, Running] = {}
        self._requests = 0
        self._draining = False

    # The edge

    def connect(self) -> Connection:
        """A new client."""
        self._connections.append(Connection())
        return self._connections[-1]

    def disconnect(self, connection: Connection) -> None:
        """A client is gone; what it began goes on."""
        self._connections.remove(connection)
        for thread in self.threads.subscribed_to(connection):
            self.threads.leave(thread, connection)

    def receive(self, line: bytes, now: float, connection: Connection | None = None) -> None:
        """Take one line of a client's, of the first one unless another is named."""
        self._speaker = connection or self._connections[0]
        try:
            message = rpc.read(line)
        except rpc.NotUtf8Error as error:
            self.note(f"Failed reading stdin: {error}")
            self.die(0)
            return
        except rpc.UnreadableError as error:
            self.note(f"Failed to deserialize JSONRPCMessage: {error}")
            return
        match message:
            case rpc.Request():
                self._request(message, now)
            case rpc.Reply():
                self._reply(message, now)

    def output(self, now: float) -> Output | None:
        """The next thing to write, None when there is none for now; for an edge with one client."""
        addressed = self.addressed(now)
        return addressed and addressed.output

    def addressed(self, now: float) -> Addressed | None:
        """The next thing to write and for whom, None when there is none for now."""
        self._turns.ring(now)
        steps = 0
        while not self._out and self._turns and steps < _MOST_STEPS:
            steps += 1
            turn = self._turns.step(now)
            if turn.done:
                self._forget(turn)
        return self._out.popleft() if self._out else None

    def prepare(self) -> None:
        """Make ready for what clients ask after the handshake; for the edge, when it has nothing else to do."""
        if self.client:
            load_methods()

    def wake_at(self) -> float | None:
        """When `output` may have something although no input came; None: never."""
        return 0.0 if self._turns else self._turns.alarm()

    def drain(self) -> None:
        """The process is to end once all turns have; versions that refuse to begin more do so from now on."""
        self._draining = True

    @property
    def drained(self) -> bool:
        """Whether the process is to end and no turn runs any more."""
        return self._draining and not self._out and not any(turn.thread.turn is turn for turn in self._turns)

    @property
    def backlog(self) -> int:
        """How many outputs wait to be fetched."""
        return len(self._out)

    @property
    def outlives_input(self) -> bool:
        """Whether the process goes on when its input has ended: for a turn that asks, where a wrong answer hangs it."""
        return self.version.commands.hangs_on_error and any(turn.asks for turn in self._turns)

    # For methods and turns

    @property
    def library(self) -> Library | ScriptError:
        """The scripts as they are now, or why they cannot be read."""
        return self._library() if callable(self._library) else self._library

    def keep_threads(self, shelf: Callable[[], Shelf]) -> None:
        """Keep the threads that are not loaded where this says, which is asked when there is the first."""
        self._open_shelf = shelf

    @cached_property
    def shelf(self) -> Shelf:
        """Where threads are that are not loaded."""
        from assay_codex.threads.thread_store import MemoryShelf  # noqa: PLC0415 - it would slow every start

        return (self._open_shelf or MemoryShelf)()

    def shake_hands(self, client: Mapping[str, Any], capabilities: Mapping[str, Any]) -> None:
        """The client said who it is and what it can; the name of the first one stays the server's."""
        self.client = self.client or client["name"]
        muted = capabilities.get("optOutNotificationMethods") if self.version.requests.opt_out else None
        self._speaker.user_agent = messages.user_agent(client, version=self.version.number, first=self.client)
        self._speaker.capabilities = capabilities
        self._speaker.muted = self.version.messages.unsent | frozenset(muted or ())

    @property
    def user_agent(self) -> str:
        """What the server calls itself to the client."""
        return self._speaker.user_agent

    def subscribe(self, thread: Thread) -> None:
        """The client wants to hear of the thread."""
        thread.subscribers.add(self._speaker)

    def unsubscribe(self, thread: Thread) -> None:
        """The client no longer wants to hear of the thread."""
        self.threads.leave(thread, self._speaker)

    def tell_client(self, method: str, params: Json, now: float) -> None:
        """Send a notification to the client alone."""
        self._tell([self._speaker], method, params, now)

    def tell_all(self, method: str, params: Json, now: float) -> None:
        """Send a notification that is about no thread or for everyone."""
        self._tell(self._connections, method, params, now)

    def tell(self, thread: Thread, method: str, params: Json, now: float) -> None:
        """Send a notification about a thread to whoever listens to it; in a conversation it may wait for that."""
        if thread.unheard is not None:
            thread.unheard.append((method, params))
        else:
            everyone = method in _FOR_ALL
            self._tell(self._connections if everyone else self._listening(thread), method, params, now)

    def _listening(self, thread: Thread) -> list[Connection]:
        return [connection for connection in self._connections if connection in thread.subscribers]

    def _tell(self, connections: Sequence[Connection], method: str, params: Json, now: float) -> None:
        hearing = [connection for connection in connections if connection.receives(method)]
        if hearing:
            at = int(now * 1000) if self.version.messages.emitted_at else None
            line = rpc.notification(method, trimmed(self.version.messages.hidden, method, params), at)
            self._out.extend(Addressed(connection, line) for connection in hearing)

    def turn_id(self, thread: Thread, now: float) -> str:
        """The id of a new turn, or of what older versions number as one."""
        if not self.version.turns.numbered_ids:
            return self.ids.uuid(now)
        thread.operations += 1
        return str(thread.operations - 1)

    def ask(self, turn: Running, method: str, params: Json) -> int:
        """Send a request to whoever listens to the turn's thread; its id. The first answer counts."""
        identity = self._requests
        self._requests += 1
        self._asked[identity] = turn
        line = rpc.request(method, identity, trimmed(self.version.messages.hidden, method, params))
        self._out.extend(Addressed(connection, line) for connection in self._listening(turn.thread))
        return identity

    def write(self, line: bytes) -> None:
        """Send a line that is no message."""
        self._out.append(Addressed(None, Garbage(line)))

    def cut(self, sizes: tuple[int, ...]) -> None:
        """Write what comes in pieces of so many bytes; () as it comes."""
        self._out.append(Addressed(None, Pieces(sizes)))

    def play(self, turn: Running) -> None:
        """Let a new turn play."""
        self._turns.add(turn)

    def drop(self, thread: Thread) -> None:
        """Stop whatever plays for a thread."""
        for turn in self._turns.of(thread):
            turn.abandon()
            self._forget(turn)

    def rouse(self, nonce: Nonce) -> None:
        """Let the turns that wait under the nonce look again."""
        self._turns.rouse(nonce)

    def note(self, text: str) -> None:
        """Say something on stderr."""
        self._out.append(Addressed(None, Note(text)))

    def die(self, status: int) -> None:
        """End the process after what was said so far."""
        self._out.append(Addressed(None, Exit(status)))

    # Requests and answers

    @property
    def experimental(self) -> bool:
        """Whether the client has the capability experimentalApi."""
        return self._speaker.experimental

    def _request(self, request: rpc.Request, now: float) -> None:
        asking = self._speaker

        def reply(value: object) -> None:
            line = rpc.result(request.id, trimmed(self.version.messages.hidden, request.method, value))
            self._out.append(Addressed(asking, line))

        self._seen[request.method] += 1
        if self._crash_at == CrashAt(request.method, self._seen[request.method]):
            self.die(_CRASHED)
            return
        try:
            if self._room.forgets(len(self._out)):
                return
            method, params = admit(request, asking, self.version, draining=self._draining)
            method(Asked(self, params, now, reply))
        except Refused as refused:
            line = rpc.error(request.id, refused.code, refused.message, refused.data)
            self._out.append(Addressed(asking, line))

    def _reply(self, reply: rpc.Reply, now: float) -> None:
        match reply.id:
            case int(identity) if identity in self._asked:
                turn = self._asked.pop(identity)
                if self.version.turns.numbered_ids:
                    turn.thread.operations += 1  # also if it comes too late
                turn.answered(identity, reply.result, reply.error, now)
                self._turns.wake(turn)
            case unknown:
                self.note(f"could not find callback for {unknown!r}")

    def _forget(self, turn: Running) -> None:
        self._turns.forget(turn)
        for identity in turn.unanswered():
            self._asked.pop(identity, None)
