"""The steps of a script: what a backend sends, one step after the other.

A script has one part per turn. A turn plays the steps of its part in order. A part without a `Finish`, `Fail`, `Crash`,
`Hang` or `ErrorNotice` ends as if `Finish()` were its last step. Steps after a `Finish` or `Fail` are late events: the
backend sends them although the turn is over. Steps after the last `Call` of a part are played together with the calls,
before the turn waits for their results.

Which part a turn plays: the part after the last one whose calls all have results in the conversation; if there is none,
the number of other conversations already seen with the same script and nonce; never beyond the last part.

A call is sent in one or more *shapes*. `native` is how Codex asks a client to run a tool, and the only one that waits
for a result. The others only report that the model calls, in the ways that backends have been seen to do it:

    delta-tool-calls       agentMessageDelta, `delta` holds `tool_calls` fragments
    delta-function-call    agentMessageDelta, `delta` holds `function_call` fragments
    responses-events       agentMessageDelta, `delta` is an event of the Responses API
    message-tool-calls     agentMessage, `message` holds `tool_calls`
    message-function-call  agentMessage, `message` holds `function_call`
    sentinel               text: `<tool_call>{"id", "name", "arguments"}</tool_call>` at the start of a line
    use-tool               text: a `<use_tool>` block

A step is its class here and its name in one of the groups that make up `Step`. The group says what plays it: text of
the answer (`Spoken`) is played by every backend and belongs to the right answer, without a line elsewhere; what only
the app-server can do says why, in `app_server`; what only Cursor's agent service can do (`steps.cursor`), in `cursor`;
what only the endpoint can do (`steps.http`), in `endpoint`. In files the name of a step is the class name in lower case
with hyphens; what may stand in a field follows from the annotation (`kinds`), what the field means from the text under
it.
The reader of files, the JSON Schema and the table in the docs are derived from that.
"""

# No `from __future__ import annotations` here: the annotations of the fields are read when the program runs.
import random
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import chain, repeat
from typing import Annotated, ClassVar, Literal, get_args

from assay_scripts.kinds import (
    Arguments,
    Count,
    JsonText,
    Line,
    Name,
    Positive,
    Rate,
    Seconds,
    Share,
    Sizes,
    Text,
    Texts,
    names_of,
)
from assay_scripts.steps.causes import Cause
from assay_scripts.steps.cursor import Agentic
from assay_scripts.steps.http import Ending, Wire
from assay_scripts.steps.template import TemplateText
from assay_scripts.steps.when import When
from assay_scripts.usage import Usage as Usage
from assay_scripts.values import value

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
Shapes = Annotated[tuple[Shape, ...], names_of("shapes", *get_args(Shape))]

Notifications = Literal["v2", "story", "nested", "double"]
"""The notifications that carry text, usage and ends.

`v2`: those of the played version. `double`: each of them twice, as versions up to 0.114 do it: as the typed
notification and as its `codex/event` twin. `story`: agentMessageDelta, agentMessage and tokenCount, another dialect.
`nested`: those of `story`, with all but the thread inside `msg`, as `codex/event` has it.
"""

Sequence = Literal["no", "conversation", "endpoint"]

Asks = Literal["policy", "always", "never"]


@value(frozen=True, slots=True)
class Piece:
    """One delta of the answer's text: what a step of text becomes when it is played."""

    text: str
    """It may hold lone surrogates, which must be written as JSON escapes."""
    choice: int | None = None
    """The choice that is sent with it; None if none is."""
    whole: bool = False
    """This is the complete text, not a delta."""


@dataclass(frozen=True, slots=True)
class Say:
    """Text of the answer."""

    pieces: Texts
    """The text, one delta a piece."""
    times: Positive = 1
    """How many times all the pieces are sent."""
    choice: Count | None = None
    """The index of the choice that is sent with the text (`told: story` only); none is sent without it."""
    whole: bool = False
    """Send no deltas, only the complete text."""

    @property
    def text(self) -> str:
        """The complete text."""
        return "".join(self.pieces) * self.times

    def deltas(self) -> Iterator[Piece]:
        """The text as it is sent."""
        if self.whole:
            return iter((Piece(self.text, self.choice, whole=True),))
        # One after the other, so that a million deltas take no memory.
        return map(Piece, chain.from_iterable(repeat(self.pieces, self.times)), repeat(self.choice))


@dataclass(frozen=True, slots=True)
class Template:
    """Text of the answer with something of what was asked.

    `{user_text}` is the last message of the user, `{tool_result}` the last result of a tool; empty where there is none.
    `{{` and `}}` are braces.
    """

    text: TemplateText
    """The text; it is sent word by word."""

    def deltas(self) -> Iterator[Piece]:
        """The text as it is sent."""
        return map(Piece, re.findall(r"\s*\S+|\s+$", self.text))


@dataclass(frozen=True, slots=True)
class Think:
    """Reasoning; it is never part of the answer.

    The endpoint sends it as an item of a response. How many tokens it took says `usage`.
    """

    text: Text
    """The summary of the reasoning; empty for none."""
    pieces: Texts = ()
    """The deltas of the summary; one delta without it."""
    raw: Texts = ()
    """The deltas of the reasoning itself, which is not sent without it."""
    encrypted: Text = ""
    """The reasoning in the form that only the model's service can read; not sent when empty."""
    in_chat: bool = False
    """The endpoint sends it in chat, too, as `reasoning_content`: `raw`, or the summary without it. Many servers do;
    OpenAI's shows none."""


@dataclass(frozen=True, slots=True)
class Pause:
    """Silence for some time."""

    seconds: Seconds
    """How long."""


@dataclass(frozen=True, slots=True)
class Pace:
    """From here on the text comes at the pace of a model: each delta has its time."""

    rate: Rate | None = None
    """Deltas a second; without it only the first one waits."""
    first: Seconds = 0.0
    """Seconds before the first of them."""
    jitter: Share = 0.0
    """How much a delta's own time may be longer or shorter: from 0, exact, to 1, anything up to twice as long."""
    seed: Count = 0
    """Another seed gives other times; the same one the same."""

    def gaps(self) -> Iterator[float]:
        """The seconds before each delta, without end."""
        chance = random.Random(self.seed)  # noqa: S311 - times, no secrets
        yield self.first
        while True:
            # Drawn even without jitter: the times of a seed do not depend on it.
            swing = chance.uniform(-1.0, 1.0) * self.jitter
            yield (1.0 + swing) / self.rate if self.rate else 0.0


@dataclass(frozen=True, slots=True)
class Gate:
    """Silence until a turn under the same nonce plays `open` with the same name."""

    name: Name = "gate"
    """Which gate."""
    timeout: Seconds = 5.0
    """The longest silence."""
    late: Text = "(the gate was not opened in time)"
    """The text that is sent when the timeout has passed; then the part goes on."""


@dataclass(frozen=True, slots=True)
class Open:
    """Open a gate for every turn under the same nonce, now or later."""

    name: Name = "gate"
    """Which gate."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Call:
    """A tool call of the model."""

    id: Text
    """The id of the call; not sent when empty."""
    name: Name
    """The tool."""
    arguments: Arguments
    """The model's own text, valid JSON or not, sent unchanged; or a JSON object, sent as its text."""
    shape: Shape = "native"
    """How the call is sent."""
    also: Shapes = ()
    """Other shapes in which the same call is sent right after."""
    pieces: Texts = ()
    """The deltas of the arguments, or of the block of a textual shape; one delta without it."""
    late_id: bool = False
    """Send the id with the last fragment only, or with the `done` event of `responses-events`."""
    unfinished: bool = False
    """Leave out the last piece and all that completes the call."""
    choice: Count | None = None
    """The index of the choice that is sent with the call, if the shape has a place for it; none without it."""
    fill: bool = False
    """Each text in the arguments is a template, as in `template`."""

    @property
    def shapes(self) -> tuple[Shape, ...]:
        """Every shape in which it is sent, in order."""
        return (self.shape, *self.also)


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
class Finish:
    """The end of the turn."""

    reason: Literal["stop", "length", "content_filter"] = "stop"
    """Why the model stopped."""
    choice: Count | None = None
    """The index of the choice that ends, alone (`told: story` only); without it the turn ends."""


@dataclass(frozen=True, slots=True)
class Fail:
    """The turn fails: the `error` notification, then the end of the turn."""

    cause: Cause = "http-500"
    """What failed in the model's service; each version of the backend reports it in its own way."""


@dataclass(frozen=True, slots=True)
class Crash:
    """The backend process exits at once; Cursor's service closes the connection."""

    status: Count = 101  # of a Rust program that panicked, as the real server is
    """The exit status."""
    app_server: ClassVar[str] = "the app-server dies, not the model's service"


@dataclass(frozen=True, slots=True)
class Hang:
    """Silence until the turn is interrupted."""


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
class Surrogates:
    """Text in one delta, every character of it written as a JSON escape, those beyond U+FFFF as two surrogates."""

    text: Text
    """The text."""
    apart: bool = False
    """Send each UTF-16 code unit as a delta of its own, as if the text had been cut between surrogates."""
    app_server: ClassVar[str] = "the app-server spells its own output"

    def deltas(self) -> Iterator[Piece]:
        """The text as it is sent."""
        # Python joins no surrogates: each code unit becomes a character of its own, which JSON writes as one escape.
        units = self.text.encode("utf-16-be")
        text = "".join(chr(int.from_bytes(units[at : at + 2], "big")) for at in range(0, len(units), 2))
        return map(Piece, text if self.apart else (text,))


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
    """How many times the text stands in the line."""
    app_server: ClassVar[str] = "the app-server writes the line"

    @property
    def line(self) -> bytes:
        """Its bytes, with the line feed."""
        return self.text.encode(errors="surrogateescape") * self.times + b"\n"


@dataclass(frozen=True, slots=True)
class Reflect:
    """One delta of JSON with what the backend knows.

    `received`: what this turn received: {"developer", "base", "model", "history": [item …], "input": [item …],
    "tools": [declared tool …], "schema"} (items, tools and the schema of the answer as the client of the backend sent
    them).
    `turns`: the other turns seen under the nonce, in order: {"turns": [{"script", "part", "state"} …]}, with `state`
    one of running, completed, interrupted, failed.
    `backend`: the Codex that is played: {"codex", "protocol"}, its version and `v1` or `v2`.
    """

    what: Literal["received", "turns", "backend"] = "received"
    """What is reported."""
    wait: Seconds = 1.0
    """How long `turns` waits for the other turns to end."""


# Unions, not base classes: `__subclasses__` lists each class with slots twice, and type checkers see when a `match`
# leaves one out.
Spoken = Say | Surrogates | Template
"""Text of the answer. Each of these has its `text`, which is part of the right answer, and its `deltas`, which are what
is played."""
Silence = Pause | Gate | Hang
"""What becomes silence."""
Answering = Think | Open | Call | Usage | Finish | Fail | Reflect
"""What the app-server and the model's service both play, each in its own way."""
Doing = Command | Patch | Code | Question | Retry | Crash | ErrorNotice | Repeat | Cut | Raw
"""What only the app-server does. None of it is text of the right answer."""
Step = Spoken | Silence | Pace | Answering | Doing | Overload | Agentic | Wire
"""Every step. This is the one list of them: names, schema and docs come from `get_args(Step)`."""

Elsewhere = Agentic | Wire
"""What the mock of the app-server and the model's service never play."""

Parts = tuple[tuple[Step, ...], ...]
"""One tuple of steps per turn."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Script:
    """A named script."""

    name: str
    """The name in markers and reports: letters, digits and . _ / -."""
    title: str
    """What the script is for, in a sentence."""
    parts: Parts
    """What each turn plays."""
    when: When | str | None = None
    """The script is chosen without a marker if this condition holds; a text alone must be contained in the last user
    message, in any case."""
    notifications: Notifications = "v2"
    """The notifications that carry text, usage and ends; `told` in files."""
    sequence: Sequence = "no"
    """Whether the parts answer one request each, in order, and the last one all that follow: the requests of one
    conversation are counted, or those of the whole endpoint."""
    choices: tuple[Parts, ...] = ()
    """For a request of several choices: the parts of each choice, in order; where a marker has chosen the script, in
    that in which their turns start under the nonce. Without it all choices play `parts`; in files it stands for them,
    too, and a request for one choice gets the first."""


Library = Mapping[str, Script]
"""Scripts by name."""


def ends_turn(step: Step) -> bool:
    """Whether the turn is over after this step."""
    return isinstance(step, _ENDS) or (isinstance(step, Finish) and step.choice is None)


_ENDS = (Fail, *get_args(Ending))
"""Not as a union, which would be made each time it is asked."""


def only_app_server(step: Step | type[Step]) -> str:
    """Why the model's service cannot play such a step, whatever its fields say; '' if it can."""
    why: str = getattr(step, "app_server", "")
    return why


def only_cursor(step: Step | type[Step]) -> str:
    """Why only Cursor's agent service plays such a step; '' if others do."""
    why: str = getattr(step, "cursor", "")
    return why


def only_endpoint(step: Step | type[Step]) -> str:
    """Why only the endpoint plays such a step; '' if others do."""
    why: str = getattr(step, "endpoint", "")
    return why
