"""Steps of the model's answer beside its text: reasoning, calls, its end, and what it knows.

A call is sent in one or more *shapes*. `native` is how Codex asks a client to run a tool, and the only one that waits
for a result. The others only report that the model calls, in the ways that backends have been seen to do it:

    delta-tool-calls       agentMessageDelta, `delta` holds `tool_calls` fragments
    delta-function-call    agentMessageDelta, `delta` holds `function_call` fragments
    responses-events       agentMessageDelta, `delta` is an event of the Responses API
    message-tool-calls     agentMessage, `message` holds `tool_calls`
    message-function-call  agentMessage, `message` holds `function_call`
    sentinel               text: `<tool_call>{"id", "name", "arguments"}</tool_call>` at the start of a line
    use-tool               text: a `<use_tool>` block
"""

# No `from __future__ import annotations` here: the annotations of the fields are read when the program runs.
from dataclasses import dataclass
from typing import Annotated, Literal, get_args

from wireproof_scripts.kinds import Arguments, Count, Name, Seconds, Text, Texts, names_of
from wireproof_scripts.steps.causes import Cause

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


@dataclass(frozen=True, slots=True)
class Think:
    """Reasoning; it is never part of the answer.

    The endpoint sends it as an item of a response, and as a block of a message with a signature. How many tokens it
    took says `usage`.
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


@dataclass(frozen=True, kw_only=True, slots=True)
class WebSearch:
    """A search that the model's service does itself; it is never part of the answer, and nobody is asked for a result.

    The endpoint shows none, and Cursor's service plays its own by `query`.
    """

    id: Name
    """The id of the search."""
    query: Text
    """What is searched for."""


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
    """Leave out the last piece and all that completes the call; of a native call the endpoint alone does. With
    `finish: length` behind it the answer ends there, as where it is as long as it may."""
    choice: Count | None = None
    """The index of the choice that is sent with the call, if the shape has a place for it; none without it."""
    fill: bool = False
    """Each text in the arguments is a template, as in `template`."""
    beside: bool = False
    """The endpoint's streams of chat send the first piece of the arguments beside the name. Many servers do; OpenAI's
    names a call first."""

    @property
    def shapes(self) -> tuple[Shape, ...]:
        """Every shape in which it is sent, in order."""
        return (self.shape, *self.also)


@dataclass(frozen=True, slots=True)
class Finish:
    """The end of the turn."""

    reason: Literal["stop", "length", "content_filter"] = "stop"
    """Why the model stopped."""
    choice: Count | None = None
    """The index of the choice that ends, alone (`notifications: story` only); without it the turn ends."""


@dataclass(frozen=True, slots=True)
class Fail:
    """The turn fails: the `error` notification, then the end of the turn."""

    cause: Cause = "http-500"
    """What failed in the model's service; each version of the backend reports it in its own way."""


@dataclass(frozen=True, slots=True)
class Reflect:
    """One delta of JSON with what the backend knows.

    `received`: what this turn received: {"developer", "base", "model", "history": [item …], "input": [item …],
    "tools": [declared tool …], "schema"} (items, tools and the schema of the answer as the client of the backend sent
    them); from `wireproof serve` also "settings": {"temperature", "max_tokens", "stop": [text …]}, on Responses without
    `stop`, which that surface does not have.
    `turns`: the other turns seen under the nonce, in order: {"turns": [{"script", "part", "state"} …]}, with `state`
    one of running, completed, interrupted, failed.
    `backend`: the Codex that is played: {"codex", "protocol", "nonce"}, its version, `v1` or `v2`, and the nonce of the
    turn, by which a client knows that the answer is to its own request.
    """

    what: Literal["received", "turns", "backend"] = "received"
    """What is reported."""
    wait: Seconds = 1.0
    """How long `turns` waits for the other turns to end."""
