"""The language of scenarios: what a client sends, which script answers, and which requirements that exercises.

A scenario is a literal: no functions, no branches. It is a conversation, driven once per mode and dialect, or a few
plain requests, sent once. In each turn of a conversation the client sends all of it so far; the user's text carries the
marker that chooses the script, so any proxy that passes the text on can be driven. Shared parts (tool declarations,
lists of requirements) are constants of the scenario modules.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from wireproof.model.asks import Asks  # noqa: TC001 (archives read the annotations)
from wireproof.model.dialect import DEFAULT, Dialect
from wireproof.model.target import ABOUT_ANOTHER, BEHIND_UPSTREAMS, Backend, KeyStyle, Missing, Target

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
    OPEN_AT_COMMENTS = "open-at-comments"
    """At the fifth comment (or after as many intervals and four more), open the gate."""
    LEAVE_AT_TEXT = "leave-at-text"
    """At the first text, close the connection."""
    LEAVE_WHEN_SENT = "leave-when-sent"
    """Close the connection as soon as the backend has sent all it will send (a second request waits for that)."""


OPENS_AT: Mapping[Act, int] = {Act.OPEN_AT_COMMENT: 1, Act.OPEN_AT_COMMENTS: 5}
"""Acts of a client that opens a gate at a comment → at the how many-th: five at the usual 15 s make a silence of more
than the minute after which servers between give up."""
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


class Need(StrEnum):
    """What must be known of a target, or of the backend behind it, before a scenario can be driven."""

    DEFAULT_MODE = "default-mode"
    """The target's own output mode is declared."""
    IDLE_TIMEOUT = "idle-timeout"
    """How long the target lets a backend be silent is declared."""
    HISTORY = "history"
    """The backend takes a history beside tools of its client."""


REQUIRED = "required"
"""The `tool_choice` that asks for a call of any tool."""
RESPONSE = "{response}"
"""The placeholder for the id of the last response so far."""
LISTED = "{listed}"
"""The placeholder for a model of the last list so far, another one than the target's: without one nothing is sent."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Request:
    """One plain HTTP request and what must come back, for what the contract says of HTTP itself.

    `{model}` in `path`, `body` and `json` is replaced by the target's model; `{response}` in a request after others by
    the id of the last response before it, and `{listed}` in its path by a model of the list before it.
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
    key_style: KeyStyle | None = None
    """Where the key stands; None: where the target expects it."""
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
    the scenario is not about that target. "": none."""
    reflects: tuple[str, ...] = ()
    """Texts that the backend must report to have received, in this order."""

    @property
    def succeeds(self) -> bool:
        """Whether a success is due."""
        return 200 <= self.expect < 300  # noqa: PLR2004 (a class)

    @property
    def is_about_keys(self) -> bool:
        """Whether it says nothing of a target that asks for no key. What is served without one says something."""
        if self.auth is Auth.NONE and not self.key_style:
            return self.is_of_a_page or not (self.unready or self.succeeds)
        return self.auth is not Auth.RIGHT or self.key_style is not None

    @property
    def is_of_a_page(self) -> bool:
        """Whether a web page asks: a target that wants no key has reason to keep the pages of others out."""
        return self.headers.get("origin", "").startswith("http")

    @property
    def continues(self) -> bool:
        """Whether it names the last response before it."""
        return RESPONSE in self.path or _names_response(self.json)


def _names_response(value: object) -> bool:
    return any(map(_names_response, value.values())) if isinstance(value, Mapping) else value == RESPONSE


# By identity, as both kinds of scenarios: their mappings have no hash, so they would have none either.
@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class _Named:
    """What both kinds of scenarios have."""

    name: str
    title: str
    exercises: tuple[str, ...]
    """Ids of requirements. The first is the subject: an answer that cannot be read at all is a violation of it."""
    dialects: tuple[Dialect, ...] = tuple(Dialect)
    attribute_to: str | None = None
    """The requirement that any fault in the content is reported under: the scenario differs from others in nothing
    else. None: each fault is reported under its own requirement."""
    alone: bool = False
    """Nothing else may run at the same time: it kills the backend."""
    behind_upstreams: bool = False
    """It is about a proxy and its Codex. Where a gateway is judged, both are behind its upstream, which answers as
    OpenAI does: a gateway has no part in what happens between them."""
    backend: Backend | None = None
    """What stands behind the targets that it is about; None: whatever does."""
    needs: tuple[Need, ...] = ()
    """What must be known of the target before it can be driven."""

    def about_another(self, target: Target) -> str:
        """Why it is not about a target with this backend; "" if it is."""
        if self.backend is not None and (target.backend is not self.backend or Missing.SETTINGS in target.missing):
            return ABOUT_ANOTHER[self.backend]
        return BEHIND_UPSTREAMS if self.behind_upstreams and target.backend is Backend.ENDPOINT else ""


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class PlainScenario(_Named):
    """Plain requests, sent one after the other, and the requirements that they exercise."""

    requests: tuple[Request, ...]

    @property
    def is_about_keys(self) -> bool:
        """Whether nothing of it is about a target that asks for no key."""
        return all(request.is_about_keys for request in self.requests)

    def forms(self, dialects: Iterable[Dialect]) -> tuple[Form, ...]:
        """Its one form, in the first of its dialects whose surface the target serves; none where it serves none."""
        served = {one.spec.surface for one in dialects}
        # One is enough: the rules of HTTP are the same in every dialect.
        return tuple(Form(dialect, Mode.WHOLE) for dialect in self.dialects if dialect.spec.surface in served)[:1]


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class ConversationScenario(_Named):
    """A conversation, and the requirements that it exercises."""

    turns: tuple[Turn, ...] = ()
    script: str = ""
    """The script that answers it; "" where a model is asked."""
    modes: tuple[Mode, ...] = tuple(Mode)
    history: tuple[JsonObject, ...] = ()
    """Chat messages before the first turn."""
    tools: tuple[JsonObject, ...] = ()
    """The tools that every request declares, as in chat completions."""
    body: JsonObject = field(default_factory=dict)
    """Request fields that are added to each request."""
    headers: Mapping[str, str] = field(default_factory=dict)
    """Headers of each request."""
    requires_echo: str = ""
    """As `Request.requires_echo`."""
    refusable: str = ""
    """A field of its requests that asks for more than some backends can do: a 400 that names it is a right answer, too.
    "": none."""
    choices: int = 1
    """The `n` of the requests."""
    tool_choice: str = ""
    """`required`, or the name of the tool that must be called; "": the request does not force a call."""
    cap: int | None = None
    """How many tokens an answer may have; None: the requests set no limit."""
    usage: bool = False
    """Streams ask for a usage chunk."""
    across: bool = False
    """It compares surfaces: it is driven only where chat and another one are served."""

    def forms(self, dialects: Iterable[Dialect]) -> tuple[Form, ...]:
        """The forms in which it is driven against a target that speaks these dialects."""
        known = set(dialects)
        if self.across and (DEFAULT not in known or not known & {*self.dialects} - {DEFAULT}):
            return ()
        return tuple(Form(dialect, mode) for dialect in self.dialects if dialect in known for mode in self.modes)

    @property
    def tool_names(self) -> list[str]:
        """The names of its tools, in their order."""
        return [tool["function"]["name"] for tool in self.tools]

    @property
    def names_tool(self) -> bool:
        """Whether its requests name the tool that must be called."""
        return self.tool_choice in self.tool_names

    def added(self, turn: Turn) -> JsonObject:
        """The request fields that are added in a turn."""
        return {**self.body, **turn.body}


Scenario = ConversationScenario | PlainScenario
