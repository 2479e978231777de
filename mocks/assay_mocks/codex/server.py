"""The protocol core of the mock app-server: lines and times in, lines out, no I/O.

`receive` takes a line of the client. `output` gives the next thing to write, or None when there is nothing to say
before more input or before `wake_at`. Turns are played only as far as their lines are fetched, one action at a time and
one after the other, so a reader that does not read costs no memory and no turn starves another.
"""

from __future__ import annotations

import heapq
import itertools
import math
from collections import Counter, deque
from typing import TYPE_CHECKING, Any

from assay_mocks.codex import messages, rpc
from assay_mocks.codex.asking import Asked
from assay_mocks.codex.forms import trimmed
from assay_mocks.codex.ids import Ids, RandomIds
from assay_mocks.codex.methods import METHODS
from assay_mocks.codex.nonces import Nonce, Nonces
from assay_mocks.codex.outputs import CrashAt, Exit, Garbage, Note, Output, Pieces
from assay_mocks.codex.params import Refused, check_params
from assay_mocks.codex.threads import Running, Thread, Threads
from assay_mocks.codex.versions import NEWEST, Version

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from assay_mocks.script import Library
    from assay_mocks.script_error import ScriptError

Json = dict[str, Any]

# The one notification about a thread that reaches clients that do not listen to it.
_FOR_ALL = frozenset({"thread/status/changed"})

_CRASHED = 101


class Server:
    """One app-server process. Times are epoch seconds and never go back.

    `library`: its scripts, or what gives them anew for each turn, or why they cannot be read.
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
        self.user_agent = ""
        self._crash_at = crash_at
        self._seen: Counter[str] = Counter()
        self._capabilities: Mapping[str, Any] | None = None
        self._muted: frozenset[str] = frozenset()
        self._out: deque[Output] = deque()
        self._ready: deque[Running] = deque()
        self._waiting: dict[Running, float] = {}
        self._alarms: list[tuple[float, int, Running]] = []
        self._tie = itertools.count()
        self._asked: dict[int, Running] = {}
        self._requests = 0

    # The edge

    def receive(self, line: bytes, now: float) -> None:
        """Take one line of the client's."""
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
        """The next thing to write, None when there is none for now."""
        self._ring(now)
        while not self._out and self._ready:
            turn = self._ready.popleft()
            turn.step(now)
            self._settle(turn)
        return self._out.popleft() if self._out else None

    def wake_at(self) -> float | None:
        """When `output` may have something although no input came; None: never."""
        while self._alarms and self._waiting.get(self._alarms[0][2]) != self._alarms[0][0]:
            heapq.heappop(self._alarms)
        return self._alarms[0][0] if self._alarms else None

    @property
    def backlog(self) -> int:
        """How many outputs wait to be fetched."""
        return len(self._out)

    # For methods and turns

    @property
    def library(self) -> Library | ScriptError:
        """The scripts as they are now, or why they cannot be read."""
        return self._library() if callable(self._library) else self._library

    def shake_hands(self, client: Mapping[str, Any], capabilities: Mapping[str, Any]) -> None:
        """The client said who it is and what it can."""
        self.client = client["name"]
        self.user_agent = messages.user_agent(client, version=self.version.number)
        self._capabilities = capabilities
        muted = capabilities.get("optOutNotificationMethods") if self.version.opt_out else None
        self._muted = self.version.unsent | frozenset(muted or ())

    def tell_all(self, method: str, params: Json, now: float) -> None:
        """Send a notification that is about no thread or for everyone."""
        if method not in self._muted:
            at = int(now * 1000) if self.version.emitted_at else None
            self._out.append(rpc.notification(method, trimmed(self.version.forms, method, params), at))

    def tell(self, thread: Thread, method: str, params: Json, now: float) -> None:
        """Send a notification about a thread, if the client listens to it; in a conversation it may wait for that."""
        if thread.unheard is not None:
            thread.unheard.append((method, params))
        elif (thread.subscribed or method in _FOR_ALL) and self._may_hear(method):
            self.tell_all(method, params, now)

    def _may_hear(self, method: str) -> bool:
        return method != "thread/readState/changed" or self.experimental

    def turn_id(self, thread: Thread, now: float) -> str:
        """The id of a new turn, or of what older versions number as one."""
        if not self.version.counted_turns:
            return self.ids.uuid(now)
        thread.operations += 1
        return str(thread.operations - 1)

    def ask(self, turn: Running, method: str, params: Json) -> int:
        """Send a request to the client; its id."""
        identity = self._requests
        self._requests += 1
        self._asked[identity] = turn
        self._out.append(rpc.request(method, identity, trimmed(self.version.forms, method, params)))
        return identity

    def write(self, line: bytes) -> None:
        """Send a line that is no message."""
        self._out.append(Garbage(line))

    def cut(self, sizes: tuple[int, ...]) -> None:
        """Write what comes in pieces of so many bytes; () as it comes."""
        self._out.append(Pieces(sizes))

    def play(self, turn: Running) -> None:
        """Let a new turn play."""
        self._ready.append(turn)

    def drop(self, thread: Thread) -> None:
        """Stop whatever plays for a thread."""
        dropped = [turn for turn in (*self._ready, *self._waiting) if turn.thread is thread]
        for turn in dropped:
            turn.abandon()
            self._forget(turn)

    def rouse(self, nonce: Nonce) -> None:
        """Let the turns that wait under the nonce look again."""
        for turn in [turn for turn in self._waiting if turn.nonce is nonce]:
            self._wake(turn)

    def note(self, text: str) -> None:
        """Say something on stderr."""
        self._out.append(Note(text))

    def die(self, status: int) -> None:
        """End the process after what was said so far."""
        self._out.append(Exit(status))

    # Requests and answers

    @property
    def experimental(self) -> bool:
        """Whether the client has the capability experimentalApi."""
        return bool(self._capabilities and self._capabilities.get("experimentalApi"))

    def _request(self, request: rpc.Request, now: float) -> None:
        def reply(value: object) -> None:
            self._out.append(rpc.result(request.id, trimmed(self.version.forms, request.method, value)))

        self._seen[request.method] += 1
        if self._crash_at == CrashAt(request.method, self._seen[request.method]):
            self.die(_CRASHED)
            return
        try:
            params = self._checked(request)
            METHODS[request.method](Asked(self, params, now, reply))
        except Refused as refused:
            self._out.append(rpc.error(request.id, refused.code, refused.message, refused.data))

    def _checked(self, request: rpc.Request) -> Mapping[str, Any]:
        """The parameters of a request that may be served."""
        method = request.method
        if method not in self.version.methods:
            listed = ", ".join(f"`{name}`" for name in self.version.methods)
            raise Refused(f"Invalid request: unknown variant `{method}`, expected one of {listed}")
        params = check_params(method, request.params, self.version.params)
        if method == "initialize":
            if self._capabilities is not None:
                raise Refused("Already initialized")
            return params
        if self._capabilities is None:
            raise Refused("Not initialized")
        self._check_gate(method, params)
        if method not in METHODS:
            raise Refused(f"assay-codex does not play {method}")
        return params

    def _check_gate(self, method: str, params: Mapping[str, Any]) -> None:
        if self.experimental:
            return
        passing: tuple[object, ...] = (None,) if self.version.gates_empty else (None, [])
        fields = [name for name in self.version.gated_fields.get(method, ()) if params.get(name) not in passing]
        if method in self.version.gated or fields:
            what = f"{method}.{fields[0]}" if fields else method
            raise Refused(f"{what} requires experimentalApi capability")

    def _reply(self, reply: rpc.Reply, now: float) -> None:
        match reply.id:
            case int(identity) if identity in self._asked:
                turn = self._asked.pop(identity)
                turn.answered(identity, reply.result, reply.error, now)
                self._wake(turn)
            case unknown:
                self.note(f"could not find callback for {unknown!r}")

    # Turns in time

    def _settle(self, turn: Running) -> None:
        """Put a turn that has done a step where it belongs."""
        if turn.done:
            self._forget(turn)
        elif turn.wait is None:
            self._ready.append(turn)
        else:
            self._waiting[turn] = turn.wait.time
            if turn.wait.time < math.inf:
                heapq.heappush(self._alarms, (turn.wait.time, next(self._tie), turn))

    def _ring(self, now: float) -> None:
        while (alarm := self.wake_at()) is not None and alarm <= now:
            self._wake(self._alarms[0][2])

    def _wake(self, turn: Running) -> None:
        if turn in self._waiting:
            del self._waiting[turn]
            self._ready.append(turn)

    def _forget(self, turn: Running) -> None:
        self._waiting.pop(turn, None)
        if turn in self._ready:
            self._ready.remove(turn)
        for identity in turn.unanswered():
            self._asked.pop(identity, None)
