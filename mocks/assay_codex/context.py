"""What turns and methods need of the server that they run in."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Mapping

    from assay_codex.protocol.ids import Ids
    from assay_codex.threads.thread import Running, Thread, Threads
    from assay_codex.threads.thread_store import Shelf
    from assay_codex.versions.version import Version
    from assay_scripts.files.errors import ScriptError
    from assay_scripts.nonces import Nonce, Nonces
    from assay_scripts.steps import Library

Json = dict[str, Any]


class Desk(Protocol):
    """What a turn needs of the server."""

    ids: Ids
    version: Version
    nonces: Nonces

    @property
    def library(self) -> Library | ScriptError:
        """The scripts as they are now, or why they cannot be read."""

    def turn_id(self, thread: Thread, now: float) -> str:
        """The id of a new turn."""

    def tell(self, thread: Thread, method: str, params: Json, now: float) -> None:
        """Send a notification about the thread to whoever listens to it."""

    def ask(self, turn: Running, method: str, params: Json) -> int:
        """Send a request to the client; its id. The answer comes to `turn.answered`."""

    def write(self, line: bytes) -> None:
        """Send a line that is no message."""

    def cut(self, sizes: tuple[int, ...]) -> None:
        """Write what comes in pieces of so many bytes; () as it comes."""

    def rouse(self, nonce: Nonce) -> None:
        """Something changed for the turns that wait under the nonce."""

    def die(self, status: int) -> None:
        """The process ends at once."""


class Host(Desk, Protocol):
    """What a method needs of the server. `listeners`: the threads that v1 listeners listen to, by subscription."""

    home: str
    cwd: str
    threads: Threads
    listeners: dict[str, Thread]
    client: str

    @property
    def shelf(self) -> Shelf:
        """Where threads are that are not loaded."""

    @property
    def user_agent(self) -> str:
        """What the server calls itself to the client."""

    @property
    def experimental(self) -> bool:
        """Whether the client has the capability experimentalApi."""

    def shake_hands(self, client: Mapping[str, Any], capabilities: Mapping[str, Any]) -> None:
        """The client said who it is and what it can."""

    def subscribe(self, thread: Thread) -> None:
        """The client wants to hear of the thread."""

    def unsubscribe(self, thread: Thread) -> None:
        """The client no longer wants to hear of the thread."""

    def tell_client(self, method: str, params: Json, now: float) -> None:
        """Send a notification to the client alone."""

    def tell_all(self, method: str, params: Json, now: float) -> None:
        """Send a notification that is about no thread or for everyone."""

    def play(self, turn: Running) -> None:
        """Let a new turn play."""

    def drop(self, thread: Thread) -> None:
        """Stop whatever plays for a thread."""

    def note(self, text: str) -> None:
        """Say something on stderr."""
