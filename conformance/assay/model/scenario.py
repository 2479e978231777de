"""The language of scenarios: what a client asks, which script answers, and which requirements that exercises.

A scenario is a literal: no functions, no branches. It is driven once per mode. In each turn the client sends the
whole conversation so far; the user's text carries the marker that chooses the script, so any proxy that passes
the text on can be driven. Shared parts (tool declarations, requirement lists) are constants of the scenario modules.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from assay.model.dialect import STOP_HEADER, Dialect

JsonObject = Mapping[str, Any]


class Mode(StrEnum):
    """How the answer comes: as server-sent events or as one body."""

    STREAM = "stream"
    WHOLE = "whole"


@dataclass(frozen=True, slots=True)
class Form:
    """The form in which an answer is asked for: a scenario is driven once in each."""

    dialect: Dialect
    mode: Mode

    def __str__(self) -> str:
        """How reports say it; OpenAI's own dialect needs no word."""
        return str(self.mode) if self.dialect is Dialect.OPENAI_JSON else f"{self.mode}, {self.dialect}"


class Act(StrEnum):
    """What the client does while the answer comes."""

    READ = "read"
    """Read to the end."""
    OPEN_AT_TEXT = "open-at-text"
    """At the first text, open the gate that the backend waits at."""
    OPEN_AT_COMMENT = "open-at-comment"
    """At the first comment (or after four keep-alive intervals without one), open the gate."""
    LEAVE_AT_TEXT = "leave-at-text"
    """At the first text, close the connection."""
    LEAVE_WHEN_TOLD = "leave-when-told"
    """As soon as the backend has said all that it will say (a second request waits for that), close the connection."""


LEAVES = frozenset({Act.LEAVE_AT_TEXT, Act.LEAVE_WHEN_TOLD})


class Auth(StrEnum):
    """Which key a plain request carries."""

    RIGHT = "right"
    NONE = "none"
    WRONG = "wrong"
    OTHER_CASE = "other-case"
    """The right key, the word Bearer spelt in another case."""
    OTHER_SCHEME = "other-scheme"
    """The right key under a scheme that is not Bearer."""
    CUT = "cut"
    """The right key without its last character."""
    EXTENDED = "extended"
    """The right key with one more character."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Turn:
    """One request of a conversation and what the client does with the answer.

    `say` is the user's text (None: the turn only brings tool results). `results` maps a tool's name to the result
    that the client sends for every call of it in the previous answer. `script` replaces the scenario's script for
    this turn, under the same nonce. `images` are URLs that stand beside the user's text. `body` adds request fields.
    `insists`: the client asks again, as clients do, while the answer is a 503: a backend may still be dying.
    """

    say: str | None = None
    results: Mapping[str, str] | None = None
    script: str | None = None
    act: Act = Act.READ
    insists: bool = False
    images: tuple[str, ...] = ()
    body: JsonObject = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True, slots=True)
class Request:
    """One plain HTTP request, for what the contract says of HTTP itself.

    What is sent: `path` is below the base URL, or with `root` below what the base URL's `/v1` stands in. The body is
    `body` as it is, or `json` as text; `{model}` in path and body stands for the target's model. `padding` appends so
    many spaces (or as many as the limit that the target declares takes). `twin`: asked of the target's twin, whose
    backend never gets ready; `full`: and that while all its slots are taken.

    What must come: the status `expect`, each header of `shows` containing its text, and of an error `code` and `param`
    where they are given ("" is null; a `param` that names a place within is as good). It is judged by the requirement
    `judged`, else by the scenario's subject. `tells` is a header of the target's own: if a success does not bear it,
    the target does not know it, and the scenario shows nothing. `reflects` are words that the backend must say that it
    has received, in this order. `also` are further requests, sent after this one; `{response}` in their path and body
    stands for the id of the last response before.
    """

    method: str = "POST"
    path: str = "/chat/completions"
    root: bool = False
    body: bytes = b""
    json: JsonObject | None = None
    padding: int = 0
    auth: Auth = Auth.RIGHT
    headers: Mapping[str, str] = field(default_factory=dict)
    twin: bool = False
    full: bool = False
    expect: int = 200
    shows: Mapping[str, str] = field(default_factory=dict)
    code: str = ""
    param: str | None = None
    judged: str = ""
    tells: str = ""
    reflects: tuple[str, ...] = ()
    also: tuple[Request, ...] = ()

    @property
    def each(self) -> tuple[Request, ...]:
        """This request and the further ones, in order."""
        return (self, *self.also)


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Scenario:
    """A conversation or a plain request, and what it exercises.

    The first of `exercises` is the scenario's subject: it takes the blame for an answer that cannot be read at all.
    `alone`: nothing else may run beside it (it kills the backend). `needs_keepalive`: it can only be driven when the
    target's keep-alive interval is known, `needs_default_mode`: when its own output mode is, `needs_idle_timeout`:
    when it is known how long a backend may be silent, `needs_history`: when the backend takes a history beside tools of
    its client. `choices` is the `n` of the requests. `usage`: the stream asks
    for a usage chunk. `tells` is as for a request. `blames`: whatever is wrong with the content is told as a
    violation of this requirement, since the scenario differs from others in nothing else. `headers` are sent with
    each request of a conversation.
    """

    name: str
    title: str
    exercises: tuple[str, ...]
    script: str = ""
    turns: tuple[Turn, ...] = ()
    request: Request | None = None
    history: tuple[JsonObject, ...] = ()
    tools: tuple[JsonObject, ...] = ()
    modes: tuple[Mode, ...] = (Mode.STREAM, Mode.WHOLE)
    dialects: tuple[Dialect, ...] = tuple(Dialect)
    body: JsonObject = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)
    tells: str = ""
    blames: str | None = None
    choices: int = 1
    usage: bool = False
    alone: bool = False
    needs_keepalive: bool = False
    needs_default_mode: bool = False
    needs_idle_timeout: bool = False
    needs_history: bool = False

    def forms(self, dialects: Iterable[Dialect]) -> tuple[Form, ...]:
        """The forms in which it is driven against a target that speaks these dialects; a plain request knows one."""
        known = set(dialects)
        spoken = [dialect for dialect in self.dialects if dialect in known]
        if self.request is not None:
            apart = self.dialects == (Dialect.RESPONSES,) and not spoken
            return () if apart else (Form(self.dialects[0], Mode.WHOLE),)
        return tuple(Form(dialect, mode) for dialect in spoken for mode in self.modes)


def offers_tools(scenario: Scenario, turn: Turn | None) -> bool:
    """Whether the request of a turn lets the backend call tools."""
    body = {**scenario.body, **(turn.body if turn else {})}
    return body.get("tool_choice") != "none"


def wants_burst(scenario: Scenario, turn: Turn | None, dialect: Dialect) -> bool:
    """Whether the request of a turn lets a stream carry several calls; on Responses, one that does not say so does.

    The header counts first.
    """
    if STOP_HEADER in scenario.headers:
        return scenario.headers[STOP_HEADER] == "burst"
    body = {**scenario.body, **(turn.body if turn else {})}
    return body.get("parallel_tool_calls", dialect is Dialect.RESPONSES) is True
