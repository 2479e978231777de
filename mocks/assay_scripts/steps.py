"""The language of scripts: what a backend will say, step by step, and in which words.

A script has one part per turn. A turn plays the steps of its part in order; a part without a `Finish`,
`Fail`, `Crash`, `Hang` or `ErrorNotice` ends as if `Finish()` stood last. Steps after a `Finish` or `Fail` are late
events: the backend says them although the turn is over. Steps after the last `Call` of a part are played
in the same breath as the calls, before their results are waited for.

Which part a turn plays: the part after the last one whose calls all have results in the turn's history;
else the number of turns already seen with the same script and nonce; never beyond the last part.

A call is told in one or more *shapes*. `native` is how Codex asks a client to run a tool; it alone waits for a result.
The others only say that the model calls, in the ways that backends have been seen to say it:

    delta-tool-calls       agentMessageDelta, `delta` holds `tool_calls` fragments
    delta-function-call    agentMessageDelta, `delta` holds `function_call` fragments
    responses-events       agentMessageDelta, `delta` is an event of the Responses API
    message-tool-calls     agentMessage, `message` holds `tool_calls`
    message-function-call  agentMessage, `message` holds `function_call`
    sentinel               text: `<tool_call>{"id", "name", "arguments"}</tool_call>` at the start of a line
    use-tool               text: a `<use_tool>` block

Everything else is told as the played version tells it (`v2`), or twice over as the versions up to 0.114 did (`double`),
or with text and usage in the words of another dialect (`story`): agentMessageDelta, agentMessage, tokenCount.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from assay_scripts.usage import Usage as Usage  # noqa: PLC0414 - a step like the others, told by name of this module

Shape = Literal[
    "native",
    "delta-tool-calls",
    "delta-function-call",
    "responses-events",
    "message-tool-calls",
    "message-function-call",
    "sentinel",
    "use-tool",
]
Told = Literal["v2", "story", "double"]


@dataclass(frozen=True, slots=True)
class Say:
    """Text of the answer: each piece is one delta, as the model said it; the whole told `times` times.

    `choice`: in a `story`, the choice that is told with it; None tells none. `whole`: no delta is told, only the text
    as a whole.
    """

    pieces: tuple[str, ...]
    times: int = 1
    choice: int | None = None
    whole: bool = False

    @property
    def text(self) -> str:
        """All of it, joined."""
        return "".join(self.pieces) * self.times


@dataclass(frozen=True, slots=True)
class Think:
    """Reasoning; never part of the answer.

    `text`: its summary, `pieces`: as it is cut into deltas; () is one piece. `raw`: the thoughts themselves, piece by
    piece; () tells none. `encrypted`: the thoughts as only the model's service can read them; empty: not told.
    """

    text: str
    pieces: tuple[str, ...] = ()
    raw: tuple[str, ...] = ()
    encrypted: str = ""


@dataclass(frozen=True, slots=True)
class Pause:
    """Silence for so many seconds."""

    seconds: float


@dataclass(frozen=True, slots=True)
class Gate:
    """Silence until a turn under the same nonce plays `Open` of this name; after `timeout` seconds `late` is said."""

    name: str = "gate"
    timeout: float = 5.0
    late: str = "(the gate was not opened in time)"


@dataclass(frozen=True, slots=True)
class Open:
    """Open the gate of this name for every turn under the same nonce, now or later."""

    name: str = "gate"


@dataclass(frozen=True, kw_only=True, slots=True)
class Call:
    """A tool call; `arguments` is the model's own text, valid JSON or not.

    `shape`: how it is told; `also`: the other shapes in which the same call is told right after. An empty `id` is not
    told at all; with `late_id` it comes with the last fragment only, or where the Responses event says `done`.
    `pieces`: the arguments, or the textual block of the call, as they are cut for the shapes that tell them piece by
    piece; () is one piece. `unfinished`: the last piece and all that would complete the call are never told.
    `choice`: the choice that is told with it where there is a place for it; None tells none.
    """

    id: str
    name: str
    arguments: str
    shape: Shape = "native"
    also: tuple[Shape, ...] = ()
    pieces: tuple[str, ...] = ()
    late_id: bool = False
    unfinished: bool = False
    choice: int | None = None

    @property
    def shapes(self) -> tuple[Shape, ...]:
        """Every shape in which it is told, in order."""
        return (self.shape, *self.also)


Asks = Literal["policy", "always", "never"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Command:
    """A shell command that the model has the backend run; it prints `output` and ends with this exit status.

    `pieces`: the output as it is printed; () is one piece. `stderr`: it is printed where errors are.
    `asks`: whether the client must approve of it: as the thread's policy says (every policy but `never` does), or
    always or never. `reason`: what the client is told; empty: nothing.
    """

    id: str
    command: str
    output: str = ""
    pieces: tuple[str, ...] = ()
    stderr: bool = False
    status: int = 0
    reason: str = ""
    asks: Asks = "policy"


@dataclass(frozen=True, kw_only=True, slots=True)
class Patch:
    """A file that the model has the backend add, with this content; `asks` as a `Command` does."""

    id: str
    path: str
    content: str
    asks: Asks = "policy"


@dataclass(frozen=True, kw_only=True, slots=True)
class Code:
    """A program that the model has the backend run, as known models do instead of calling tools themselves.

    `source`: the program as the model wrote it. It calls this `tool` of the client's with these `arguments`, which are
    JSON, and prints what that gives; without a tool it prints `output`.
    """

    id: str
    source: str
    tool: str = ""
    arguments: str = "{}"
    output: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class Question:
    """What the model asks the user, with the answers to choose from; () leaves the answer free.

    `asks`: whether the client is asked: always, never, or as the policy is, only where the user plans with the model
    (turn/start `collaborationMode`). If not the model is told that it cannot ask.
    """

    id: str
    question: str
    header: str = ""
    options: tuple[str, ...] = ()
    asks: Asks = "always"


@dataclass(frozen=True, slots=True)
class Retry:
    """The model's answer breaks off and begins again: what was said of it so far is never completed.

    `attempt` of `attempts`, as it is told with the `details`; with 0 `attempts` the server waits for the network, which
    it has not reached yet. What comes next is said anew, in an item of its own.
    """

    attempt: int = 1
    attempts: int = 5
    details: str = "stream disconnected before completion: stream closed before response.completed"


@dataclass(frozen=True, slots=True)
class Finish:
    """The end of the turn, as the model told it; with a `choice`, the end of that choice alone, told in a `story`."""

    reason: Literal["stop", "length", "content_filter"] = "stop"
    choice: int | None = None


@dataclass(frozen=True, slots=True)
class Fail:
    """The turn fails as the named upstream failure looks in the played version (`codex.versions.failures.CAUSES`).

    From 0.150.0 on `no-network` is none: the server tries to connect again and again until it is interrupted.
    """

    cause: str = "http-500"


@dataclass(frozen=True, slots=True)
class Crash:
    """The backend process dies at once, with this exit status."""

    status: int = 101


@dataclass(frozen=True, slots=True)
class Hang:
    """Nothing more is said until the turn is interrupted."""


@dataclass(frozen=True, slots=True)
class Overload:
    """At the head of a part: so many times the turn is refused, the backend being overloaded."""

    times: int = 1


@dataclass(frozen=True, slots=True)
class ErrorNotice:
    """The turn fails as by `Fail`, but only the error is told: the end of the turn never is."""

    cause: str = "http-500"


@dataclass(frozen=True, slots=True)
class Repeat:
    """The last notifications of the turn, so many of them, told once more, word for word."""

    last: int = 1


@dataclass(frozen=True, slots=True)
class Surrogates:
    """Text in one delta whose every character is escaped, those beyond the BMP as two halves.

    `apart`: each half is a delta of its own, as if a model's text had been cut between code units.
    """

    text: str
    apart: bool = False


@dataclass(frozen=True, slots=True)
class Cut:
    """From here to the end of the turn the backend's output is written in pieces of so many bytes, over and over."""

    sizes: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Raw:
    """A line of output that the protocol knows nothing of; U+DC80 to U+DCFF stand for the bytes 80 to FF."""

    text: str
    times: int = 1

    @property
    def line(self) -> bytes:
        """Its bytes, with the end of the line."""
        return self.text.encode(errors="surrogateescape") * self.times + b"\n"


@dataclass(frozen=True, slots=True)
class Reflect:
    """One delta of JSON that says what the backend knows.

    `received`: what this turn received: {"developer", "base", "model", "history": [item …], "input": [item …],
    "tools": [declared tool …]} (items and tools as the client of the backend sent them).
    `turns`: the other turns seen under the nonce, in order: {"turns": [{"script", "part", "state"} …]}, state one of
    running, completed, interrupted, failed. It waits until none of them is running, for at most `wait` seconds.
    """

    what: Literal["received", "turns"] = "received"
    wait: float = 1.0


Step = (
    Say
    | Think
    | Pause
    | Gate
    | Open
    | Call
    | Command
    | Patch
    | Code
    | Question
    | Retry
    | Usage
    | Finish
    | Fail
    | Crash
    | Hang
    | Overload
    | ErrorNotice
    | Repeat
    | Surrogates
    | Cut
    | Raw
    | Reflect
)

Parts = tuple[tuple[Step, ...], ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class Script:
    """A named script; `when` lets a user's script be chosen by a text that the last user message contains.

    `told`: in which words. `choices`: one tuple of parts for each thread of a request that asks for several choices;
    threads take turns in the order in which their turns start under the nonce. Without them all play `parts`.
    """

    name: str
    title: str
    parts: Parts
    when: str | None = None
    told: Told = "v2"
    choices: tuple[Parts, ...] = ()


Library = Mapping[str, Script]


def ends_turn(step: Step) -> bool:
    """Whether the turn is over after it."""
    return isinstance(step, Fail) or (isinstance(step, Finish) and step.choice is None)
