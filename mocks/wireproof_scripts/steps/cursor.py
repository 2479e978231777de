"""The steps that only Cursor's agent service plays: its own tools, its store of blobs, and how it goes wrong.

They are steps like those of `steps`, where `Step` lists them: the same reader, schema and docs are derived from them.
Those that have an `id` are tool calls of the model that the client runs, as `call` is: a part waits for their results.
"""

# No `from __future__ import annotations` here: the annotations of the fields are read when the program runs.
from dataclasses import dataclass
from typing import ClassVar, Literal

from wireproof_scripts.kinds import Count, FieldNumber, HttpStatus, Name, Positive, Seconds, Text, Texts

_TOOL = "it is a tool of Cursor's service, which the client runs"
_STATE = "it is about the state that Cursor's clients keep"
_STREAM = "it is about the stream of Cursor's service"


@dataclass(frozen=True, kw_only=True, slots=True)
class Shell:
    """A command that the client is asked to run."""

    id: Name
    """The id of the call."""
    command: Name
    """The command line."""
    cwd: Text = ""
    """The folder to run it in; the client's own when empty."""
    timeout: Count = 0
    """The milliseconds that it may take; 0: the client decides."""
    stream: bool = False
    """Ask for its output as it comes (`shell_stream_args`), not at its end."""
    cursor: ClassVar[str] = _TOOL


@dataclass(frozen=True, kw_only=True, slots=True)
class Read:
    """A file that the client is asked to read."""

    id: Name
    """The id of the call."""
    path: Name
    """The path of the file."""
    offset: Count | None = None
    """The line to begin at; not sent without it."""
    limit: Count | None = None
    """How many lines; not sent without it."""
    cursor: ClassVar[str] = _TOOL


@dataclass(frozen=True, kw_only=True, slots=True)
class Write:
    """A file that the client is asked to write."""

    id: Name
    """The id of the call."""
    path: Name
    """The path of the file."""
    text: Text
    """All of its content."""
    as_bytes: bool = False
    """Send the content as `file_bytes`, which wins over the text that is sent otherwise."""
    cursor: ClassVar[str] = _TOOL


@dataclass(frozen=True, kw_only=True, slots=True)
class Delete:
    """A file that the client is asked to delete."""

    id: Name
    """The id of the call."""
    path: Name
    """The path of the file."""
    cursor: ClassVar[str] = _TOOL


@dataclass(frozen=True, kw_only=True, slots=True)
class Ls:
    """A folder that the client is asked to list."""

    id: Name
    """The id of the call."""
    path: Name
    """The path of the folder."""
    ignore: Texts = ()
    """Patterns of what is left out."""
    cursor: ClassVar[str] = _TOOL


@dataclass(frozen=True, kw_only=True, slots=True)
class Grep:
    """A search in files that the client is asked to do."""

    id: Name
    """The id of the call."""
    pattern: Name
    """The regular expression."""
    path: Text = ""
    """Where to search; not sent when empty."""
    glob: Text = ""
    """Which files to search; not sent when empty."""
    mode: Literal["content", "files_with_matches", "count"] = "content"
    """What is asked for."""
    ignore_case: bool = False
    """Whether case counts for nothing."""
    cursor: ClassVar[str] = _TOOL


@dataclass(frozen=True, kw_only=True, slots=True)
class Glob:
    """A search for files by their names that the client is asked to do: `grep_args` with a glob and no pattern."""

    id: Name
    """The id of the call."""
    pattern: Name
    """The glob."""
    path: Text = ""
    """Where to search; not sent when empty."""
    cursor: ClassVar[str] = _TOOL


@dataclass(frozen=True, kw_only=True, slots=True)
class Fetch:
    """A page that the client is asked to fetch."""

    id: Name
    """The id of the call."""
    url: Name
    """Its URL."""
    cursor: ClassVar[str] = _TOOL


@dataclass(frozen=True, slots=True)
class RequestContext:
    """The client is asked for its context: its tools, its environment. The turn goes on without an answer, too."""

    cursor: ClassVar[str] = _STATE


@dataclass(frozen=True, slots=True)
class UnknownExec:
    """The client is asked for something that it cannot know, of a later version of the protocol."""

    number: FieldNumber = 60
    """The number of the field that holds the request."""
    cursor: ClassVar[str] = _TOOL


@dataclass(frozen=True, slots=True)
class Abort:
    """The requests to the client that it has not answered are taken back."""

    cursor: ClassVar[str] = _TOOL


@dataclass(frozen=True, slots=True)
class SetBlob:
    """The client is asked to keep a blob; the turn goes on when it has answered."""

    text: Text
    """What the blob holds."""
    cursor: ClassVar[str] = _STATE


@dataclass(frozen=True, slots=True)
class GetBlob:
    """The client is asked for a blob; the turn goes on when it has answered, with the blob or without."""

    text: Text
    """What the blob holds, from which its name is made."""
    cursor: ClassVar[str] = _STATE


@dataclass(frozen=True, kw_only=True, slots=True)
class Checkpoint:
    """The state of the conversation so far; it is no end."""

    used: Count = 42
    """`used_tokens`."""
    most: Count = 200_000
    """`max_tokens`."""
    pending: Texts = ()
    """`pending_tool_calls`."""
    cursor: ClassVar[str] = _STATE


@dataclass(frozen=True, slots=True)
class Heartbeat:
    """Signs of life, which are no part of the answer."""

    times: Positive = 1
    """How many."""
    every: Seconds = 0.0
    """The seconds before each of them."""
    cursor: ClassVar[str] = _STREAM


@dataclass(frozen=True, slots=True)
class Query:
    """A question to the user, or a request for approval; the turn goes on without an answer, too."""

    text: Text
    """The search, the question, the mode, or the id of the page."""
    kind: Literal["web-search", "ask-question", "switch-mode", "exa-search", "exa-fetch"] = "web-search"
    """What is asked."""
    wait: Seconds = 2.0
    """The longest wait for the answer."""
    cursor: ClassVar[str] = _TOOL


@dataclass(frozen=True, slots=True)
class Trap:
    """The rest of the answer never comes, if the turn goes on from results on the same stream.

    The text is in a blob alone; then heartbeats follow without end. In a run that begins with the results in its
    history the step does nothing.
    """

    text: Text
    """The text in the blob."""
    every: Seconds = 5.0
    """The seconds between heartbeats."""
    always: bool = False
    """Whether it is the same in any run."""
    repeats: bool = False
    """Whether the blob also repeats the last call."""
    cursor: ClassVar[str] = _STREAM


@dataclass(frozen=True, slots=True)
class Drop:
    """The next messages of the client are acknowledged and ignored, as appends with a used number are."""

    messages: Positive = 1
    """How many."""
    cursor: ClassVar[str] = _STREAM


@dataclass(frozen=True, slots=True)
class EndStream:
    """The stream ends well, though the turn has not."""

    cursor: ClassVar[str] = _STREAM


@dataclass(frozen=True, kw_only=True, slots=True)
class Refuse:
    """The run ends with an error."""

    code: Literal[
        "canceled", "unknown", "invalid_argument", "deadline_exceeded", "not_found", "already_exists",
        "permission_denied", "resource_exhausted", "failed_precondition", "aborted", "out_of_range", "unimplemented",
        "internal", "unavailable", "data_loss", "unauthenticated",
    ] = "internal"  # fmt: skip
    """The code of the error."""
    form: Literal["end", "http", "append"] = "end"
    """Where it stands: in the end of the stream; as first step also as an HTTP error, or in the refusal of the append
    that carries the run request. After the first output `append` refuses the appends that follow, and the run goes on;
    where there are no appends, or the stream has begun, the end of the stream holds it."""
    status: HttpStatus | None = None
    """The HTTP status; that of the code without it."""
    message: Text = "Error"
    """The message."""
    debug: Text = ""
    """The name of the error in its details, such as ERROR_NOT_LOGGED_IN; no details are sent when empty."""
    title: Text = ""
    """What the details show to the user."""
    detail: Text = ""
    """The same as a sentence."""
    retryable: bool = False
    """Whether the details say that another try may work."""
    cursor: ClassVar[str] = _STREAM


Exec = Shell | Read | Write | Delete | Ls | Grep | Glob | Fetch
"""Tool calls that the client runs, each with an `id`."""
Agentic = (
    Exec
    | RequestContext
    | UnknownExec
    | Abort
    | SetBlob
    | GetBlob
    | Checkpoint
    | Heartbeat
    | Query
    | Trap
    | Drop
    | EndStream
    | Refuse
)
"""All steps of this module. None of them is text of the right answer."""
