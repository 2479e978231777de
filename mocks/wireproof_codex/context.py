"""What turns and methods need of the server that they run in.

Two protocols, so that a test can say what a turn may touch: `TurnContext` for the parts of a turn, `ServerContext` for
the methods. `server.Server` is both.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Mapping

    from wireproof_codex.protocol.ids import Ids
    from wireproof_codex.protocol.json_object import Json
    from wireproof_codex.threads.thread import LoadedThreads, Running, Thread
    from wireproof_codex.threads.thread_store import ThreadStore
    from wireproof_codex.versions.version import Version
    from wireproof_scripts.files.errors import ScriptError
    from wireproof_scripts.nonces import Nonce, Nonces
    from wireproof_scripts.steps import Library


class TurnContext(Protocol):
    """What a turn needs of the server."""

    ids: Ids
    version: Version
    nonces: Nonces
    now: float
    """Epoch seconds at which the server began what it does at present: the messages of one moment bear one time."""
    pace: float
    """Seconds between the start of a turn and the model's answer."""

    @property
    def library(self) -> Library | ScriptError:
        """The scripts as they are now, or why they cannot be read."""

    @property
    def now_ms(self) -> int:
        """`now` in whole milliseconds."""

    def uuid(self) -> str:
        """A new UUID, of the time `now`."""

    def turn_id(self, thread: Thread) -> str:
        """The id of a new turn."""

    def notify(self, thread: Thread, method: str, params: Json) -> None:
        """Send a notification about the thread to the clients that subscribed to it."""

    def request(self, turn: Running, method: str, params: Json) -> int:
        """Send a request to the client and return its id; the answer is passed to `turn.answered`."""

    def write(self, line: bytes) -> None:
        """Write a line that is no message."""

    def cut(self, sizes: tuple[int, ...]) -> None:
        """Write the output in pieces of these sizes from now on; () writes it as it comes."""

    def wake(self, nonce: Nonce) -> None:
        """Let the turns that wait under the nonce look whether they still have to."""

    def die(self, status: int) -> None:
        """End the process with this status after what was sent so far."""


class ServerContext(TurnContext, Protocol):
    """What a method needs of the server."""

    home: str
    """CODEX_HOME."""
    cwd: str
    threads: LoadedThreads
    """The loaded threads."""
    listeners: dict[str, Thread]
    """The threads that v1 listeners were added to, by subscription id."""
    client: str
    """The name of the first client that shook hands; empty before."""

    @property
    def thread_store(self) -> ThreadStore:
        """Where threads are that are not loaded."""

    @property
    def user_agent(self) -> str:
        """How the server introduces itself to the client's backend: `userAgent` of `initialize`."""

    @property
    def experimental(self) -> bool:
        """Whether the client has the capability experimentalApi."""

    def shake_hands(self, client: Mapping[str, Any], capabilities: Mapping[str, Any]) -> None:
        """Take what `initialize` says of the client: `clientInfo` and `capabilities`."""

    def subscribe(self, thread: Thread) -> None:
        """Send the client the thread's notifications from now on."""

    def unsubscribe(self, thread: Thread) -> bool:
        """Send the client no more notifications of the thread; False if it got none."""

    def notify_client(self, method: str, params: Json) -> None:
        """Send a notification to the client alone."""

    def notify_all(self, method: str, params: Json) -> None:
        """Send a notification to every client."""

    def play(self, turn: Running) -> None:
        """Begin to play a turn."""

    def drop(self, thread: Thread) -> None:
        """Stop the turns that play for a thread, without a notification."""

    def log(self, text: str) -> None:
        """Write a line to stderr."""
