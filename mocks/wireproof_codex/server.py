"""The protocol core of the mock app-server: lines in, lines out, no I/O.

`receive` takes a line of the client. `output` gives the next thing to write, or None while there is nothing to write
before more input or before `context.wake_at`. Turns are played only as far as their lines are fetched, one action at a
time and one turn after the other: a client that does not read costs no memory, and no turn starves another.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from wireproof_codex.context import AdmittedRequest
from wireproof_codex.methods.handshake import initialize
from wireproof_codex.protocol import rpc
from wireproof_codex.protocol.outputs import CrashAt
from wireproof_codex.protocol.params import OVERLOAD, OVERLOADED, Refused
from wireproof_codex.versions.forms import trimmed_value
from wireproof_codex.versions.version import last_with

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

    from wireproof_codex.context import ServerContext
    from wireproof_codex.methods.table import Method
    from wireproof_codex.protocol.json_object import Json
    from wireproof_codex.protocol.outputs import Output
    from wireproof_codex.versions.version import Version

_CRASHED = 101  # the exit status of a Rust program that panicked
_MOST_STEPS = 1000  # without any output, as of turns without subscribers, before the edge looks for input again


def load_methods() -> Mapping[str, Method]:
    """All methods that the mock plays, imported at the first call: a client waits for the handshake."""
    from wireproof_codex.methods.table import METHODS  # noqa: PLC0415 - it would slow every start

    return METHODS


class AppServer:
    """One app-server process.

    `crash_at`: the request at which the process dies, None if at none. `room`: how many outputs may wait to be fetched
    before requests are refused, None for any number. `adapts`: the version is that of the client's first methods, where
    the one that was given has them no longer.
    """

    def __init__(
        self,
        context: ServerContext,
        *,
        crash_at: CrashAt | None = None,
        room: int | None = None,
        adapts: bool = False,
    ) -> None:
        self.context = context
        self._crash_at = crash_at
        self._room = room
        self._beyond_room = 0
        self._adapts = adapts
        self._seen: Counter[str] = Counter()

    # For the edge

    def receive(self, line: bytes) -> None:
        """Handle one line of the client."""
        context = self.context
        context.now = context.clock()
        try:
            message = rpc.read(line)
        except rpc.NotUtf8Error as error:
            context.log(f"Failed reading stdin: {error}")
            context.die(0)  # 0.89.0 and 0.169.0 do so within 30 ms
            return
        # Never answered: a client that waits for -32700 waits in vain, as it does for the real server.
        except rpc.UnreadableLineError as error:
            context.log(f"Failed to deserialize JSONRPCMessage: {error}")
            return
        match message:
            case rpc.ClientRequest():
                self._handle(message)
            # Notifications change nothing: no version that was measured waits for `initialized`.
            case rpc.ClientReply():
                self._pass_on(message)

    def ask(self, method: str, params: Json) -> Json:
        """Serve a request of a client in this process; its result, {} while there is none.

        Raises:
            Refused: it is refused.
        """
        self.context.now = self.context.clock()
        results: list[Json] = []
        self._serve(method, params, results.append)
        return results[0] if results else {}

    def output(self) -> Output | None:
        """The next thing to write, None while there is nothing."""
        context, turns, steps = self.context, self.context.turns, 0
        context.now = context.clock()
        turns.wake_due(context.now)
        while not context.out and turns and steps < _MOST_STEPS:
            steps += 1
            turn = turns.step()
            if turn.done:
                context.forget(turn)
        return context.out.popleft() if context.out else None

    def prepare(self) -> None:
        """Import what requests after the handshake need; for the edge, when it has nothing else to do."""
        if self.context.client:
            load_methods()

    @property
    def backlog(self) -> int:
        """How many outputs wait to be fetched."""
        return len(self.context.out)

    @property
    def outlives_input(self) -> bool:
        """True if the process must outlive stdin: up to 0.93 a turn that waits for an approval keeps it alive."""
        hangs = self.context.version.commands.hangs_on_error
        return hangs and any(turn.waits_for_approval for turn in self.context.turns)

    # Requests and answers of the client

    def _handle(self, request: rpc.ClientRequest) -> None:
        context = self.context
        try:
            self._serve(request.method, request.params, lambda it: context.out.append(rpc.result(request.id, it)))
        except Refused as refused:
            data = refused.data and trimmed_value(context.version.messages.hidden, ".error", refused.data)
            context.out.append(rpc.error(request.id, refused.code, refused.message, data))

    def _serve(self, method: str, params: object, reply: Callable[[Any], None]) -> None:
        """Serve a request, which is answered by `reply`.

        Raises:
            Refused: it is refused.
        """
        context = self.context
        self._adapt(method)
        # Counted before anything is checked: it can die at a request that it would refuse, too.
        self._seen[method] += 1
        if self._crash_at == CrashAt(method, self._seen[method]):
            context.die(_CRASHED)
        elif not self._ignores():
            serve, checked = self._admit(method, params)
            hidden = context.version.messages.hidden
            serve(
                AdmittedRequest(
                    server=context, params=checked, reply=lambda value: reply(trimmed_value(hidden, method, value))
                )
            )

    def _admit(self, method: str, given: object) -> tuple[Method, Mapping[str, Any]]:
        """The function that serves a request of this method, and the checked parameters.

        Raises:
            Refused: it may not be served.
        """
        server, version = self.context, self.context.version
        # Errors of reading the request, in the words of serde: they come before all others, also before the handshake.
        if method not in version.requests.methods:
            listed = ", ".join(f"`{name}`" for name in version.requests.methods)
            raise Refused(f"Invalid request: unknown variant `{method}`, expected one of {listed}")
        params = version.requests.params.check(method, given)
        if method == "initialize":
            if server.capabilities is not None:
                raise Refused("Already initialized")
            return initialize, params
        # `initialized` is not waited for: 0.89.0 and 0.169.0 serve requests without it.
        if server.capabilities is None:
            raise Refused("Not initialized")
        if not server.experimental:
            _check_gate(method, params, version)
        # The rest neither proxies nor the SDKs that were run ask for (docs/fidelity.md).
        played = load_methods().get(method)
        if played is None:
            raise Refused(f"wireproof-codex does not play {method}")
        return played, params

    def _ignores(self) -> bool:
        """True if a request is never answered, because too many outputs wait.

        Of those beyond the room every other one is; a real 0.169.0 loses some by chance (2 700 of 5 000 in one write).

        Raises:
            Refused: one too many that is answered.
        """
        # Off unless WIREPROOF_OVERLOAD_AT asks for it: which requests are lost is chance in the real server.
        overloads = self._room is not None and self.context.version.transport.overloads
        if not overloads or self.backlog < (self._room or 0):
            return False
        self._beyond_room += 1
        if self._beyond_room % 2:
            raise Refused(OVERLOAD, OVERLOADED)
        return True

    def _adapt(self, method: str) -> None:
        """Go over to the last version that has a method, where the one that is played has it no longer.

        Only before anything has begun: a client that has a thread has made its choice. What the handshake said stays
        said; nothing that was seen of clients reads it.
        """
        context = self.context
        if not self._adapts or context.threads or method in context.version.requests.methods:
            return
        found = last_with(method)
        if found is not None:
            context.version = found
            context.log(f"wireproof-codex: {method} is played as Codex {found.number} has it")

    def _pass_on(self, reply: rpc.ClientReply) -> None:
        context = self.context
        match reply.id:
            case int(identity) if identity in context.unanswered:
                turn = context.unanswered.pop(identity)
                if context.version.turns.numbered_ids:
                    turn.thread.operations += 1  # 0.89.0 counts an answer as well, also one that comes too late
                turn.answered(identity, reply.result, reply.error)
                context.turns.wake(turn)
            case unknown:  # also a second or late answer, which the real server passes over as well
                context.log(f"could not find callback for {unknown!r}")


def _check_gate(method: str, params: Mapping[str, Any], version: Version) -> None:
    # null always passes; from 0.125.0 on even an empty list needs the capability.
    passing: tuple[object, ...] = (None,) if version.requests.gates_empty_lists else (None, [])
    fields = [name for name in version.requests.gated_params.get(method, ()) if params.get(name) not in passing]
    if method in version.requests.gated_methods or fields:
        what = f"{method}.{fields[0]}" if fields else method
        raise Refused(f"{what} requires experimentalApi capability")
