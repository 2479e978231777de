"""Steps that only the app-server plays: its own tools, its failures, and the bytes that it writes.

Each says in `app_server` why the model's service behind a real Codex cannot play it.
"""

# No `from __future__ import annotations` here: the annotations of the fields are read when the program runs.
from dataclasses import dataclass
from typing import ClassVar, Literal

from wireproof_scripts.kinds import Count, ExitStatus, JsonText, Line, Name, Positive, Sizes, Text, Texts
from wireproof_scripts.steps.causes import Cause

Asks = Literal["policy", "always", "never"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Command:
    """A shell command that the model has the backend run."""

    id: Name
    """The id of the call."""
    command: Name
    """The command line."""
    output: Text = ""
    """What the command prints."""
    pieces: Texts = ()
    """The deltas of the output; one delta without it."""
    stderr: bool = False
    """The output is printed to stderr."""
    status: Count = 0
    """The exit status."""
    reason: Text = ""
    """Why approval is asked for, as it is shown to the user; not sent when empty."""
    asks: Asks = "policy"
    """Whether the client must approve: as the thread's policy says (every policy but `never` asks), always or never."""
    app_server: ClassVar[str] = "a command is the app-server's own tool, called as each version has it"


@dataclass(frozen=True, kw_only=True, slots=True)
class Patch:
    """A file that the model has the backend add."""

    id: Name
    """The id of the call."""
    path: Name
    """The path of the file."""
    content: Text
    """All of its content."""
    asks: Asks = "policy"
    """Whether the client must approve: as the thread's policy says (every policy but `never` asks), always or never."""
    app_server: ClassVar[str] = "a patch is the app-server's own tool, called as each version has it"


@dataclass(frozen=True, kw_only=True, slots=True)
class Code:
    """A program that the model has the backend run, as the models that Codex knows do instead of calling tools."""

    id: Name
    """The id of the call."""
    source: Text
    """The program as the model wrote it."""
    tool: Text = ""
    """The client's tool that the program calls, printing its result; none when empty."""
    arguments: JsonText = "{}"
    """The arguments of that tool, as JSON text or as an object."""
    output: Text = ""
    """What the program prints when it calls no tool."""
    app_server: ClassVar[str] = "a program runs in the app-server, for the models that it knows"


@dataclass(frozen=True, kw_only=True, slots=True)
class Plan:
    """The plan of the model's work: made, or changed."""

    id: Name
    """The id of the call."""
    steps: Texts
    """What is to be done, in order."""
    done: Count = 0
    """How many of the steps are done; the next one is in progress."""
    explanation: Text = ""
    """Why the plan is so; not sent when empty."""
    app_server: ClassVar[str] = "a plan is the app-server's own tool, which some versions do not offer"


@dataclass(frozen=True, kw_only=True, slots=True)
class McpCall:
    """A call of a tool of an MCP server that the backend is configured with."""

    id: Name
    """The id of the call."""
    server: Name
    """The name of the server."""
    tool: Name
    """The name of the tool."""
    arguments: JsonText = "{}"
    """The arguments, as JSON text or as an object."""
    output: Text = ""
    """The text that the tool brings."""
    failed: bool = False
    """The tool says that its result is an error."""
    app_server: ClassVar[str] = "a tool of a server of its own is called by the app-server"


@dataclass(frozen=True, kw_only=True, slots=True)
class Question:
    """A question of the model to the user."""

    id: Name
    """The id of the call."""
    question: Text
    """The question."""
    header: Text = ""
    """Its heading."""
    options: Texts = ()
    """The answers to choose from; without them the answer is free text."""
    asks: Asks = "always"  # by itself Codex asks in plan mode alone
    """Whether the client is asked: always, never, or by policy: only if `collaborationMode` is to plan with the user.
    If the client is not asked, the model is sent the message that it cannot ask."""
    app_server: ClassVar[str] = "a question is the app-server's own tool"


@dataclass(frozen=True, slots=True)
class Retry:
    """The model's answer breaks off and starts again in a new item; the old one is never completed."""

    attempt: Positive = 1
    """The number of this attempt."""
    attempts: Count = 5
    """How many attempts there are at most; 0: the backend waits for the network, which it has not reached yet."""
    details: Text = "stream disconnected before completion: stream closed before response.completed"  # Codex's words
    """Why, as the notification says it."""
    app_server: ClassVar[str] = "whether the service is asked again is in the app-server's configuration"


@dataclass(frozen=True, slots=True)
class Crash:
    """The backend process exits at once; Cursor's service closes the connection."""

    status: ExitStatus = 101  # of a Rust program that panicked, as the real server is
    """The exit status."""
    app_server: ClassVar[str] = "the app-server dies, not the model's service"


@dataclass(frozen=True, slots=True)
class Overload:
    """As first step of a part: the backend refuses the turn, being overloaded."""

    times: Positive = 1
    """How many times it refuses before it plays the part."""
    app_server: ClassVar[str] = "the app-server itself refuses the turn"


@dataclass(frozen=True, slots=True)
class ErrorNotice:
    """The turn fails as by `fail`, but only the `error` notification is sent; the turn never ends."""

    cause: Cause = "http-500"
    """What failed in the model's service."""
    app_server: ClassVar[str] = "the app-server itself ends a turn that failed"


@dataclass(frozen=True, slots=True)
class Repeat:
    """Send the last notifications of the turn a second time, byte for byte."""

    last: Positive = 1
    """How many notifications."""
    app_server: ClassVar[str] = "the app-server sends its own notifications again"


@dataclass(frozen=True, slots=True)
class Cut:
    """From here to the end of the turn, write the backend's output in pieces of these sizes."""

    sizes: Sizes
    """The sizes in bytes, used in order and over again."""
    app_server: ClassVar[str] = "the app-server cuts its own output"


@dataclass(frozen=True, slots=True)
class Raw:
    """A line of output that is written as it is, whatever the protocol says."""

    text: Line
    """The line without its end; the characters U+DC80 to U+DCFF stand for the bytes 80 to FF."""
    times: Positive = 1
    """How many times the text is in the line."""
    app_server: ClassVar[str] = "the app-server writes the line"

    @property
    def line(self) -> bytes:
        """Its bytes, with the line feed."""
        return self.text.encode(errors="surrogateescape") * self.times + b"\n"
