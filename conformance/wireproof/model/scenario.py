"""The language of scenarios: what a client sends, which script answers, and which requirements that exercises.

A scenario is a literal: no functions, no branches. It is driven once per mode and dialect. In each turn the client
sends the whole conversation so far; the user's text carries the marker that chooses the script, so any proxy that
passes the text on can be driven. Shared parts (tool declarations, requirement lists) are constants of the scenario
modules.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from wireproof.model.asks import Asks  # noqa: TC001 (archives read the annotations)
from wireproof.model.dialect import DEFAULT, STOP_HEADER, Dialect
from wireproof.model.target import Agent  # noqa: TC001 (archives read the annotations)

JsonObject = Mapping[str, Any]


class Mode(StrEnum):
    """How an answer is sent."""

    STREAM = "stream"
    """As server-sent events."""
    WHOLE = "whole"
    """As one body."""


@dataclass(frozen=True, slots=True)
class Form:
    """A dialect and a mode: a scenario is driven once in each form that the target speaks."""

    dialect: Dialect
    mode: Mode

    def __str__(self) -> str:
        """How reports write it: the mode, then the dialect unless it is OpenAI's own."""
        return str(self.mode) if self.dialect is DEFAULT else f"{self.mode}, {self.dialect}"


class Act(StrEnum):
    """What the client does while a stream is sent."""

    READ = "read"
    """Read to the end."""
    OPEN_AT_TEXT = "open-at-text"
    """At the first text, open the gate that the backend waits at."""
    OPEN_AT_COMMENT = "open-at-comment"
    """At the first comment (or after four keep-alive intervals without one), open the gate."""
    LEAVE_AT_TEXT = "leave-at-text"
    """At the first text, close the connection."""
    LEAVE_WHEN_SENT = "leave-when-sent"
    """Close the connection as soon as the backend has sent all it will send (a second request waits for that)."""


LEAVES = frozenset({Act.LEAVE_AT_TEXT, Act.LEAVE_WHEN_SENT})
"""The acts of a client that disconnects before the answer ends."""


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


# Of no words, so that a part of it in an answer is no accident; and not as keys of OpenAI's look: a proxy that shows it
# shows no key of its own (http.error.no-internals).
WRONG_KEY = "wq7Zr2Xk9Tb4Lm8Vd3Ph"
"""The key of a request with `Auth.WRONG`."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Turn:
    """One request of a conversation, and what the client does with the answer."""

    say: str | None = None
    """The user's text; None: the turn only brings tool results."""
    results: Mapping[str, str] | None = None
    """Tool name → the result that is sent for every call of it in the previous answer; None: no results are sent."""
    script: str | None = None
    """The script for this turn, under the same nonce; None: the next part of the scenario's."""
    act: Act = Act.READ
    retry_on_503: bool = False
    """Send the request again, as clients do, while the answer is a 503: a backend may still be restarting."""
    images: tuple[str, ...] = ()
    """URLs of images that are sent beside the user's text."""
    body: JsonObject = field(default_factory=dict)
    """Request fields that are added, over those of the scenario."""
    asks: Asks | None = None
    """What the prompt asks of a model; None: a script answers."""


RESPONSE = "{response}"
"""The placeholder for the id of the last response so far."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Request:
    """One plain HTTP request and what must come back, for what the contract says of HTTP itself.

    `{model}` in `path`, `body` and `json` is replaced by the target's model; `{response}` in a further request
    (`also`) by the id of the last response before it.
    """

    method: str = "POST"
    path: str = "/chat/completions"
    """Below the base URL."""
    root: bool = False
    """The path is below the base URL without its `/v1`."""
    body: bytes = b""
    """The body as it is sent, unless there is `json`."""
    json: JsonObject | None = None
    """The body as JSON; a field whose value is `...` is left out."""
    padding: int = 0
    """How many spaces to append to the body. Where the target declares a limit: enough to exceed it by one byte."""
    auth: Auth = Auth.RIGHT
    headers: Mapping[str, str] = field(default_factory=dict)
    kept: bool = False
    """Send it over the connection of the request before it, if the server has kept that open."""
    unready: bool = False
    """Send it to the unready instance, whose backend never gets ready."""
    full: bool = False
    """Send it while all slots of the unready instance are taken."""
    expect: int = 200
    """The status that must come."""
    any_success: bool = False
    """Any status of success is as good as the one in `expect`."""
    shows: Mapping[str, str] = field(default_factory=dict)
    """Header → the text that its value must contain."""
    code: str = ""
    """The `code` that the error must have; "": any."""
    param: str | None = None
    """The `param` that the error must have; a place within it is as good; "": null; None: any."""
    refusable: str = ""
    """The field for which a 400 that names it is as right as the success; "": none."""
    judged: str = ""
    """The requirement that judges it; "": the scenario's subject."""
    requires_echo: str = ""
    """A header of the target's own. A success without it shows that the target does not know the header, and then
    the scenario observes nothing. "": none."""
    reflects: tuple[str, ...] = ()
    """Texts that the backend must report to have received, in this order."""
    also: tuple[Request, ...] = ()
    """Further requests, sent one after the other after this one."""

    @property
    def continues(self) -> bool:
        """Whether it names the last response before it."""
        return RESPONSE in self.path or RESPONSE in (self.json or {}).values()

    @property
    def each(self) -> tuple[Request, ...]:
        """This request and the further ones, in order."""
        return (self, *self.also)


# By identity: its mappings have no hash, so it would have none either.
@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Scenario:
    """A conversation (`turns`) or a plain request (`request`), and the requirements that it exercises."""

    name: str
    title: str
    exercises: tuple[str, ...]
    """Ids of requirements. The first is the subject: an answer that cannot be read at all is a violation of it."""
    script: str = ""
    """The script that answers a conversation; "" for a plain request, and where a model is asked."""
    turns: tuple[Turn, ...] = ()
    request: Request | None = None
    history: tuple[JsonObject, ...] = ()
    """Chat messages before the first turn."""
    tools: tuple[JsonObject, ...] = ()
    """The tools that every request declares, as in chat completions."""
    modes: tuple[Mode, ...] = (Mode.STREAM, Mode.WHOLE)
    dialects: tuple[Dialect, ...] = tuple(Dialect)
    body: JsonObject = field(default_factory=dict)
    """Request fields that are added to each request of a conversation."""
    headers: Mapping[str, str] = field(default_factory=dict)
    """Headers of each request of a conversation."""
    requires_echo: str = ""
    """As `Request.requires_echo`, for the requests of a conversation."""
    refusable: str = ""
    """A field of its requests that asks for more than some backends can do: a 400 that names it is a right answer, too.
    "": none."""
    attribute_to: str | None = None
    """The requirement that any fault in the content is reported under: the scenario differs from others in nothing
    else. None: each fault is reported under its own requirement."""
    choices: int = 1
    """The `n` of the requests."""
    tool_choice: str = ""
    """`required`, or the name of the tool that must be called; "": the request does not force a call."""
    cap: int | None = None
    """How many tokens an answer may have; None: the requests set no limit."""
    usage: bool = False
    """Streams ask for a usage chunk."""
    alone: bool = False
    """Nothing else may run at the same time: it kills the backend."""
    behind_upstreams: bool = False
    """It is about a proxy and its Codex. Where a gateway is judged, both are behind its upstream, which answers as
    OpenAI does: a gateway has no part in what happens between them."""
    agent: Agent | None = None
    """The agent behind the proxies that it is about; None: whichever."""
    needs_keepalive: bool = False
    """It can only be driven when the target's keep-alive interval is declared."""
    needs_default_mode: bool = False
    """It can only be driven when the target's own output mode is declared."""
    needs_idle_timeout: bool = False
    """It can only be driven when it is declared how long the target lets a backend be silent."""
    needs_history: bool = False
    """It can only be driven where the backend takes a history beside tools of its client."""

    def forms(self, dialects: Iterable[Dialect]) -> tuple[Form, ...]:
        """The forms in which it is driven against a target that speaks these dialects.

        A plain request has one form, in the first of its dialects whose surface the target serves; none where it
        serves none of them.
        """
        known = set(dialects)
        if self.request is not None:
            served = {one.spec.surface for one in known}
            there = [dialect for dialect in self.dialects if dialect.spec.surface in served]
            # One is enough: the rules of HTTP are the same in every dialect.
            return (Form(there[0], Mode.WHOLE),) if there else ()
        return tuple(Form(dialect, mode) for dialect in self.dialects if dialect in known for mode in self.modes)


def forced_tools(scenario: Scenario, turn: Turn | None) -> frozenset[str]:
    """The tools of which the request of a turn demands a call; empty where it demands none."""
    body = {**scenario.body, **(turn.body if turn else {})}
    match body.get("tool_choice"):
        case "required":
            return frozenset(tool["function"]["name"] for tool in scenario.tools)
        case {"function": {"name": str(name)}} | {"type": "function", "name": str(name)}:
            return frozenset({name})
        case _:
            return frozenset()


def wants_json(scenario: Scenario, turn: Turn | None) -> bool:
    """Whether the request of a turn demands an answer that is a JSON object, of no schema."""
    body = {**scenario.body, **(turn.body if turn else {})}
    match body:
        case {"response_format": {"type": "json_object"}} | {"text": {"format": {"type": "json_object"}}}:
            return True
        case _:
            return False


def offers_tools(scenario: Scenario, turn: Turn | None) -> bool:
    """Whether the request of a turn lets the backend call tools."""
    body = {**scenario.body, **(turn.body if turn else {})}
    # Without the field OpenAI's default is auto.
    return body.get("tool_choice") != "none"


def wants_burst(scenario: Scenario, turn: Turn | None, dialect: Dialect) -> bool:
    """Whether the request of a turn allows several calls in one stream.

    The header decides; without it `parallel_tool_calls`, whose default is the dialect's (`parallel_by_default`).
    """
    # The contract's order: the header, then the request, then what the proxy is set to.
    if STOP_HEADER in scenario.headers:
        return scenario.headers[STOP_HEADER] == "burst"
    body = {**scenario.body, **(turn.body if turn else {})}
    return body.get("parallel_tool_calls", dialect.spec.parallel_by_default) is True
