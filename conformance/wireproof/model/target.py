"""The proxy under test: where it is, and what is known of it."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING

from wireproof.model.side import Side

if TYPE_CHECKING:
    from collections.abc import Mapping

    from wireproof.model.capability import Capability
    from wireproof.model.dialect import ArgumentsMode, Dialect, Surface


USUAL_PACE = 1.0
"""Seconds: limits of time are made for targets whose plain answers take no longer."""
MOST_STRETCHED = 12.0
"""How many times a limit may be stretched: a target that hangs must not hold a run for more than two minutes."""


class Backend(StrEnum):
    """What answers behind the proxy."""

    MOCK = "mock"
    """The scripted mock: the right answer is known."""
    CODEX = "codex"
    """A real Codex whose model's service plays the scripts: the right answer is known, where it can play them."""
    CURSOR = "cursor"
    """The scripted mock of Cursor's agent service: the right answer is known, where the service can play the script. It
    carries the arguments of calls as data, so that they are known by their meaning."""
    ENDPOINT = "endpoint"
    """What `wireproof serve` serves: the target is a gateway, and this is its upstream. The right answer is known, as
    of the mock; what happens between a proxy and its Codex happens behind the upstream, so a gateway has no part
    in it."""
    LIVE = "live"
    """A real model: only what holds for any answer can be judged."""


class Login(StrEnum):
    """A login with which a gateway calls its upstream, in the place of a key."""

    CHATGPT = "chatgpt"


class Agent(StrEnum):
    """The agents that a proxy may have behind it."""

    CODEX = "codex"
    """`codex app-server`, which the proxy starts."""
    CURSOR = "cursor"
    """Cursor's agent service, which the proxy calls."""


ABOUT_ANOTHER: Mapping[Backend, str] = {
    Backend.CURSOR: "it is about a proxy in front of Cursor's agent service",
    Backend.ENDPOINT: "it is about a gateway: an agent has no settings that a request could reach",
}
"""What a scenario may be about → why it is not driven where something else is behind the target."""
ASKS_FOR_NO_KEY = "the target asks for no key"
BEHIND_UPSTREAMS = "what the backend sends is seen by the gateway's upstream alone, which answers as OpenAI does"
"""Why a scenario about a proxy and its Codex is not driven where the target is a gateway."""


class Missing(StrEnum):
    """A capability that an older Codex does not have; each value completes the sentence "this Codex …"."""

    TOOLS = "takes no tools of its client"
    HISTORY = "takes no history beside tools of its client"
    ROLES = "takes a history only as text of its user"
    """So do the conversations of v1, in every version."""
    REASONS = "does not say why an answer was cut off"
    COUNTS = "does not count the tokens of an answer that was cut off"
    ENDS = "does not report the end of its model's answer while calls wait"
    HANGUPS = "keeps the connection to a silent service when a turn is interrupted"
    SETTINGS = "takes no settings of its model"
    """So does the service behind a ChatGPT login, which gateways call instead."""
    TEXT_BESIDE_CALLS = "sends no text beside the calls of a whole answer"
    """So does the upstream of a gateway that asks it for chat completions alone."""
    SPELLING = "carries the arguments of calls as data, and not as its model spelled them"
    """So does the upstream of a gateway that asks it for messages alone."""


MASK = "***"
"""What is shown instead of a value that may be secret."""


class SurfaceState(StrEnum):
    """Whether a surface of a target is judged."""

    JUDGED = "judged"
    ABSENT = "absent"
    """The target does not serve it, and its answer says so."""
    NOT_JUDGED = "not judged"
    """It may be served, and is left out all the same; the reason says why."""


@dataclass(frozen=True, kw_only=True, slots=True)
class SurfaceReport:
    """What is known of a surface before it is driven."""

    state: SurfaceState
    reason: str = ""
    """Why it is absent or not judged; why it is judged although no text came; "" where a text came."""
    status: int | None = None
    """The HTTP status of the answer that showed it; None: no answer was asked for, or none came."""
    said: str = ""
    """The first characters of that answer's body, on one line."""
    first_byte: float | None = None
    """Seconds from the request to the first byte of that answer's body; None: no text came."""
    seconds: float | None = None
    """Seconds from the request to the end of that answer; None: no text came."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Adjustment:
    """How requests do without a member that a live endpoint refuses."""

    instead: str
    """The member that is sent instead of it; "": none."""
    status: int
    """The status of the refusal."""
    message: str
    """Its message."""


@dataclass(frozen=True, kw_only=True, slots=True)
class WayTaken:
    """A way round a fault that a run takes; `wireproof.requests.ways_round` has all that there are."""

    name: str
    """Its name in that table."""
    answer: str
    """What showed the fault, in a few words."""
    surface: Surface | None = None
    """The surface whose requests it changes; None: it changes no request of its own accord."""
    shown_by: tuple[str, ...] = ()
    """The names of the scenarios that are driven without it, and so show the fault."""


class KeyStyle(StrEnum):
    """How a request carries the API key."""

    BEARER = "bearer"
    """`Authorization: Bearer KEY`, as OpenAI's clients do."""
    API_KEY = "api-key"
    """The header `api-key`."""
    X_API_KEY = "x-api-key"
    """The header `x-api-key`."""
    QUERY = "query"
    """The query parameter `key`."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Target:
    """A proxy and how to reach it. All times are in seconds.

    The fields that a person can give are named and described in `wireproof.targets.options.TargetOptions`; the names
    are the same, so that a target is made of the options without a list of copies.
    """

    base_url: str
    """Ends before `/chat/completions`, without a slash at its end."""
    model: str
    """The model that requests name; "" until the preflight has chosen one."""
    api_key: str | None = None
    """None: the proxy asks for no key."""
    key_variable: str | None = None
    """The environment variable that the key was read from; None: the person named none."""
    key_style: KeyStyle = KeyStyle.BEARER
    """How requests carry the key."""
    headers: tuple[tuple[str, str], ...] = ()
    """Headers that each request carries besides its own, as name and value."""
    query: tuple[tuple[str, str], ...] = ()
    """Parameters that the query of each request carries, as name and value."""
    backend: Backend = Backend.MOCK
    missing: frozenset[Missing] = frozenset()
    """The capabilities that the Codex behind the proxy does not have."""
    pace: float | None = None
    """How long a plain answer of text took when the target was looked at; None: not known. Limits of time grow with it,
    see `stretched`."""
    timeout: float = 10.0
    """How long one exchange of a target of usual pace may be silent; `silence` is the limit that holds."""
    answer_seconds: float = 120.0
    """How long one exchange may take in all, of a target of usual pace; `longest` is the limit that holds."""
    answer_bytes: int = 6 * 2**20
    """How many bytes an answer may have."""
    keepalive: float | None = None
    """The interval of keep-alive comments; None: not declared, so keep-alives are not judged."""
    idle_timeout: float | None = None
    """How long the proxy lets its backend be silent; None: not declared."""
    body_limit: int | None = None
    """The largest request body that the proxy takes, in bytes; None: not declared."""
    unready_url: str | None = None
    """The base URL of the unready instance: the same proxy with a backend that never gets ready. None: not available,
    so what a proxy does before its backend is ready cannot be seen."""
    slots: int | None = None
    """How many turns the unready instance runs at once; None: not declared."""
    spare_urls: tuple[str, ...] = ()
    """The base URLs of more instances of the same proxy, each with a backend of its own: what kills a backend is sent
    there while the first instance answers all else. Empty: there are none, so nothing else is sent meanwhile."""
    dialects: tuple[Dialect, ...] = ()
    """The dialects that the proxy speaks; empty until the preflight has detected them."""
    wanted: tuple[Surface, ...] = ()
    """The surfaces that are to be judged; empty for all."""
    absent: Mapping[Capability, str] = field(default_factory=dict, hash=False)
    """The capabilities that the target is declared not to have → why."""
    arguments: ArgumentsMode | None = None
    """How streams carry the arguments of calls; None: as is usual in each dialect."""
    default_mode: Dialect | None = None
    """The output mode of requests that name none; None: not declared."""
    surfaces: Mapping[Surface, SurfaceReport] = field(default_factory=dict, hash=False)
    """What was found of each surface; empty until the preflight has asked."""
    unspoken: Mapping[Dialect, str] = field(default_factory=dict, hash=False)
    """The dialects of a judged surface that are not judged → why."""
    adjusted: Mapping[str, Adjustment] = field(default_factory=dict, hash=False)
    """The members that requests do without, since the target was found to refuse them; only a live one is spared."""
    ways: tuple[WayTaken, ...] = ()
    """The ways round faults that were taken."""
    side: Side = Side.PROXY
    """Which end is judged. `CLIENT`: the target is Wireproof's own endpoint, and what asked it is judged."""
    client: str = ""
    """The client that is judged, as its command or its journal; "": a proxy is judged."""

    @property
    def silence(self) -> float:
        """How long one exchange may be silent."""
        return self.stretched(self.timeout)

    @property
    def longest(self) -> float:
        """How long one exchange may take in all."""
        return self.stretched(self.answer_seconds)

    def stretched(self, seconds: float) -> float:
        """A limit of time, adapted to the target's own pace; never less than it is."""
        return seconds * min(max((self.pace or 0.0) / USUAL_PACE, 1.0), MOST_STRETCHED)

    def argument_mode(self, dialect: Dialect) -> ArgumentsMode:
        """How streams in this dialect carry the arguments of calls."""
        return self.arguments or dialect.spec.arguments

    def url(self, path: str) -> str:
        """The address of a path below the base URL."""
        return self.base_url.rstrip("/") + path

    def at_first(self, url: str) -> str:
        """The same address at the first instance, where it is one at a spare instance."""
        spare = next((one for one in self.spare_urls if url.startswith(one)), None)
        return self.base_url + url.removeprefix(spare) if spare else url

    def path_of(self, url: str) -> str:
        """The path of an address below the base URL (of any instance), else below the root of that URL.

        An address of another server comes back whole.
        """
        for base in (self.base_url, self.unready_url or "", *self.spare_urls):
            # The longer one first: `/v1` belongs to the base URL, not to the path.
            for stem in (base.rstrip("/"), root_of(base)):
                if stem and url.startswith(stem):  # "" begins every address
                    return url.removeprefix(stem)
        return url


def root_of(base_url: str) -> str:
    """The base URL without its trailing `/v1`."""
    return base_url.rstrip("/").removesuffix("/v1")
